//! Fair network interfaces of hosts: segments without data have priority, flows with data are
//! served by deficit round robin (Shreedhar and Varghese 1995). The interface chooses the next
//! segment at each departure; segments that wait here are not on the link yet.

use crate::link::pause::Classes;
use crate::link::queue::Chain;
use crate::{Fabric, FlowId, LinkId, NodeId, Packet, PacketId, Sendable, Unit, Units};
use lightburst_des::Time;
use std::collections::VecDeque;

/// Queue number of a flow without waiting segments.
const NO_QUEUE: u32 = u32::MAX;

/// Parameters of all fair interfaces.
#[derive(Clone, Copy, Debug)]
pub struct Fairness {
    /// Bytes added to the deficit of a flow per turn. At least the size of the largest segment.
    pub quantum: u32,
    /// Largest number of segments with data that a flow may have waiting.
    pub small_queue: u32,
    /// Whether all segments wait in one queue, first in, first out.
    pub fifo: bool,
    /// Whether every departure is reported to the hosts; needed by transports with timers that
    /// count from the transmission.
    pub all_departures: bool,
}

/// A segment whose transmission starts after waiting in the interface.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The segment.
    pub packet: Packet,
    /// Whether its sender waits for room.
    pub wanted: bool,
}

/// Departure that an interface has chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    /// The segment.
    pub packet: PacketId,
    /// Whether the hosts must be told of the departure.
    pub told: bool,
    /// Whether the sender of the segment waits for room.
    pub wanted: bool,
    /// Queue that the departure empties.
    pub emptied: Option<u32>,
    /// Whether other segments wait, so that the caller must schedule the next departure.
    pub more: bool,
}

/// Waiting segments with data of one flow.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    chain: Chain,
    segments: u32,
    deficit: u32,
    /// Whether the quantum of the present turn was added.
    served: bool,
    /// Whether the sender waits for room.
    wanted: bool,
}

/// Fair interface of one host.
#[derive(Clone, Debug, Default)]
struct Interface {
    control: Chain,
    /// Active queues, in the order of their turns.
    turns: VecDeque<u32>,
    waiting_bytes: u64,
    /// Whether the event of the next departure is pending.
    armed: bool,
    /// Classes that pause, a bit for each.
    paused: u8,
}

/// Fair interfaces of all hosts.
pub struct Interfaces {
    settings: Fairness,
    hosts: Vec<Interface>,
    /// Queue number of each flow.
    queue_of: Vec<u32>,
    queues: Vec<Queue>,
    free: Vec<u32>,
    /// Class of each flow, where links pause.
    classes: Option<Classes>,
}

/// Segment that leaves, whether its sender waits for room, and the queue that it empties.
type Taken = (Unit, bool, Option<u32>);

impl Interfaces {
    /// Creates the interfaces of `hosts` hosts with `flows` flows.
    pub fn new(settings: Fairness, hosts: u32, flows: usize) -> Interfaces {
        Interfaces {
            settings,
            hosts: vec![Interface::default(); hosts as usize],
            queue_of: vec![NO_QUEUE; flows],
            queues: Vec::new(),
            free: Vec::new(),
            classes: None,
        }
    }

    /// Lets classes of flows pause.
    pub fn have_pauses(&mut self, classes: Classes) {
        self.classes = Some(classes);
    }

    /// Returns the bytes waiting at a host.
    #[inline]
    pub fn waiting_bytes(&self, host: usize) -> u64 {
        self.hosts.get(host).map_or(0, |host| host.waiting_bytes)
    }

    /// Returns whether there is room for another segment of a flow. If not, the sender is notified
    /// at the departure of a segment.
    #[inline]
    pub(crate) fn has_room(&mut self, flow: FlowId) -> bool {
        let most = self.settings.small_queue;
        let Some(queue) = self.queues.get_mut(self.queue_of[flow.index()] as usize) else {
            return true;
        };
        queue.wanted |= queue.segments >= most;
        queue.segments < most
    }

