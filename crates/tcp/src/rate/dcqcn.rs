//! DCQCN, the reaction point: Y. Zhu et al., "Congestion control for large-scale RDMA deployments",
//! SIGCOMM 2015, section 3.1.
//!
//! The rate is read only when a packet is sent. So the two timers have no events: what has expired
//! is made up for at the next packet or notification.

use super::{RateLawSettings, UNLIMITED};
use crate::cc::{Ack, CongestionControl, Loss, Sent, Timeout, Wants, Window};
use crate::transport::parameters::{FRACTION, POSITIVE_TIME};
use lightburst_des::{Duration, Time};
use lightburst_net::Rate;
use std::ops::RangeInclusive;

/// Range of a rate in bits per second.
const RATE: RangeInclusive<f64> = 1.0..=1e18;

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
