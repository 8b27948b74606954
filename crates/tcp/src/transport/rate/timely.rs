//! TIMELY: R. Mittal et al., "TIMELY: RTT-based congestion control for the datacenter", SIGCOMM
//! 2015, algorithm 1. Each acknowledgement with a round-trip time is a completion event.

use super::{RateLawSettings, RATE, UNLIMITED};
use crate::cc::{Ack, CongestionControl, Loss, Timeout, Window};
use crate::transport::parameters::{FRACTION, POSITIVE_TIME};
use lightburst_net::Rate;

/// "N = 5 if gradient <= 0 for five completion events".
const HYPER: u32 = 5;

/// Rates in bits per second, times in picoseconds.
#[derive(Clone)]
pub struct Timely {
    low: f64,
    high: f64,
    /// Round trip by which the gradient is normalised.
    least_round_trip: f64,
    /// Weight of a new difference of round trips.
    alpha: f64,
    beta: f64,
    /// Step of additive increase (delta).
    step: f64,
    least: f64,
    line: f64,
    rate: f64,
    /// The last round trip; `None` before the first.
    previous: Option<f64>,
    /// Average difference of two round trips.
    difference: f64,
    /// Events in a row at which the gradient was not positive.
    falling: u32,
}

impl Timely {
    /// Creates the law of one message, which begins at the rate of the link.
    pub fn new(settings: &RateLawSettings) -> Timely {
        let parameters = settings.parameters;
        let line = settings.line_rate.bps() as f64;
        Timely {
            low: parameters.get("low_threshold_ps", POSITIVE_TIME),
            high: parameters.get("high_threshold_ps", POSITIVE_TIME),
            least_round_trip: parameters.get("min_round_trip_ps", POSITIVE_TIME),
            alpha: parameters.get("alpha", FRACTION),
            beta: parameters.get("beta", FRACTION),
            step: parameters.get("additive_increase_bps", RATE),
            least: parameters.get("min_rate_bps", RATE).min(line),
            line,
            rate: line,
            previous: None,
            difference: 0.0,
            falling: 0,
        }
    }

    fn on_round_trip(&mut self, rtt: f64) {
        // new_rtt_diff = new_rtt - prev_rtt; prev_rtt = new_rtt
        let difference = rtt - self.previous.replace(rtt).unwrap_or(rtt);
        // rtt_diff = (1 - alpha) rtt_diff + alpha new_rtt_diff
        self.difference = (1.0 - self.alpha) * self.difference + self.alpha * difference;
        // normalized_gradient = rtt_diff / minRTT
        let gradient = self.difference / self.least_round_trip;
        let falling = std::mem::take(&mut self.falling);
        if rtt < self.low {
            // rate = rate + delta
            self.rate += self.step;
        } else if rtt > self.high {
            // rate = rate (1 - beta (1 - T_high / new_rtt))
            self.rate *= 1.0 - self.beta * (1.0 - self.high / rtt);
        } else if gradient <= 0.0 {
            // rate = rate + N delta
            self.falling = falling + 1;
            self.rate += match self.falling >= HYPER {
                true => f64::from(HYPER) * self.step,
                false => self.step,
            };
        } else {
            // rate = rate (1 - beta normalized_gradient)
            self.rate *= 1.0 - self.beta * gradient;
        }
        self.rate = self.rate.max(self.least).min(self.line);
    }
}

impl CongestionControl for Timely {
    fn start(&self, _initial: f64) -> Window {
        UNLIMITED
    }

    fn on_ack(&mut self, ack: &Ack, _window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.on_round_trip(rtt.0 as f64);
        }
    }

    fn on_loss(&mut self, _loss: &Loss, _window: &mut Window) {}

    fn on_timeout(&mut self, _timeout: &Timeout, _window: &mut Window) {}

    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bps(self.rate as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Parameters, Sizes, Value};

    /// A law with the constants of the paper at 10 Gb/s, whose weights are exact in binary.
    fn law() -> Timely {
        let numbers = [
            ("low_threshold_ps", 50e6),
            ("high_threshold_ps", 500e6),
            ("min_round_trip_ps", 20e6),
            ("alpha", 0.875),
            ("beta", 0.5),
            ("additive_increase_bps", 10e6),
            ("min_rate_bps", 1e6),
        ];
        let numbers = numbers.map(|(name, x)| (name.to_string(), Value::Number(x)));
        Timely::new(&RateLawSettings {
            parameters: &Parameters::new(numbers),
            line_rate: Rate::from_bps(10_000_000_000),
            sizes: &Sizes::FOR_TESTS,
        })
    }

    /// Returns the rate in Mb/s after a round trip in microseconds.
    fn after(law: &mut Timely, us: f64) -> f64 {
        law.on_round_trip(us * 1e6);
        law.rate / 1e6
    }

    #[test]
    fn a_step_of_the_round_trip_cuts_by_its_gradient() {
        let mut law = law();
        assert_eq!(after(&mut law, 100.0), 10_000.0);
        // A rise by 8 us: 0.875 * 8 / 20 = 0.35 of the least round trip, half of which is cut.
        let first = 10_000.0 * (1.0 - 0.5 * 0.35);
        assert_eq!(after(&mut law, 108.0), first);
        // No further rise: an eighth of the difference is left.
        let second = first * (1.0 - 0.5 * 0.04375);
        assert_eq!(after(&mut law, 108.0), second);
        // A fall: additive increase, five times as fast from the fifth on.
        let rates: Vec<f64> = [107.0, 106.0, 105.0, 104.0, 103.0, 102.0]
            .into_iter()
            .map(|us| (after(&mut law, us) - second).round())
            .collect();
        assert_eq!(rates, [10.0, 20.0, 30.0, 40.0, 90.0, 140.0]);
    }

    #[test]
    fn beyond_the_thresholds_the_gradient_does_not_count() {
        let mut law = law();
        after(&mut law, 400.0);
        // A rise from 400 to 1,000 us: 1 - 0.5 (1 - 500 / 1000).
        assert_eq!(after(&mut law, 1000.0), 7500.0);
        // A fall that stays above: the same again.
        assert_eq!(after(&mut law, 625.0), 7500.0 * 0.9);
        // Below the lower threshold only additive increase, at any gradient.
        assert_eq!(after(&mut law, 30.0), 6760.0);
        assert_eq!(after(&mut law, 49.0), 6770.0);
    }

    #[test]
    fn the_rate_stays_between_its_least_and_the_link() {
        let mut law = law();
        (1..2000).for_each(|n| law.on_round_trip(1e9 * f64::from(n)));
        assert_eq!(law.rate, 1e6);
        (0..2000).for_each(|_| law.on_round_trip(1e6));
        assert_eq!(law.rate, 10e9);
    }
}