    /// Queues a packet at a host. Returns whether the caller must schedule the next departure.
    pub(crate) fn add(
        &mut self,
        node: NodeId,
        packet: PacketId,
        now: Time,
        units: &mut Units,
    ) -> bool {
        let Packet { envelope, header } = units.packets[packet];
        let host = &mut self.hosts[node.index()];
        host.waiting_bytes += u64::from(envelope.bytes);
        if header.payload == 0 || self.settings.fifo {
            host.control.push(packet.into(), now, units);
        } else {
            let place = &mut self.queue_of[envelope.flow.index()];
            if *place == NO_QUEUE {
                *place = self.free.pop().unwrap_or(self.queues.len() as u32);
                if *place as usize == self.queues.len() {
                    self.queues.push(Queue::default());
                }
                host.turns.push_back(*place);
            }
            let queue = &mut self.queues[*place as usize];
            queue.chain.push(packet.into(), now, units);
            queue.segments += 1;
        }
        let open = host.paused == 0 || !pauses(host.paused, &self.classes, envelope.flow);
        open && !std::mem::replace(&mut host.armed, true)
    }

    /// Removes the packet whose transmission starts now; `None` if all that wait pause.
    #[inline(always)]
    pub(crate) fn next(&mut self, node: NodeId, units: &mut Units) -> Option<Next> {
        let paused = self.hosts[node.index()].paused;
        let taken = match paused {
            0 => self.take(node, units),
            _ => self.take_open(node, paused, units),
        };
        let host = &mut self.hosts[node.index()];
        let Some((unit, wanted, emptied)) = taken else {
            host.armed = false;
            return None;
        };
        let Unit::Packet(packet) = unit else {
            unreachable!("bursts begin at an edge");
        };
        host.waiting_bytes -= u64::from(units.packets[packet].envelope.bytes);
        host.armed = host.waiting_bytes > 0;
        Some(Next {
            packet,
            told: wanted || self.settings.all_departures,
            wanted,
            emptied,
            more: host.armed,
        })
    }

    #[inline(always)]
    fn take(&mut self, node: NodeId, units: &Units) -> Option<Taken> {
        let host = &mut self.hosts[node.index()];
        if let Some((unit, _)) = host.control.pop(units) {
            return Some((unit, false, None));
        }
        let place = turn(host, &mut self.queues, self.settings.quantum, units);
        Some(self.queues[place as usize].send(place, units))
    }

    /// Takes out the first segment of a class that does not pause.
    #[cold]
    fn take_open(&mut self, node: NodeId, paused: u8, units: &mut Units) -> Option<Taken> {
        let host = &mut self.hosts[node.index()];
        let open =
            |unit: Unit, units: &Units| !pauses(paused, &self.classes, unit.envelope(units).flow);
        if let Some(unit) = host.control.take(units, open) {
            return Some((unit, false, None));
        }
        let first = |queue: &Queue| queue.chain.first().expect("a segment that waits");
        let is_open = |place: &u32, queues: &[Queue]| open(first(&queues[*place as usize]), units);
        if !host.turns.iter().any(|place| is_open(place, &self.queues)) {
            return None;
        }
        loop {
            while !is_open(&host.turns[0], &self.queues) {
                let queue = &mut self.queues[host.turns[0] as usize];
                if std::mem::take(&mut queue.served) {
                    queue.deficit = queue.deficit.saturating_sub(self.settings.quantum);
                }
                host.turns.rotate_left(1);
            }
            let quantum = self.settings.quantum;
            if let Some(place) = turn_of_first(host, &mut self.queues, quantum, units) {
                return Some(self.queues[place as usize].send(place, units));
            }
        }
    }

    /// Returns whether a segment of a flow may leave a host at once, if its link is free.
    #[inline]
    pub(crate) fn is_idle(&self, node: NodeId, flow: FlowId, units: &Units) -> bool {
        let host = &self.hosts[node.index()];
        match host.paused {
            0 => host.waiting_bytes == 0,
            paused => !pauses(paused, &self.classes, flow) && !self.is_open_waiting(host, units),
        }
    }

