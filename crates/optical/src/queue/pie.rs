//! Proportional integral controller enhanced (RFC 8033): an arriving unit is dropped with a
//! probability that is updated at regular times from the delay of the queue and its change.
//!
//! An update costs no event: between two arrivals or departures the queue only empties, so that the
//! delay at each time between them is known afterwards.

use super::{Discipline, DisciplineSettings, Port};
use crate::output::Output;
use crate::settings::{duration, positive_duration};
use crate::updates::{seconds, Updates};
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::{Chain, DropReason, Unit};
use serde::Deserialize;

/// The drawn number was below the probability of a drop.
pub const PIE_EARLY: &DropReason = &DropReason {
    name: "pie-early",
    busy: false,
};

/// RFC 8033, section 4.2: the largest probability of each range, and the divisor of its changes.
const STEPS: [(f64, f64); 6] = [
    (0.000001, 2048.0),
    (0.00001, 512.0),
    (0.0001, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];

/// Settings of PIE.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pie {
    /// Delay in the queue that is aimed at (QDELAY_REF).
    #[serde(rename = "target_ps", deserialize_with = "positive_duration")]
    target: Duration,
    /// Time from one update of the probability to the next (T_UPDATE).
    #[serde(rename = "update_ps", deserialize_with = "positive_duration")]
    update: Duration,
    /// Change of the probability per second of delay above the target.
    alpha: f64,
    /// Change of the probability per second by which the delay has grown since the last update.
    beta: f64,
    /// Time for which no unit is dropped after the queue was short (MAX_BURST).
    #[serde(rename = "burst_ps", deserialize_with = "duration")]
    burst: Duration,
    /// Size in bytes of a typical packet: no unit is dropped behind two of them (MEAN_PKTSIZE).
    mean_packet_bytes: u32,
    /// Whether packets of transports capable of ECN are marked in place of being dropped.
    ecn: bool,
    /// Probability from which on they are dropped nevertheless (mark_ecnth).
    mark_below: f64,
}

impl DisciplineSettings for Pie {
    fn build(&self, port: &Port) -> Box<dyn Discipline> {
        Box::new(Queue {
            controller: Controller::new(*self),
            draw: port.draw(),
            chain: Chain::default(),
        })
    }
}

/// Estimator of the probability.
struct Controller {
    settings: Pie,
    /// Probability of a drop.
    probability: f64,
    /// Delay at the last update.
    delay: Duration,
    /// Time for which no unit is dropped yet.
    allowance: Duration,
    updates: Updates,
}

impl Controller {
    fn new(settings: Pie) -> Controller {
        Controller {
            settings,
            probability: 0.0,
            delay: Duration::ZERO,
            allowance: settings.burst,
            updates: Updates::new(settings.update),
        }
    }

    /// Updates the probability with the present delay (RFC 8033, section 4.2); returns whether
    /// anything changed.
    fn update(&mut self, delay: Duration) -> bool {
        let Pie {
            target,
            update,
            alpha,
            beta,
            burst,
            ..
        } = self.settings;
        let before = (self.probability, self.delay, self.allowance);
        // p = alpha * (current_qdelay - QDELAY_REF) + beta * (current_qdelay - qdelay_old)
        let p = alpha * seconds(delay, target) + beta * seconds(delay, self.delay);
        let step = STEPS.iter().find(|(below, _)| self.probability < *below);
        let mut probability = self.probability + step.map_or(p, |(_, divisor)| p / divisor);
        // if (current_qdelay == 0 && qdelay_old == 0) drop_prob *= 0.98
        if delay == Duration::ZERO && self.delay == Duration::ZERO {
            probability *= 0.98;
        }
        self.probability = probability.clamp(0.0, 1.0);
        // Section 4.4: burst_allowance = max(0, burst_allowance - T_UPDATE), and MAX_BURST when the
        // congestion has gone away.
        self.allowance = Duration(self.allowance.0.saturating_sub(update.0));
        let is_short = |delay: Duration| delay * 2 < target;
        if self.probability == 0.0 && is_short(delay) && is_short(self.delay) {
            self.allowance = burst;
        }
        self.delay = delay;
        before != (self.probability, self.delay, self.allowance)
    }

    /// Makes up for the updates up to the present.
    #[inline(always)]
    fn catch_up(&mut self, output: &Output<'_, '_>) {
        if self.updates.are_due(output.now()) {
            self.make_up(output);
        }
    }

    fn make_up(&mut self, output: &Output<'_, '_>) {
        let mut updates = self.updates;
        let delay_at = |time| output.delay_at(time);
        updates.make_up(output.now(), delay_at, |delay| self.update(delay));
        self.updates = updates;
    }

    /// Returns whether a unit behind `backlog` bytes may be dropped (RFC 8033, sections 4.1 and 4.4).
    fn may_drop(&self, backlog: u64) -> bool {
        let is_short = self.delay * 2 < self.settings.target && self.probability < 0.2;
        let two_packets = 2 * u64::from(self.settings.mean_packet_bytes);
        self.allowance == Duration::ZERO && !is_short && backlog > two_packets
    }
}

