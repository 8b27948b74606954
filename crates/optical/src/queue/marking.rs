//! Drop-tail that marks by the present queue, with a probability that rises between two thresholds:
//! the congestion point of DCQCN (Y. Zhu et al., SIGCOMM 2015, section 3.1 and figure 5).

use super::{Discipline, DisciplineSettings, Port};
use crate::output::Output;
use lightburst_des::{Stream, Time};
use lightburst_net::{Chain, Unit};
use serde::Deserialize;

/// Settings of the queue.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marking {
    /// Backlog in bytes up to which nothing is marked (`K_min`).
    min_threshold_bytes: u64,
    /// Backlog in bytes above which all is marked (`K_max`).
    max_threshold_bytes: u64,
    /// Probability of a mark at the upper threshold (`P_max`).
    max_probability: f64,
}

impl DisciplineSettings for Marking {
    fn build(&self, port: &Port) -> Box<dyn Discipline> {
        Box::new(Queue {
            settings: *self,
            draw: port.draw(),
            chain: Chain::default(),
        })
    }
}

struct Queue {
    settings: Marking,
    draw: Stream,
    chain: Chain,
}

impl Queue {
    /// Returns whether a unit that finds `backlog` bytes is to be marked; draws between the
    /// thresholds.
    #[inline]
    fn marks(&mut self, backlog: u64) -> bool {
        let Marking {
            min_threshold_bytes: min,
            max_threshold_bytes: max,
            max_probability,
        } = self.settings;
        if backlog <= min {
            return false;
        }
        if backlog > max {
            return true;
        }
        let share = (backlog - min) as f64 / (max - min) as f64;
        self.draw.uniform() < max_probability * share
    }
}

impl Discipline for Queue {
    #[inline]
    fn enqueue(&mut self, unit: Unit, output: &mut Output<'_, '_>) {
        let backlog = output.backlog();
        if !output.admit(unit, backlog) {
            return;
        }
        if output.is_capable(unit) && self.marks(backlog) {
            output.mark(unit);
        }
        output.push(&mut self.chain, unit, backlog);
    }

    #[inline]
    fn dequeue(&mut self, output: &mut Output<'_, '_>) -> Option<(Unit, Time)> {
        output.pop(&mut self.chain)
    }

    fn flush(&mut self, output: &mut Output<'_, '_>) -> Vec<Unit> {
        output.pop_all(&mut self.chain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_marks_rises_between_the_thresholds() {
        let mut queue = Queue {
            settings: Marking {
                min_threshold_bytes: 1000,
                max_threshold_bytes: 3000,
                max_probability: 0.2,
            },
            draw: Stream::new(3, "queue/0"),
            chain: Chain::default(),
        };
        let n = 100_000;
        let mut share = |backlog| {
            let marked = (0..n).filter(|_| queue.marks(backlog)).count();
            marked as f64 / f64::from(n)
        };
        // P_max (q - K_min) / (K_max - K_min), within four standard deviations.
        for (backlog, expected) in [(1500, 0.05), (2000, 0.1), (3000, 0.2)] {
            let deviation = (expected * (1.0 - expected) / f64::from(n)).sqrt();
            let found: f64 = share(backlog);
            assert!((found - expected).abs() < 4.0 * deviation, "{found}");
        }
        assert_eq!([0, 1000, 3001].map(&mut share), [0.0, 0.0, 1.0]);
    }
}
