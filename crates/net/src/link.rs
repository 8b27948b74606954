//! Directed links: each is used by one unit at a time and delivers in order.
//!
//! A choice among next hops looks at many exits and takes one: when a unit leaves
//! and arrives follows from its exit alone. The load of a link changes at every
//! hop, but nothing waits for it.

use crate::fifo::Tail;
use crate::{Bytes, LinkId, NodeId, Rate, Timeline};
use lightburst_des::{Duration, Time};
use std::collections::BTreeMap;

/// A directed link as the plan gives it.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// Source.
    pub from: NodeId,
    /// Target.
    pub to: NodeId,
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation and header processing.
    pub delay: Duration,
    /// Whether the target acts on the tail of a unit (or on its head).
    pub store_and_forward: bool,
    /// Whether units that are handed to it are looked at: it may lose them, or there is a trace.
    pub watched: bool,
}

/// What links that are alike have in common.
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

    /// Whether the bytes that a link has transmitted do not tell for how long.
    #[inline]
    fn is_timed(&self) -> bool {
        self.rate.whole_ps_per_byte().is_none()
    }
}

/// The near end of a link; four of them fill a cache line.
#[derive(Clone, Copy, Debug)]
struct Exit {
    /// When the link ends the last transmission that it was given.
    free_at: Time,
    to: NodeId,
    kind: u32,
}

/// What a link carries.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Load {
    tail: Tail,
    units: u64,
    bytes: u64,
}

const _: () = assert!(std::mem::size_of::<Exit>() == 16);
const _: () = assert!(std::mem::size_of::<Load>() == 32);

/// When a unit leaves and when the target acts on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transit {
    pub start: Time,
    pub arrival: Time,
    pub to: NodeId,
    /// Of the link.
    pub delay: Duration,
    /// Whether it is to be looked at.
    pub watched: bool,
}

/// All links.
pub struct Links {
    exits: Vec<Exit>,
    loads: Vec<Load>,
    kinds: Vec<Kind>,
    /// Time spent in transmission, if there is a kind whose bytes do not tell it.
    busy: Vec<Duration>,
    /// When the last transmission begins that a link was given in advance; empty: none
    /// ever was.
    postponed: Vec<Time>,
    /// The bursts that the data channels of a fibre were given: when each begins, and when it ends.
    /// The first of them may be missing, if they are over. Of other links none.
    bursts: Vec<Timeline<(Time, Time)>>,
    /// The end of the last burst that a fibre was given.
    bursts_until: Time,
}

/// How long bursts have still to be transmitted at a time.
fn left_of(bursts: &[(Time, Time)], at: Time) -> Duration {
    let left = |(start, end): &(Time, Time)| end.0.saturating_sub(start.max(&at).0);
    Duration(bursts.iter().map(left).fold(0, u64::saturating_add))
}

/// What a link did in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Bytes transmitted.
    pub bytes: u64,
    /// Bytes that it was given and has still to transmit, rounded up.
    pub waiting: u64,
    /// Time spent in transmission.
    pub busy: Duration,
}

