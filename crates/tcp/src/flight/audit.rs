//! Detection of spurious retransmissions: whether a repeated segment had really been lost, which
//! the simulator knows and the sender does not.

use crate::flight::Flight;
use crate::wire::segment::{ACK, SYN};
use lightburst_des::Time;
use lightburst_net::LostTransmission;
use std::ops::AddAssign;

/// Stands for the SYN in place of the first byte of a segment.
pub const SYN_AT: u64 = u64::MAX - 1;
/// Stands for a FIN without data in place of the first byte of a segment.
pub const FIN_AT: u64 = u64::MAX;

/// Counts of the repetitions of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repetitions {
    /// Number of fast retransmissions: entries into a fast recovery, or those of Tahoe.
    pub fast_retransmits: u64,
    /// Number of fast retransmissions whose segment was not lost.
    pub false_fast_retransmits: u64,
    /// Number of timeouts whose repeated segment was not lost.
    pub false_timeouts: u64,
    /// Number of data segments retransmitted although an earlier transmission was not lost.
    pub spurious_retransmissions: u64,
    /// Payload bytes of these spurious retransmissions.
    pub spurious_bytes: u64,
}

impl AddAssign for Repetitions {
    /// Adds the counts of a further subflow.
    fn add_assign(&mut self, more: Repetitions) {
        self.fast_retransmits += more.fast_retransmits;
        self.false_fast_retransmits += more.false_fast_retransmits;
        self.false_timeouts += more.false_timeouts;
        self.spurious_retransmissions += more.spurious_retransmissions;
        self.spurious_bytes += more.spurious_bytes;
    }
}

/// Event that made the sender take a segment for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A fast retransmission.
    FastRetransmit,
    /// An expiry of the retransmission timer.
    Timeout,
}

/// Consecutive decisions with the same cause that the same segment is lost; each follows one more
/// transmission of the segment.
#[derive(Clone, Copy, Debug)]
struct Decisions {
    cause: Cause,
    /// Number of transmissions of the segment before the first decision.
    first: u32,
    /// Number of transmissions of the segment before the last decision.
    last: u32,
}

/// A segment that was sent more than once.
#[derive(Clone, Copy, Debug)]
pub struct Repeated {
    sequence: u64,
    transmissions: u32,
    /// Payload in bytes.
    payload: u64,
}

/// Returns the segments before `until` that were sent more than once and are not acknowledged.
pub fn repeated_before(until: u64, flight: &Flight) -> impl Iterator<Item = Repeated> + '_ {
    let sent = flight.transmissions_before(until);
    let repeated = sent.filter(|(_, transmissions)| *transmissions > 1);
    repeated.map(|(sequence, transmissions)| Repeated {
        sequence,
        transmissions,
        payload: flight.payload(sequence),
    })
}

/// Step of an audit that needs the losses before it. In a part of a network these are known at the
/// end of a window only.
#[derive(Clone, Debug)]
pub enum Step {
    /// The segment at this byte is taken for lost, after this number of transmissions.
    Decision(Cause, (u64, u32)),
    /// A data segment is sent again: its number of transmissions.
    Retransmission(u32),
    /// All data before this byte is acknowledged, with these segments that were repeated.
    Acknowledgement(u64, Vec<Repeated>),
}

/// Audit of the retransmissions of one flow against the drops in the network. Every decision
/// concerns the first unacknowledged segment (the front), so it is judged when that segment is
/// acknowledged.
#[derive(Clone, Debug, Default)]
pub struct RetransmissionAudit {
    /// First byte of the segment that the decisions concern.
    front: u64,
    /// Number of its lost transmissions, without interruption from the first transmission on.
    front_lost: u32,
    /// Number of unacknowledged segments that were sent more than once.
    repeated: u32,
    /// Number of decisions about data segments.
    reductions: u64,
    /// Further state, allocated when a fast retransmission, an unconfirmed decision or a loss other
    /// than the next of the front occurs.
    rest: Option<Box<Rest>>,
}

