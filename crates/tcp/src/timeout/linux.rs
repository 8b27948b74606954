//! The retransmission timeout of Linux: RFC 6298 in whole microseconds, with a minimum of the margin
//! instead of the timeout, and rounded up to ticks of the timer.

use super::TimeoutPolicy;
use crate::flight::Flight;
use crate::transport::parameters::{Parameters, POSITIVE_TIME};
use lightburst_des::Duration;

/// Picoseconds in a microsecond.
pub const MICROSECOND: u64 = 1_000_000;

/// Tick of the timers in microseconds, unless it is given (HZ = 250).
pub const TICK: u64 = 4_000;

/// Timeout in microseconds after a handshake that gave no sample.
const FALLBACK: u64 = 3_000_000;

/// State of the timeout, with the names of `struct tcp_sock`; times in microseconds.
#[derive(Clone, Debug)]
pub struct Linux {
    /// Eight times the smoothed round-trip time; 0 before the first sample.
    srtt: u64,
    /// Four times the mean deviation.
    mdev: u64,
    /// Largest `mdev` of the present round trip.
    mdev_max: u64,
    rttvar: u64,
    /// End of the data whose acknowledgement ends the present round trip.
    rtt_seq: u64,
    rto: u64,
    minimum: u64,
    maximum: u64,
    tick: u64,
}

impl Linux {
    /// Creates the state at the start of a connection.
    pub fn new(parameters: &Parameters) -> Linux {
        let microseconds = |name| {
            parameters
                .duration(name, POSITIVE_TIME)
                .0
                .div_ceil(MICROSECOND)
        };
        Linux {
            srtt: 0,
            mdev: 0,
            mdev_max: 0,
            rttvar: 0,
            rtt_seq: 0,
            rto: microseconds("initial_timeout_ps"),
            minimum: microseconds("min_timeout_ps"),
            maximum: microseconds("max_timeout_ps"),
            tick: match parameters.optional("timer_tick_ps", POSITIVE_TIME) {
                Some(tick) => (tick as u64).div_ceil(MICROSECOND),
                None => TICK,
            },
        }
    }

    /// Updates the mean and the deviation by RFC 6298, (2.3), with a deviation that falls more slowly
    /// than it rises.
    fn smooth(&mut self, rtt: u64, flight: &Flight) {
        let error = rtt as i64 - (self.srtt >> 3) as i64;
        // SRTT <- 7/8 SRTT + 1/8 R'
        self.srtt = self.srtt.saturating_add_signed(error).max(1);
        let mut more = error.abs() - (self.mdev >> 2) as i64;
        if error < 0 && more > 0 {
            // A shorter round trip shall not widen the margin: an eighth of the usual weight.
            more >>= 3;
        }
        // RTTVAR <- 3/4 RTTVAR + 1/4 |SRTT - R'|
        self.mdev = self.mdev.saturating_add_signed(more);
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        if flight.snd_una > self.rtt_seq {
            // Once per round trip the margin falls towards the largest deviation of that round trip.
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
            }
            self.rtt_seq = flight.snd_nxt;
            self.mdev_max = self.minimum;
        }
    }
}

impl TimeoutPolicy for Linux {
    fn value(&self) -> Duration {
        Duration(self.rto * MICROSECOND)
    }

    fn on_sample(&mut self, rtt: Duration, flight: &Flight) {
        let rtt = rtt.0 / MICROSECOND;
        if self.srtt == 0 {
            // RFC 6298, (2.2): SRTT <- R, RTTVAR <- R/2
            self.srtt = (rtt << 3).max(1);
            self.mdev = rtt << 1;
            self.rttvar = self.mdev.max(self.minimum);
            self.mdev_max = self.rttvar;
            self.rtt_seq = flight.snd_nxt;
        } else {
            self.smooth(rtt, flight);
        }
        // RTO <- SRTT + max (minimum, 4 RTTVAR)
        let timeout = (self.srtt >> 3) + self.rttvar;
        self.rto = timeout.next_multiple_of(self.tick).min(self.maximum);
    }

    fn smoothed(&self) -> Option<Duration> {
        (self.srtt > 0).then(|| Duration(self.srtt * (MICROSECOND / 8)))
    }

    fn minimum(&self) -> Duration {
        Duration(self.minimum * MICROSECOND)
    }

    fn tick(&self) -> Duration {
        Duration(self.tick * MICROSECOND)
    }

    fn excused(&self) -> u32 {
        // RFC 6298 has a shorter initial timeout than RFC 5681 knew of (`tcp_init_transfer`).
        1
    }

    fn samples_repeated(&self) -> bool {
        true
    }

    fn on_established(&mut self, sampled: bool) {
        if !sampled {
            // RFC 6298, section 5, (5.7), whatever the initial timeout (`tcp_init_metrics`).
            self.rto = FALLBACK.min(self.maximum);
        }
    }

    fn on_timeout(&mut self) {
        // RFC 6298, (5.5)
        self.rto = (self.rto * 2).min(self.maximum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule with a minimum margin of 200 ms and ticks of 1 us.
    fn rule() -> Linux {
        let numbers = [
            ("initial_timeout_ps", 1e12),
            ("min_timeout_ps", 0.2e12),
            ("max_timeout_ps", 120e12),
            ("timer_tick_ps", 1e6),
        ];
        let numbers = numbers.map(|(name, x)| (name.to_string(), crate::Value::Number(x)));
        Linux::new(&Parameters::new(numbers))
    }

    fn milliseconds(number: u64) -> Duration {
        Duration(number * 1_000 * MICROSECOND)
    }

    #[test]
    fn a_shorter_round_trip_widens_the_margin_by_an_eighth_of_the_usual_weight() {
        let (mut rule, flight) = (rule(), Flight::new(1, 1, 1));
        rule.on_sample(milliseconds(100), &flight);
        assert_eq!(rule.value(), milliseconds(300));
        // SRTT falls by 60 / 8 to 92.5 ms. The margin of 200 ms is four deviations of 50 ms; the
        // error is 60 ms, and of the 10 ms more an eighth counts: 1.25 ms.
        rule.on_sample(milliseconds(40), &flight);
        assert_eq!(rule.value(), Duration(293_750 * MICROSECOND));
    }

    #[test]
    fn the_margin_falls_by_a_quarter_of_the_way_once_per_round_trip() {
        let (mut rule, mut flight) = (rule(), Flight::new(100, 1, 100));
        rule.on_sample(milliseconds(200), &flight);
        assert_eq!(rule.value(), milliseconds(600));
        // The first round trip began with a margin of 400 ms, which is its largest.
        flight.snd_una = 1;
        flight.snd_nxt = 2;
        rule.on_sample(milliseconds(200), &flight);
        assert_eq!(rule.value(), milliseconds(600));
        // Within the next one it stays. Four deviations fall from 300 to 225 ms, the largest of this
        // round trip; at its end the margin goes a quarter of the way, from 400 to 356.25 ms.
        flight.snd_una = 3;
        rule.on_sample(milliseconds(200), &flight);
        assert_eq!(rule.value(), Duration(556_250 * MICROSECOND));
    }
}
