//! Losses on links, at random or by a script, and other scripted events of units on links.

use super::steps::Steps;
use crate::observe::Place;
use crate::{DropReason, FlowId, LinkId, NodeId, Numbering, Packet, Unit};
use lightburst_des::{Duration, Stream, Time};
use std::collections::BTreeMap;

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

/// Units that a script selects. All numbers count from 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Selection {
    /// The k-th unit with data of the flow.
    Burst(u64),
    /// Units with a data segment of this range, at the `transmission`-th occurrence of that
    /// segment.
    Segments {
        /// First segment number of the range.
        first: u64,
        /// Last segment number of the range.
        last: u64,
        /// Occurrence of the segment at which it is selected.
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

/// Effect of a script on a selected unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The link loses the unit.
    Lose,
    /// The unit is marked: congestion experienced (ECN).
    Mark,
    /// The unit follows so many later units: units with data of the flow beyond its own.
    Hold {
        /// Number of later units, at least 1.
        later: u64,
    },
    /// The link stays idle for this time before it transmits the unit.
    Stall(Duration),
}

/// A script and its state.
#[derive(Clone, Debug)]
pub struct Script {
    /// Flow of the script.
    pub flow: FlowId,
    /// Units of the script.
    pub selection: Selection,
    /// Effect on these units.
    pub effect: Effect,
    /// Time of the first selected unit; [`Time::NEVER`] before it.
    pub time: Time,
    /// Number of units selected.
    pub units: u64,
    /// Host that sends the data of the flow.
    source: NodeId,
    /// Packet numbering of the flow.
    numbering: Numbering,
    /// Number of units seen that the selection counts.
    seen: u64,
    /// Number of occurrences of each segment of the range.
    times: Vec<u32>,
}

impl Script {
    /// Creates a script in its initial state.
    pub fn new(
        flow: FlowId,
        selection: Selection,
        effect: Effect,
        source: NodeId,
        numbering: Numbering,
    ) -> Script {
        let times = match selection {
            Selection::Segments { first, last, .. } => vec![0; (last - first + 1) as usize],
            _ => Vec::new(),
        };
        Script {
            flow,
            selection,
            effect,
            source,
            numbering,
            time: Time::NEVER,
            units: 0,
            seen: 0,
            times,
        }
    }

    /// Returns whether a unit with these packets is selected. Must be called for every unit,
    /// because it counts them.
    fn selects<'a>(&mut self, packets: impl Iterator<Item = &'a Packet> + Clone) -> bool {
        let (flow, source, numbering) = (self.flow, self.source, self.numbering);
        let of_flow = packets.filter(|packet| packet.envelope.flow == flow);
        let back = of_flow
            .clone()
            .any(|packet| packet.envelope.destination == source);
        let mut data = of_flow.filter(|p| p.envelope.destination != source && p.header.payload > 0);
        match self.selection {
            Selection::Burst(k) => {
                let any = data.next().is_some();
                self.seen += u64::from(any);
                any && self.seen == k
            }
            Selection::Segments {
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
            Selection::Window(window) => {
                let wide = data.any(|packet| packet.header.window >= window);
                wide && self.units == 0
            }
            Selection::Acknowledgements { first, last } => {
                self.seen += u64::from(back);
                back && (first..=last).contains(&self.seen)
            }
        }
    }
}

/// Treatment of a unit by a lossy link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Verdict {
    /// Reason of the loss. A lost unit is neither marked nor held.
    pub lost: Option<&'static DropReason>,
    /// Whether the unit is marked.
    pub mark: bool,
    /// Flow of the script that holds the unit, and the number of later units that it follows.
    pub hold: Option<(FlowId, u64)>,
    /// Time for which the link stays idle before the transmission.
    pub stall: Duration,
}

/// A unit that waits beside a link for later ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// The unit.
    pub unit: Unit,
    /// Node and output link.
    pub place: Place,
    /// Earliest start of the transmission that the node permits.
    pub ready: Time,
    /// Flow of the script.
    pub flow: FlowId,
    /// Greatest sequence number of the flow in the unit.
    pub sequence: u64,
    /// Number of later units that are still to come.
    pub left: u64,
}

/// Losses of a link whose probabilities change.
#[derive(Debug)]
struct Course {
    /// Whether scripts test the units of the link.
    scripted: bool,
    /// Bounds of the transmissions that begin at a time.
    bounds: Steps<[u64; 2]>,
}

/// Returns the bounds of probabilities: a unit is lost if its draw is below `p 2^64`.
fn bounds(probabilities: [f64; 2]) -> [u64; 2] {
    // The cast saturates.
    probabilities.map(|p| (p * 18_446_744_073_709_551_616.0) as u64)
}

/// Losses on all links.
#[derive(Debug)]
pub struct LossyLinks {
    /// Bounds for units with data and for other units. A unit is lost if the draw is below its
    /// bound.
    thresholds: [u64; 2],
    /// Links whose probabilities change.
    courses: BTreeMap<LinkId, Course>,
    /// Random stream of each lossy link.
    streams: Vec<Option<Stream>>,
    /// Scripts.
    pub scripts: Vec<Script>,
    /// Number of units lost, by link.
    pub lost: Vec<u64>,
    /// Units that are held, in the order in which they came.
    held: Vec<Held>,
}

