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
    /// Payload bytes of the flow, as far as the application has written them.
    pub size: u64,
    /// Payload of a full segment in bytes (SMSS).
    pub mss: u32,
    /// Whether the last segment carries the FIN.
    pub fin_with_data: bool,
    /// Whether the application will write more; then `size` is the end of a full segment.
    pub more: bool,
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
            more: false,
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

    /// Sets the receive window in bytes, counted from `snd_una`; returns whether it grows.
    pub fn advertise(&mut self, window: u64) -> bool {
        window > std::mem::replace(&mut self.rwnd, window)
    }

    /// Returns whether the bytes before `end` fit into the receive window.
    #[inline]
    pub fn is_advertised(&self, end: u64) -> bool {
        end - self.snd_una <= self.rwnd
    }

    /// Returns whether the segment that starts at `sequence` fits into the receive window.
    #[inline]
    pub fn is_advertised_from(&self, sequence: u64) -> bool {
        self.is_advertised(sequence + self.payload(sequence))
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;

    const SIZE: u64 = 100;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Send,
        Repeat(Index),
        Depart(Index),
        Acknowledge(Index),
        Rewind,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            6 => Just(Step::Send),
            2 => any::<Index>().prop_map(Step::Repeat),
            1 => any::<Index>().prop_map(Step::Depart),
            3 => any::<Index>().prop_map(Step::Acknowledge),
            1 => Just(Step::Rewind),
        ];
        vec(step, 0..60)
    }

    /// Segments in flight as a plain list of first bytes, payloads, last transmissions and their
    /// numbers.
    #[derive(Default)]
    struct List {
        segments: Vec<(u64, u64, Time, u32)>,
        next: u64,
        max: u64,
    }

    impl List {
        fn una(&self) -> u64 {
            self.segments.first().map_or(self.max, |first| first.0)
        }

        /// Applies a step to both.
        fn step(
            &mut self,
            step: Step,
            flight: &mut Flight,
            now: Time,
        ) -> Result<(), TestCaseError> {
            let number = self.segments.len();
            match step {
                Step::Send if self.max < SIZE => {
                    let payload = u64::from(flight.mss).min(SIZE - self.max);
                    flight.send(self.max, now);
                    self.segments.push((self.max, payload, now, 1));
                    self.max += payload;
                    self.next = self.max;
                }
                Step::Repeat(index) if number > 0 => {
                    let (start, payload, sent, transmissions) =
                        &mut self.segments[index.index(number)];
                    flight.send(*start, now);
                    *sent = now;
                    *transmissions += 1;
                    self.next = self.next.max(*start + *payload);
                }
                Step::Depart(index) if number > 0 => {
                    let place = index.index(number);
                    let awaited = flight.departs(self.segments[place].0, now);
                    prop_assert_eq!(awaited, place == 0);
                    if awaited {
                        self.segments[0].2 = now;
                    }
                }
                Step::Acknowledge(index) => {
                    let covered: Vec<_> = self.segments.drain(..index.index(number + 1)).collect();
                    let found = flight.acknowledge(self.una());
                    let newest = found.newest.map(|it| (it.sent, it.transmissions));
                    let bytes = covered.iter().map(|segment| segment.1).sum::<u64>();
                    let repeated = covered.iter().any(|segment| segment.3 > 1);
                    prop_assert_eq!(newest, covered.last().map(|segment| (segment.2, segment.3)));
                    prop_assert_eq!((found.bytes, found.retransmitted), (bytes, repeated));
                    self.next = self.next.max(self.una());
                }
                Step::Rewind => {
                    flight.rewind();
                    self.next = self.una();
                }
                Step::Send | Step::Repeat(_) | Step::Depart(_) => {}
            }
            Ok(())
        }

        fn compare(&self, flight: &Flight) -> Result<(), TestCaseError> {
            prop_assert_eq!(
                (flight.snd_una, flight.snd_nxt, flight.snd_max),
                (self.una(), self.next, self.max)
            );
            prop_assert_eq!(flight.flight_size(), self.next - self.una());
            prop_assert_eq!(flight.is_acknowledged(), self.segments.is_empty());
            prop_assert_eq!(flight.segments(), self.segments.len());
            prop_assert_eq!(flight.transmissions(self.max), 0);
            for (place, &(start, payload, sent, transmissions)) in self.segments.iter().enumerate()
            {
                prop_assert_eq!(flight.place(start), place);
                prop_assert_eq!(flight.payload(start), payload);
                prop_assert_eq!(flight.transmissions(start), transmissions);
                let found = flight
                    .ending_at(start + payload)
                    .map(|it| (it.sent, it.transmissions));
                prop_assert_eq!(found, Some((sent, transmissions)));
            }
            for end in self.una()..=self.max {
                let before = self.segments.iter().filter(|segment| segment.0 < end);
                let before: Vec<_> = before.map(|segment| (segment.0, segment.3)).collect();
                prop_assert_eq!(
                    flight.last_before(end),
                    before.last().map(|segment| segment.0)
                );
                let found: Vec<_> = flight.transmissions_before(end).collect();
                prop_assert_eq!(found, before);
            }
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn a_flight_is_a_list_of_segments(mss in 1..30u32, steps in steps()) {
            let (mut flight, mut list) = (Flight::new(SIZE, mss, u64::MAX), List::default());
            for (now, step) in (0..).zip(steps) {
                list.step(step, &mut flight, Time(now))?;
                list.compare(&flight)?;
            }
        }
    }
}
