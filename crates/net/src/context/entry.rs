//! Packets that enter the network at an edge and leave it at an edge, without links to hosts.

use super::Context;
use crate::trace::{Place, What};
use crate::{LinkId, Packet, PacketId};

impl Context<'_> {
    /// Puts a packet into the network at an edge. The trace records it as sent from here.
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

    /// Queues a packet that has left its burst at the egress, for delivery within the same event.
    #[inline]
    pub fn end(&mut self, packet: PacketId) {
        self.fabric.ended.push_back(packet);
    }

    /// Takes the next packet out of the queue of [`Context::end`].
    #[inline]
    pub(crate) fn ended(&mut self) -> Option<PacketId> {
        self.fabric.ended.pop_front()
    }
}