impl LossyLinks {
    /// Creates the losses of the links that have a stream. `probabilities` apply to units with data
    /// and to other units.
    pub fn new(
        probabilities: [f64; 2],
        streams: Vec<Option<Stream>>,
        scripts: Vec<Script>,
    ) -> LossyLinks {
        LossyLinks {
            thresholds: bounds(probabilities),
            courses: BTreeMap::new(),
            lost: vec![0; streams.len()],
            streams,
            scripts,
            held: Vec::new(),
        }
    }

    /// Gives a link, with a stream for its draws, other probabilities from some times on, in order
    /// of time. If the link was not lossy before, its first probabilities are 0 and scripts do not
    /// test its units.
    pub fn vary(&mut self, link: LinkId, stream: Stream, steps: &[(Time, [f64; 2])]) {
        let scripted = self.is_on(link);
        let first = if scripted { self.thresholds } else { [0; 2] };
        let steps = steps.iter().map(|&(time, p)| (time, bounds(p)));
        let bounds = Steps::new(first, steps);
        self.courses.insert(link, Course { scripted, bounds });
        self.streams[link.index()].get_or_insert(stream);
    }

    /// Returns whether a link is lossy.
    pub fn is_on(&self, link: LinkId) -> bool {
        self.streams[link.index()].is_some()
    }

    /// Decides on a unit with these packets that is handed to a lossy link at `now`, for a
    /// transmission that begins at `start`.
    pub(crate) fn judge<'a>(
        &mut self,
        link: LinkId,
        mut packets: impl Iterator<Item = &'a Packet> + Clone,
        (now, start): (Time, Time),
    ) -> Verdict {
        let mut verdict = Verdict::default();
        let course = self.courses.get(&link);
        let scripts = match course {
            Some(Course {
                scripted: false, ..
            }) => &mut [],
            _ => &mut self.scripts[..],
        };
        for script in scripts {
            if !script.selects(packets.clone()) {
                continue;
            }
            script.units += 1;
            script.time = script.time.min(now);
            match script.effect {
                Effect::Lose => verdict.lost = Some(SCRIPTED),
                Effect::Mark => verdict.mark = true,
                Effect::Hold { later } => {
                    let first = verdict.hold.unwrap_or((script.flow, later));
                    verdict.hold = Some(first);
                }
                Effect::Stall(time) => verdict.stall += time,
            }
        }
        let data = packets.any(|packet| packet.header.payload > 0);
        let thresholds = match course {
            None => self.thresholds,
            Some(Course { bounds, .. }) => bounds.at(start),
        };
        let threshold = thresholds[usize::from(!data)];
        let stream = self.streams[link.index()].as_mut().expect("a lossy link");
        if threshold > 0 && stream.next_u64() < threshold {
            verdict.lost = verdict.lost.or(Some(RANDOM));
        }
        self.lost[link.index()] += u64::from(verdict.lost.is_some());
        verdict
    }

    /// Keeps a unit until later ones have been handed to its link.
    pub(crate) fn hold(&mut self, held: Held) {
        self.held.push(held);
    }

    /// Counts a unit with these packets that is transmitted on a link for the units held there;
    /// returns those that follow it, in the order in which they came.
    pub(crate) fn pass<'a>(
        &mut self,
        link: LinkId,
        packets: impl Iterator<Item = &'a Packet> + Clone,
    ) -> Vec<Held> {
        for held in self.held.iter_mut().filter(|held| held.place.link == link) {
            let later = packets
                .clone()
                .filter(|packet| packet.envelope.flow == held.flow && packet.header.payload > 0)
                .any(|packet| packet.header.sequence > held.sequence);
            held.left -= u64::from(later);
        }
        let due = |held: &Held| held.left == 0;
        let released = self.held.iter().copied().filter(due).collect();
        self.held.retain(|held| !due(held));
        released
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
            assert_eq!(
                loss.judge(LinkId(0), [].iter(), (Time::ZERO, Time::ZERO))
                    .lost,
                lost
            );
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

    fn drop(selection: Selection) -> Script {
        let numbering = Numbering {
            full: 10,
            packets: None,
        };
        Script::new(FlowId(0), selection, Effect::Lose, NodeId(0), numbering)
    }

    #[test]
    fn of_the_units_sent_with_a_window_the_first_is_lost() {
        let mut loss = LossyLinks::new(
            [0.0; 2],
            vec![Some(Stream::new(1, "loss/0"))],
            vec![drop(Selection::Window(4))],
        );
        let windows = [3, 5, 4, 6];
        let found = windows.map(|window| {
            loss.judge(LinkId(0), [segment(0, window)].iter(), (Time(7), Time(7)))
                .lost
        });
        assert_eq!(found, [None, Some(SCRIPTED), None, None]);
        assert_eq!((loss.scripts[0].units, loss.scripts[0].time), (1, Time(7)));
    }

    #[test]
    fn a_burst_is_lost_if_any_of_its_segments_is_to_be() {
        // The second segment is dropped at its second occurrence, also in a unit with other
        // segments.
        let mut drop = drop(Selection::Segments {
            first: 2,
            last: 3,
            transmission: 2,
        });
        let [first, second, third] = [0, 10, 20].map(|sequence| segment(sequence, 1));
        assert!(!drop.selects([first, second].iter()));
        assert!(drop.selects([first, second, third].iter()));
        assert!(!drop.selects([second].iter()));
        assert!(drop.selects([third, first].iter()));
    }
}
