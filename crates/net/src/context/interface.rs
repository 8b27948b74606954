//! The interface of a host.

use super::Context;
use crate::trace::What;
use crate::{Departure, Event, FlowId, Packet, PacketId, PortId, Token};
use lightburst_des::Time;

/// The port of a host.
const NIC: PortId = PortId(0);

impl Context<'_> {
    /// Hands a packet that a host makes to its interface; returns when its transmission begins,
    /// unless it waits there for its turn.
    #[inline]
    pub fn send_new(&mut self, packet: PacketId) -> Option<Time> {
        if self.fabric.interfaces.is_some() {
            return self.send_in_turn(packet);
        }
        Some(self.send_now(packet))
    }

    /// Hands a packet that a host makes to its link, and notes in the trace when its transmission
    /// begins; returns that time.
    #[inline]
    fn send_now(&mut self, packet: PacketId) -> Time {
        if self.fabric.trace.is_some() {
            self.note_sent(packet);
        }
        self.send(NIC, packet, self.now())
    }

    #[cold]
    fn note_sent(&mut self, packet: PacketId) {
        // Before the packet is handed over, since its link may lose it.
        let begin = self.now().max(self.free_at(NIC));
        let place = self.place(NIC);
        self.fabric.note(packet, What::Sent(place), begin);
    }

    fn send_in_turn(&mut self, packet: PacketId) -> Option<Time> {
        let (node, free_at) = (self.node, self.free_at(NIC));
        let units = &mut self.fabric.units;
        let interfaces = self.fabric.interfaces.as_mut().expect("fair interfaces");
        if interfaces.waiting_bytes(node.index()) == 0 && free_at <= self.scheduler.now() {
            return Some(self.send_now(packet));
        }
        if interfaces.add(node, packet, &mut units.packets) {
            self.timer(free_at, Token::DEPARTURE);
        }
        None
    }

    /// Whether the interface has room for another segment of a flow. If not, its sender hears when
    /// one has left.
    #[inline]
    pub fn has_room(&mut self, flow: FlowId) -> bool {
        match &mut self.fabric.interfaces {
            None => true,
            Some(interfaces) => interfaces.has_room(flow),
        }
    }

    /// Bytes that the interface of this host has still to send, rounded up.
    #[inline]
    pub fn access_backlog(&self) -> u64 {
        self.backlog(NIC) + self.fabric.waiting_at_interface(self.link(NIC))
    }

    /// The next segment leaves the fair interface; says also whether hosts hear of that.
    pub(crate) fn depart(&mut self) -> (Departure, bool) {
        let units = &self.fabric.units;
        let interfaces = self.fabric.interfaces.as_mut().expect("fair interfaces");
        let (packet, heard, wanted) = interfaces.next(self.node, &units.packets);
        let departure = Departure {
            packet: units.packets[packet],
            wanted,
        };
        self.send_now(packet);
        (departure, heard)
    }

    /// What a segment's departure has led to is done.
    pub(crate) fn departed(&mut self, packet: &Packet) {
        let interfaces = self.fabric.interfaces.as_mut().expect("fair interfaces");
        if interfaces.departed(self.node, packet) {
            let event = Event::timer(self.node, Token::DEPARTURE);
            self.scheduler.push(self.free_at(NIC), event);
        }
    }
}