impl Links {
    pub(crate) fn new(wires: &[Wire]) -> Links {
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
            postponed: Vec::new(),
            bursts: Vec::new(),
            bursts_until: Time::ZERO,
        }
    }

    #[inline]
    fn kind(&self, link: LinkId) -> &Kind {
        &self.kinds[self.exits[link.index()].kind as usize]
    }

    /// The rate of a link.
    #[inline]
    pub fn rate(&self, link: LinkId) -> Rate {
        self.kind(link).rate
    }

    /// The propagation (and header processing) delay of a link.
    pub fn delay(&self, link: LinkId) -> Duration {
        self.kind(link).delay
    }

    /// Whether its target acts on the tail of a unit.
    pub fn store_and_forward(&self, link: LinkId) -> bool {
        self.kind(link).store_and_forward
    }

    /// The node that a link leads to.
    #[inline]
    pub fn to(&self, link: LinkId) -> NodeId {
        self.exits[link.index()].to
    }

    /// When a link ends the last transmission that it was given.
    #[inline(always)]
    pub fn free_at(&self, link: LinkId) -> Time {
        self.exits[link.index()].free_at
    }

    /// How long a link takes for `bytes`.
    #[inline]
    pub fn transmission_time(&self, link: LinkId, bytes: u32) -> Duration {
        self.kind(link).transmission_time(bytes)
    }

    /// Units that each link was given.
    pub fn units(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.loads.iter().map(|load| load.units)
    }

    /// What each link transmitted until `end`, and what it has still to transmit then.
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
                None => {
                    // What follows `end` is without gaps, but for one at the beginning.
                    let begun = self.postponed.get(i).map_or(end, |&from| from.max(end));
                    Duration(exit.free_at.0.saturating_sub(begun.0))
                }
            };
            let waiting = kind.rate.bytes_in(left).0.min(load.bytes);
            Carried {
                bytes: load.bytes - waiting,
                waiting,
                busy: Duration(given.0.saturating_sub(left.0)),
            }
        };
        self.loads.iter().enumerate().map(carried)
    }

    /// The end of the last transmission on any link; `end` if that is still to come then.
    pub fn transmitted_until(&self, end: Time) -> Time {
        let last = self.exits.iter().map(|exit| exit.free_at).max();
        last.unwrap_or(Time::ZERO).max(self.bursts_until).min(end)
    }

    /// A link that was given more than the clock can tell the end of, if there is one: what
    /// is counted of it is wrong then.
    pub fn beyond_the_clock(&self) -> Option<LinkId> {
        let found = self
            .exits
            .iter()
            .position(|exit| exit.free_at == Time::NEVER);
        found.map(|link| LinkId(link as u32))
    }

    /// Notes that a link does nothing until `from`, if it is free then.
    #[cold]
    pub(crate) fn postpone(&mut self, link: LinkId, from: Time) {
        if from > self.free_at(link) {
            self.postponed.resize(self.exits.len(), Time::ZERO);
            self.postponed[link.index()] = from;
        }
    }

    /// Gives a link a unit of `bytes` for transmission not before `from`. Also gives the end of the
    /// chain of units on it.
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
            watched: kind.watched,
        };
        (transit, &mut load.tail)
    }

    /// Gives the control channel of a fibre a header packet, which takes `time` to send, not
    /// before `from`. The free time of the link is that of its control channel then.
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
            watched: kind.watched,
        }
    }

    #[cold]
    #[inline(never)]
    fn have_bursts(&mut self) {
        self.bursts.resize(self.exits.len(), Timeline::default());
    }

    /// Counts a burst of `bytes` that a data channel of a fibre will carry from `start` on.
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

    /// Of a burst that is carried from `start` on, with so many bytes, only so many are left;
    /// returns when they have left.
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

    /// The end of the chain of units on a link.
    #[inline(always)]
    pub(crate) fn tail_mut(&mut self, link: LinkId) -> &mut Tail {
        &mut self.loads[link.index()].tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link of 800 ps for a byte.
    fn link() -> Links {
        link_of(10_000_000_000)
    }

    fn link_of(bps: u64) -> Links {
        Links::new(&[Wire {
            from: NodeId(0),
            to: NodeId(1),
            rate: Rate::from_bps(bps),
            delay: Duration(1),
            store_and_forward: false,
            watched: false,
        }])
    }

    fn carried(links: &Links, end: u64) -> (u64, u64, u64) {
        let found = links.carried(Time(end)).next().expect("a link");
        (found.bytes, found.waiting, found.busy.0)
    }

    #[test]
    fn what_a_link_has_still_to_transmit_is_not_yet_carried() {
        let mut links = link();
        for _ in 0..2 {
            links.transmit(LinkId(0), 10, Time(0));
        }
        assert_eq!(carried(&links, 16_000), (20, 0, 16_000));
        // a byte of which something is left waits
        assert_eq!(carried(&links, 7_999), (9, 11, 7_999));
        assert_eq!(carried(&links, 0), (0, 20, 0));
    }

    #[test]
    fn no_more_waits_than_was_given() {
        // 2667 ps for a byte, rounded up: in that time a little more than one is sent.
        let mut links = link_of(3_000_000_000);
        links.transmit(LinkId(0), 1, Time(0));
        assert_eq!(carried(&links, 0), (0, 1, 0));
    }

    #[test]
    fn a_gap_before_a_transmission_given_in_advance_is_not_busy() {
        // 10 bytes from 0 to 8,000; then, given at once, 10 bytes from 20,000 to 28,000.
        let mut links = link();
        links.transmit(LinkId(0), 10, Time(0));
        links.postpone(LinkId(0), Time(20_000));
        links.transmit(LinkId(0), 10, Time(20_000));
        for (end, expected) in [
            (12_000, (10, 10, 8_000)),
            (24_000, (15, 5, 12_000)),
            (28_000, (20, 0, 16_000)),
        ] {
            assert_eq!(carried(&links, end), expected, "{end}");
        }
    }

    #[test]
    fn bursts_are_transmitted_side_by_side_and_headers_do_not_count() {
        // 10 bytes each: from 20,000 to 28,000, from 24,000 to 32,000, and given at 29,000, when the
        // first is over, from 30,000 to 38,000; the control channel is used for much longer.
        let mut links = link();
        let mut carry = |start, now| links.carry(LinkId(0), 10, Time(start), Time(now));
        carry(20_000, 0);
        carry(24_000, 0);
        carry(30_000, 29_000);
        links.signal(LinkId(0), Duration(90_000), Time(0));
        for (end, expected) in [
            (29_000, (16, 14, 13_000)),
            (31_000, (20, 10, 16_000)),
            (38_000, (30, 0, 24_000)),
        ] {
            assert_eq!(carried(&links, end), expected, "{end}");
        }
    }

    #[test]
    fn without_a_gap_nothing_is_postponed() {
        // The second begins as the first ends, as it would in any case.
        let mut links = link();
        links.transmit(LinkId(0), 10, Time(0));
        links.postpone(LinkId(0), Time(8_000));
        links.transmit(LinkId(0), 10, Time(8_000));
        assert_eq!(carried(&links, 4_000), (5, 15, 4_000));
    }
}
