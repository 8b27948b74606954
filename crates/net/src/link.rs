//! Directed links. A link transmits one unit at a time and delivers in order. A fibre with data
//! channels carries bursts in parallel; its headers follow each other on the control channel.
//!
//! The state of a link is split in two. A choice among next hops reads the exits of many links and
//! takes one of them, so an exit holds only the data that determine the times of a transmission.
//! The counters in `Load` change at every hop, but no decision waits for them.

pub mod dropped;
pub(crate) mod fifo;
pub mod loss;
pub mod notices;
pub mod outages;
pub mod pause;
pub mod queue;
pub mod rates;
mod steps;
#[cfg(test)]
mod tests;
pub mod timeline;

use crate::link::fifo::Tail;
use crate::unit::arena::{prefetch, prefetch_lines};
use crate::{Bytes, LinkId, NodeId, Rate, Timeline, Unit};
use lightburst_des::{Duration, Time};
use std::collections::BTreeMap;

/// Properties of a directed link, as given by the plan.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// Source node.
    pub from: NodeId,
    /// Target node.
    pub to: NodeId,
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay and header processing time.
    pub delay: Duration,
    /// Whether the target acts on the tail of a unit (store and forward) or on its head.
    pub store_and_forward: bool,
    /// Whether every unit handed to the link is processed by `Fabric::watch`: an observer wants
    /// transmissions, the link is lossy, or its load is measured for load balancing.
    pub watched: bool,
}

/// Properties shared by links of the same kind.
#[derive(Clone, Copy, Debug)]
struct Kind {
    rate: Rate,
    delay: Duration,
    store_and_forward: bool,
    watched: bool,
}

impl Kind {
    fn new(wire: &Wire) -> Kind {
        assert!(wire.delay > Duration::ZERO, "a link must have a delay");
        Kind {
            rate: wire.rate,
            delay: wire.delay,
            store_and_forward: wire.store_and_forward,
            watched: wire.watched,
        }
    }

    #[inline]
    fn transmission_time(&self, bytes: u32) -> Duration {
        self.rate.transmission_time(Bytes(u64::from(bytes)))
    }

    /// Returns whether the busy time must be summed up, because it does not follow from the bytes.
    #[inline]
    fn is_timed(&self) -> bool {
        self.rate.whole_ps_per_byte().is_none()
    }
}

/// Sending side of a link. Four of them fill a cache line.
#[derive(Clone, Copy, Debug)]
struct Exit {
    /// End of the last transmission handed to the link.
    free_at: Time,
    to: NodeId,
    kind: u32,
}

/// Chain of units on a link, and its counters.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Load {
    tail: Tail,
    units: u64,
    bytes: u64,
}

const _: () = assert!(std::mem::size_of::<Exit>() == 16);
const _: () = assert!(std::mem::size_of::<Load>() == 32);

/// Times of a transmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transit {
    pub start: Time,
    pub arrival: Time,
    pub to: NodeId,
    /// Delay of the link.
    pub delay: Duration,
}

/// All links of the network.
pub struct Links {
    exits: Vec<Exit>,
    loads: Vec<Load>,
    kinds: Vec<Kind>,
    /// Time spent in transmission. Empty if it follows from the bytes on all links.
    busy: Vec<Duration>,
    /// Idle gaps that transmissions handed over in advance left before them, by link: the end of the
    /// transmission before and the start of the one after. Gaps that have ended may be missing.
    /// Empty if there was none on any link.
    gaps: Vec<Vec<(Time, Time)>>,
    /// Start and end of the bursts handed to the data channels of each fibre. Bursts that have
    /// ended may be missing. Empty for other links.
    bursts: Vec<Timeline<(Time, Time)>>,
    /// Latest end of a burst on any fibre.
    bursts_until: Time,
    /// Rates of the links whose rate changes, if there are any.
    courses: Option<Box<rates::Courses>>,
}

/// Returns the time that remains at `at` of intervals, from their start to their end.
fn left_of(intervals: &[(Time, Time)], at: Time) -> Duration {
    let left = |(start, end): &(Time, Time)| end.0.saturating_sub(start.max(&at).0);
    Duration(intervals.iter().map(left).fold(0, u64::saturating_add))
}

/// Counters of a link over a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Bytes transmitted.
    pub bytes: u64,
    /// Bytes handed over but not transmitted yet, rounded up.
    pub waiting: u64,
    /// Time spent in transmission.
    pub busy: Duration,
}

