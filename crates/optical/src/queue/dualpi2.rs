//! Coupled dual queue with PI2 (RFC 9332, appendix A): packets of scalable senders have a queue of
//! their own, with marks from a short delay on. The probability of marks and drops follows from the
//! delay of the longer queue: linear for scalable senders, squared for the classic ones.
//!
//! An update costs no event, as with PIE: the first units stay the same between two arrivals or
//! departures, so that their waits are known afterwards.

use super::{Discipline, DisciplineSettings, Port};
use crate::output::Output;
use crate::settings::{duration, positive_duration};
use crate::updates::{seconds, Updates};
use lightburst_des::{Duration, Time};
use lightburst_net::{Chain, DropReason, Ecn, Unit};
use serde::Deserialize;
use std::num::NonZeroU32;

/// A classic unit was dropped by its probability, or any unit in an overload.
pub const DUALPI2_EARLY: &DropReason = &DropReason {
    name: "dualpi2-early",
    busy: false,
};

/// Positions of the queues: of the scalable senders (L), and of all others (C).
const SCALABLE: usize = 0;
const CLASSIC: usize = 1;

/// Settings of DualPI2.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DualPi2 {
    /// Delay in the classic queue that is aimed at (target).
    #[serde(rename = "target_ps", deserialize_with = "positive_duration")]
    target: Duration,
    /// Time from one update of the probability to the next (Tupdate).
    #[serde(rename = "update_ps", deserialize_with = "positive_duration")]
    update: Duration,
    /// Change of the probability per second of delay above the target.
    alpha: f64,
    /// Change of the probability per second by which the delay has grown since the last update.
    beta: f64,
    /// Coupling factor (k).
    coupling: f64,
    /// Delay in the queue of scalable senders from which on their packets may be marked (minTh).
    #[serde(rename = "l4s_threshold_ps", deserialize_with = "duration")]
    l4s_threshold: Duration,
    /// Further delay at which all of them are marked (range).
    #[serde(rename = "l4s_range_ps", deserialize_with = "duration")]
    l4s_range: Duration,
    /// Bytes that the classic queue may send in its turn.
    quantum_bytes: NonZeroU32,
    /// Bytes that the other queue may send in its turn, as a multiple of that.
    l4s_weight: NonZeroU32,
}

impl DisciplineSettings for DualPi2 {
    fn build(&self, _port: &Port) -> Box<dyn Discipline> {
        Box::new(Queues::new(*self))
    }
}

/// One of the two queues.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    chain: Chain,
    /// Number of units.
    units: u32,
    /// Bytes that it may still send in its turn.
    deficit: u64,
    /// Sum of the likelihoods since the last mark or drop.
    count: f64,
}

impl Side {
    /// RFC 9332, appendix A.1, `recur`: returns TRUE with a certain likelihood.
    fn recur(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let is_due = self.count > 1.0;
        if is_due {
            self.count -= 1.0;
        }
        is_due
    }
}

struct Queues {
    settings: DualPi2,
    sides: [Side; 2],
    /// Base probability (p').
    probability: f64,
    /// Delay at the last update (prevq).
    delay: Duration,
    updates: Updates,
    /// Queue whose turn it is.
    turn: usize,
    /// Whether it has its quantum.
    has_quantum: bool,
}

impl Queues {
    fn new(settings: DualPi2) -> Queues {
        Queues {
            settings,
            sides: [Side::default(); 2],
            probability: 0.0,
            delay: Duration::ZERO,
            updates: Updates::new(settings.update),
            turn: SCALABLE,
            has_quantum: false,
        }
    }

    /// RFC 9332, appendix A, `dualpi2_update`; returns whether anything changed.
    fn update(&mut self, delay: Duration) -> bool {
        let before = (self.probability, self.delay);
        let DualPi2 {
            target,
            alpha,
            beta,
            ..
        } = self.settings;
        // p' = p' + alpha * (curq - target) + beta * (curq - prevq), from 0 to 1
        let grown = seconds(delay, self.delay);
        let probability = self.probability + alpha * seconds(delay, target) + beta * grown;
        self.probability = probability.clamp(0.0, 1.0);
        self.delay = delay;
        before != (self.probability, self.delay)
    }

    /// Makes up for the updates up to the present.
    #[inline(always)]
    fn catch_up(&mut self, output: &Output<'_, '_>) {
        if self.updates.are_due(output.now()) {
            self.make_up(output);
        }
    }

    fn make_up(&mut self, output: &Output<'_, '_>) {
        // curq = max(cq.time(), lq.time()): how long the first units have waited
        let since = self.sides.map(|side| output.since(&side.chain));
        let longest = since.into_iter().flatten().min();
        let delay_at = |time: Time| longest.map_or(Duration::ZERO, |since| time.since(since));
        let mut updates = self.updates;
        updates.make_up(output.now(), delay_at, |delay| self.update(delay));
        self.updates = updates;
    }

