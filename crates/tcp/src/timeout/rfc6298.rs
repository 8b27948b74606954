//! The standard retransmission timeout (RFC 6298).

use super::TimeoutPolicy;
use crate::flight::Flight;
use crate::transport::parameters::{Parameters, POSITIVE_TIME, TIME};
use lightburst_des::Duration;

/// RFC 6298, section 5, (5.7): a shorter initial timeout is raised if the SYN was sent more than
/// once.
const THREE_SECONDS: Duration = Duration(3_000_000_000_000);

/// State of the standard timeout: smoothed round-trip time and its variation, in picoseconds.
#[derive(Clone, Debug)]
pub struct Rfc6298 {
    /// SRTT and RTTVAR; `None` before the first measurement.
    smoothed: Option<(f64, f64)>,
    /// SRTT as a duration; recoveries by time read it several times per acknowledgement.
    srtt: Duration,
    timeout: Duration,
    initial: Duration,
    minimum: Duration,
    maximum: Duration,
    /// Clock granularity (G) in picoseconds.
    granularity: f64,
    backoff: f64,
}

impl Rfc6298 {
    /// Creates the state at the start of a connection.
    pub fn new(parameters: &Parameters) -> Rfc6298 {
        Rfc6298 {
            smoothed: None,
            srtt: Duration::ZERO,
            // (2.1) Timeout before the first measurement.
            timeout: parameters.duration("initial_timeout_ps", POSITIVE_TIME),
            initial: parameters.duration("initial_timeout_ps", POSITIVE_TIME),
            minimum: parameters.duration("min_timeout_ps", TIME),
            maximum: parameters.duration("max_timeout_ps", POSITIVE_TIME),
            granularity: parameters.get("clock_granularity_ps", TIME),
            backoff: parameters.get("backoff", 1.0..=1e9),
        }
    }
}

impl TimeoutPolicy for Rfc6298 {
    fn value(&self) -> Duration {
        self.timeout
    }

    fn on_sample(&mut self, rtt: Duration, _flight: &Flight) {
        let rtt = rtt.0 as f64;
        let (mean, variation) = match self.smoothed {
            // (2.2) SRTT <- R, RTTVAR <- R/2
            None => (rtt, rtt / 2.0),
            // (2.3) RTTVAR <- (1 - beta) * RTTVAR + beta * |SRTT - R'|, beta = 1/4,
            //       SRTT <- (1 - alpha) * SRTT + alpha * R', alpha = 1/8
            Some((mean, variation)) => (
                0.875 * mean + 0.125 * rtt,
                0.75 * variation + 0.25 * (mean - rtt).abs(),
            ),
        };
        self.smoothed = Some((mean, variation));
        self.srtt = Duration::nearest(mean);
        // RTO <- SRTT + max (G, K*RTTVAR), K = 4
        let timeout = Duration::nearest(mean + self.granularity.max(4.0 * variation));
        // (2.4) and (2.5): lower and upper bound.
        self.timeout = timeout.max(self.minimum).min(self.maximum);
    }

    fn smoothed(&self) -> Option<Duration> {
        self.smoothed.map(|_| self.srtt)
    }

    fn minimum(&self) -> Duration {
        self.minimum
    }

    fn on_established(&mut self, sampled: bool) {
        if !sampled && self.initial < THREE_SECONDS {
            // (5.7) sets 3 seconds, given the initial timeout of 1 second of the RFC; others scale
            // with it.
            self.timeout = (self.initial * 3).min(self.maximum);
        }
    }

    fn on_timeout(&mut self) {
        // (5.5) "back off the timer", up to the maximum of (2.5).
        let timeout = Duration::nearest(self.backoff * self.timeout.0 as f64);
        self.timeout = timeout.min(self.maximum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(initial: f64, minimum: f64, granularity: f64) -> Rfc6298 {
        let numbers = [
            ("initial_timeout_ps", initial),
            ("min_timeout_ps", minimum),
            ("max_timeout_ps", 60e12),
            ("clock_granularity_ps", granularity),
            ("backoff", 2.0),
        ];
        let numbers = numbers.map(|(name, x)| (name.to_string(), crate::Value::Number(x)));
        Rfc6298::new(&Parameters::new(numbers))
    }

    #[test]
    fn it_starts_at_one_second_and_doubles_to_the_maximum() {
        let mut rule = rule(1e12, 1e12, 1e9);
        let seconds: Vec<u64> = (0..8)
            .map(|_| {
                let value = rule.value().0 / 1_000_000_000_000;
                rule.on_timeout();
                value
            })
            .collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60]);
    }

    #[test]
    fn after_a_second_syn_it_is_three_times_the_initial_one_unless_that_was_three_seconds() {
        let second = 1_000_000_000_000;
        for (initial, expected) in [(1, 3), (2, 6), (3, 6), (4, 8), (25, 50)] {
            let mut rule = rule((initial * second) as f64, 0.0, 0.0);
            rule.on_timeout();
            rule.on_established(false);
            assert_eq!(rule.value(), Duration(expected * second));
        }
    }

    #[test]
    fn the_granularity_bounds_the_margin_and_a_sample_ends_the_backoff() {
        let mut rule = rule(1e12, 0.0, 10e9);
        for _ in 0..60 {
            rule.on_sample(Duration(100_000_000_000), &Flight::new(1, 1, 1));
        }
        // SRTT is 100 ms and RTTVAR almost 0, so the margin is G = 10 ms.
        assert_eq!(rule.value(), Duration(110_000_000_000));
        rule.on_timeout();
        assert_eq!(rule.value(), Duration(220_000_000_000));
        rule.on_sample(Duration(100_000_000_000), &Flight::new(1, 1, 1));
        assert_eq!(rule.value(), Duration(110_000_000_000));
    }
}
