//! What a sender has in flight: its sequence variables and its segments.

use lightburst_des::{Duration, Time};
use std::collections::VecDeque;

/// A segment that was sent and is not acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// When it was last sent.
    pub sent: Time,
    /// How often it was sent.
    pub sendings: u32,
}

impl Segment {
    /// Whether it was sent more than once.
    #[inline]
    pub fn retransmitted(&self) -> bool {
        self.sendings > 1
    }
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

impl Covered {
    /// Since the newest segment was sent, unless one of them was sent more than once (Karn).
    #[inline]
    pub fn round_trip(&self, now: Time) -> Option<Duration> {
        let newest = self.newest.filter(|_| !self.retransmitted);
        newest.map(|segment| now.since(segment.sent))
    }
}

/// The segments of one flow, in order; all but the last are full.
#[derive(Clone, Debug)]
pub struct Flight {
    /// First byte not acknowledged (SND.UNA).
    pub snd_una: u64,
    /// Next byte to send (SND.NXT).
    pub snd_nxt: u64,
    /// The byte after the last one ever sent (SND.MAX).
    pub snd_max: u64,
    /// Useful bytes of the flow.
    pub size: u64,
    /// Useful bytes of a full segment (SMSS).
    pub mss: u32,
    /// Whether the last segment carries the FIN.
    pub fin_with_data: bool,
    /// Bytes from `snd_una` on that the receiver has room for.
    rwnd: u64,
    /// The one at `snd_una`, if it was sent. Stop-and-wait has no other, and so needs no memory
    /// elsewhere.
    first: Segment,
    /// Those behind it, to `snd_max`.
    others: VecDeque<Segment>,
}

impl Flight {
    /// Nothing sent yet of `size` bytes.
    pub fn new(size: u64, mss: u32, rwnd: u64) -> Flight {
        Flight {
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            size,
            mss,
            fin_with_data: false,
            rwnd,
            first: Segment {
                sent: Time::NEVER,
                sendings: 0,
            },
            others: VecDeque::new(),
        }
    }

    /// Bytes sent and not acknowledged (FlightSize of RFC 5681).
    #[inline]
    pub fn flight_size(&self) -> u64 {
        self.snd_nxt - self.snd_una
    }

    /// Whether all that was ever sent is acknowledged.
    #[inline]
    pub fn is_acknowledged(&self) -> bool {
        self.snd_una == self.snd_max
    }

    /// Whether the receiver has room for the bytes before `end`.
    #[inline]
    pub fn is_advertised(&self, end: u64) -> bool {
        end - self.snd_una <= self.rwnd
    }

    /// Useful bytes of the segment that begins at `sequence`.
    #[inline]
    pub fn payload(&self, sequence: u64) -> u64 {
        (self.size - sequence).min(u64::from(self.mss))
    }

    /// How many segments there are from `snd_una` to `snd_max`.
    pub fn segments(&self) -> usize {
        usize::from(!self.is_acknowledged()) + self.others.len()
    }

    /// The segment that begins at `sequence`, if it is in flight.
    #[inline]
    fn segment(&self, sequence: u64) -> Option<&Segment> {
        // Mostly the first, which needs no division.
        if sequence == self.snd_una {
            return (!self.is_acknowledged()).then_some(&self.first);
        }
        self.others.get(self.place(sequence) - 1)
    }

    /// Which of these begins at `sequence`, counted from 0.
    pub fn place(&self, sequence: u64) -> usize {
        ((sequence - self.snd_una) / u64::from(self.mss)) as usize
    }

    /// The segment that ends at `end`, which is in flight.
    pub fn ending_at(&self, end: u64) -> Option<&Segment> {
        self.segment(self.last_before(end)?)
    }

    /// The first byte of the last segment before `end`; none if nothing is in flight there.
    pub fn last_before(&self, end: u64) -> Option<u64> {
        let mss = u64::from(self.mss);
        let before = end.checked_sub(self.snd_una + 1)?;
        Some(self.snd_una + before / mss * mss)
    }

    /// How often the segment at `sequence` was sent.
    #[inline]
    pub fn sendings(&self, sequence: u64) -> u32 {
        match sequence < self.snd_max {
            true => self.segment(sequence).map_or(0, |segment| segment.sendings),
            false => 0,
        }
    }

    /// The first byte of each segment that is not acknowledged and begins before `end`, and how
    /// often it was sent.
    pub fn sendings_before(&self, end: u64) -> impl Iterator<Item = (u64, u32)> + '_ {
        let starts = (self.snd_una..end).step_by(self.mss as usize);
        let segments = std::iter::once(&self.first).chain(&self.others);
        starts.zip(segments.map(|segment| segment.sendings))
    }

    /// Notes that the segment at `sequence` is sent.
    #[inline]
    pub fn send(&mut self, sequence: u64, sent: Time) {
        let end = sequence + self.payload(sequence);
        self.snd_nxt = self.snd_nxt.max(end);
        if sequence == self.snd_max {
            let segment = Segment { sent, sendings: 1 };
            match self.is_acknowledged() {
                true => self.first = segment,
                false => self.others.push_back(segment),
            }
            self.snd_max = end;
            return;
        }
        let segment = match sequence == self.snd_una {
            true => &mut self.first,
            false => {
                let place = self.place(sequence);
                &mut self.others[place - 1]
            }
        };
        segment.sent = sent;
        segment.sendings += 1;
    }

    /// Notes that the transmission of the segment at `sequence` begins; says whether it is the first
    /// that is not acknowledged.
    pub fn departs(&mut self, sequence: u64, at: Time) -> bool {
        let awaited = sequence == self.snd_una && !self.is_acknowledged();
        if awaited {
            self.first.sent = at;
        }
        awaited
    }

    /// Takes out what a cumulative acknowledgement covers.
    #[inline]
    pub fn acknowledge(&mut self, acknowledgement: u64) -> Covered {
        let mut covered = Covered {
            bytes: acknowledgement - self.snd_una,
            newest: None,
            retransmitted: false,
        };
        while self.snd_una < acknowledgement {
            self.snd_una += self.payload(self.snd_una);
            covered.retransmitted |= self.first.retransmitted();
            covered.newest = Some(self.first);
            if let Some(next) = self.others.pop_front() {
                self.first = next;
            }
        }
        self.snd_nxt = self.snd_nxt.max(acknowledgement);
        covered
    }

    /// Goes back to the first byte not acknowledged.
    pub fn rewind(&mut self) {
        self.snd_nxt = self.snd_una;
    }
}
