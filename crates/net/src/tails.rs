//! Tails that are cut off bursts which have left a node: the header has gone ahead and announces all
//! of the burst to the nodes behind, and what is missing is found missing where the burst ends.
//! Until then a cut changes nothing that another node sees, and so the order of simultaneous events
//! of different nodes does not matter.

use crate::contents::Fate;
use crate::trace::{Holder, Piece, Place, What};
use crate::{
    Birth, BurstId, Counted, Counters, CutCounters, Fabric, NodeId, PacketId, Slot, Unit, CUT,
};
use lightburst_des::Time;
use std::collections::{BTreeMap, BTreeSet};

/// A burst that a node has sent off behind its header, as it knew it then.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Which one it is.
    pub birth: Birth,
    /// Its handle, as long as it is somewhere.
    pub burst: BurstId,
    /// Over how many fibres it had come.
    pub hops: u16,
    /// Where and when it leaves.
    pub slot: Slot,
    /// When its tail has left.
    pub end: Time,
    /// Bytes of it that leave.
    pub bytes: u32,
    /// Bytes of its first packet.
    pub first: u32,
    /// How many rows the trace of hops had before it left.
    pub rows: usize,
}

/// A cut that was made in a burst.
#[derive(Clone, Copy, Debug)]
struct TailCut {
    /// Over how many fibres the burst had come.
    hops: u16,
    /// Where.
    place: Place,
    /// When its head left there.
    start: Time,
    /// How many of its bytes went on.
    bytes: u32,
    /// The burst that has the channel in its place.
    by: Birth,
    /// See [`Sent`].
    rows: usize,
}

impl TailCut {
    /// The cut, of several, by which the packet is lost whose last byte has this number: of those
    /// that it did not pass the one nearest to the ingress, of several of one node the first.
    fn of(cuts: &[TailCut], last: u32) -> Option<&TailCut> {
        let not_passed = cuts.iter().filter(|cut| cut.bytes < last);
        not_passed.min_by_key(|cut| cut.hops)
    }

    /// A row of what is lost by it, without packets as yet; the first was to leave at `start`.
    fn piece(&self, burst: Birth, (time, noted): (Time, NodeId), start: Time) -> Piece {
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

/// The tails of bursts that are cut off.
#[derive(Debug, Default)]
pub struct Tails {
    /// By burst, those of one node in the order in which it made them.
    cuts: BTreeMap<Birth, Vec<TailCut>>,
    /// By node, of bursts that have come to their end.
    counts: BTreeMap<NodeId, CutCounters>,
}

impl Fabric {
    /// What was lost at a node by cuts in bursts that had left it.
    pub fn tails_cut(&self, node: NodeId, end: Time) -> Counted {
        let counts = self
            .tails
            .as_ref()
            .and_then(|tails| tails.counts.get(&node));
        counts.map_or(Counted::default(), |counts| counts.counted(end))
    }

    /// Lets only so many bytes of a burst go on that has left in part.
    pub(crate) fn shorten(&mut self, place: Place, sent: &Sent, bytes: u32, by: Birth) {
        let Slot { start, .. } = sent.slot;
        let end = self.links.shorten(place.link, start, (sent.bytes, bytes));
        if let Some(kept) = self
            .trace
            .as_mut()
            .and_then(|trace| trace.bookings.as_mut())
        {
            kept.shorten((place.link, sent.birth), start, end, bytes);
        }
        // Else it was lost further on, with all that is in it.
        if self.units.bursts[sent.burst].birth == sent.birth {
            let tails = self
                .tails
                .as_mut()
                .expect("a network in which tails are cut off");
            let cuts = tails.cuts.entry(sent.birth).or_default();
            cuts.push(TailCut {
                hops: sent.hops,
                place,
                start,
                bytes,
                by,
                rows: sent.rows,
            });
        }
    }

    /// A burst is lost with all that is in it: what was cut off it does not matter any more.
    pub(crate) fn forget_cuts(&mut self, burst: BurstId) {
        if let Some(tails) = &mut self.tails {
            // Its place in the arena is free: whoever cuts it now finds another burst, or none.
            let birth = std::mem::take(&mut self.units.bursts[burst].birth);
            tails.cuts.remove(&birth);
        }
    }

    /// Drops those packets of a burst that were cut off it on its way; it has come to a node where
    /// it ends.
    #[inline]
    pub(crate) fn drop_tail(&mut self, burst: BurstId, node: NodeId, now: Time) {
        if self.tails.is_some() {
            self.drop_cuts(burst, node, now);
        }
    }

    fn drop_cuts(&mut self, burst: BurstId, node: NodeId, now: Time) {
        let birth = self.units.bursts[burst].birth;
        let tails = self.tails.as_mut();
        let Some(cuts) = tails.and_then(|tails| tails.cuts.remove(&birth)) else {
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
                pieces.push((cut, cut.piece(birth, (now, node), cut.start + comes)));
            }
            let (_, piece) = pieces.last_mut().expect("one for this cut");
            piece.packets += 1;
            piece.bytes += bytes.end - bytes.start;
        }
        let mut cut_at = BTreeSet::new();
        let mut first = kept;
        for (cut, piece) in pieces {
            let next = first + piece.packets as usize;
            self.tally(Fate::Cut, burst, first..next, now);
            first = next;
            let tails = self.tails.as_mut().expect("tails");
            let counts = tails.counts.entry(cut.place.node).or_default();
            counts.packets += u64::from(piece.packets);
            counts.bursts += u64::from(cut_at.insert(cut.hops));
            self.note_piece(piece);
        }
        // A node cuts only what its first packet has left.
        self.units.packets[packets[kept - 1].0].end_burst();
        for (packet, _, cut) in missing {
            self.note_cut(packet, birth, cut, (now, node));
            self.remove_packet(packet, now);
        }
    }

    /// Adds the row of a packet that was cut off its burst, and takes back those of the fibres that
    /// it did not go over.
    fn note_cut(&mut self, packet: PacketId, burst: Birth, cut: &TailCut, at: (Time, NodeId)) {
        let what = What::Lost {
            place: cut.place,
            reason: CUT,
            burst: Some(burst),
            holder: Some(Holder::Burst(cut.by)),
        };
        self.note_at(packet, what, at);
        if let Some(trace) = &mut self.trace {
            trace.take_back(packet, burst, cut.rows);
        }
    }
}