/// State that most flows never need.
#[derive(Clone, Debug)]
struct Rest {
    /// Decisions about the front that the known losses do not justify.
    open: Vec<Decisions>,
    /// Other lost transmissions of unacknowledged segments, sorted: first byte of the segment,
    /// number of the transmission.
    lost: Vec<(u64, u32)>,
    counts: Repetitions,
    /// Steps that wait for the end of the window, with their times.
    later: Vec<(Time, Step)>,
}

impl Default for Rest {
    fn default() -> Rest {
        Rest {
            counts: Repetitions::default(),
            // Allocates now, so that later insertions rarely need to.
            open: Vec::with_capacity(1),
            lost: Vec::with_capacity(8),
            later: Vec::new(),
        }
    }
}

impl RetransmissionAudit {
    fn rest(&mut self) -> &mut Rest {
        self.rest.get_or_insert_with(Default::default)
    }

    /// Returns whether no segment was sent more than once and no decision is open. Losses then need
    /// not be read.
    #[inline]
    pub fn is_complete(&self) -> bool {
        let open = || self.rest.as_ref().is_some_and(|rest| !rest.open.is_empty());
        self.repeated == 0 && !open()
    }

    /// Records the decision that the segment at `front` is lost, after this number of
    /// transmissions. `lost` yields the losses not read yet.
    pub fn decide(
        &mut self,
        cause: Cause,
        (front, transmissions): (u64, u32),
        lost: impl Iterator<Item = LostTransmission>,
    ) {
        if cause == Cause::FastRetransmit {
            self.rest().counts.fast_retransmits += 1;
        }
        self.reductions += u64::from(front < SYN_AT);
        if self.front != front {
            self.turn_to(front);
        }
        self.read(lost);
        if self.front_lost >= transmissions {
            return;
        }
        let open = &mut self.rest().open;
        match open.last_mut() {
            Some(open) if open.cause == cause && open.last + 1 == transmissions => {
                open.last = transmissions
            }
            _ => open.push(Decisions {
                cause,
                first: transmissions,
                last: transmissions,
            }),
        }
    }

    /// Returns the number of times data was taken for lost, by a fast retransmission or by the
    /// timer.
    pub fn reductions(&self) -> u64 {
        self.reductions
    }

    /// Counts a retransmission of a data segment: its `transmission`-th transmission.
    /// A probe repeats a segment without a decision: the front may still be the SYN.
    pub fn count_retransmission(&mut self, transmission: u32) {
        if self.front == SYN_AT {
            self.turn_to(0);
        }
        self.repeated += u32::from(transmission == 2);
    }

    /// Reads further losses and closes the decisions that they justify.
    pub fn read(&mut self, lost: impl Iterator<Item = LostTransmission>) {
        for one in lost {
            let at = match one.flags {
                flags if flags & SYN != 0 => SYN_AT,
                flags if flags & ACK == 0 => FIN_AT,
                _ => one.sequence,
            };
            if (at, one.transmission) == (self.front, self.front_lost + 1) {
                self.front_lost += 1;
            } else if at >= self.front {
                let others = &mut self.rest().lost;
                let (Ok(place) | Err(place)) = others.binary_search(&(at, one.transmission));
                others.insert(place, (at, one.transmission));
            }
        }
        self.look_at_front();
    }

    /// Judges the decisions and counts the spurious retransmissions when all data before `until`
    /// is acknowledged, of which these segments were `repeated`.
    pub fn acknowledge(&mut self, until: u64, repeated: impl IntoIterator<Item = Repeated>) {
        self.judge_decisions();
        if self.repeated > 0 {
            let repeated = repeated.into_iter();
            repeated.for_each(|one| self.count_spurious(one));
        }
        self.turn_to(until);
    }

    /// Takes a step that was postponed to the end of a window, with the losses before it that were
    /// not read yet. `open`: whether the audit was open before it; returns whether it is afterwards.
    pub fn take(
        &mut self,
        step: Step,
        open: bool,
        lost: impl Iterator<Item = LostTransmission>,
    ) -> bool {
        match step {
            Step::Decision(cause, at) => self.decide(cause, at, lost),
            Step::Retransmission(transmission) => {
                self.count_retransmission(transmission);
                return true;
            }
            Step::Acknowledgement(until, repeated) => {
                if !open {
                    return false;
                }
                self.read(lost);
                self.acknowledge(until, repeated);
            }
        }
        !self.is_complete()
    }

