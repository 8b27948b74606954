//! Fair network interfaces of hosts: segments without data have priority, flows with data are
//! served by deficit round robin (Shreedhar and Varghese 1995). The interface chooses the next
//! segment at each departure; segments that wait here are not on the link yet.

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
    /// Whether the link pauses.
    paused: bool,
}

/// Fair interfaces of all hosts.
pub struct Interfaces {
    settings: Fairness,
    hosts: Vec<Interface>,
    /// Queue number of each flow.
    queue_of: Vec<u32>,
    queues: Vec<Queue>,
    free: Vec<u32>,
}

impl Interfaces {
    /// Creates the interfaces of `hosts` hosts with `flows` flows.
    pub fn new(settings: Fairness, hosts: u32, flows: usize) -> Interfaces {
        Interfaces {
            settings,
            hosts: vec![Interface::default(); hosts as usize],
            queue_of: vec![NO_QUEUE; flows],
            queues: Vec::new(),
            free: Vec::new(),
        }
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
        !host.paused && !std::mem::replace(&mut host.armed, true)
    }

    /// Removes the packet whose transmission starts now; `None` if the link pauses.
    #[inline(always)]
    pub(crate) fn next(&mut self, node: NodeId, units: &Units) -> Option<Next> {
        let host = &mut self.hosts[node.index()];
        if host.paused {
            host.armed = false;
            return None;
        }
        let (mut wanted, mut emptied) = (false, None);
        let (unit, _) = match host.control.pop(units) {
            Some(control) => control,
            None => {
                let place = turn(host, &mut self.queues, self.settings.quantum, units);
                let queue = &mut self.queues[place as usize];
                queue.segments -= 1;
                wanted = std::mem::take(&mut queue.wanted);
                emptied = (queue.segments == 0).then_some(place);
                queue.chain.pop(units).expect("a segment that waits")
            }
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

    /// Returns whether nothing waits at a host, and its link does not pause.
    #[inline]
    pub(crate) fn is_idle(&self, host: usize) -> bool {
        self.hosts[host].waiting_bytes == 0 && !self.hosts[host].paused
    }

    /// Notes that the event of the next departure is pending.
    pub(crate) fn arm(&mut self, node: NodeId) {
        self.hosts[node.index()].armed = true;
    }

    /// Lets the link of a host pause or go on. Returns whether a segment waits that may leave now and
    /// has no event.
    pub(crate) fn pause(&mut self, node: NodeId, paused: bool) -> bool {
        let host = &mut self.hosts[node.index()];
        host.paused = paused;
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

/// Returns the queue that sends next, and takes the bytes of its first segment from its deficit.
#[inline(always)]
fn turn(host: &mut Interface, queues: &mut [Queue], quantum: u32, units: &Units) -> u32 {
    loop {
        let place = host.turns[0];
        let queue = &mut queues[place as usize];
        if !std::mem::replace(&mut queue.served, true) {
            queue.deficit += quantum;
        }
        let first = queue.chain.first().expect("a segment that waits");
        let bytes = first.envelope(units).bytes;
        if bytes <= queue.deficit {
            queue.deficit -= bytes;
            return place;
        }
        queue.served = false;
        host.turns.rotate_left(1);
    }
}
