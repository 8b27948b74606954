//! DCQCN, the reaction point: Y. Zhu et al., "Congestion control for large-scale RDMA deployments",
//! SIGCOMM 2015, section 3.1.
//!
//! The rate is read only when a packet is sent. So the two timers have no events: what has expired
//! is made up for at the next packet or notification.

use super::{RateLawSettings, RATE, UNLIMITED};
use crate::cc::{Ack, CongestionControl, Loss, Sent, Timeout, Wants, Window};
use crate::transport::parameters::{FRACTION, POSITIVE_TIME};
use lightburst_des::{Duration, Time};
use lightburst_net::Rate;

/// Rates in bits per second.
#[derive(Clone)]
pub struct Dcqcn {
    /// Weight g of a notification in alpha.
    gain: f64,
    /// Time K without a notification after which alpha falls.
    alpha_interval: Duration,
    /// Time T, and bytes B, after each of which the rate rises.
    timer: Duration,
    byte_counter: u64,
    /// Rises F of either kind that are fast recovery.
    fast_recovery: u64,
    /// Steps `R_AI` and `R_HAI` of the target rate.
    additive: f64,
    hyper: f64,
    least: f64,
    line: f64,
    /// Current rate `R_C` and target rate `R_T`.
    current: f64,
    target: f64,
    alpha: f64,
    /// Next expiries of the timers of alpha and of the rate; [`Time::NEVER`] before the first
    /// notification.
    alpha_at: Time,
    timer_at: Time,
    /// Bytes sent since the byte counter last expired.
    sent: u64,
    /// Expiries of timer and byte counter since the last notification.
    by_time: u64,
    by_bytes: u64,
}

impl Dcqcn {
    /// Creates the law of one message, which begins at the rate of the link.
    pub fn new(settings: &RateLawSettings) -> Dcqcn {
        let parameters = settings.parameters;
        let line = settings.line_rate.bps() as f64;
        Dcqcn {
            gain: parameters.get("g", FRACTION),
            alpha_interval: parameters.duration("alpha_interval_ps", POSITIVE_TIME),
            timer: parameters.duration("timer_ps", POSITIVE_TIME),
            byte_counter: parameters.get("byte_counter_bytes", 1.0..=1e18) as u64,
            fast_recovery: parameters.get("fast_recovery", 1.0..=1e6) as u64,
            additive: parameters.get("additive_increase_bps", RATE),
            hyper: parameters.get("hyper_increase_bps", RATE),
            least: parameters.get("min_rate_bps", RATE).min(line),
            line,
            current: line,
            target: line,
            // Section 3.1: "the initial value of alpha is 1".
            alpha: 1.0,
            alpha_at: Time::NEVER,
            timer_at: Time::NEVER,
            sent: 0,
            by_time: 0,
            by_bytes: 0,
        }
    }

    /// Makes up for the timers that have expired until `now`.
    fn advance(&mut self, now: Time) {
        while self.alpha_at <= now {
            // Equation 2: alpha = (1 - g) alpha.
            self.alpha *= 1.0 - self.gain;
            self.alpha_at = self.alpha_at + self.alpha_interval;
        }
        while self.timer_at <= now {
            self.by_time += 1;
            self.increase();
            self.timer_at = self.timer_at + self.timer;
        }
    }

    /// Raises the rate after an expiry of the timer or of the byte counter.
    fn increase(&mut self) {
        let (most, least) = (
            self.by_time.max(self.by_bytes),
            self.by_time.min(self.by_bytes),
        );
        if most > self.fast_recovery {
            // Equation 4: R_T = R_T + R_AI; hyper increase once both counters are beyond F.
            self.target += match least > self.fast_recovery {
                true => self.hyper,
                false => self.additive,
            };
            self.target = self.target.min(self.line);
        }
        // Equations 3 and 4: R_C = (R_T + R_C) / 2.
        self.current = (self.target + self.current) / 2.0;
    }
}

impl CongestionControl for Dcqcn {
    fn start(&self, _initial: f64) -> Window {
        UNLIMITED
    }

    fn on_ack(&mut self, _ack: &Ack, _window: &mut Window) {}

    fn on_loss(&mut self, _loss: &Loss, _window: &mut Window) {}

    fn on_timeout(&mut self, _timeout: &Timeout, _window: &mut Window) {}