    /// Postpones a step to the end of the window.
    pub fn postpone(&mut self, now: Time, step: Step) {
        self.rest().later.push((now, step));
    }

    /// Takes out the postponed steps.
    pub fn postponed(&mut self) -> Vec<(Time, Step)> {
        std::mem::take(&mut self.rest().later)
    }

    /// Returns the counts under the assumption that no further packet is lost.
    pub fn counts(
        &self,
        flight: &Flight,
        lost: impl Iterator<Item = LostTransmission>,
    ) -> Repetitions {
        let counted = |audit: &RetransmissionAudit| audit.rest.as_ref().map(|rest| rest.counts);
        if self.is_complete() {
            return counted(self).unwrap_or_default();
        }
        let mut end = self.clone();
        end.read(lost);
        end.acknowledge(flight.snd_max, repeated_before(flight.snd_max, flight));
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

    /// Judges the open decisions. A decision was false if the segment had a transmission before it
    /// that was not lost.
    fn judge_decisions(&mut self) {
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

    fn count_spurious(&mut self, repeated: Repeated) {
        let Repeated {
            sequence,
            transmissions,
            payload,
        } = repeated;
        self.repeated -= 1;
        let mut needed = match sequence == self.front {
            true => self.front_lost,
            false => 0,
        };
        let others = self.rest.as_ref().map_or(&[][..], |rest| &rest.lost);
        while others.binary_search(&(sequence, needed + 1)).is_ok() {
            needed += 1;
        }
        let spurious = u64::from((transmissions - 1).saturating_sub(needed));
        if spurious > 0 {
            let counts = &mut self.rest().counts;
            counts.spurious_retransmissions += spurious;
            counts.spurious_bytes += spurious * payload;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postponed_steps_are_those_taken_at_once() {
        let lost = |transmission| LostTransmission {
            sequence: 0,
            transmission,
            flags: ACK,
            at: Time(9),
        };
        let repeated = Repeated {
            sequence: 0,
            transmissions: 2,
            payload: 1,
        };
        for known in [vec![], vec![lost(1)]] {
            let mut audit = RetransmissionAudit::default();
            let decision = Step::Decision(Cause::Timeout, (0, 1));
            let open = audit.take(decision, false, std::iter::empty());
            assert!(open, "the loss of the segment is not known");
            assert!(audit.take(Step::Retransmission(2), open, std::iter::empty()));
            let acknowledgement = Step::Acknowledgement(1, vec![repeated]);
            let necessary = u64::from(!known.is_empty());
            assert!(!audit.take(acknowledgement, true, known.into_iter()));
            let counts = audit.counts(&Flight::new(1, 1, u64::MAX), std::iter::empty());
            assert_eq!(counts.false_timeouts, 1 - necessary);
            assert_eq!(counts.spurious_bytes, 1 - necessary);
            // Nothing is left to ask: an acknowledgement is not looked at.
            let front = audit.front;
            let acknowledgement = Step::Acknowledgement(5, Vec::new());
            assert!(!audit.take(acknowledgement, false, std::iter::once(lost(2))));
            assert_eq!(audit.front, front);
        }
    }

    #[test]
    fn what_is_not_known_to_be_lost_when_it_is_acknowledged_was_not_lost() {
        let transmission = LostTransmission {
            sequence: 0,
            transmission: 1,
            flags: ACK,
            at: Time(99),
        };
        for (known, false_timeouts) in [(Some(transmission), 0), (None, 1)] {
            let mut audit = RetransmissionAudit::default();
            audit.decide(Cause::Timeout, (0, 1), std::iter::empty());
            audit.read(known.into_iter());
            audit.acknowledge(1, None);
            let counts = audit.counts(&Flight::new(1, 1, u64::MAX), std::iter::empty());
            assert_eq!(counts.false_timeouts, false_timeouts);
        }
    }
}