    /// Returns whether a segment of a class that does not pause waits.
    #[cold]
    fn is_open_waiting(&self, host: &Interface, units: &Units) -> bool {
        let open = |unit: &Unit| !pauses(host.paused, &self.classes, unit.envelope(units).flow);
        let firsts = host
            .turns
            .iter()
            .filter_map(|&place| self.queues[place as usize].chain.first());
        firsts.into_iter().any(|unit| open(&unit))
            || host.control.iter(units).any(|unit| open(&unit))
    }

    /// Notes that the event of the next departure is pending.
    pub(crate) fn arm(&mut self, node: NodeId) {
        self.hosts[node.index()].armed = true;
    }

    /// Lets a class of a host pause or go on. Returns whether segments wait for whose departure there
    /// is no event, so that one may leave now.
    pub(crate) fn pause(&mut self, node: NodeId, class: u16, paused: bool) -> bool {
        let host = &mut self.hosts[node.index()];
        host.paused = (host.paused & !(1 << class)) | u8::from(paused) << class;
        !paused && !host.armed && host.waiting_bytes > 0
    }

    /// Closes the queue that the last departure emptied, unless the flow has added a segment since:
    /// such a flow keeps its turn.
    #[inline]
    pub(crate) fn close(&mut self, node: NodeId, flow: FlowId, place: u32) {
        let queue = &mut self.queues[place as usize];
        if queue.segments == 0 {
            *queue = Queue::default();
            self.queue_of[flow.index()] = NO_QUEUE;
            self.free.push(place);
            self.hosts[node.index()].turns.pop_front();
        }
    }
}

impl Fabric {
    /// Returns the bytes waiting at the interface of a link's source host; they are not on the link
    /// yet.
    #[inline]
    pub fn waiting_at_interface(&self, link: LinkId) -> u64 {
        // Hosts are the first nodes and have one link each, so link numbers equal host numbers.
        let interfaces = self.interfaces.as_ref();
        interfaces.map_or(0, |all| all.waiting_bytes(link.index()))
    }
}

/// Returns whether the class of a flow is among those that pause.
fn pauses(paused: u8, classes: &Option<Classes>, flow: FlowId) -> bool {
    let class = classes.as_ref().map_or(0, |classes| classes.of(flow));
    paused >> class & 1 != 0
}

impl Queue {
    /// Takes out the first segment, to be sent.
    #[inline(always)]
    fn send(&mut self, place: u32, units: &Units) -> Taken {
        self.segments -= 1;
        let wanted = std::mem::take(&mut self.wanted);
        let emptied = (self.segments == 0).then_some(place);
        let (unit, _) = self.chain.pop(units).expect("a segment that waits");
        (unit, wanted, emptied)
    }
}

/// Returns the queue that sends next, and takes the bytes of its first segment from its deficit.
#[inline(always)]
fn turn(host: &mut Interface, queues: &mut [Queue], quantum: u32, units: &Units) -> u32 {
    loop {
        if let Some(place) = turn_of_first(host, queues, quantum, units) {
            return place;
        }
    }
}

/// Returns the first queue, if its deficit allows it to send, and takes the bytes of its first segment
/// from that; otherwise its turn ends.
#[inline(always)]
fn turn_of_first(
    host: &mut Interface,
    queues: &mut [Queue],
    quantum: u32,
    units: &Units,
) -> Option<u32> {
    let place = host.turns[0];
    let queue = &mut queues[place as usize];
    if !std::mem::replace(&mut queue.served, true) {
        queue.deficit += quantum;
    }
    let first = queue.chain.first().expect("a segment that waits");
    let bytes = first.envelope(units).bytes;
    if bytes <= queue.deficit {
        queue.deficit -= bytes;
        return Some(place);
    }
    queue.served = false;
    host.turns.rotate_left(1);
    None
}