impl Links {
    /// Creates idle links. `wires` must be sorted by source node.
    pub fn new(wires: &[Wire]) -> Links {
        let mut known = BTreeMap::new();
        let mut kinds = Vec::new();
        let mut exit = |wire: &Wire| {
            let alike = (wire.rate, wire.delay, wire.store_and_forward, wire.watched);
            let kind = *known.entry(alike).or_insert_with(|| {
                kinds.push(Kind::new(wire));
                kinds.len() as u32 - 1
            });
            Exit {
                free_at: Time::ZERO,
                to: wire.to,
                kind,
            }
        };
        let exits = wires.iter().map(&mut exit).collect();
        let idle = Load {
            tail: Tail::EMPTY,
            units: 0,
            bytes: 0,
        };
        let bytes_tell = !kinds.iter().any(Kind::is_timed);
        let timed = if bytes_tell { 0 } else { wires.len() };
        Links {
            exits,
            loads: vec![idle; wires.len()],
            kinds,
            busy: vec![Duration::ZERO; timed],
            gaps: Vec::new(),
            bursts: Vec::new(),
            bursts_until: Time::ZERO,
            courses: None,
        }
    }

    #[inline]
    fn kind(&self, link: LinkId) -> &Kind {
        &self.kinds[self.exits[link.index()].kind as usize]
    }

    /// Prefetches the state of a link.
    #[inline]
    pub(crate) fn prefetch(&self, link: LinkId) {
        prefetch(&self.exits[link.index()]);
        prefetch(&self.loads[link.index()]);
    }

    /// Prefetches the exits of neighbouring links.
    #[inline]
    pub(crate) fn prefetch_exits(&self, first: LinkId, last: LinkId) {
        let exits = &self.exits[first.index()..=last.index()];
        prefetch_lines(exits, 0..1 + std::mem::size_of_val(exits) / 64);
    }

    /// Returns the last unit that was handed to a link, if that is still on it at `time`.
    #[inline]
    pub(crate) fn last(&self, link: LinkId, time: Time) -> Option<Unit> {
        self.loads[link.index()].tail.at(time)
    }

    /// Returns the rate of a link.
    #[inline]
    pub fn rate(&self, link: LinkId) -> Rate {
        self.kind(link).rate
    }

    /// Returns the delay of a link: propagation and header processing.
    pub fn delay(&self, link: LinkId) -> Duration {
        self.kind(link).delay
    }

    /// Returns whether the target of a link stores and forwards.
    pub fn store_and_forward(&self, link: LinkId) -> bool {
        self.kind(link).store_and_forward
    }

    /// Returns the target node of a link.
    #[inline]
    pub fn to(&self, link: LinkId) -> NodeId {
        self.exits[link.index()].to
    }

    /// Returns the end of the last transmission handed to a link.
    #[inline(always)]
    pub fn free_at(&self, link: LinkId) -> Time {
        self.exits[link.index()].free_at
    }

    /// Returns the transmission time of `bytes` on a link.
    #[inline]
    pub fn transmission_time(&self, link: LinkId, bytes: u32) -> Duration {
        self.kind(link).transmission_time(bytes)
    }

    /// Iterates over the number of units handed to each link.
    pub fn units(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.loads.iter().map(|load| load.units)
    }

