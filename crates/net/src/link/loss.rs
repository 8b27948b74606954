//! Losses on links, at random or by a script.

use crate::{DropReason, FlowId, LinkId, NodeId, Numbering, Packet};
use lightburst_des::{Stream, Time};

/// Drop reason of random losses.
pub const RANDOM: &DropReason = &DropReason {
    name: "random",
    busy: false,
};

/// Drop reason of scripted losses.
pub const SCRIPTED: &DropReason = &DropReason {
    name: "scripted",
    busy: false,
};

/// Units selected by a scripted drop. All numbers count from 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Script {
    /// The k-th unit with data of the flow.
    Burst(u64),
    /// Units with a data segment of this range, at the `transmission`-th occurrence of that
    /// segment.
    Segments {
        /// First segment number of the range.
        first: u64,
        /// Last segment number of the range.
        last: u64,
        /// Occurrence of the segment at which it is dropped.
        transmission: u32,
    },
    /// The first unit with data that was sent with a congestion window of at least this many
    /// segments.
    Window(u16),
    /// Units with acknowledgements of the flow, from the `first`-th to the `last`-th.
    Acknowledgements {
        /// First unit of the range.
        first: u64,
        /// Last unit of the range.
        last: u64,
    },
}

/// A scripted drop and its state.
#[derive(Clone, Debug)]
pub struct Drop {
    /// Flow of the script.
    pub flow: FlowId,
    /// Units to be dropped.
    pub script: Script,
    /// Time of the first drop; [`Time::NEVER`] before it.
    pub time: Time,
    /// Number of units dropped.
    pub units: u64,
    /// Host that sends the data of the flow.
    source: NodeId,
    /// Packet numbering of the flow.
    numbering: Numbering,
    /// Number of units seen that the script counts.
    seen: u64,
    /// Number of occurrences of each segment of the range.
    times: Vec<u32>,
}

impl Drop {
    /// Creates a scripted drop in its initial state.
    pub fn new(flow: FlowId, script: Script, source: NodeId, numbering: Numbering) -> Drop {
        let times = match script {
            Script::Segments { first, last, .. } => vec![0; (last - first + 1) as usize],
            _ => Vec::new(),
        };
        Drop {
            flow,
            script,
            source,
            numbering,
            time: Time::NEVER,
            units: 0,
            seen: 0,
            times,
        }
    }

    /// Returns whether a unit with these packets is dropped. Must be called for every unit, because
    /// it counts them.
    fn takes<'a>(&mut self, packets: impl Iterator<Item = &'a Packet> + Clone) -> bool {
        let (flow, source, numbering) = (self.flow, self.source, self.numbering);
        let of_flow = packets.filter(|packet| packet.envelope.flow == flow);
        let back = of_flow
            .clone()
            .any(|packet| packet.envelope.destination == source);
        let mut data = of_flow.filter(|p| p.envelope.destination != source && p.header.payload > 0);
        match self.script {
            Script::Burst(k) => {
                let any = data.next().is_some();
                self.seen += u64::from(any);
                any && self.seen == k
            }
            Script::Segments {
                first,
                last,
                transmission,
            } => data.fold(false, |taken, packet| {
                let number = numbering.of(packet.header.sequence);
                if number < first || number > last {
                    return taken;
                }
                let times = &mut self.times[(number - first) as usize];
                *times += 1;
                taken || *times == transmission
            }),
            Script::Window(window) => {
                let wide = data.any(|packet| packet.header.window >= window);
                wide && self.units == 0
            }
            Script::Acknowledgements { first, last } => {
                self.seen += u64::from(back);
                back && (first..=last).contains(&self.seen)
            }
        }
    }
}

/// Losses on all links.
#[derive(Debug)]
pub struct LossyLinks {
    /// Bounds for units with data and for other units. A unit is lost if the draw is below its
    /// bound.
    thresholds: [u64; 2],
    /// Random stream of each lossy link.
    streams: Vec<Option<Stream>>,
    /// Scripted drops.
    pub drops: Vec<Drop>,
    /// Number of units lost, by link.
    pub lost: Vec<u64>,
}

