//! Bursts, their packets and their header packets.

use super::Context;
use crate::link::fifo;
use crate::observe::{Happening, Interest, Passage};
use crate::unit::units::Behind;
use crate::{
    Bundle, Burst, BurstHeader, BurstHeaderId, BurstId, Fabric, Identity, Packet, PacketId, PortId,
    Slot, Unit,
};
use lightburst_des::{Duration, Time};

impl Context<'_> {
    /// Assembles packets into a burst, the `nth` of this node. The caller must send it. Also
    /// returns whether load balancing moved it to another path than its predecessor.
    pub fn bundle(&mut self, bundle: &Bundle, nth: u32) -> (BurstId, bool) {
        let now = self.agenda.now();
        self.fabric.bursts[usize::from(bundle.class)].created += 1;
        let identity = Identity {
            at: now,
            node: self.node.0,
            nth,
        };
        let mut burst = Burst::new(bundle, self.node, identity);
        let switched = self.fabric.label_burst(&mut burst.envelope, bundle, now);
        let burst = self.fabric.units.bursts.insert(burst);
        let assembled = || Happening::Assembled { burst };
        self.fabric.tell(Interest::ASSEMBLED, now, assembled);
        (burst, switched)
    }

    /// Disassembles a burst; returns its first packet.
    pub fn unbundle(&mut self, burst: BurstId) -> PacketId {
        self.tell(Interest::DISASSEMBLED, || Happening::Disassembled { burst });
        let burst = self.fabric.units.bursts.remove(burst);
        self.fabric.bursts[usize::from(burst.class)].delivered += 1;
        burst.first
    }

    /// Returns the first packet of a burst at this node.
    #[inline]
    pub fn first_of(&self, burst: BurstId) -> &Packet {
        self.packet(self.burst(burst).first)
    }

    /// Returns the packet after this one in a burst.
    #[inline]
    pub fn next_packet(&self, packet: PacketId) -> Option<PacketId> {
        self.fabric.units.packets[packet].behind()
    }

    /// Appends a packet to the chain of a future burst that ends with `last`. `None` starts a
    /// chain.
    #[inline]
    pub fn append(&mut self, last: Option<PacketId>, packet: PacketId) {
        let packets = &mut self.fabric.units.packets;
        packets[packet].envelope.behind = Behind::NOTHING;
        if let Some(last) = last {
            packets[last].envelope.behind.unit = Some(Unit::Packet(packet));
        }
    }

    /// Creates the header packet of a burst. The caller must send it.
    pub fn announce(&mut self, burst: BurstId) -> BurstHeaderId {
        let Burst {
            envelope, identity, ..
        } = self.fabric.units.bursts[burst];
        self.fabric.units.burst_headers.insert(BurstHeader {
            envelope,
            identity,
            burst,
            data_at: Time::ZERO,
            channel: 0,
            hops: 0,
        })
    }

    /// Hands a header packet to the control channel of a port for transmission at `from` or later,
    /// with transmission time `time`. Its burst follows in `slot`.
    #[inline(always)]
    pub fn send_header(
        &mut self,
        port: PortId,
        header: BurstHeaderId,
        (from, time): (Time, Duration),
        slot: Slot,
    ) {
        let place = self.place(port);
        let link = place.link;
        let fabric = &mut *self.fabric;
        let now = self.agenda.now();
        let transit = fabric.links.signal(link, time, from);
        let it = &mut fabric.units.burst_headers[header];
        it.envelope.behind = Behind::NOTHING;
        it.data_at = slot.start + transit.delay;
        it.channel = slot.channel;
        it.hops += 1;
        let (bytes, arrival) = (it.envelope.bytes, it.data_at);
        fabric.links.carry(link, bytes, slot.start, now);
        if fabric.links.is_watched(link) {
            let passage = Passage {
                place,
                now,
                ready: Time(slot.start.0 - slot.delayed.0),
                channel: slot.channel,
                start: slot.start,
                end: slot.start + fabric.links.transmission_time(link, bytes),
                arrival,
            };
            // Scripts other than those of losses are refused among fibres with reservations.
            let verdict = fabric.judge(header.into(), link, (now, slot.start));
            let burst = (slot.start, passage.end + transit.delay);
            let lost = verdict
                .lost
                .or_else(|| fabric.cut_off(link, transit.start, transit.arrival))
                .or_else(|| fabric.cut_off(link, burst.0, burst.1))
                .or_else(|| fabric.cut_off_channel((link, slot.channel), burst.0, burst.1));
            return self.travel_watched(header.into(), transit, passage, lost);
        }
        let Fabric { links, units, .. } = fabric;
        let tail = links.tail_mut(link);
        fifo::travel(header.into(), link, transit, tail, units, self.agenda);
    }

    /// Returns a header packet at this node.
    #[inline]
    pub fn header(&self, header: BurstHeaderId) -> &BurstHeader {
        &self.fabric.units.burst_headers[header]
    }

    /// Returns a burst at this node, or the burst of a header at this node.
    #[inline]
    pub fn burst(&self, burst: BurstId) -> &Burst {
        &self.fabric.units.bursts[burst]
    }

    /// Prefetches the first packet of a burst that will be disassembled soon, and the burst after
    /// it.
    #[inline]
    pub fn prefetch(&self, next: BurstId, later: Option<BurstId>) {
        let units = &self.fabric.units;
        units.packets.prefetch(units.bursts[next].first);
        if let Some(later) = later {
            units.bursts.prefetch(later);
        }
    }
}