    /// Iterates over the counters of each link at `end`.
    pub fn carried(&self, end: Time) -> impl Iterator<Item = Carried> + '_ {
        let carried = move |(i, load): (usize, &Load)| {
            let exit = &self.exits[i];
            let kind = &self.kinds[exit.kind as usize];
            let given = match kind.rate.whole_ps_per_byte() {
                None => self.busy[i],
                Some(each) => Duration(u64::from(each)) * load.bytes,
            };
            let left = match self.bursts.get(i).filter(|bursts| !bursts.is_empty()) {
                Some(bursts) => left_of(bursts, end),
                None => self.to_transmit(LinkId(i as u32), end),
            };
            let waiting = self.bytes_left(LinkId(i as u32), end, left).min(load.bytes);
            Carried {
                bytes: load.bytes - waiting,
                waiting,
                busy: Duration(given.0.saturating_sub(left.0)),
            }
        };
        self.loads.iter().enumerate().map(carried)
    }

    /// Returns the end of the last transmission on any link, at most `end`.
    pub fn transmitted_until(&self, end: Time) -> Time {
        let last = self.exits.iter().map(|exit| exit.free_at).max();
        last.unwrap_or(Time::ZERO).max(self.bursts_until).min(end)
    }

    /// Returns a link whose transmissions end beyond the range of the clock, if there is one. Its
    /// counters are wrong.
    pub fn beyond_the_clock(&self) -> Option<LinkId> {
        let found = self
            .exits
            .iter()
            .position(|exit| exit.free_at == Time::NEVER);
        found.map(|link| LinkId(link as u32))
    }

    /// Returns the time for which a link transmits, after `at`, the units handed to it: without idle
    /// gaps. Not for fibres with data channels.
    #[inline]
    pub(crate) fn to_transmit(&self, link: LinkId, at: Time) -> Duration {
        let until = self.exits[link.index()].free_at;
        let gaps = self.gaps.get(link.index());
        let idle = gaps.map_or(Duration::ZERO, |gaps| left_of(gaps, at));
        Duration(until.0.saturating_sub(at.0) - idle.0)
    }

    /// Returns whether a link is watched, see [`Wire`].
    #[inline(always)]
    pub(crate) fn is_watched(&self, link: LinkId) -> bool {
        self.kind(link).watched
    }

    /// Records that a link stays idle until `from`, if it is free before.
    #[cold]
    pub(crate) fn postpone(&mut self, link: LinkId, from: Time, now: Time) {
        let free_at = self.free_at(link);
        if from > free_at.max(now) {
            self.gaps.resize(self.exits.len(), Vec::new());
            let gaps = &mut self.gaps[link.index()];
            gaps.retain(|&(_, end)| end > now);
            gaps.push((free_at, from));
        }
    }

    /// Hands a unit of `bytes` to a link for transmission at `from` or later. Also returns the end
    /// of the link's chain of units.
    #[inline(always)]
    pub(crate) fn transmit(
        &mut self,
        link: LinkId,
        bytes: u32,
        from: Time,
    ) -> (Transit, &mut Tail) {
        let exit = &mut self.exits[link.index()];
        let kind = &self.kinds[exit.kind as usize];
        let duration = kind.transmission_time(bytes);
        if kind.is_timed() {
            self.busy[link.index()] += duration;
        }
        let start = exit.free_at.max(from);
        exit.free_at = start + duration;
        let sent = if kind.store_and_forward {
            exit.free_at
        } else {
            start
        };
        let load = &mut self.loads[link.index()];
        load.units += 1;
        load.bytes += u64::from(bytes);
        let transit = Transit {
            start,
            arrival: sent + kind.delay,
            to: exit.to,
            delay: kind.delay,
        };
        (transit, &mut load.tail)
    }

    /// Hands a header packet to the control channel of a fibre for transmission at `from` or later,
    /// with transmission time `time`. On a fibre `free_at` refers to the control channel.
    #[inline(always)]
    pub(crate) fn signal(&mut self, link: LinkId, time: Duration, from: Time) -> Transit {
        let exit = &mut self.exits[link.index()];
        let kind = &self.kinds[exit.kind as usize];
        let start = exit.free_at.max(from);
        exit.free_at = start + time;
        Transit {
            start,
            arrival: exit.free_at + kind.delay,
            to: exit.to,
            delay: kind.delay,
        }
    }

    #[cold]
    #[inline(never)]
    fn have_bursts(&mut self) {
        self.bursts.resize(self.exits.len(), Timeline::default());
    }

    /// Counts a burst of `bytes` that a data channel of a fibre transmits from `start` on.
    #[inline(always)]
    pub(crate) fn carry(&mut self, link: LinkId, bytes: u32, start: Time, now: Time) {
        let kind = &self.kinds[self.exits[link.index()].kind as usize];
        let duration = kind.transmission_time(bytes);
        if kind.is_timed() {
            self.busy[link.index()] += duration;
        }
        let end = start + duration;
        self.bursts_until = self.bursts_until.max(end);
        if self.bursts.is_empty() {
            self.have_bursts();
        }
        self.bursts[link.index()].push((start, end), |(_, end)| *end <= now);
        let load = &mut self.loads[link.index()];
        load.units += 1;
        load.bytes += u64::from(bytes);
    }

    /// Shortens a burst whose transmission begins at `start`; `bytes` is its size before and
    /// afterwards. Returns the new end of the transmission.
    pub(crate) fn shorten(&mut self, link: LinkId, start: Time, bytes: (u32, u32)) -> Time {
        let (before, left) = bytes;
        let kind = &self.kinds[self.exits[link.index()].kind as usize];
        let end = start + kind.transmission_time(before);
        let earlier = start + kind.transmission_time(left);
        if kind.is_timed() {
            let busy = &mut self.busy[link.index()];
            *busy = Duration(busy.0 - end.since(earlier).0);
        }
        let mut bursts = self.bursts[link.index()].iter_mut();
        let carried = bursts.find(|burst| **burst == (start, end));
        carried.expect("a burst that is carried").1 = earlier;
        self.loads[link.index()].bytes -= u64::from(before - left);
        earlier
    }

    /// Returns the end of the chain of units on a link.
    #[inline(always)]
    pub(crate) fn tail_mut(&mut self, link: LinkId) -> &mut Tail {
        &mut self.loads[link.index()].tail
    }
}
