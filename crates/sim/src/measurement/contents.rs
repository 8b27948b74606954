//! Contents of bursts: numbers of segments and of flows in each burst, and of bursts for each flow.

use super::{count, Counts, Kind, Measurement, Meter, Scope, Span};
use lightburst_des::Time;
use lightburst_net::column::{Column, Outputs};
use lightburst_net::{Happening, Interest, Narrow, Observer, Packet, View};
use serde::Deserialize;
use std::ops::Range;

/// The measurement of a plan.
pub const KIND: Kind = Kind {
    keys: &["bursts"],
    codes: &[
        ("burst_fates", &Fate::NAMES),
        ("burst_contents", &Tally::NAMES),
    ],
    ..Kind::of::<Settings>()
};

/// Period of assembly of the bursts that are counted.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Settings {
    bursts: Span,
}

impl Measurement for Settings {
    fn check(&self, _scope: &Scope<'_>) -> Result<(), String> {
        self.bursts.check("contents of bursts")
    }

    fn build(&self, scope: &Scope<'_>) -> Meter {
        let window = Time(self.bursts.from_ps)..Time(self.bursts.until_ps);
        Meter::Observer(Box::new(Contents::new(window, scope.flows)))
    }
}

/// Event in the life of a burst, or of a piece of one, by which its contents are counted.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// The burst was assembled.
    Made,
    /// The burst was lost, with the packets still in it.
    Lost,
    /// The piece was cut off from its burst.
    Cut,
    /// The burst was disassembled at its egress, with the packets still in it.
    Arrived,
}

impl Fate {
    /// Names of the variants, in their order.
    const NAMES: [&'static str; 4] = ["made", "lost", "cut", "arrived"];
}

/// Counts for the bursts, or pieces, of one fate. A segment is a packet with data.
#[derive(Clone, Debug, Default)]
struct Tally {
    /// Bursts by their number of segments.
    segments: Counts,
    /// Bursts by their number of flows with data.
    flows: Counts,
    /// Bursts with data of each flow, over the whole run.
    of_flow: Narrow,
}

impl Tally {
    /// Names of the two histograms, in the order of the fields.
    const NAMES: [&'static str; 2] = ["segments", "flows"];
}

/// Contents of all bursts, by fate.
#[derive(Clone, Debug)]
struct Contents {
    /// Counts of each fate.
    tallies: [Tally; Fate::NAMES.len()],
    /// Interval of the two histograms: a burst counts if its fate occurs in it.
    window: Range<Time>,
    /// Buffer for the flows of the burst that is being counted.
    flows: Vec<u32>,
}

impl Contents {
    /// Creates empty counts for `flows` flows.
    fn new(window: Range<Time>, flows: usize) -> Contents {
        let empty = || Tally {
            of_flow: Narrow::zeros(flows),
            ..Tally::default()
        };
        Contents {
            tallies: std::array::from_fn(|_| empty()),
            window,
            flows: Vec::new(),
        }
    }

    fn count<'a>(&mut self, fate: Fate, now: Time, packets: impl Iterator<Item = &'a Packet>) {
        let segments = packets.filter(|packet| packet.header.payload > 0);
        self.flows.clear();
        self.flows
            .extend(segments.map(|packet| packet.envelope.flow.0));
        let segments = self.flows.len();
        self.flows.sort_unstable();
        self.flows.dedup();
        let tally = &mut self.tallies[fate as usize];
        for &flow in &self.flows {
            tally.of_flow.count(flow as usize);
        }
        if self.window.contains(&now) {
            count(&mut tally.segments, segments as i64);
            count(&mut tally.flows, self.flows.len() as i64);
        }
    }
}

impl Observer for Contents {
    fn interest(&self) -> Interest {
        Interest::ASSEMBLED | Interest::DROPPED | Interest::CUT | Interest::DISASSEMBLED
    }

    fn on(&mut self, happening: &Happening<'_>, view: &View<'_>) {
        let whole = 0..usize::MAX;
        let (fate, burst, packets) = match happening {
            Happening::Assembled { burst } => (Fate::Made, *burst, whole),
            Happening::Disassembled { burst } => (Fate::Arrived, *burst, whole),
            Happening::Cut { burst, packets, .. } => (Fate::Cut, *burst, packets.clone()),
            Happening::Dropped { unit, .. } => match view.units.burst_of(*unit) {
                Some(burst) => (Fate::Lost, burst, whole),
                None => return,
            },
            _ => return,
        };
        let packets = view.units.packets_at(burst, packets);
        self.count(fate, view.now, packets);
    }

    /// Returns two tables: one row per fate of bursts, counted quantity and occurring number, and
    /// one row per flow.
    fn tables(self: Box<Self>) -> Outputs {
        let (mut fates, mut counted) = (Vec::new(), Vec::new());
        let (mut numbers, mut bursts) = (Vec::new(), Vec::new());
        for (fate, tally) in (0..).zip(&self.tallies) {
            for (what, counts) in (0..).zip([&tally.segments, &tally.flows]) {
                for (&number, &of) in counts {
                    fates.push(fate);
                    counted.push(what);
                    numbers.push(number);
                    bursts.push(of);
                }
            }
        }
        let names = ["bursts", "bursts_lost", "bursts_cut"];
        let each = names.into_iter().zip(self.tallies);
        let of_flow = each.map(|(name, tally)| (name, Column::from(tally.of_flow)));
        let histograms = vec![
            ("fate", Column::U8(fates)),
            ("counted", Column::U8(counted)),
            ("number", Column::I64(numbers)),
            ("bursts", Column::U64(bursts)),
        ];
        vec![
            ("bursts", histograms.into()),
            ("bursts_flows", of_flow.collect::<Vec<_>>().into()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightburst_net::{FlowId, Header, NodeId};

    fn packet(flow: u32, payload: u32) -> Packet {
        let header = Header {
            payload,
            ..Header::default()
        };
        Packet::new(FlowId(flow), NodeId(0), NodeId(1), payload + 40, header)
    }

    #[test]
    fn a_flow_counts_once_in_a_burst_and_packets_without_data_do_not() {
        let mut contents = Contents::new(Time(10)..Time(20), 3);
        let burst = [packet(2, 9), packet(0, 0), packet(2, 9), packet(1, 9)];
        contents.count(Fate::Made, Time(10), burst.iter());
        contents.count(Fate::Made, Time(19), burst[1..2].iter());
        // Outside the interval a burst counts for its flows only.
        contents.count(Fate::Made, Time(9), burst.iter());
        contents.count(Fate::Lost, Time(20), burst[2..].iter());
        let [made, lost, cut, _] = contents.tallies;
        assert_eq!(made.segments, [(0, 1), (3, 1)].into());
        assert_eq!(made.flows, [(0, 1), (2, 1)].into());
        assert_eq!(made.of_flow, Narrow::U8(vec![0, 2, 2]));
        assert!(lost.segments.is_empty() && lost.flows.is_empty());
        assert_eq!(lost.of_flow, Narrow::U8(vec![0, 1, 1]));
        assert_eq!(cut.of_flow, Narrow::zeros(3));
    }
}
