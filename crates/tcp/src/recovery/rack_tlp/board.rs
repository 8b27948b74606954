//! Unacknowledged segments: which are SACKed, lost or retransmitted, and the order of their last
//! transmissions.

use std::collections::VecDeque;

const SACKED: u8 = 1;
const LOST: u8 = 2;
/// A retransmission is in flight.
const RETRANSMITTED: u8 = 4;
/// The segment was sent more than once.
const EVER: u8 = 8;
/// The delivery of the segment was counted.
const COUNTED: u8 = 16;

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Time of the last transmission in microseconds.
    pub sent: u64,
    /// Number of the last transmission among all, from 1; 0 once the segment is out of the order by
    /// time.
    pub place: u64,
    /// Segments delivered when it was last sent.
    pub delivered: u64,
    flags: u8,
}

impl Segment {
    pub fn sacked(&self) -> bool {
        self.flags & SACKED != 0
    }

    pub fn lost(&self) -> bool {
        self.flags & LOST != 0
    }

    pub fn retransmitted(&self) -> bool {
        self.flags & RETRANSMITTED != 0
    }

    pub fn ever(&self) -> bool {
        self.flags & EVER != 0
    }

    pub fn counted(&self) -> bool {
        self.flags & COUNTED != 0
    }
}

/// Position in the order by time.
#[derive(Clone, Copy, Debug)]
pub struct ByTime {
    /// Number from which segments sent once follow.
    once: u64,
    /// Index of the repeated transmission that follows.
    repeated: usize,
}

/// The unacknowledged segments by number, and their counts.
#[derive(Clone, Debug, Default)]
pub struct Board {
    /// Number of the first segment.
    first: u64,
    segments: VecDeque<Segment>,
    /// Number and place of each repeated transmission, in the order of time; an entry is out of date
    /// if the segment has another place. Segments sent once are in the order of their numbers, so
    /// they need no entry.
    repeated: VecDeque<(u64, u64)>,
    places: u64,
    /// Number below which no segment sent once is in the order by time.
    once: u64,
    /// Number below which no segment awaits its retransmission.
    hint: u64,
    /// End of the highest segment that was ever SACKed.
    highest: u64,
    /// Segments outstanding that were sent more than once.
    repeats: u64,
    /// Segments SACKed; without SACK the number of duplicates counts instead.
    pub sacked: u64,
    /// Segments taken for lost.
    pub lost: u64,
    /// Retransmissions in flight.
    pub retransmitted: u64,
}

impl Board {
    /// Returns the number of unacknowledged segments (`packets_out`).
    #[inline]
    pub fn len(&self) -> u64 {
        self.segments.len() as u64
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns the number after that of the last segment.
    #[inline]
    pub fn end(&self) -> u64 {
        self.first + self.len()
    }

    /// Returns the number of segments in the network (RFC 6675, pipe).
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.len() + self.retransmitted - self.sacked - self.lost
    }

    pub fn head(&self) -> Option<&Segment> {
        self.segments.front()
    }

    pub fn first(&self) -> u64 {
        self.first
    }

    /// Returns the segment of this number; panics if it is not outstanding.
    pub fn get(&self, number: u64) -> Segment {
        self.segments[(number - self.first) as usize]
    }

    fn at(&mut self, number: u64) -> &mut Segment {
        &mut self.segments[(number - self.first) as usize]
    }

    /// Returns the end of the highest SACKed segment, if one is SACKed.
    pub fn highest_sacked(&self) -> Option<u64> {
        (self.sacked > 0).then_some(self.highest)
    }

    /// Records the first transmission of the next segment.
    #[inline]
    pub fn send(&mut self, sent: u64, delivered: u64) {
        self.places += 1;
        self.segments.push_back(Segment {
            sent,
            place: self.places,
            delivered,
            flags: 0,
        });
    }

    /// Records a further transmission of a segment.
    pub fn send_again(&mut self, number: u64, sent: u64, delivered: u64) {
        self.places += 1;
        let place = self.places;
        self.repeated.push_back((number, place));
        let segment = self.at(number);
        (segment.sent, segment.place, segment.delivered) = (sent, place, delivered);
        let before = segment.ever();
        segment.flags = segment.flags & !COUNTED | EVER;
        self.repeats += u64::from(!before);
    }

    /// Notes that the retransmission of a segment is in flight.
    pub fn retransmit(&mut self, number: u64) {
        self.at(number).flags |= RETRANSMITTED;
        self.retransmitted += 1;
    }

