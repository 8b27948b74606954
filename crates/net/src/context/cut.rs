//! Burst segmentation: a part of a burst is cut off, the rest is forwarded.

use super::Context;
use crate::observe::{Happening, Interest};
use crate::{BurstHeaderId, BurstId, Cut, Identity, Packet, PortId, Sent, Slot, Unit};
use lightburst_des::Time;

impl Context<'_> {
    /// Iterates over the packets of a burst at this node, or of the burst of a header at this node.
    pub fn packets_of(&self, burst: BurstId) -> impl Iterator<Item = &Packet> {
        let packets = self.fabric.units.packets_of(Unit::Burst(burst));
        packets.map(|(_, packet)| packet)
    }

    /// Drops the first packets of a header's burst because a channel of `port` is occupied at their
    /// time. The remaining packets arrive at `rest`; `None` if the burst was created here.
    pub fn cut(&mut self, header: BurstHeaderId, port: PortId, cut: &Cut, rest: Option<Time>) {
        let place = self.place(port);
        let now = self.agenda.now();
        self.fabric.cut(header, place, cut, rest, now);
    }

    /// Records a burst whose header is about to be sent, so that its tail may be cut off later.
    /// `end` is the end of its transmission.
    pub fn sent(&self, header: BurstHeaderId, slot: Slot, end: Time) -> Sent {
        let it = self.header(header);
        let first = self.packets_of(it.burst).next().expect("a packet");
        Sent {
            identity: it.identity,
            burst: it.burst,
            hops: it.hops,
            slot,
            end,
            bytes: it.envelope.bytes,
            first: first.envelope.bytes,
        }
    }

    /// Cuts the tail off a burst that was handed to a port: only its first `bytes` bytes are
    /// transmitted, because the burst `by` takes over the channel.
    pub fn shorten(&mut self, port: PortId, sent: &Sent, bytes: u32, by: Identity) {
        let (place, now) = (self.place(port), self.agenda.now());
        self.fabric.shorten(place, sent, (bytes, by), now);
    }

    /// Handles the arrival of a burst's tail at its egress: drops the packets that were cut off, and
    /// reports the arrival to observers.
    #[inline]
    pub fn tail_came(&mut self, burst: BurstId) {
        self.fabric.drop_tail(burst, self.node, self.agenda.now());
        self.tell(Interest::TAIL_ARRIVED, || Happening::TailArrived { burst });
    }
}
