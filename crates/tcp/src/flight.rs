//! What a sender has in flight: its sequence variables and its segments.

use lightburst_des::Time;
use std::collections::VecDeque;

/// A segment that was sent and is not acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Segment {
    /// When it was last sent.
    pub sent: Time,
    /// Useful bytes acknowledged when it was sent, and when the last of them was.
    pub delivered: u64,
    /// See `delivered`.
    pub delivered_at: Time,
    /// Sending time of the segment whose acknowledgement came last before it was sent.
    pub first_sent: Time,
    /// Whether it was sent more than once.
    pub retransmitted: bool,
}

/// What an acknowledgement covered.
#[derive(Clone, Copy, Debug)]
pub struct Covered {
    /// Useful bytes.
    pub bytes: u64,
    /// The newest segment; none if what was covered is no longer on record.
    pub newest: Option<Segment>,
    /// Whether any of the segments was sent more than once.
    pub retransmitted: bool,
}

/// The segments of one flow, in order; all but the last are full.
#[derive(Clone, Debug)]
pub struct Flight {
    /// First byte not acknowledged (SND.UNA).
    pub unacknowledged: u64,
    /// Next byte to send (SND.NXT).
    pub next: u64,
    /// The byte after the last one ever sent (SND.MAX).
    pub highest: u64,
    /// Useful bytes of the flow.
    pub size: u64,
    /// Useful bytes of a full segment (SMSS).
    pub full: u32,
    /// Bytes from `unacknowledged` on that the receiver has room for.
    advertised: u64,
    /// Those from `unacknowledged` to `highest`.
    segments: VecDeque<Segment>,
}

impl Flight {
    /// Nothing sent yet of `size` bytes.
    pub fn new(size: u64, full: u32, advertised: u64) -> Flight {
        Flight {
            unacknowledged: 0,
            next: 0,
            highest: 0,
            size,
            full,
            advertised,
            segments: VecDeque::with_capacity(1),
        }
    }

    /// Bytes sent and not acknowledged (FlightSize of RFC 5681).
    #[inline]
    pub fn outstanding(&self) -> u64 {
        self.next - self.unacknowledged
    }

    /// Whether all that was ever sent is acknowledged.
    #[inline]
    pub fn is_acknowledged(&self) -> bool {
        self.unacknowledged == self.highest
    }

    /// Whether the receiver has room for the bytes before `end`.
    #[inline]
    pub fn is_advertised(&self, end: u64) -> bool {
        end - self.unacknowledged <= self.advertised
    }

    /// Useful bytes of the segment that begins at `sequence`.
    #[inline]
    pub fn payload(&self, sequence: u64) -> u64 {
        (self.size - sequence).min(u64::from(self.full))
    }

    /// The place of the segment that begins at `sequence`.
    fn place(&self, sequence: u64) -> usize {
        ((sequence - self.unacknowledged) / u64::from(self.full)) as usize
    }

    /// The first byte of the last segment before `end`; none if nothing is in flight there.
    pub fn last_before(&self, end: u64) -> Option<u64> {
        let full = u64::from(self.full);
        let before = end.checked_sub(self.unacknowledged + 1)?;
        Some(self.unacknowledged + before / full * full)
    }

    /// Notes that the segment at `sequence` is sent; says whether it was before.
    #[inline]
    pub fn send(&mut self, sequence: u64, mut segment: Segment) -> bool {
        let end = sequence + self.payload(sequence);
        self.next = self.next.max(end);
        if sequence == self.highest {
            self.highest = end;
            self.segments.push_back(segment);
            return false;
        }
        let place = self.place(sequence);
        segment.retransmitted = true;
        self.segments[place] = segment;
        true
    }

    /// Takes out what a cumulative acknowledgement covers.
    #[inline]
    pub fn acknowledge(&mut self, acknowledgement: u64) -> Covered {
        let mut covered = Covered {
            bytes: acknowledgement - self.unacknowledged,
            newest: None,
            retransmitted: false,
        };
        while self.unacknowledged < acknowledgement {
            self.unacknowledged += self.payload(self.unacknowledged);
            let segment = self.segments.pop_front().expect("a segment that was sent");
            covered.retransmitted |= segment.retransmitted;
            covered.newest = Some(segment);
        }
        self.next = self.next.max(acknowledgement);
        covered
    }

    /// Goes back to the first byte not acknowledged.
    pub fn rewind(&mut self) {
        self.next = self.unacknowledged;
    }
}
