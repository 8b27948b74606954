//! Packets that have no way to the edge from a host, and none from there to one.

use super::Context;
use crate::trace::{Place, What};
use crate::{LinkId, Packet, PacketId};

impl Context<'_> {
    /// Puts a packet into the network that is a burst of its own from here on.
    #[inline]
    pub fn enter(&mut self, packet: Packet) -> PacketId {
        self.fabric.created += 1;
        let packet = self.fabric.units.packets.insert(packet);
        if let Some(trace) = &mut self.fabric.trace {
            let now = self.scheduler.now();
            trace.mark(packet, self.node, false, now);
            let (node, link) = (self.node, LinkId::NONE);
            self.fabric
                .note(packet, What::Sent(Place { node, link }), now);
        }
        packet
    }

    /// Such a packet has left its burst.
    #[inline]
    pub fn end(&mut self, packet: PacketId) {
        self.fabric.ended.push_back(packet);
    }

    /// The next of those that have, to be delivered.
    #[inline]
    pub(crate) fn ended(&mut self) -> Option<PacketId> {
        self.fabric.ended.pop_front()
    }
}
