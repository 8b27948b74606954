//! Drops of units at a node. The node itself counts them by reason.

use super::Context;
use crate::fabric::Why;
use crate::observe::{Happening, Holder, Interest, Place};
use crate::routing::label::SHORTEST;
use crate::{DropReason, Header, Identity, Packet, PacketId, PortId, Sendable, Treatment};

impl Context<'_> {
    /// Drops a unit that requested a port.
    #[inline]
    pub fn drop(&mut self, unit: impl Sendable, port: PortId, reason: &'static DropReason) {
        self.drop_for(unit, port, reason, None);
    }

    /// Drops a unit that requested a port; `holder` is the burst that occupies the channel, if
    /// known.
    pub fn drop_for(
        &mut self,
        unit: impl Sendable,
        port: PortId,
        reason: &'static DropReason,
        holder: Option<Identity>,
    ) {
        let (place, now) = (self.place(port), self.agenda.now());
        self.fabric.offer(unit.into(), place.link, now);
        self.drop_at(unit, place, reason, holder.map(Holder::Burst));
    }

    /// Cuts the payload off a packet that requested a port; its header remains, with at most `bytes`.
    /// The transmission is lost, the packet is not.
    pub fn trim(&mut self, packet: PacketId, port: PortId, bytes: u32) {
        let (now, place) = (self.agenda.now(), self.place(port));
        let trimmed = || Happening::Trimmed { packet, place };
        self.fabric.tell(Interest::TRIMMED, now, trimmed);
        let lost = self.fabric.units.packets[packet];
        self.fabric.lose(&lost, now);
        let packet = &mut self.fabric.units.packets[packet];
        packet.header.payload = 0;
        packet.envelope.bytes = packet.envelope.bytes.min(bytes);
        packet.envelope.treatment = packet.envelope.treatment.trimmed();
        // The sender has been told: a loss of the header is none of the data.
        packet.envelope.transmission = 0;
    }

    /// Turns the header of a trimmed packet, which requested a port, back to its sender. The caller
    /// must send it.
    pub fn return_to_sender(&mut self, packet: PacketId, port: PortId) {
        let (now, place) = (self.agenda.now(), self.place(port));
        let returned = || Happening::Returned { packet, place };
        self.fabric.tell(Interest::TRIMMED, now, returned);
        let Packet { envelope, header } = &mut self.fabric.units.packets[packet];
        // Handley et al. 2017, section 3.2.4: source and destination are swapped.
        std::mem::swap(&mut envelope.source, &mut envelope.destination);
        header.flags = header.flags & Header::MARKED | Header::RETURNED;
        envelope.treatment = Treatment::new(envelope.treatment.ecn(), false);
        // The labels of the other direction are of other paths.
        envelope.label = SHORTEST;
    }

    /// Drops a unit that has just arrived and was not offered to an output. The drop is counted at
    /// the input link.
    pub fn drop_on_arrival(&mut self, unit: impl Sendable, reason: &'static DropReason) {
        let place = Place {
            node: self.node,
            link: self.input,
        };
        self.drop_at(unit, place, reason, None);
    }

    fn drop_at(
        &mut self,
        unit: impl Sendable,
        place: Place,
        reason: &'static DropReason,
        holder: Option<Holder>,
    ) {
        let why = Why {
            reason,
            holder,
            start: None,
        };
        let now = self.agenda.now();
        self.fabric.dropped_at[place.link.index()] += 1;
        self.fabric.remove(unit.into(), place, why, now);
    }
}
