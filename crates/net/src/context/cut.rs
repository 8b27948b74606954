//! Burst segmentation: a part of a burst is cut off, the rest is forwarded.

use super::Context;
use crate::{Birth, BurstId, Cut, HeaderId, Packet, PortId, Sent, Slot, Unit};
use lightburst_des::Time;

impl Context<'_> {
    /// Iterates over the packets of a burst at this node, or of the burst of a header at this node.
    pub fn packets_of(&self, burst: BurstId) -> impl Iterator<Item = &Packet> {
        let packets = self.fabric.units.packets_of(Unit::Burst(burst));
        packets.map(|(_, packet)| packet)
    }

    /// Drops the first packets of a header's burst because a channel of `port` is occupied at their
    /// time. The remaining packets arrive at `rest`; `None` if the burst was created here.
    pub fn cut(&mut self, header: HeaderId, port: PortId, cut: &Cut, rest: Option<Time>) {
        let place = self.place(port);
        let now = self.scheduler.now();
        self.fabric.cut(header, place, cut, rest, now);
    }

    /// Records a burst whose header is about to be sent, so that its tail may be cut off later.
    /// `end` is the end of its transmission.
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

    /// Cuts the tail off a burst that was handed to a port: only its first `bytes` bytes are
    /// transmitted, because the burst `by` takes over the channel.
    pub fn shorten(&mut self, port: PortId, sent: &Sent, bytes: u32, by: Birth) {
        self.fabric.shorten(self.place(port), sent, bytes, by);
    }

    /// Handles the arrival of a burst's tail at its egress: drops the packets that were cut off.
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