struct Queue {
    controller: Controller,
    draw: Stream,
    chain: Chain,
}

impl Queue {
    /// Returns whether a unit that may be dropped was not; it may have been marked.
    fn spared(&mut self, unit: Unit, output: &mut Output<'_, '_>) -> bool {
        let probability = self.controller.probability;
        if self.draw.uniform() >= probability {
            return true;
        }
        // Section 5.1: packets are marked while drop_prob < mark_ecnth.
        let Pie {
            ecn, mark_below, ..
        } = self.controller.settings;
        let is_marked = ecn && probability < mark_below && output.mark_capable(unit);
        if !is_marked {
            output.drop(unit, PIE_EARLY);
        }
        is_marked
    }
}

impl Discipline for Queue {
    #[inline]
    fn enqueue(&mut self, unit: Unit, output: &mut Output<'_, '_>) {
        self.controller.catch_up(output);
        let backlog = output.backlog();
        // Section 4.1: a unit without room is dropped before a number is drawn.
        if !output.admit(unit, backlog) {
            return;
        }
        if !self.controller.may_drop(backlog) || self.spared(unit, output) {
            output.push(&mut self.chain, unit, backlog);
        }
    }

    #[inline]
    fn dequeue(&mut self, output: &mut Output<'_, '_>) -> Option<(Unit, Time)> {
        self.controller.catch_up(output);
        output.pop(&mut self.chain)
    }

    fn flush(&mut self, output: &mut Output<'_, '_>) -> Vec<Unit> {
        self.controller.catch_up(output);
        output.pop_all(&mut self.chain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    /// Creates the controller of RFC 8033 with its defaults, at a probability.
    fn controller(probability: f64) -> Controller {
        let controller = Controller::new(Pie {
            target: Duration(15 * MS),
            update: Duration(15 * MS),
            alpha: 0.125,
            beta: 1.25,
            burst: Duration(40 * MS),
            mean_packet_bytes: 1000,
            ecn: false,
            mark_below: 0.1,
        });
        Controller {
            probability,
            ..controller
        }
    }

    #[test]
    fn the_probability_follows_the_delay_and_its_growth() {
        let mut it = controller(0.0);
        // 0.125 * 10 ms + 1.25 * 25 ms = 0.0325, at the lowest step.
        it.update(Duration(25 * MS));
        assert!((it.probability - 0.0325 / 2048.0).abs() < 1e-18);
        // 0.125 * 10 ms = 0.00125, at a probability of 1.6e-5.
        it.update(Duration(25 * MS));
        let expected = 0.0325 / 2048.0 + 0.00125 / 128.0;
        assert!((it.probability - expected).abs() < 1e-18);
        // Downwards: 0.125 * -5 ms + 1.25 * -15 ms, and no less than 0.
        it.update(Duration(10 * MS));
        assert_eq!(it.probability, 0.0);
    }

    #[test]
    fn changes_are_small_while_the_probability_is() {
        // RFC 8033, section 4.2.
        let steps = [
            (0.0000009, 2048.0),
            (0.000001, 512.0),
            (0.00001, 128.0),
            (0.0001, 32.0),
            (0.001, 8.0),
            (0.01, 2.0),
            (0.1, 1.0),
        ];
        for (probability, divisor) in steps {
            let mut it = controller(probability);
            it.delay = Duration(25 * MS);
            it.update(Duration(25 * MS));
            let change = it.probability - probability;
            assert!((change * divisor - 0.00125).abs() < 1e-12, "{probability}");
        }
    }

    #[test]
    fn the_probability_of_an_empty_queue_decays() {
        let mut it = controller(0.5);
        it.update(Duration::ZERO);
        // 0.125 * -15 ms.
        assert!((it.probability - (0.5 - 0.001875) * 0.98).abs() < 1e-15);
        // The queue was not empty before: no decay, 1.25 * -20 ms in its place.
        it = controller(0.5);
        it.delay = Duration(20 * MS);
        it.update(Duration::ZERO);
        assert!((it.probability - (0.5 - 0.001875 - 0.025)).abs() < 1e-15);
    }

    #[test]
    fn the_allowance_is_used_up_and_restored() {
        let mut it = controller(0.0);
        let mut after = |delays: &[u64]| {
            for &delay in delays {
                it.update(Duration(delay * MS));
            }
            it.allowance
        };
        assert_eq!(after(&[20]), Duration(25 * MS));
        assert_eq!(after(&[20, 20]), Duration::ZERO);
        // Twice less than half of the target, and a probability of 0.
        assert_eq!(after(&[7]), Duration::ZERO);
        assert_eq!(after(&[7]), Duration(40 * MS));
    }

    #[test]
    fn no_drop_while_the_delay_is_short_and_the_probability_small() {
        let may = |probability: f64, delay: u64| {
            let mut it = controller(probability);
            it.allowance = Duration::ZERO;
            it.delay = Duration(delay);
            it.may_drop(2001)
        };
        assert!(!may(0.19, 7_499_999_999));
        assert!(may(0.2, 7_499_999_999));
        assert!(may(0.19, 7_500_000_000));
    }
}
