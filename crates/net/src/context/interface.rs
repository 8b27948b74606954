//! Transmission at the network interface of a host.

use super::Context;
use crate::observe::{Happening, Interest};
use crate::{Departure, Event, FlowId, PacketId, PortId, TimerId};
use lightburst_des::Time;

/// The only port of a host.
const NIC: PortId = PortId(0);

impl Context<'_> {
    /// Hands a new packet of this host to its interface. Returns the start of the transmission;
    /// `None` if the packet waits in a fair interface.
    #[inline]
    pub fn send_new(&mut self, packet: PacketId) -> Option<Time> {
        if self.fabric.interfaces.is_some() {
            return self.send_in_turn(packet);
        }
        Some(self.send_now(packet))
    }

    /// Hands a packet of this host to its link and reports the start of the transmission to
    /// observers. Returns the start.
    #[inline]
    fn send_now(&mut self, packet: PacketId) -> Time {
        if self.observed(Interest::SENT) {
            self.tell_sent(packet);
        }
        self.send(NIC, packet, self.now())
    }

    #[cold]
    fn tell_sent(&mut self, packet: PacketId) {
        // Reported before the hand-over, because the link may drop the packet.
        let start = self.now().max(self.free_at(NIC));
        let place = self.place(NIC);
        self.tell(Interest::SENT, || Happening::Sent {
            packet,
            place,
            start,
        });
    }

    fn send_in_turn(&mut self, packet: PacketId) -> Option<Time> {
        let (node, free_at, now) = (self.node, self.free_at(NIC), self.now());
        let units = &mut self.fabric.units;
        let interfaces = self.fabric.interfaces.as_mut().expect("fair interfaces");
        let flow = units.packets[packet].envelope.flow;
        if free_at <= now && interfaces.is_idle(node, flow, units) {
            return Some(self.send_now(packet));
        }
        if interfaces.add(node, packet, now, units) {
            self.timer(free_at, TimerId::DEPARTURE);
        }
        None
    }

    /// Returns whether the interface has room for another segment of a flow. If not, the sender is
    /// notified at the departure of a segment.
    #[inline]
    pub fn has_room(&mut self, flow: FlowId) -> bool {
        match &mut self.fabric.interfaces {
            None => true,
            Some(interfaces) => interfaces.has_room(flow),
        }
    }

    /// Returns the bytes that the interface of this host has not sent yet, rounded up.
    #[inline]
    pub fn access_backlog(&self) -> u64 {
        self.backlog(NIC) + self.fabric.waiting_at_interface(self.link(NIC))
    }

    /// Acts on a pause frame. Returns whether the next segment is to be sent now; otherwise it has a
    /// timer, or waits for the end of the pause.
    pub(crate) fn pause_interface(&mut self, timer_id: TimerId) -> bool {
        let (_, class, paused) = self.take_pause_frame(timer_id);
        let (node, free_at) = (self.node, self.free_at(NIC));
        let is_free = free_at <= self.now();
        let interfaces = self.fabric.interfaces.as_mut().expect("interfaces");
        if !interfaces.pause(node, class, paused) {
            return false;
        }
        if !is_free {
            interfaces.arm(node);
            self.timer(free_at, TimerId::DEPARTURE);
        }
        is_free
    }

    /// Sends the next segment of the fair interface and schedules the departure after it. `tell`
    /// notifies the hosts.
    // One function without calls on the common path, since every segment with data comes through it.
    #[inline(always)]
    pub(crate) fn depart(&mut self, tell: impl FnOnce(&Departure, &mut Self)) {
        let units = &mut self.fabric.units;
        let interfaces = self.fabric.interfaces.as_mut().expect("fair interfaces");
        let Some(next) = interfaces.next(self.node, units) else {
            return;
        };
        // Copied before the hand-over, because the link may drop the packet.
        let flow = units.packets[next.packet].envelope.flow;
        let departure = next.told.then(|| Departure {
            packet: units.packets[next.packet],
            wanted: next.wanted,
        });
        self.send_now(next.packet);
        if next.more {
            let event = Event::timer(self.node, TimerId::DEPARTURE);
            self.agenda.push(self.free_at(NIC), event);
        }
        if let Some(departure) = departure {
            tell(&departure, self);
        }
        if let Some(place) = next.emptied {
            let interfaces = self.fabric.interfaces.as_mut().expect("fair interfaces");
            interfaces.close(self.node, flow, place);
        }
    }
}
