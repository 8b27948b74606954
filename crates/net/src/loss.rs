//! Links that lose units: at random, or by a script.

use crate::{DropReason, FlowId, LinkId, NodeId, Numbering, Packet};
use lightburst_des::{Stream, Time};

/// Lost on a link at random.
pub const RANDOM: &DropReason = &DropReason {
    name: "random",
    busy: false,
};

/// Lost on a link because a script says so.
pub const SCRIPTED: &DropReason = &DropReason {
    name: "scripted",
    busy: false,
};

/// What a scripted drop takes; all is counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Script {
    /// The k-th burst that carries data of the flow.
    Burst(u64),
    /// What carries data segments of this range, the n-th time that each comes.
    Segments {
        /// The first.
        first: u64,
        /// The last.
        last: u64,
        /// Which time.
        transmission: u32,
    },
    /// The first unit with data that was sent when the window had so many segments.
    Window(u16),
    /// The units of this range that bring acknowledgements of the flow.
    Acknowledgements {
        /// The first.
        first: u64,
        /// The last.
        last: u64,
    },
}

/// A scripted drop, and what it has taken so far.
#[derive(Clone, Debug)]
pub struct Drop {
    /// The flow that it is about.
    pub flow: FlowId,
    /// What it takes.
    pub script: Script,
    /// When it took a unit first; [`Time::NEVER`]: it has not.
    pub time: Time,
    /// Units that it took.
    pub units: u64,
    /// The host that has the flow's data.
    source: NodeId,
    /// Of the flow.
    numbering: Numbering,
    /// Units of its kind that came.
    seen: u64,
    /// How often each segment of the range came.
    times: Vec<u32>,
}

impl Drop {
    /// A drop that has taken nothing yet.
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

    /// Whether it takes a unit that holds these packets; each unit must be shown to it.
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

/// All losses on links.
#[derive(Debug)]
pub struct Loss {
    /// A unit with data is lost if a draw is below the first, another one if below the second.
    thresholds: [u64; 2],
    /// The stream of each lossy link.
    streams: Vec<Option<Stream>>,
    /// The scripted drops.
    pub drops: Vec<Drop>,
    /// Units lost, by link.
    pub lost: Vec<u64>,
}

impl Loss {
    /// Losses on the links that have a stream, of units with data and of others.
    pub fn new(probabilities: [f64; 2], streams: Vec<Option<Stream>>, drops: Vec<Drop>) -> Loss {
        Loss {
            // A draw is lost if it is below p 2^64; the cast saturates.
            thresholds: probabilities.map(|p| (p * 18_446_744_073_709_551_616.0) as u64),
            lost: vec![0; streams.len()],
            streams,
            drops,
        }
    }

    /// Whether a link may lose units.
    pub fn is_on(&self, link: LinkId) -> bool {
        self.streams[link.index()].is_some()
    }

    /// Why a lossy link loses a unit that holds these packets, if it does.
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

    /// Lost if `u < floor(p 2^64)`: at a draw that a probability can be to the bit.
    #[test]
    fn a_draw_that_is_the_bound_itself_is_not_lost() {
        let stream = |seed| Stream::new(seed, "loss/0");
        let has_53_bits = |seed: &u64| stream(*seed).next_u64() % 2048 == 0;
        let seed = (0..).find(has_53_bits).unwrap();
        let draw = stream(seed).next_u64();
        for (bound, lost) in [(draw, None), (draw + 2048, Some(RANDOM))] {
            let p = bound as f64 / 2f64.powi(64);
            let mut loss = Loss::new([p; 2], vec![Some(stream(seed))], vec![]);
            assert_eq!(loss.takes(LinkId(0), [].iter(), Time::ZERO), lost);
        }
    }

    /// A segment of 10 bytes, sent with a window of so many segments.
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
        let mut loss = Loss::new(
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
        // The second segment, the second time that it comes; also with others behind it.
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
