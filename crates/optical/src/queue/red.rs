//! Random early detection (Floyd and Jacobson 1993), with the thresholds in bytes and, if `gentle`,
//! a probability that rises to 1 above the upper threshold (Floyd 2000).

use super::{Discipline, DisciplineSettings, Port};
use crate::output::Output;
use lightburst_des::{Stream, Time};
use lightburst_net::{Bytes, Chain, DropReason, Unit};
use serde::Deserialize;

/// The drawn number was below the probability of a drop.
pub const EARLY: &DropReason = &DropReason {
    name: "red-early",
    busy: false,
};

/// The average queue was above the range of probabilities.
pub const FORCED: &DropReason = &DropReason {
    name: "red-forced",
    busy: false,
};

/// Settings of RED.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Red {
    /// Average queue in bytes from which on units are dropped (min_th).
    min_threshold_bytes: u64,
    /// Average queue in bytes at which the probability is the largest (max_th).
    max_threshold_bytes: u64,
    /// Largest probability between the thresholds (max_p).
    max_probability: f64,
    /// Weight of the present queue in the average (w_q).
    weight: f64,
    /// Size in bytes of the packet whose transmission time is the unit of idle time.
    mean_packet_bytes: u32,
    /// Whether the probability rises to 1 at twice the upper threshold.
    gentle: bool,
    /// Whether packets of transports capable of ECN are marked in place of early drops.
    ecn: bool,
}

impl DisciplineSettings for Red {
    fn build(&self, port: &Port) -> Box<dyn Discipline> {
        Box::new(Queue {
            settings: *self,
            draw: port.draw(),
            average: 0.0,
            count: -1,
            chain: Chain::default(),
        })
    }
}

struct Queue {
    settings: Red,
    draw: Stream,
    /// Average queue in bytes.
    average: f64,
    /// Units since the last drop, while the average is above the lower threshold; -1 below it.
    count: i64,
    chain: Chain,
}

/// Fate of an arriving unit.
enum Fate {
    Queue,
    Early,
    Forced,
}

/// Returns the `n`-th power of `x`, by squaring.
fn power(mut x: f64, mut n: u64) -> f64 {
    let mut power = 1.0;
    while n > 0 {
        if n & 1 == 1 {
            power *= x;
        }
        x *= x;
        n >>= 1;
    }
    power
}

impl Queue {
    /// Updates the average with the queue that an arriving unit finds.
    #[inline]
    fn average(&mut self, backlog: u64, output: &Output<'_, '_>) {
        let weight = self.settings.weight;
        if backlog > 0 {
            // avg <- (1 - w_q) avg + w_q q
            self.average = (1.0 - weight) * self.average + weight * backlog as f64;
            return;
        }
        // m <- f(time - q_time); avg <- (1 - w_q)^m avg
        let idle = output.now().since(output.free_at());
        let packet = Bytes(u64::from(self.settings.mean_packet_bytes));
        let packets = idle.0 / output.rate().transmission_time(packet).0;
        self.average *= power(1.0 - weight, packets);
    }

    /// Decides about a unit by the average queue.
    fn decide(&mut self) -> Fate {
        let Red {
            min_threshold_bytes,
            max_threshold_bytes,
            max_probability,
            gentle,
            ..
        } = self.settings;
        let (min, max) = (min_threshold_bytes as f64, max_threshold_bytes as f64);
        if self.average < min {
            self.count = -1;
            return Fate::Queue;
        }
        let probability = if self.average < max {
            // p_b <- max_p (avg - min_th) / (max_th - min_th)
            max_probability * (self.average - min) / (max - min)
        } else if gentle && self.average < 2.0 * max {
            max_probability + (1.0 - max_probability) * (self.average - max) / max
        } else {
            self.count = 0;
            return Fate::Forced;
        };
        self.count += 1;
        // p_a <- p_b / (1 - count p_b): a drop if u < p_a, for a denominator that may not be positive
        let rest = 1.0 - self.count as f64 * probability;
        if self.draw.uniform() * rest < probability {
            self.count = 0;
            return Fate::Early;
        }
        Fate::Queue
    }
}

impl Discipline for Queue {
    #[inline]
    fn enqueue(&mut self, unit: Unit, output: &mut Output<'_, '_>) {
        let backlog = output.backlog();
        self.average(backlog, output);
        match self.decide() {
            Fate::Queue => {}
            Fate::Early if self.settings.ecn && output.is_capable(unit) => {
                if !output.admit(unit, backlog) {
                    return;
                }
                output.mark(unit);
                return output.push(&mut self.chain, unit, backlog);
            }
            Fate::Early => return output.drop(unit, EARLY),
            Fate::Forced => return output.drop(unit, FORCED),
        }
        if output.admit(unit, backlog) {
            output.push(&mut self.chain, unit, backlog);
        } else {
            self.count = 0;
        }
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

    fn queue(average: f64) -> Queue {
        Queue {
            settings: Red {
                min_threshold_bytes: 1000,
                max_threshold_bytes: 3000,
                max_probability: 0.2,
                weight: 0.25,
                mean_packet_bytes: 1000,
                gentle: true,
                ecn: false,
            },
            draw: Stream::new(3, "queue/0"),
            average,
            count: -1,
            chain: Chain::default(),
        }
    }

    /// Returns the numbers of units from one early drop to the next, at an average that stays.
    fn gaps(average: f64, drops: usize) -> Vec<usize> {
        let mut queue = queue(average);
        let mut gap = || (1..).find(|_| matches!(queue.decide(), Fate::Early));
        (0..drops + 1).filter_map(|_| gap()).skip(1).collect()
    }

    #[test]
    fn the_number_of_units_between_drops_is_uniform() {
        // Floyd and Jacobson 1993, section V: with p_b = 1/10 the next drop is that of one of the
        // next nine units, each with the same probability; a unit after a drop has the count 1.
        let drops = 90_000;
        let mut numbers = [0u32; 9];
        for gap in gaps(2000.0, drops) {
            numbers[gap - 1] += 1;
        }
        let expected = drops as f64 / 9.0;
        let square = |&n: &u32| (f64::from(n) - expected).powi(2) / expected;
        // The 99.9 % quantile of chi-squared with 8 degrees of freedom.
        assert!(
            numbers.iter().map(square).sum::<f64>() < 26.1,
            "{numbers:?}"
        );
    }

    #[test]
    fn the_probability_is_gentle_up_to_twice_the_upper_threshold() {
        // p_b = 0.2 + 0.8 * 1500 / 3000 = 0.6: a drop with p_a = 0.6 / 0.4, of every unit.
        assert!(gaps(4500.0, 1000).iter().all(|&gap| gap == 1));
        assert!(matches!(queue(5999.0).decide(), Fate::Early | Fate::Queue));
        assert!(matches!(queue(6000.0).decide(), Fate::Forced));
        assert!(matches!(queue(999.9).decide(), Fate::Queue));
        let mut steep = queue(3000.0);
        steep.settings.gentle = false;
        assert!(matches!(steep.decide(), Fate::Forced));
    }

    #[test]
    fn a_power_is_that_of_repeated_products() {
        assert_eq!(
            [0, 1, 2, 5].map(|n| power(0.5, n)),
            [1.0, 0.5, 0.25, 0.03125]
        );
        assert_eq!(power(0.998, u64::MAX), 0.0);
    }
}
