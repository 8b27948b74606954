//! Priority flow control (IEEE 802.1Qbb): a switch counts the bytes of each class that came over each
//! link and are still in it, and lets the other end of the link pause the class while there are too
//! many.

use super::outages::Outages;
use super::Links;
use crate::{Event, FlowId, LinkId, PacketId, TimerId, Units};
use lightburst_des::{Agenda, Duration, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Bytes of a pause frame: the least frame of Ethernet (IEEE 802.3, annex 31D).
pub const FRAME: u32 = 64;

/// Bounds on the bytes of a class that came over a link and are in the switch at its end.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Above so many bytes the class is asked to pause.
    pub xoff: u64,
    /// At so many bytes or fewer a paused class may go on.
    pub xon: u64,
    /// Above so many bytes no unit is taken in.
    pub most: u64,
}

/// Class of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lane {
    /// The link.
    pub link: LinkId,
    /// The class.
    pub class: u16,
}

/// Lane whose pause cannot end, a lane for which bytes that came by it wait, and their number.
pub type Locked = (Lane, Lane, u64);

/// Flow control of a lane.
#[derive(Clone, Debug, Default)]
struct Control {
    /// Bytes that came over the lane and are in the switch at its end.
    bytes: u64,
    /// Whether the last frame from the end of the lane asked for a pause, and when.
    asked: bool,
    asked_at: Time,
    /// Whether the begin of the lane pauses, since `since`.
    paused: bool,
    since: Time,
    /// Number of pauses, and the length of those that have ended.
    pauses: u64,
    time: Duration,
}

/// End of a link.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// Link the other way, which takes the frames.
    pub reverse: LinkId,
    /// Bounds; `None` if the end asks for no pauses.
    pub bounds: Option<Bounds>,
}

/// Way of a packet through a switch.
#[derive(Clone, Copy, Debug)]
struct Passing {
    from: LinkId,
    to: LinkId,
}

const NOWHERE: Passing = Passing {
    from: LinkId::NONE,
    to: LinkId::NONE,
};

/// Largest number of classes: the priorities of IEEE 802.1Qbb.
pub const MOST_CLASSES: u16 = 8;

/// Class of each flow.
#[derive(Clone, Debug)]
pub struct Classes {
    /// Number of classes.
    pub number: u16,
    /// Class of each flow; empty if there is one.
    pub of: Arc<[u16]>,
}

impl Classes {
    #[inline]
    pub(crate) fn of(&self, flow: FlowId) -> u16 {
        self.of.get(flow.index()).copied().unwrap_or(0)
    }
}

/// Flow control of all links.
#[derive(Debug)]
pub struct Pauses {
    /// Classes of the flows.
    pub classes: Classes,
    ends: Vec<End>,
    /// One for each lane, link by link.
    controls: Vec<Control>,
    /// Links by which each packet came and for which it waits, by its handle; nowhere if it is in no
    /// switch.
    passing: Vec<Passing>,
    /// All pauses, if they are recorded.
    spans: Option<Vec<Span>>,
    /// Times at which each link, or the one back, goes down or comes up, in order; empty if none
    /// does.
    breaks: Vec<Vec<Time>>,
}

/// Pause of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Its begin.
    pub begin: Time,
    /// The lane.
    pub lane: Lane,
    /// Its end; [`Time::NEVER`] if it has not ended.
    pub end: Time,
}

impl Pauses {
    /// Creates the flow control of all links, from their ends.
    pub fn new(classes: Classes, ends: Vec<End>) -> Pauses {
        Pauses {
            controls: vec![Control::default(); ends.len() * usize::from(classes.number)],
            classes,
            ends,
            passing: Vec::new(),
            spans: None,
            breaks: Vec::new(),
        }
    }

    /// Lets links go down: `changes` are the times at which each goes down or comes up, in order.
    pub fn have_breaks(&mut self, changes: &[Vec<Time>]) {
        let both = |(own, end): (&Vec<Time>, &End)| {
            let mut times = [&own[..], &changes[end.reverse.index()]].concat();
            times.sort_unstable();
            times
        };
        self.breaks = changes.iter().zip(&self.ends).map(both).collect();
    }

    /// Returns the first time after `after` at which a link, or the one back, goes down or comes up.
    pub(crate) fn next_break(&self, link: LinkId, after: Time) -> Option<Time> {
        let times = self.breaks.get(link.index())?;
        let next = times.partition_point(|&time| time <= after);
        times.get(next).copied().filter(|&time| time < Time::NEVER)
    }

