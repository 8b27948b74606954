//! Whether what a sender repeats was lost, which it cannot know and the simulator can.

use crate::flight::Flight;
use crate::segment::{ACK, SYN};
use lightburst_net::LostSending;

/// The SYN, among the first bytes of segments.
pub const SYN_AT: u64 = u64::MAX - 1;
/// A FIN on its own.
pub const FIN_AT: u64 = u64::MAX;

/// What is counted of the repetitions of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repetitions {
    /// Fast retransmissions: entries into a fast recovery, or those of Tahoe.
    pub fast_retransmits: u64,
    /// Those whose segment was not lost.
    pub false_fast_retransmits: u64,
    /// Timeouts of which what they repeat was not lost.
    pub false_timeouts: u64,
    /// Data segments sent again though a sending before was not lost.
    pub spurious_retransmissions: u64,
    /// Their useful bytes.
    pub spurious_bytes: u64,
}

/// Why a sender takes a segment for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A fast retransmission.
    FastRetransmit,
    /// The retransmission timer.
    Timeout,
}

/// Decisions one after another, of which all but the first came when the segment was sent once
/// more.
#[derive(Clone, Copy, Debug)]
struct Decisions {
    cause: Cause,
    /// How often the segment had been sent at the first of them.
    first: u32,
    /// The same at the last.
    last: u32,
}

/// What is known of the repetitions of one flow. A decision is about the first segment that is not
/// acknowledged, and so is settled when that is.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    /// The segment that decisions are about.
    front: u64,
    /// How many sendings of it are lost, from the first one on.
    front_lost: u32,
    /// Segments that were sent more than once and are not acknowledged.
    repeated: u32,
    /// Decisions about data.
    reductions: u64,
    /// None: all decisions were right, and what was lost came in the order of the data.
    rest: Option<Box<Rest>>,
}

/// What most flows never need.
#[derive(Clone, Debug)]
struct Rest {
    /// Decisions about the front that are false by what is known.
    open: Vec<Decisions>,
    /// Other lost sendings of what is not acknowledged, in order: of which segment, and which.
    lost: Vec<(u64, u32)>,
    counts: Repetitions,
}

impl Default for Rest {
    fn default() -> Rest {
        Rest {
            counts: Repetitions::default(),
            // Seldom needed, and then at any time: room is made at once.
            open: Vec::with_capacity(1),
            lost: Vec::with_capacity(8),
        }
    }
}

impl Truth {
    fn rest(&mut self) -> &mut Rest {
        self.rest.get_or_insert_with(Default::default)
    }

    /// Whether nothing was sent again or is in doubt: then nothing is counted, whatever was lost.
    #[inline]
    pub fn is_settled(&self) -> bool {
        let open = || self.rest.as_ref().is_some_and(|rest| !rest.open.is_empty());
        self.repeated == 0 && !open()
    }

    /// It is decided that the segment at `front` is lost, which was sent so often.
    pub fn decide(
        &mut self,
        cause: Cause,
        (front, sendings): (u64, u32),
        lost: impl Iterator<Item = LostSending>,
    ) {
        if cause == Cause::FastRetransmit {
            self.rest().counts.fast_retransmits += 1;
        }
        self.reductions += u64::from(front < SYN_AT);
        if self.front != front {
            self.turn_to(front);
        }
        self.read(lost);
        if self.front_lost >= sendings {
            return;
        }
        let open = &mut self.rest().open;
        match open.last_mut() {
            Some(open) if open.cause == cause && open.last + 1 == sendings => open.last = sendings,
            _ => open.push(Decisions {
                cause,
                first: sendings,
                last: sendings,
            }),
        }
    }

    /// How often data was taken for lost, by a fast retransmission or by the timer.
    pub fn reductions(&self) -> u64 {
        self.reductions
    }

    /// A segment of data was sent again, for that time.
    pub fn on_sent_again(&mut self, sending: u32) {
        self.repeated += u32::from(sending == 2);
    }

