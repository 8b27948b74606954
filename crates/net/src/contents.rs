//! Contents of bursts: numbers of segments and of flows in each burst, and of bursts for each flow.

use crate::densities::{count, Counts};
use crate::{BurstId, Fabric, Narrow, Packet};
use lightburst_des::Time;
use std::ops::Range;

/// Event in the life of a burst, or of a piece of one, by which its contents are counted.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
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
    pub const NAMES: [&'static str; 4] = ["made", "lost", "cut", "arrived"];
}

/// Counts for the bursts, or pieces, of one fate. A segment is a packet with data.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Bursts by their number of segments.
    pub segments: Counts,
    /// Bursts by their number of flows with data.
    pub flows: Counts,
    /// Bursts with data of each flow, over the whole run.
    pub of_flow: Narrow,
}

impl Tally {
    /// Names of the two histograms, in the order of the fields.
    pub const NAMES: [&'static str; 2] = ["segments", "flows"];
}

/// Contents of all bursts, by fate.
#[derive(Clone, Debug)]
pub struct Contents {
    /// Counts of each fate.
    pub tallies: [Tally; Fate::NAMES.len()],
    /// Interval of the two histograms: a burst counts if its fate occurs in it.
    window: Range<Time>,
    /// Buffer for the flows of the burst that is being counted.
    flows: Vec<u32>,
}

impl Contents {
    /// Creates empty counts for `flows` flows.
    pub fn new(window: Range<Time>, flows: usize) -> Contents {
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

impl Fabric {
    /// Counts the packets at the positions `places` of a burst, if the scenario requests contents.
    #[inline]
    pub(crate) fn tally(&mut self, fate: Fate, burst: BurstId, places: Range<usize>, now: Time) {
        if self.contents.is_some() {
            self.count_contents(fate, burst, places, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn count_contents(&mut self, fate: Fate, burst: BurstId, places: Range<usize>, now: Time) {
        if let Some(contents) = &mut self.contents {
            let packets = self.units.packets_at(burst, places);
            contents.count(fate, now, packets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlowId, Header, NodeId};

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
