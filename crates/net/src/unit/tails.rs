//! Tails that are cut off from bursts after the start of their transmission. The header has already
//! announced the whole burst to the following nodes, so the missing packets are dropped only at the
//! end of the burst. Until then no other node sees an effect of the cut, and the result does not
//! depend on the order of simultaneous events at different nodes.

use crate::observe::{CutOff, Happening, Interest, Piece, Place};
use crate::{
    BurstId, Counted, Counters, CutCounters, Fabric, Identity, NodeId, PacketId, Slot, Unit,
};
use lightburst_des::Time;
use std::collections::{BTreeMap, BTreeSet};

/// Record of a burst that a node has sent behind its header, with its state at that time.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Identity of the burst.
    pub identity: Identity,
    /// Handle of the burst. Valid while the burst is in the network.
    pub burst: BurstId,
    /// Number of fibres over which it came to the node.
    pub hops: u16,
    /// Channel and start of the transmission.
    pub slot: Slot,
    /// End of the transmission.
    pub end: Time,
    /// Bytes transmitted.
    pub bytes: u32,
    /// Size of its first packet, in bytes.
    pub first: u32,
}

/// A cut in a burst.
#[derive(Clone, Copy, Debug)]
struct TailCut {
    /// Number of fibres over which the burst came to the node of the cut.
    hops: u16,
    /// Node and link of the cut.
    place: Place,
    /// Departure of the head of the burst from this node.
    start: Time,
    /// Bytes before the cut.
    bytes: u32,
    /// Burst that takes over the channel.
    by: Identity,
}

impl TailCut {
    /// Returns the cut by which a packet is lost, given the end of the packet in bytes from the
    /// start of the burst. Of several such cuts it is the one nearest to the ingress, and at one
    /// node the first.
    fn of(cuts: &[TailCut], last: u32) -> Option<&TailCut> {
        let not_passed = cuts.iter().filter(|cut| cut.bytes < last);
        not_passed.min_by_key(|cut| cut.hops)
    }

    /// Creates the row of the packets lost by this cut, still without packets. `start` is the time
    /// at which the first of them would have left.
    fn piece(&self, burst: Identity, (time, noted): (Time, NodeId), start: Time) -> Piece {
        Piece {
            time,
            noted,
            place: self.place,
            start,
            burst,
            packets: 0,
            bytes: 0,
            by: Some(self.by),
        }
    }
}

/// All tails cut off from bursts in the network.
#[derive(Debug, Default)]
pub struct Tails {
    /// Cuts of each burst. Cuts at the same node are in order of time.
    cuts: BTreeMap<Identity, Vec<TailCut>>,
    /// Counters of each node, for bursts that have reached their egress.
    counts: BTreeMap<NodeId, CutCounters>,
}

impl Fabric {
    /// Returns the counters of tails cut at a node.
    pub fn tails_cut(&self, node: NodeId, end: Time) -> Counted {
        let counts = self
            .tails
            .as_ref()
            .and_then(|tails| tails.counts.get(&node));
        counts.map_or(Counted::default(), |counts| counts.counted(end))
    }

    /// Shortens a burst whose transmission has begun to its first `bytes` bytes.
    pub(crate) fn shorten(
        &mut self,
        place: Place,
        sent: &Sent,
        (bytes, by): (u32, Identity),
        now: Time,
    ) {
        let Slot { start, .. } = sent.slot;
        let end = self.links.shorten(place.link, start, (sent.bytes, bytes));
        let shortened = || Happening::Shortened {
            link: place.link,
            burst: sent.identity,
            start,
            end,
            bytes,
        };
        self.tell(Interest::SHORTENED, now, shortened);
        // Otherwise the burst was dropped at a later node, with all its packets.
        if self.units.bursts[sent.burst].identity == sent.identity {
            let tails = self
                .tails
                .as_mut()
                .expect("a network in which tails are cut off");
            let cuts = tails.cuts.entry(sent.identity).or_default();
            cuts.push(TailCut {
                hops: sent.hops,
                place,
                start,
                bytes,
                by,
            });
        }
    }

    /// Forgets the cuts of a burst that is dropped with all its packets.
    pub(crate) fn forget_cuts(&mut self, burst: BurstId) {
        if let Some(tails) = &mut self.tails {
            // The slot is free from now on. Its identity is reset, so that a later cut does not take
            // another burst in the slot for this one.
            let identity = std::mem::take(&mut self.units.bursts[burst].identity);
            tails.cuts.remove(&identity);
        }
    }

    /// Drops the packets that were cut off from a burst, at the node where the burst ends.
    #[inline]
    pub(crate) fn drop_tail(&mut self, burst: BurstId, node: NodeId, now: Time) {
        if self.tails.is_some() {
            self.drop_cuts(burst, node, now);
        }
    }

    fn drop_cuts(&mut self, burst: BurstId, node: NodeId, now: Time) {
        let identity = self.units.bursts[burst].identity;
        let tails = self.tails.as_mut();
        let Some(cuts) = tails.and_then(|tails| tails.cuts.remove(&identity)) else {
            return;
        };
        let left = cuts.iter().map(|cut| cut.bytes).min().expect("a cut");
        self.units.bursts[burst].envelope.bytes = left;
        let mut last = 0;
        let of = |(at, packet): (PacketId, &crate::Packet)| {
            let before = last;
            last += packet.envelope.bytes;
            (at, before..last, TailCut::of(&cuts, last))
        };
        let packets: Vec<_> = self.units.packets_of(Unit::Burst(burst)).map(of).collect();
        let kept = packets.iter().take_while(|(.., cut)| cut.is_none()).count();
        self.give_notice(burst, kept..packets.len(), now);
        let missing = packets[kept..].iter().map(|(packet, bytes, cut)| {
            let cut = cut.expect("a cut, since there is one in the packet before");
            (*packet, bytes, cut)
        });
        let mut pieces: Vec<(&TailCut, Piece)> = Vec::new();
        for (_, bytes, cut) in missing.clone() {
            if !pieces.last().is_some_and(|(of, _)| std::ptr::eq(*of, cut)) {
                let comes = self.links.transmission_time(cut.place.link, bytes.start);
                pieces.push((cut, cut.piece(identity, (now, node), cut.start + comes)));
            }
            let (_, piece) = pieces.last_mut().expect("one for this cut");
            piece.packets += 1;
            piece.bytes += bytes.end - bytes.start;
        }
        let mut cut_at = BTreeSet::new();
        let mut first = kept;
        for (cut, piece) in pieces {
            let next = first + piece.packets as usize;
            let tails = self.tails.as_mut().expect("tails");
            let counts = tails.counts.entry(cut.place.node).or_default();
            counts.packets += u64::from(piece.packets);
            counts.bursts += u64::from(cut_at.insert(cut.hops));
            let part = CutOff::Tail {
                departure: cut.start,
            };
            self.tell(Interest::CUT, now, || Happening::Cut {
                burst,
                packets: first..next,
                piece,
                part,
            });
            first = next;
        }
        // At least one packet is kept: a node cuts a burst only after its first packet has left.
        self.units.packets[packets[kept - 1].0].end_burst();
        for (packet, ..) in missing {
            self.remove_packet(packet, now);
        }
    }
}