    /// Reads what was lost until now, and what therefore is right.
    pub fn read(&mut self, lost: impl Iterator<Item = LostSending>) {
        for one in lost {
            let at = match one.flags {
                flags if flags & SYN != 0 => SYN_AT,
                flags if flags & ACK == 0 => FIN_AT,
                _ => one.sequence,
            };
            if (at, one.sending) == (self.front, self.front_lost + 1) {
                self.front_lost += 1;
            } else if at >= self.front {
                let others = &mut self.rest().lost;
                let (Ok(place) | Err(place)) = others.binary_search(&(at, one.sending));
                others.insert(place, (at, one.sending));
            }
        }
        self.look_at_front();
    }

    /// All before `until` is acknowledged; the flight does not know yet.
    pub fn acknowledge(&mut self, until: u64, flight: &Flight) {
        self.settle();
        if self.repeated > 0 {
            for (sequence, sendings) in flight.sendings_before(until) {
                self.count_spurious(sequence, sendings, flight);
            }
        }
        self.turn_to(until);
    }

    /// What is counted if nothing more happens to what is under way.
    pub fn counts(&self, flight: &Flight, lost: impl Iterator<Item = LostSending>) -> Repetitions {
        let counted = |truth: &Truth| truth.rest.as_ref().map(|rest| rest.counts);
        if self.is_settled() {
            return counted(self).unwrap_or_default();
        }
        let mut end = self.clone();
        end.read(lost);
        end.acknowledge(flight.snd_max, flight);
        counted(&end).unwrap_or_default()
    }

    fn turn_to(&mut self, front: u64) {
        self.front = front;
        self.front_lost = 0;
        if let Some(rest) = &mut self.rest {
            let before = rest.lost.partition_point(|(at, _)| *at < front);
            rest.lost.drain(..before);
            self.look_at_front();
        }
    }

    fn look_at_front(&mut self) {
        let Some(rest) = &mut self.rest else {
            return;
        };
        let next = |lost: &u32| (self.front, self.front_lost + lost + 1);
        let follow = |lost: &u32| rest.lost.get(*lost as usize) == Some(&next(lost));
        let more = (0..).take_while(follow).count();
        rest.lost.drain(..more);
        self.front_lost += more as u32;
        let known = self.front_lost;
        rest.open.retain(|open| open.last > known);
    }

    /// A decision was right if all sendings before it are lost.
    fn settle(&mut self) {
        let Some(rest) = &mut self.rest else {
            return;
        };
        for open in rest.open.drain(..) {
            let wrong = u64::from(open.last - self.front_lost.max(open.first - 1));
            match open.cause {
                Cause::FastRetransmit => rest.counts.false_fast_retransmits += wrong,
                Cause::Timeout => rest.counts.false_timeouts += wrong,
            }
        }
    }

    fn count_spurious(&mut self, sequence: u64, sendings: u32, flight: &Flight) {
        if sendings == 1 {
            return;
        }
        self.repeated -= 1;
        let mut needed = match sequence == self.front {
            true => self.front_lost,
            false => 0,
        };
        let others = self.rest.as_ref().map_or(&[][..], |rest| &rest.lost);
        while others.binary_search(&(sequence, needed + 1)).is_ok() {
            needed += 1;
        }
        let spurious = u64::from((sendings - 1).saturating_sub(needed));
        if spurious > 0 {
            let counts = &mut self.rest().counts;
            counts.spurious_retransmissions += spurious;
            counts.spurious_bytes += spurious * flight.payload(sequence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightburst_des::Time;

    #[test]
    fn what_is_not_known_to_be_lost_when_it_is_acknowledged_was_not_lost() {
        let sending = LostSending {
            sequence: 0,
            sending: 1,
            flags: ACK,
            at: Time(99),
        };
        for (known, false_timeouts) in [(Some(sending), 0), (None, 1)] {
            let mut truth = Truth::default();
            truth.decide(Cause::Timeout, (0, 1), std::iter::empty());
            truth.read(known.into_iter());
            truth.acknowledge(1, &Flight::new(1, 1, u64::MAX));
            let counts = truth.counts(&Flight::new(1, 1, u64::MAX), std::iter::empty());
            assert_eq!(counts.false_timeouts, false_timeouts);
        }
    }
}