impl LossyLinks {
    /// Creates the losses of the links that have a stream. `probabilities` apply to units with data
    /// and to other units.
    pub fn new(
        probabilities: [f64; 2],
        streams: Vec<Option<Stream>>,
        drops: Vec<Drop>,
    ) -> LossyLinks {
        LossyLinks {
            // A unit is lost if the draw is below p 2^64. The cast saturates.
            thresholds: probabilities.map(|p| (p * 18_446_744_073_709_551_616.0) as u64),
            lost: vec![0; streams.len()],
            streams,
            drops,
        }
    }

    /// Returns whether a link is lossy.
    pub fn is_on(&self, link: LinkId) -> bool {
        self.streams[link.index()].is_some()
    }

    /// Returns the reason if a lossy link loses a unit with these packets.
    pub fn takes<'a>(
        &mut self,
        link: LinkId,
        mut packets: impl Iterator<Item = &'a Packet> + Clone,
        now: Time,
    ) -> Option<&'static DropReason> {
        let mut scripted = false;
        for drop in &mut self.drops {
            if drop.takes(packets.clone()) {
                drop.units += 1;
                drop.time = drop.time.min(now);
                scripted = true;
            }
        }
        let data = packets.any(|packet| packet.header.payload > 0);
        let threshold = self.thresholds[usize::from(!data)];
        let stream = self.streams[link.index()].as_mut().expect("a lossy link");
        let random = threshold > 0 && stream.next_u64() < threshold;
        let reason = match (scripted, random) {
            (true, _) => SCRIPTED,
            (false, true) => RANDOM,
            (false, false) => return None,
        };
        self.lost[link.index()] += 1;
        Some(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Header;

    /// A unit is lost if `u < floor(p 2^64)`, tested at a draw that `p` can represent exactly.
    #[test]
    fn a_draw_that_is_the_bound_itself_is_not_lost() {
        let stream = |seed| Stream::new(seed, "loss/0");
        let has_53_bits = |seed: &u64| stream(*seed).next_u64() % 2048 == 0;
        let seed = (0..).find(has_53_bits).unwrap();
        let draw = stream(seed).next_u64();
        for (bound, lost) in [(draw, None), (draw + 2048, Some(RANDOM))] {
            let p = bound as f64 / 2f64.powi(64);
            let mut loss = LossyLinks::new([p; 2], vec![Some(stream(seed))], vec![]);
            assert_eq!(loss.takes(LinkId(0), [].iter(), Time::ZERO), lost);
        }
    }

    /// A segment of 10 bytes, sent with this congestion window in segments.
    fn segment(sequence: u64, window: u16) -> Packet {
        let header = Header {
            sequence,
            payload: 10,
            window,
            ..Header::default()
        };
        Packet::new(FlowId(0), NodeId(0), NodeId(1), 64, header)
    }

    fn drop(script: Script) -> Drop {
        let numbering = Numbering {
            full: 10,
            packets: None,
        };
        Drop::new(FlowId(0), script, NodeId(0), numbering)
    }

    #[test]
    fn of_the_units_sent_with_a_window_the_first_is_lost() {
        let mut loss = LossyLinks::new(
            [0.0; 2],
            vec![Some(Stream::new(1, "loss/0"))],
            vec![drop(Script::Window(4))],
        );
        let windows = [3, 5, 4, 6];
        let found =
            windows.map(|window| loss.takes(LinkId(0), [segment(0, window)].iter(), Time(7)));
        assert_eq!(found, [None, Some(SCRIPTED), None, None]);
        assert_eq!((loss.drops[0].units, loss.drops[0].time), (1, Time(7)));
    }

    #[test]
    fn a_burst_is_lost_if_any_of_its_segments_is_to_be() {
        // The second segment is dropped at its second occurrence, also in a unit with other
        // segments.
        let mut drop = drop(Script::Segments {
            first: 2,
            last: 3,
            transmission: 2,
        });
        let [first, second, third] = [0, 10, 20].map(|sequence| segment(sequence, 1));
        assert!(!drop.takes([first, second].iter()));
        assert!(drop.takes([first, second, third].iter()));
        assert!(!drop.takes([second].iter()));
        assert!(drop.takes([third, first].iter()));
    }
}