    /// Returns whether a link, or the one back, goes down or comes up after `after` and at `until` at
    /// the latest.
    fn breaks(&self, link: LinkId, after: Time, until: Time) -> bool {
        self.next_break(link, after)
            .is_some_and(|time| time <= until)
    }

    /// Returns whether the last frame for a lane asked for a pause, which no break has ended.
    fn is_asked(&self, lane: Lane, now: Time) -> bool {
        let control = &self.controls[self.number(lane) as usize];
        control.asked && !self.breaks(lane.link, control.asked_at, now)
    }

    /// Notes that a packet in a switch will leave by the link `to`.
    pub(crate) fn turn(&mut self, packet: PacketId, to: LinkId) {
        self.passing[packet.index()].to = to;
    }

    /// Records all pauses.
    pub fn record(&mut self) {
        self.spans = Some(Vec::new());
    }

    /// Returns all pauses in their order, if they are recorded.
    pub fn recorded(&self) -> Option<Vec<Span>> {
        let mut spans = self.spans.clone()?;
        spans.sort_unstable();
        Some(spans)
    }

    fn number(&self, lane: Lane) -> u32 {
        lane.link.0 * u32::from(self.classes.number) + u32::from(lane.class)
    }

    /// Returns the lane of the number that a timer has as its subject.
    pub(crate) fn lane(&self, number: u32) -> Lane {
        let classes = u32::from(self.classes.number);
        Lane {
            link: LinkId(number / classes),
            class: (number % classes) as u16,
        }
    }

    fn control(&mut self, lane: Lane) -> &mut Control {
        let number = self.number(lane) as usize;
        &mut self.controls[number]
    }

    /// Returns whether a class of a link pauses.
    #[inline]
    pub(crate) fn is_paused(&self, lane: Lane) -> bool {
        self.controls[self.number(lane) as usize].paused
    }

    /// Returns whether any class of a link pauses.
    #[cold]
    pub(crate) fn is_pausing(&self, link: LinkId) -> bool {
        self.lanes(link).any(|lane| self.is_paused(lane))
    }

    /// Returns whether all classes of a link pause.
    pub(crate) fn are_all_paused(&self, link: LinkId) -> bool {
        self.lanes(link).all(|lane| self.is_paused(lane))
    }

    fn lanes(&self, link: LinkId) -> impl Iterator<Item = Lane> {
        (0..self.classes.number).map(move |class| Lane { link, class })
    }

    /// Counts a packet of `bytes` that came by a lane and will leave by the link `to`. Returns whether
    /// there is room for it; if not, it is not counted.
    pub(crate) fn enter(&mut self, packet: PacketId, lane: Lane, to: LinkId, bytes: u32) -> bool {
        let bounds = self.ends[lane.link.index()].bounds;
        let control = self.control(lane);
        let bytes = control.bytes + u64::from(bytes);
        if bounds.is_some_and(|bounds| bytes > bounds.most) {
            return false;
        }
        control.bytes = bytes;
        if packet.index() >= self.passing.len() {
            self.passing.resize(packet.index() + 1, NOWHERE);
        }
        let from = lane.link;
        self.passing[packet.index()] = Passing { from, to };
        true
    }

    /// Discounts a packet of a class that leaves the switch. Returns its lane, if that may go on now.
    pub(crate) fn leave(
        &mut self,
        packet: PacketId,
        class: u16,
        bytes: u32,
        now: Time,
    ) -> Option<Lane> {
        let passing = &mut self.passing[packet.index()];
        let link = std::mem::replace(passing, NOWHERE).from;
        let lane = Lane { link, class };
        let bounds = self.ends[link.index()].bounds;
        let is_asked = self.is_asked(lane, now);
        let control = self.control(lane);
        control.bytes -= u64::from(bytes);
        let ends = is_asked && control.bytes <= bounds?.xon;
        control.asked &= !ends;
        ends.then_some(lane)
    }

    /// Returns whether a lane by which a packet has come must be asked to pause.
    pub(crate) fn must_ask(&mut self, lane: Lane, now: Time) -> bool {
        let bounds = self.ends[lane.link.index()].bounds;
        let is_asked = self.is_asked(lane, now);
        let control = self.control(lane);
        let asks = !is_asked && bounds.is_some_and(|bounds| control.bytes > bounds.xoff);
        if asks {
            (control.asked, control.asked_at) = (true, now);
        }
        asks
    }

