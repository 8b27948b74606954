//! A burst of which only a part goes on.

use super::Context;
use crate::{Birth, BurstId, Cut, HeaderId, Packet, PortId, Sent, Slot, Unit};
use lightburst_des::Time;

impl Context<'_> {
    /// The packets of a burst that is here, or whose header is, in their order.
    pub fn packets_of(&self, burst: BurstId) -> impl Iterator<Item = &Packet> {
        let packets = self.fabric.units.packets_of(Unit::Burst(burst));
        packets.map(|(_, packet)| packet)
    }

    /// Cuts the first packets off the burst of a header, for want of a channel of a port. What is left comes at
    /// `rest`, if the burst was not made here.
    pub fn cut(&mut self, header: HeaderId, port: PortId, cut: &Cut, rest: Option<Time>) {
        let place = self.place(port);
        let now = self.scheduler.now();
        self.fabric.cut(header, place, cut, rest, now);
    }

    /// What is to be known of a burst whose header is about to be sent, if its tail may be cut off
    /// later; `end` is when that has left.
    pub fn sent(&self, header: HeaderId, slot: Slot, end: Time) -> Sent {
        let it = self.header(header);
        let first = self.packets_of(it.burst).next().expect("a packet");
        Sent {
            birth: it.birth,
            burst: it.burst,
            hops: it.hops,
            slot,
            end,
            bytes: it.envelope.bytes,
            first: first.envelope.bytes,
            rows: self.fabric.trace.as_ref().map_or(0, |t| t.hops.len()),
        }
    }

    /// Lets only so many bytes go on of a burst that was sent off by a port, because another burst
    /// has the channel from then on.
    pub fn shorten(&mut self, port: PortId, sent: &Sent, bytes: u32, by: Birth) {
        self.fabric.shorten(self.place(port), sent, bytes, by);
    }

    /// The tail of a burst has come to its egress: what was cut off it is missing.
    #[inline]
    pub fn tail_came(&mut self, burst: BurstId) {
        self.fabric
            .drop_tail(burst, self.node, self.scheduler.now());
        if self.fabric.trace.is_some() {
            self.note_tail(burst);
        }
    }

    #[cold]
    fn note_tail(&mut self, burst: BurstId) {
        let now = self.scheduler.now();
        if let Some(trace) = &mut self.fabric.trace {
            trace.end(self.fabric.units.bursts[burst].birth, now);
            for (packet, _) in self.fabric.units.packets_of(Unit::Burst(burst)) {
                trace.comes(packet, now);
            }
        }
    }
}
