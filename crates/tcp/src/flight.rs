//! Data in flight of a sender: sequence variables and segments.

pub mod audit;
pub(crate) mod rounds;
pub mod scoreboard;

use lightburst_des::{Duration, Time};
use std::collections::VecDeque;

/// A segment that was sent and is not yet acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Time of its last transmission, as counted by [`crate::transport::Clock`].
    pub sent: Time,
    /// Number of its transmissions.
    pub transmissions: u32,
}

impl Segment {
    /// Returns whether the segment was sent more than once.
    #[inline]
    pub fn retransmitted(&self) -> bool {
        self.transmissions > 1
    }
}

/// The data covered by a cumulative acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Covered {
    /// Payload bytes.
    pub bytes: u64,
    /// The last segment covered; `None` if it is no longer recorded.
    pub newest: Option<Segment>,
    /// Whether any of the covered segments was sent more than once.
    pub retransmitted: bool,
}

impl Covered {
    /// Returns the time since the newest segment was sent, or `None` if one of the segments was
    /// sent more than once (Karn's algorithm).
    #[inline]
    pub fn round_trip(&self, now: Time) -> Option<Duration> {
        let newest = self.newest.filter(|_| !self.retransmitted);
        newest.map(|segment| now.since(segment.sent))
    }
}

/// The segments of one flow in sequence order; all but the last are full.
#[derive(Clone, Debug)]
pub struct Flight {
    /// First unacknowledged byte (SND.UNA).
    pub snd_una: u64,
    /// Next byte to send (SND.NXT).
    pub snd_nxt: u64,
    /// End of the data ever sent (SND.MAX).
    pub snd_max: u64,
    /// Payload bytes of the flow.
    pub size: u64,
    /// Payload of a full segment in bytes (SMSS).
    pub mss: u32,
    /// Whether the last segment carries the FIN.
    pub fin_with_data: bool,
    /// Receive window in bytes, counted from `snd_una`.
    rwnd: u64,
    /// The segment at `snd_una`, valid if it was sent. Stored here so that stop-and-wait, with one
    /// segment in flight, allocates no memory.
    first: Segment,
    /// The segments after the first, up to `snd_max`.
    others: VecDeque<Segment>,
}

impl Flight {
    /// Creates the state of a flow of `size` bytes before anything is sent.
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
                transmissions: 0,
            },
            others: VecDeque::new(),
        }
    }

    /// Returns the bytes sent and not acknowledged (FlightSize of RFC 5681).
    #[inline]
    pub fn flight_size(&self) -> u64 {
        self.snd_nxt - self.snd_una
    }

    /// Returns whether all data ever sent is acknowledged.
    #[inline]
    pub fn is_acknowledged(&self) -> bool {
        self.snd_una == self.snd_max
    }

    /// Returns whether the bytes before `end` fit into the receive window.
    #[inline]
    pub fn is_advertised(&self, end: u64) -> bool {
        end - self.snd_una <= self.rwnd
    }

    /// Returns the payload in bytes of the segment that starts at `sequence`.
    #[inline]
    pub fn payload(&self, sequence: u64) -> u64 {
        (self.size - sequence).min(u64::from(self.mss))
    }

    /// Returns the number of segments from `snd_una` to `snd_max`.
    pub fn segments(&self) -> usize {
        usize::from(!self.is_acknowledged()) + self.others.len()
    }

    /// Returns the segment that starts at `sequence`, if it is in flight.
    #[inline]
    fn segment(&self, sequence: u64) -> Option<&Segment> {
        // Usually the first segment, whose index needs no division.
        if sequence == self.snd_una {
            return (!self.is_acknowledged()).then_some(&self.first);
        }
        self.others.get(self.place(sequence) - 1)
    }

    /// Returns the index, from 0, of the segment in flight that starts at `sequence`.
    pub fn place(&self, sequence: u64) -> usize {
        ((sequence - self.snd_una) / u64::from(self.mss)) as usize
    }

    /// Returns the segment that ends at `end`, if it is in flight.
    pub fn ending_at(&self, end: u64) -> Option<&Segment> {
        self.segment(self.last_before(end)?)
    }

    /// Returns the first byte of the last segment that starts before `end`, or `None` if `end` is
    /// not beyond `snd_una`.
    pub fn last_before(&self, end: u64) -> Option<u64> {
        let mss = u64::from(self.mss);
        let before = end.checked_sub(self.snd_una + 1)?;
        Some(self.snd_una + before / mss * mss)
    }

    /// Returns the number of transmissions of the segment at `sequence`.
    #[inline]
    pub fn transmissions(&self, sequence: u64) -> u32 {
        match sequence < self.snd_max {
            true => self
                .segment(sequence)
                .map_or(0, |segment| segment.transmissions),
            false => 0,
        }
    }

    /// Yields the first byte and the number of transmissions of each unacknowledged segment that
    /// starts before `end`.
    pub fn transmissions_before(&self, end: u64) -> impl Iterator<Item = (u64, u32)> + '_ {
        let starts = (self.snd_una..end).step_by(self.mss as usize);
        let segments = std::iter::once(&self.first).chain(&self.others);
        starts.zip(segments.map(|segment| segment.transmissions))
    }

    /// Records a transmission of the segment at `sequence`; `sent` is the time from which its round
    /// trip is counted.
    #[inline]
    pub fn send(&mut self, sequence: u64, sent: Time) {
        let end = sequence + self.payload(sequence);
        self.snd_nxt = self.snd_nxt.max(end);
        if sequence == self.snd_max {
            let segment = Segment {
                sent,
                transmissions: 1,
            };
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
        segment.transmissions += 1;
    }

    /// Records that the transmission of the segment at `sequence` starts; returns whether it is the
    /// first unacknowledged segment.
    pub fn departs(&mut self, sequence: u64, at: Time) -> bool {
        let awaited = sequence == self.snd_una && !self.is_acknowledged();
        if awaited {
            self.first.sent = at;
        }
        awaited
    }

    /// Removes the segments covered by a cumulative acknowledgement.
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

    /// Sets `snd_nxt` back to the first unacknowledged byte.
    pub fn rewind(&mut self) {
        self.snd_nxt = self.snd_una;
    }
}