    /// Returns the queue that sends next, by deficit round robin; `None` if both are empty.
    fn scheduled(&mut self, output: &Output<'_, '_>) -> Option<usize> {
        if self.sides.iter().all(|side| side.chain.is_empty()) {
            return None;
        }
        loop {
            let at = self.turn;
            let side = &mut self.sides[at];
            match side.chain.first() {
                None => side.deficit = 0,
                Some(unit) => {
                    if !self.has_quantum {
                        let quantum = u64::from(self.settings.quantum_bytes.get());
                        let weight = u64::from(self.settings.l4s_weight.get());
                        side.deficit += if at == SCALABLE {
                            quantum * weight
                        } else {
                            quantum
                        };
                        self.has_quantum = true;
                    }
                    let bytes = u64::from(output.bytes(unit));
                    if bytes <= side.deficit {
                        side.deficit -= bytes;
                        return Some(at);
                    }
                }
            }
            self.turn = 1 - at;
            self.has_quantum = false;
        }
    }

    /// RFC 9332, appendix A.1, `laqm`: the probability of a mark by the delay of the queue itself.
    fn native(&self, delay: Duration) -> f64 {
        let DualPi2 {
            l4s_threshold,
            l4s_range,
            ..
        } = self.settings;
        if delay >= l4s_threshold + l4s_range {
            1.0
        } else if delay > l4s_threshold {
            (delay - l4s_threshold).0 as f64 / l4s_range.0 as f64
        } else {
            0.0
        }
    }

    /// Decides about a unit that leaves one of the queues after `delay`; returns whether it is
    /// dropped (RFC 9332, appendix A.2, `dualpi2_dequeue`).
    fn drops(
        &mut self,
        at: usize,
        unit: Unit,
        delay: Duration,
        output: &mut Output<'_, '_>,
    ) -> bool {
        // p_CL = k * p'; p_C = p'^2; p_Cmax = min(1/k^2, 1); p_Lmax = 1
        let k = self.settings.coupling;
        let coupled = (k * self.probability).min(1.0);
        let squared = self.probability * self.probability;
        if at == CLASSIC {
            if !self.sides[CLASSIC].recur(squared) {
                return false;
            }
            let is_overload = squared >= (1.0 / (k * k)).min(1.0);
            return is_overload || !output.mark_capable(unit);
        }
        let is_marked = if coupled < 1.0 {
            // if (lq.len() > Th_len) p'_L = laqm(lq.time()) else p'_L = 0
            let several = self.sides[SCALABLE].units > 1;
            let native = if several { self.native(delay) } else { 0.0 };
            self.sides[SCALABLE].recur(native.max(coupled))
        } else {
            // Overload: drops as of classic units, and marks of those that remain.
            if self.sides[SCALABLE].recur(squared) {
                return true;
            }
            self.sides[SCALABLE].recur(coupled)
        };
        if is_marked {
            output.mark(unit);
        }
        false
    }
}

impl Discipline for Queues {
    #[inline]
    fn enqueue(&mut self, unit: Unit, output: &mut Output<'_, '_>) {
        self.catch_up(output);
        let backlog = output.backlog();
        if !output.admit(unit, backlog) {
            return;
        }
        // Packet classifier: ECT(1) is that of scalable senders.
        let is_scalable = output.ecn(unit) == Ecn::Scalable;
        let side = &mut self.sides[if is_scalable { SCALABLE } else { CLASSIC }];
        side.units += 1;
        output.push(&mut side.chain, unit, backlog);
    }

    #[inline]
    fn dequeue(&mut self, output: &mut Output<'_, '_>) -> Option<(Unit, Time)> {
        self.catch_up(output);
        loop {
            let at = self.scheduled(output)?;
            let side = &mut self.sides[at];
            let (unit, since) = output.pop(&mut side.chain).expect("a unit that waits");
            side.units -= 1;
            if !self.drops(at, unit, output.now().since(since), output) {
                return Some((unit, since));
            }
            output.drop(unit, DUALPI2_EARLY);
        }
    }

    /// Those of scalable senders first.
    fn flush(&mut self, output: &mut Output<'_, '_>) -> Vec<Unit> {
        self.catch_up(output);
        self.has_quantum = false;
        let mut units = Vec::new();
        for side in &mut self.sides {
            side.units = 0;
            side.deficit = 0;
            units.append(&mut output.pop_all(&mut side.chain));
        }
        units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    /// Returns the base probability after updates with these delays, in milliseconds.
    fn base(delays: &[u64]) -> f64 {
        let mut queues = Queues::new(DualPi2 {
            target: Duration(15 * MS),
            update: Duration(15 * MS),
            alpha: 0.15,
            beta: 3.0,
            coupling: 2.0,
            l4s_threshold: Duration(MS),
            l4s_range: Duration(MS),
            quantum_bytes: NonZeroU32::MIN,
            l4s_weight: NonZeroU32::MIN,
        });
        for &delay in delays {
            queues.update(Duration(delay * MS));
        }
        queues.probability
    }

    #[test]
    fn the_base_follows_the_delay_and_its_growth() {
        // 0.15 * 10 ms + 3 * 25 ms = 0.0765; then 0.15 * 5 ms - 3 * 5 ms = -0.01425.
        assert!((base(&[25]) - 0.0765).abs() < 1e-15);
        assert!((base(&[25, 20]) - 0.06225).abs() < 1e-15);
        // No less than 0, and no more than 1.
        assert_eq!(base(&[25, 0]), 0.0);
        assert_eq!(base(&[500]), 1.0);
    }
}
