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
        if header.payload == 0 {
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
        !std::mem::replace(&mut host.armed, true)
    }

    /// Removes the packet whose transmission starts now. Also returns whether the hosts must be
    /// notified, and whether the sender of the packet waits for room.
    pub(crate) fn next(&mut self, node: NodeId, units: &Units) -> (PacketId, bool, bool) {
        let host = &mut self.hosts[node.index()];
        host.armed = false;
        let mut wanted = false;
        let (unit, _) = host.control.pop(units).unwrap_or_else(|| {
            let queue = turn(host, &mut self.queues, self.settings.quantum, units);
            queue.segments -= 1;
            wanted = std::mem::take(&mut queue.wanted);
            queue.chain.pop(units).expect("a segment that waits")
        });
        let Unit::Packet(packet) = unit else {
            unreachable!("bursts begin at an edge");
        };
        host.waiting_bytes -= u64::from(units.packets[packet].envelope.bytes);
        (packet, wanted || self.settings.all_departures, wanted)
    }

    /// Completes a departure: closes the queue of the segment's flow if it is empty. Returns
    /// whether the caller must schedule the next departure.
    pub(crate) fn departed(&mut self, node: NodeId, packet: &Packet) -> bool {
        let host = &mut self.hosts[node.index()];
        if packet.header.payload > 0 {
            let place = &mut self.queue_of[packet.envelope.flow.index()];
            let queue = &mut self.queues[*place as usize];
            if queue.segments == 0 {
                *queue = Queue::default();
                self.free.push(std::mem::replace(place, NO_QUEUE));
                host.turns.pop_front();
            }
        }
        let waits = host.waiting_bytes > 0;
        waits && !std::mem::replace(&mut host.armed, true)
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
fn turn<'a>(
    host: &mut Interface,
    queues: &'a mut [Queue],
    quantum: u32,
    units: &Units,
) -> &'a mut Queue {
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
            return &mut queues[place as usize];
        }
        queue.served = false;
        host.turns.rotate_left(1);
    }
}
