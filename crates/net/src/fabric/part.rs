//! A network in parts, for a run on several threads. Each part has a whole network, in which only the
//! state of its own nodes and of the links that leave them changes. A unit that crosses to another
//! part is handed over by value at the end of a window, which is not longer than the delay of any
//! link between two parts (the lookahead of a conservative parallel simulation).

use crate::link::fifo;
use crate::link::Transit;
use crate::unit::units::Behind;
use crate::{
    Dropped, Event, Fabric, FlowId, LinkId, LostTransmission, NodeId, Options, Packet, Unit,
};
use lightburst_des::{Agenda, Duration, Time};
use std::sync::Arc;

/// What crosses from one part to another in a window.
#[derive(Debug, Default)]
pub struct Parcel {
    /// Packets with their arrival times, in the order in which their links transmit them.
    packets: Vec<Packet>,
    /// Link of each packet.
    links: Vec<LinkId>,
    /// Options of the packets that carry some, in the same order.
    options: Vec<Options>,
    /// Losses of senders of the other part.
    lost: Vec<(FlowId, LostTransmission)>,
}

/// Part of a network.
#[derive(Debug)]
pub struct Part {
    /// Number of this part.
    number: u16,
    /// Part of each node.
    of_node: Arc<[u16]>,
    /// What crosses to each part in this window.
    parcels: Vec<Parcel>,
    /// Losses of the senders of this part in this window.
    lost: Vec<(FlowId, LostTransmission)>,
    /// Earliest arrival of a packet that crosses in this window.
    earliest: Time,
    /// Flows whose senders have postponed questions about losses to the end of this window.
    asking: Vec<FlowId>,
}

impl Part {
    /// Creates part `number` of `parts`.
    pub fn new(number: u16, parts: usize, of_node: Arc<[u16]>) -> Part {
        Part {
            number,
            of_node,
            parcels: (0..parts).map(|_| Parcel::default()).collect(),
            lost: Vec::new(),
            earliest: Time::NEVER,
            asking: Vec::new(),
        }
    }

    /// Returns whether a node belongs to this part.
    #[inline]
    pub fn owns(&self, node: NodeId) -> bool {
        self.of_node[node.index()] == self.number
    }

    /// Returns the parcel for another part, to be exchanged for an empty one.
    pub fn parcel(&mut self, part: usize) -> &mut Parcel {
        &mut self.parcels[part]
    }

    /// Takes out the earliest arrival of a packet that crosses in this window.
    pub fn take_earliest(&mut self) -> Time {
        std::mem::replace(&mut self.earliest, Time::NEVER)
    }

    /// Hands a packet over that arrives at a node of another part.
    pub(crate) fn send(&mut self, packet: Packet, way: (LinkId, NodeId), options: Option<Options>) {
        let (link, to) = way;
        self.earliest = self.earliest.min(packet.envelope.behind.due);
        let parcel = &mut self.parcels[usize::from(self.of_node[to.index()])];
        parcel.options.extend(options);
        parcel.packets.push(packet);
        parcel.links.push(link);
    }

    /// Notes that the sender of a flow has postponed a question about its losses.
    pub(crate) fn ask_later(&mut self, flow: FlowId) {
        self.asking.push(flow);
    }

    /// Notes a loss for the sender of the packet.
    #[cold]
    fn lose(&mut self, packet: &Packet, now: Time) {
        let Some(lost) = LostTransmission::of(packet, now) else {
            return;
        };
        let part = self.of_node[packet.envelope.source.index()];
        let list = match part == self.number {
            true => &mut self.lost,
            false => &mut self.parcels[usize::from(part)].lost,
        };
        list.push((packet.envelope.flow, lost));
    }

    /// Moves the losses that a parcel brings to those of this window.
    fn learn(&mut self, parcel: &mut Parcel) {
        self.lost.append(&mut parcel.lost);
    }

    /// Appends the losses of this window to the lists of their flows, in order of time.
    fn settle(&mut self, dropped: &mut Dropped) {
        self.lost.sort_by_key(|(_, lost)| lost.at);
        for (flow, lost) in self.lost.drain(..) {
            dropped.append(flow, lost);
        }
    }
}

impl Fabric {
    /// Records the loss of a packet for its sender.
    #[inline]
    pub(crate) fn lose(&mut self, packet: &Packet, now: Time) {
        match &mut self.part {
            None => self.dropped.tell(packet, now),
            Some(part) => part.lose(packet, now),
        }
    }

    /// Takes over the packets and losses of a parcel, and empties it.
    pub fn receive(&mut self, parcel: &mut Parcel, agenda: &mut Agenda<Event>) {
        let mut options = parcel.options.drain(..);
        let links = parcel.links.drain(..);
        for (mut packet, link) in parcel.packets.drain(..).zip(links) {
            let arrival = packet.envelope.behind.due;
            packet.envelope.behind = Behind::NOTHING;
            let id = self.units.packets.insert(packet);
            if packet.header.has_options() {
                self.set_options(id, options.next().expect("options"));
            }
            let transit = Transit {
                start: Time::ZERO,
                arrival,
                to: self.links.to(link),
                delay: Duration::ZERO,
            };
            let tail = self.links.tail_mut(link);
            fifo::travel(
                Unit::Packet(id),
                link,
                transit,
                tail,
                &mut self.units,
                agenda,
            );
        }
        drop(options);
        self.part.as_mut().expect("a part").learn(parcel);
    }

    /// Ends a window after all parcels: the losses of senders of this part are known. Returns the
    /// flows whose senders have postponed questions about them.
    pub fn end_window(&mut self) -> Vec<FlowId> {
        let part = self.part.as_mut().expect("a part");
        part.settle(&mut self.dropped);
        std::mem::take(&mut part.asking)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_a_window_are_read_in_the_order_of_their_times() {
        let lost = |transmission, at| {
            let lost = LostTransmission {
                sequence: 0,
                transmission,
                flags: 0,
                at: Time(at),
            };
            (FlowId(0), lost)
        };
        let mut part = Part::new(0, 2, vec![0, 1].into());
        let mut dropped = Dropped::new(1);
        part.lost = vec![lost(3, 7)];
        for losses in [vec![lost(1, 5)], vec![lost(2, 6), lost(4, 9)]] {
            part.learn(&mut Parcel {
                lost: losses,
                ..Parcel::default()
            });
        }
        part.settle(&mut dropped);
        let taken = dropped.take(FlowId(0), Time(8));
        let taken: Vec<u32> = taken.map(|one| one.transmission).collect();
        assert_eq!(taken, [1, 2, 3]);
    }

    #[test]
    fn a_part_owns_its_nodes_and_forgets_the_earliest_arrival_of_a_window() {
        let mut part = Part::new(1, 2, vec![0, 1].into());
        assert_eq!([0, 1].map(|node| part.owns(NodeId(node))), [false, true]);
        assert_eq!(part.take_earliest(), Time::NEVER);
        for due in [9, 4, 6] {
            let header = crate::Header::default();
            let mut packet = Packet::new(FlowId(0), NodeId(1), NodeId(0), 1, header);
            packet.envelope.behind.due = Time(due);
            part.send(packet, (LinkId(0), NodeId(0)), None);
        }
        assert_eq!(part.take_earliest(), Time(4));
        assert_eq!(part.take_earliest(), Time::NEVER);
        assert_eq!(part.parcel(0).packets.len(), 3);
    }
}
