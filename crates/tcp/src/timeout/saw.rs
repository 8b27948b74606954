//! The timeout of stop-and-wait (minakhmetov2018, section 2).

use super::TimeoutPolicy;
use crate::flight::Flight;
use crate::transport::parameters::{Parameters, FRACTION, POSITIVE_TIME};
use lightburst_des::Duration;

/// State of the timeout `T`. The timer is set to `T' = T + p tau`; the margin `p tau` never enters
/// `T` itself.
#[derive(Clone, Debug)]
pub struct SawTimeout {
    timeout: Duration,
    margin: Duration,
    maximum: Duration,
    alpha: f64,
    beta: f64,
}

impl SawTimeout {
    /// Creates the state at the start of a connection; `margin` is `p tau`.
    pub fn new(parameters: &Parameters, margin: Duration) -> SawTimeout {
        SawTimeout {
            timeout: parameters.duration("initial_timeout_ps", POSITIVE_TIME),
            margin,
            maximum: parameters.duration("max_timeout_ps", POSITIVE_TIME),
            alpha: parameters.get("alpha", 1.0..=1e9),
            beta: parameters.get("beta", FRACTION),
        }
    }
}

impl TimeoutPolicy for SawTimeout {
    fn value(&self) -> Duration {
        // T'_i = T_i + p tau
        self.timeout + self.margin
    }

    fn on_sample(&mut self, rtt: Duration, _flight: &Flight) {
        // T_i = beta gamma + (1 - beta) T_{i-1}
        let timeout = self.beta * rtt.0 as f64 + (1.0 - self.beta) * self.timeout.0 as f64;
        self.timeout = Duration::nearest(timeout);
    }

    fn on_timeout(&mut self) {
        // T_i = alpha T_{i-1}, up to a maximum value of 60 s
        let timeout = Duration::nearest(self.alpha * self.timeout.0 as f64);
        self.timeout = timeout.min(self.maximum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saw(margin: u64) -> SawTimeout {
        let numbers = [
            ("initial_timeout_ps", 1e9),
            ("max_timeout_ps", 60e12),
            ("alpha", 1.1),
            ("beta", 0.5),
        ];
        let parameters =
            Parameters::new(numbers.map(|(name, x)| (name.to_string(), crate::Value::Number(x))));
        SawTimeout::new(&parameters, Duration(margin))
    }

    #[test]
    fn the_margin_is_waited_but_not_averaged() {
        let mut timeout = saw(4 * 7_200_000);
        assert_eq!(timeout.value(), Duration(1_000_000_000 + 28_800_000));
        timeout.on_sample(Duration(10_000_000), &Flight::new(1, 1, 1));
        assert_eq!(timeout.value(), Duration(505_000_000 + 28_800_000));
        timeout.on_timeout();
        assert_eq!(timeout.value(), Duration(555_500_000 + 28_800_000));
    }

    #[test]
    fn it_backs_off_to_the_maximum_and_converges_to_the_round_trip() {
        let mut timeout = saw(0);
        for _ in 0..200 {
            timeout.on_timeout();
        }
        assert_eq!(timeout.value(), Duration(60_000_000_000_000));
        for _ in 0..100 {
            timeout.on_sample(Duration(8_000_000), &Flight::new(1, 1, 1));
        }
        assert!(timeout.value().0.abs_diff(8_000_000) <= 1);
    }
}