    fn on_notification(&mut self, at: Time) {
        self.advance(at);
        // Equation 1: R_T = R_C, R_C = R_C (1 - alpha / 2), alpha = (1 - g) alpha + g.
        self.target = self.current;
        self.current = (self.current * (1.0 - self.alpha / 2.0)).max(self.least);
        self.alpha = (1.0 - self.gain) * self.alpha + self.gain;
        self.alpha_at = at + self.alpha_interval;
        self.timer_at = at + self.timer;
        (self.sent, self.by_time, self.by_bytes) = (0, 0, 0);
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.advance(sent.at);
        if self.timer_at == Time::NEVER {
            return;
        }
        self.sent += sent.bytes;
        if self.sent >= self.byte_counter {
            self.sent -= self.byte_counter;
            self.by_bytes += 1;
            self.increase();
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bps(self.current as u64))
    }

    fn wants(&self) -> Wants {
        Wants {
            transmissions: true,
            ..Wants::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Parameters, Sizes, Value};

    const US: u64 = 1_000_000;

    /// A law with the constants of the paper at 10 Gb/s, but a byte counter of 1 MB.
    fn law() -> Dcqcn {
        let numbers = [
            ("g", 1.0 / 256.0),
            ("alpha_interval_ps", 55e6),
            ("timer_ps", 55e6),
            ("byte_counter_bytes", 1e6),
            ("fast_recovery", 5.0),
            ("additive_increase_bps", 40e6),
            ("hyper_increase_bps", 400e6),
            ("min_rate_bps", 1e6),
        ];
        let numbers = numbers.map(|(name, x)| (name.to_string(), Value::Number(x)));
        Dcqcn::new(&RateLawSettings {
            parameters: &Parameters::new(numbers),
            line_rate: Rate::from_bps(10_000_000_000),
            sizes: &Sizes::FOR_TESTS,
        })
    }

    /// Returns the rate in Mb/s of a packet of `bytes` that is sent at `us`.
    fn sent(law: &mut Dcqcn, us: u64, bytes: u64) -> f64 {
        law.on_sent(&Sent {
            at: Time(us * US),
            bytes,
            in_flight: 0,
            retransmission: false,
        });
        law.current / 1e6
    }

    #[test]
    fn two_notifications_halve_the_rate_twice_and_the_timer_brings_half_of_the_way_back() {
        let mut law = law();
        assert_eq!(sent(&mut law, 10, 1000), 10_000.0);
        law.on_notification(Time(100 * US));
        assert_eq!((law.current, law.target, law.alpha), (5e9, 10e9, 1.0));
        law.on_notification(Time(150 * US));
        assert_eq!((law.current, law.target, law.alpha), (2.5e9, 5e9, 1.0));
        // Five expiries, the first at 205 us: (5000 + 2500) / 2 and so on.
        let found = [204, 205, 260, 315, 370, 425].map(|us| sent(&mut law, us, 0));
        let expected = [2500.0, 3750.0, 4375.0, 4687.5, 4843.75, 4921.875];
        assert_eq!(found, expected);
        // The sixth raises the target by 40 Mb/s.
        assert_eq!(sent(&mut law, 480, 0), (5040.0 + 4921.875) / 2.0);
        // Six expiries of the timer of alpha, too.
        let alpha = (0..6).fold(1.0, |alpha: f64, _| alpha * (1.0 - 1.0 / 256.0));
        assert_eq!(law.alpha, alpha);
        // The next cut is by alpha / 2, and alpha grows by g (1 - alpha).
        let before = law.current;
        law.on_notification(Time(490 * US));
        assert_eq!(law.current, before * (1.0 - alpha / 2.0));
        assert_eq!(law.alpha, (1.0 - 1.0 / 256.0) * alpha + 1.0 / 256.0);
    }

    #[test]
    fn hyper_increase_begins_when_both_counters_have_expired_six_times() {
        let mut law = law();
        for us in [0, 1, 2] {
            law.on_notification(Time(us * US));
        }
        assert_eq!((law.current, law.target), (1.25e9, 2.5e9));
        // Six expiries of the byte counter: five of fast recovery, one of additive increase.
        for _ in 0..5 {
            sent(&mut law, 3, 1_000_000);
        }
        assert_eq!(law.target, 2.5e9);
        assert_eq!(law.current, 2.5e9 - 1.25e9 / 32.0);
        sent(&mut law, 3, 1_000_000);
        assert_eq!(law.target, 2.54e9);
        // Five of the timer are additive, since only the byte counter is beyond F; the sixth is not.
        sent(&mut law, 2 + 5 * 55, 0);
        assert_eq!(law.target, 2.74e9);
        sent(&mut law, 2 + 6 * 55, 0);
        assert_eq!(law.target, 3.14e9);
    }

    #[test]
    fn the_rate_stays_between_its_least_and_the_link() {
        let mut law = law();
        (0..30).for_each(|us| law.on_notification(Time(us * US)));
        assert_eq!(law.current, 1e6);
        assert_eq!(sent(&mut law, 1_000_000, 0), 10_000.0);
    }
}