    /// Returns whether no segment is SACKed or lost, and each was sent once.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.sacked | self.lost | self.repeats == 0
    }

    /// Removes and returns the first segment of a board that [is plain](Board::is_plain).
    #[inline]
    pub fn acknowledge_plain(&mut self) -> Segment {
        self.first += 1;
        self.segments.pop_front().expect("an outstanding segment")
    }

    /// Removes and returns the first segment.
    #[inline]
    pub fn acknowledge(&mut self) -> Segment {
        let segment = self.acknowledge_plain();
        self.repeats -= u64::from(segment.ever());
        self.sacked -= u64::from(segment.sacked());
        self.lost -= u64::from(segment.lost());
        self.retransmitted -= u64::from(segment.retransmitted());
        segment
    }

    /// Marks a segment SACKed. A retransmission of a segment that is not lost is believed to be in
    /// flight still.
    pub fn sack(&mut self, number: u64) {
        let segment = self.at(number);
        let before = *segment;
        segment.flags |= SACKED;
        segment.place = 0;
        if before.lost() {
            segment.flags &= !(LOST | RETRANSMITTED);
            self.lost -= 1;
            self.retransmitted -= u64::from(before.retransmitted());
        }
        self.sacked += 1;
        self.highest = self.highest.max(number + 1);
    }

    /// Notes that no retransmission of a segment is in flight.
    pub fn retransmission_over(&mut self, number: u64) {
        let segment = self.at(number);
        if segment.retransmitted() {
            segment.flags &= !RETRANSMITTED;
            self.retransmitted -= 1;
        }
    }

    pub fn count(&mut self, number: u64) {
        self.at(number).flags |= COUNTED;
    }

    /// Marks a segment or its retransmission lost (`tcp_mark_skb_lost`); returns whether that is
    /// news.
    pub fn lose(&mut self, number: u64) -> bool {
        let segment = self.at(number);
        let before = *segment;
        if before.sacked() || (before.lost() && !before.retransmitted()) {
            return false;
        }
        if before.lost() {
            segment.flags &= !RETRANSMITTED;
            self.retransmitted -= 1;
        } else {
            segment.flags |= LOST;
            self.lost += 1;
        }
        self.hint = self.hint.min(number);
        true
    }

    /// Removes a segment from the order by time.
    pub fn leave_order(&mut self, number: u64) {
        self.at(number).place = 0;
    }

    /// Removes all marks of SACK blocks (the receiver discarded its data).
    pub fn forget_sacked(&mut self) {
        for segment in &mut self.segments {
            segment.flags &= !SACKED;
        }
        (self.sacked, self.hint) = (0, 0);
    }

    /// Removes all marks of losses.
    pub fn forget_lost(&mut self) {
        for segment in &mut self.segments {
            segment.flags &= !LOST;
        }
        self.lost = 0;
    }

    /// Returns the first lost segment whose retransmission is not in flight.
    pub fn next_lost(&mut self) -> Option<u64> {
        if self.retransmitted >= self.lost {
            return None;
        }
        let from = self.hint.max(self.first);
        let waits = |s: &Segment| s.lost() && !s.sacked() && !s.retransmitted();
        let later = self.segments.range((from - self.first) as usize..);
        let found = later.zip(from..).find(|(segment, _)| waits(segment));
        self.hint = found.map_or(self.end(), |(_, number)| number);
        found.map(|(_, number)| number)
    }

    /// Returns the position before the first segment in the order by time.
    pub fn by_time(&mut self) -> ByTime {
        self.tidy();
        let from = self.once.max(self.first);
        let once = self.sent_once(from);
        self.once = once.map_or(self.end(), |(number, _)| number);
        ByTime {
            once: self.once,
            repeated: 0,
        }
    }

    /// Returns the next segment in the order by time.
    #[inline]
    pub fn next_by_time(&self, position: &mut ByTime) -> Option<(u64, Segment)> {
        let once = self.sent_once(position.once);
        let repeated = self.sent_again(position.repeated);
        let is_once = match (once, repeated) {
            (Some((_, once)), Some((_, (_, again)))) => once.place < again.place,
            (once, _) => once.is_some(),
        };
        if is_once {
            position.once = once?.0 + 1;
            return once;
        }
        let (index, found) = repeated?;
        position.repeated = index + 1;
        Some(found)
    }

    /// Returns the first segment from `number` on that was sent once and is in the order.
    #[inline]
    fn sent_once(&self, number: u64) -> Option<(u64, Segment)> {
        let later = self.segments.range((number - self.first) as usize..);
        let mut later = (number..).zip(later.copied());
        later.find(|(_, segment)| segment.place > 0 && !segment.ever())
    }

    /// Returns the first entry from `index` on that is up to date.
    #[inline]
    fn sent_again(&self, index: usize) -> Option<(usize, (u64, Segment))> {
        let mut later = (index..).zip(self.repeated.range(index..));
        later.find_map(|(index, entry)| Some((index, self.up_to_date(*entry)?)))
    }

    fn up_to_date(&self, (number, place): (u64, u64)) -> Option<(u64, Segment)> {
        let index = number.checked_sub(self.first)?;
        let segment = *self.segments.get(index as usize)?;
        (segment.place == place).then_some((number, segment))
    }

    /// Removes the entries out of date at the front of the order by time.
    #[inline]
    pub fn tidy(&mut self) {
        while let Some(&entry) = self.repeated.front() {
            if self.up_to_date(entry).is_some() {
                break;
            }
            self.repeated.pop_front();
        }
    }
}