    /// Sends the frame that lets a lane pause or go on. It is lost if its link is down, or if a break
    /// comes before it has arrived.
    pub(crate) fn send_frame(
        &self,
        lane: Lane,
        pause: bool,
        (links, outages): (&mut Links, Option<&Outages>),
        agenda: &mut Agenda<Event>,
    ) {
        let reverse = self.ends[lane.link.index()].reverse;
        let now = agenda.now();
        let arrival = links.transmit_frame(reverse, now);
        let is_down = outages.is_some_and(|outages| outages.is_down(reverse, now));
        if is_down || self.breaks(lane.link, now, arrival) {
            return;
        }
        let timer_id = TimerId {
            kind: if pause {
                TimerId::PAUSE
            } else {
                TimerId::RESUME
            },
            subject: self.number(lane),
        };
        agenda.push(arrival, Event::timer(links.to(reverse), timer_id));
    }

    /// Lets a lane pause or go on, at its begin.
    pub(crate) fn set(&mut self, lane: Lane, paused: bool, now: Time) {
        let control = self.control(lane);
        if control.paused == paused {
            // The break after a pause that has ended.
            return;
        }
        control.paused = paused;
        if paused {
            control.pauses += 1;
            control.since = now;
        } else {
            control.time += now.since(control.since);
        }
        let Some(spans) = &mut self.spans else {
            return;
        };
        if paused {
            let (begin, end) = (now, Time::NEVER);
            spans.push(Span { begin, lane, end });
        } else if let Some(last) = spans.iter_mut().rev().find(|span| span.lane == lane) {
            last.end = now;
        }
    }

    /// Returns the lanes whose pauses cannot end: the largest set in which each lane pauses, and more
    /// bytes than those at which it may go on wait for lanes of the set. For each of these lanes there
    /// are the bytes that came by it and wait for another one, in the order of the lanes.
    pub fn locked(&self, units: &Units) -> Vec<Locked> {
        let mut waits: BTreeMap<(Lane, Lane), u64> = BTreeMap::new();
        let inside = self.passing.iter().zip(0..);
        for (&Passing { from, to }, packet) in inside.filter(|(at, _)| at.from != LinkId::NONE) {
            let envelope = &units.packets[PacketId(packet)].envelope;
            let class = self.classes.of(envelope.flow);
            let [from, to] = [from, to].map(|link| Lane { link, class });
            *waits.entry((from, to)).or_default() += u64::from(envelope.bytes);
        }
        let of = |lane: &Lane| &self.controls[self.number(*lane) as usize];
        let lanes = (0..self.controls.len() as u32).map(|number| self.lane(number));
        let mut set: BTreeSet<Lane> = lanes
            .filter(|lane| of(lane).asked && of(lane).paused)
            .collect();
        loop {
            let stays = |lane: &Lane| {
                let xon = self.ends[lane.link.index()]
                    .bounds
                    .map_or(0, |bounds| bounds.xon);
                let held = waits
                    .iter()
                    .filter(|((from, to), _)| from == lane && set.contains(to));
                held.map(|(_, bytes)| bytes).sum::<u64>() > xon
            };
            let kept: BTreeSet<Lane> = set.iter().copied().filter(stays).collect();
            if kept.len() == set.len() {
                break;
            }
            set = kept;
        }
        let inner = |((from, to), bytes): ((Lane, Lane), u64)| {
            (set.contains(&from) && set.contains(&to)).then_some((from, to, bytes))
        };
        waits.into_iter().filter_map(inner).collect()
    }

    /// Returns the number of pauses of the classes of each link, and their length up to `end`.
    pub fn counted(&self, end: Time) -> Vec<(u64, u64)> {
        let time = |of: &Control| match of.paused {
            true => of.time + end.since(of.since),
            false => of.time,
        };
        let sum = |lanes: &[Control]| {
            let pauses = lanes.iter().map(|of| of.pauses).sum();
            (pauses, lanes.iter().map(|of| time(of).0).sum())
        };
        let classes = usize::from(self.classes.number);
        self.controls.chunks(classes).map(sum).collect()
    }
}

impl Links {
    /// Transmits a pause frame on a link, ahead of all that waits; returns its arrival. The frame is
    /// no unit.
    fn transmit_frame(&mut self, link: LinkId, now: Time) -> Time {
        let start = self.free_at(link).max(now);
        self.shift(link, start);
        let time = self.transmission_time(link, FRAME);
        if self.kind(link).is_timed() {
            self.busy[link.index()] += time;
        }
        self.loads[link.index()].bytes += u64::from(FRAME);
        let end = start + time;
        self.exits[link.index()].free_at = end;
        end + self.delay(link)
    }
}
