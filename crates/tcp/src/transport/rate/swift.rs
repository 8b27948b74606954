//! Swift: G. Kumar et al., "Swift: delay is simple and effective for congestion control in the
//! datacenter", SIGCOMM 2020, algorithm 1 and section 3.5.
//!
//! A window law: packets are paced only while the window is below one packet. The delay is the round
//! trip of an acknowledgement. Hosts do not delay packets here, so the paper's second
//! window, for the delay of endpoints, would never be the smaller one.

use super::{RateLawSettings, PACKETS};
use crate::cc::{Ack, CongestionControl, Loss, Timeout, Wants, Window};
use crate::transport::parameters::{COUNT, FRACTION, TIME};
use lightburst_des::{Duration, Time};
use lightburst_net::Rate;

/// Windows in packets, times in picoseconds.
#[derive(Clone)]
pub struct Swift {
    /// Target without switches, and for each switch.
    base_target: f64,
    hop_target: f64,
    /// The part of the target that grows as the window shrinks.
    scaling: Scaling,
    /// Additive increment ai.
    increase: f64,
    beta: f64,
    /// Largest part of the window that a decrease takes (`max_mdf`).
    max_decrease: f64,
    least: f64,
    most: f64,
    /// Timeouts in a row after which the window is the least one (`RETX_RESET_THRESHOLD`).
    reset_after: u32,
    /// Payload of a packet in bytes, and its size on the wire in bits.
    payload: f64,
    wire: f64,
    cwnd: f64,
    /// The last round trip; 0 before the first.
    rtt: f64,
    last_decrease: Option<Time>,
    timeouts: u32,
}

/// Scaling of the target by the number of flows, which the window tells (section 3.5).
#[derive(Clone, Copy)]
struct Scaling {
    range: f64,
    alpha: f64,
    beta: f64,
}

impl Scaling {
    fn new(range: f64, least: f64, most: f64) -> Scaling {
        // alpha = fs_range / (1 / sqrt(fs_min_cwnd) - 1 / sqrt(fs_max_cwnd))
        let alpha = range / (1.0 / least.sqrt() - 1.0 / most.sqrt());
        Scaling {
            range,
            alpha,
            // beta = -alpha / sqrt(fs_max_cwnd)
            beta: -alpha / most.sqrt(),
        }
    }

    fn at(self, cwnd: f64) -> f64 {
        // max(0, min(alpha / sqrt(cwnd) + beta, fs_range))
        (self.alpha / cwnd.sqrt() + self.beta)
            .min(self.range)
            .max(0.0)
    }
}

impl Swift {
    /// Creates the law of one message.
    pub fn new(settings: &RateLawSettings) -> Swift {
        let parameters = settings.parameters;
        let (least, most) = (
            parameters.get("min_window", PACKETS),
            parameters.get("max_window", PACKETS),
        );
        Swift {
            base_target: parameters.get("base_target_ps", TIME),
            hop_target: parameters.get("hop_target_ps", TIME),
            scaling: Scaling::new(
                parameters.get("flow_range_ps", TIME),
                parameters.get("flow_min_window", PACKETS),
                parameters.get("flow_max_window", PACKETS),
            ),
            increase: parameters.get("increase", PACKETS),
            beta: parameters.get("beta", FRACTION),
            max_decrease: parameters.get("max_decrease", FRACTION),
            least,
            most,
            reset_after: parameters.get("reset_after", COUNT) as u32,
            payload: f64::from(settings.sizes.mss()),
            wire: 8.0 * f64::from(settings.sizes.segment),
            cwnd: parameters.get("first_window", PACKETS).min(most).max(least),
            rtt: 0.0,
            last_decrease: None,
            timeouts: 0,
        }
    }

    /// Returns the target delay.
    fn target(&self) -> f64 {
        self.base_target + self.scaling.at(self.cwnd)
    }

    fn can_decrease(&self, now: Time) -> bool {
        // now - t_last_decrease >= rtt: at most one decrease in a round trip.
        let since = |last| now.since(last) >= Duration(self.rtt as u64);
        self.last_decrease.map_or(true, since)
    }

    /// Ends an event: clamps the window, and notes a decrease.
    fn set(&mut self, cwnd: f64, now: Time, window: &mut Window) {
        let before = std::mem::replace(&mut self.cwnd, cwnd.min(self.most).max(self.least));
        // The paper has cwnd <= cwnd_prev, by which each acknowledgement that may not decrease
        // would put off the next decrease.
        if self.cwnd < before {
            self.last_decrease = Some(now);
        }
        window.cwnd = self.cwnd * self.payload;
    }

    fn on_delay(&mut self, delay: f64, acked: f64, now: Time, window: &mut Window) {
        self.rtt = delay;
        let target = self.target();
        let mut cwnd = self.cwnd;
        if delay < target {
            // cwnd + ai / cwnd * num_acked, below one packet cwnd + ai * num_acked
            cwnd += match cwnd >= 1.0 {
                true => self.increase / cwnd * acked,
                false => self.increase * acked,
            };
        } else if self.can_decrease(now) {
            // max(1 - beta (delay - target_delay) / delay, 1 - max_mdf) cwnd
            let factor = 1.0 - self.beta * ((delay - target) / delay);
            cwnd *= factor.max(1.0 - self.max_decrease);
        }
        self.set(cwnd, now, window);
    }

    /// Handles a loss: (1 - `max_mdf`) cwnd, if the window may decrease.
    fn cut(&mut self, now: Time, window: &mut Window) {
        let cwnd = match self.can_decrease(now) {
            true => (1.0 - self.max_decrease) * self.cwnd,
            false => self.cwnd,
        };
        self.set(cwnd, now, window);
    }
}

impl CongestionControl for Swift {
    fn start(&self, _initial: f64) -> Window {
        Window {
            cwnd: self.cwnd * self.payload,
            ssthresh: 0.0,
        }
    }

    fn on_path(&mut self, switches: u32) {
        // base_target + #hops h; the number of hops does not change.
        self.base_target += f64::from(switches) * self.hop_target;
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.timeouts = 0;
        if let Some(rtt) = ack.rtt {
            let acked = ack.bytes as f64 / self.payload;
            self.on_delay(rtt.0 as f64, acked, ack.at, window);
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        self.timeouts = 0;
        self.cut(loss.at, window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        self.timeouts += 1;
        match self.timeouts >= self.reset_after {
            true => self.set(self.least, timeout.at, window),
            false => self.cut(timeout.at, window),
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        // pacing_delay = rtt / cwnd between two packets.
        let paced = self.cwnd < 1.0 && self.rtt > 0.0;
        let rate = || self.wire * 1e12 * self.cwnd / self.rtt;
        paced.then(|| Rate::from_bps(rate().max(1.0) as u64))
    }

    fn wants(&self) -> Wants {
        Wants {
            path: true,
            ..Wants::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Parameters, Sizes, Value};

    const US: u64 = 1_000_000;

    /// A law with a target of 25 us and 4 us a switch, whose weights are exact in binary.
    fn law(changes: &[(&str, f64)]) -> (Swift, Window) {
        let numbers = [
            ("base_target_ps", 25e6),
            ("hop_target_ps", 4e6),
            ("flow_range_ps", 90e6),
            ("flow_min_window", 1.0 / 64.0),
            ("flow_max_window", 4.0),
            ("increase", 1.0),
            ("beta", 0.5),
            ("max_decrease", 0.25),
            ("min_window", 0.125),
            ("max_window", 64.0),
            ("first_window", 8.0),
            ("reset_after", 3.0),
        ];
        let numbers = numbers.iter().chain(changes);
        let numbers = numbers.map(|&(name, x)| (name.to_string(), Value::Number(x)));
        let mut law = Swift::new(&RateLawSettings {
            parameters: &Parameters::new(numbers),
            line_rate: Rate::from_bps(10_000_000_000),
            sizes: &Sizes::FOR_TESTS,
        });
        let window = law.start(0.0);
        law.on_path(1);
        (law, window)
    }

    /// Returns the window in packets after an acknowledgement of one packet at `at` us, after a round
    /// trip of `rtt` us.
    fn after((law, window): &mut (Swift, Window), at: u64, rtt: u64) -> f64 {
        let ack = Ack {
            at: Time(at * US),
            bytes: 1000,
            rtt: Some(Duration(rtt * US)),
            ..Ack::default()
        };
        law.on_ack(&ack, window);
        assert_eq!(window.cwnd, law.cwnd * 1000.0);
        law.cwnd
    }

    #[test]
    fn the_target_grows_with_switches_and_as_the_window_shrinks() {
        let (mut law, _) = law(&[]);
        // alpha = 90 / (8 - 1/2) = 12 us, beta = -6 us: 12 / sqrt(w) - 6.
        let mut target = |cwnd: f64| {
            law.cwnd = cwnd;
            law.target() / 1e6
        };
        assert_eq!([64.0, 4.0].map(&mut target), [29.0, 29.0]);
        assert_eq!([1.0, 0.25].map(&mut target), [29.0 + 6.0, 29.0 + 18.0]);
        // The range ends at 1/64.
        assert_eq!([1.0 / 64.0, 1.0 / 256.0].map(&mut target), [119.0, 119.0]);
    }

    #[test]
    fn below_the_target_a_window_gains_a_packet_a_round_trip() {
        let state = &mut law(&[]);
        assert_eq!(after(state, 100, 28), 8.125);
        assert_eq!(after(state, 101, 28), 8.125 + 1.0 / 8.125);
    }

    #[test]
    fn at_the_target_it_shrinks_by_the_excess_once_a_round_trip() {
        let state = &mut law(&[]);
        // (58 - 29) / 58 is a half, and a half of that is the most.
        assert_eq!(after(state, 100, 58), 6.0);
        // Not again before 158 us; the decrease is not put off by what comes between.
        assert_eq!([after(state, 120, 58), after(state, 157, 58)], [6.0, 6.0]);
        assert_eq!(after(state, 158, 58), 4.5);
        // (32 - 29) / 32 of which a half; 29 us is no excess, and no room.
        assert_eq!(after(state, 300, 32), 4.5 * (1.0 - 3.0 / 64.0));
        assert_eq!(after(state, 400, 29), 4.5 * (1.0 - 3.0 / 64.0));
    }

    #[test]
    fn below_one_packet_the_window_is_a_pace() {
        let state = &mut law(&[("first_window", 0.5)]);
        assert_eq!(state.0.pacing_rate(), None);
        // Target 29 + 12 sqrt(2) - 6; 100 us are above: 1 - 0.5 * 0.6 is below the limit.
        assert_eq!(after(state, 100, 100), 0.375);
        // 1,250 bytes in 100 / 0.375 us.
        assert_eq!(state.0.pacing_rate(), Some(Rate::from_bps(37_500_000)));
        // Additive increase by a packet for each one acknowledged.
        assert_eq!(after(state, 200, 20), 1.375);
        assert_eq!(state.0.pacing_rate(), None);
    }

    #[test]
    fn losses_cut_by_the_most_and_the_third_timeout_in_a_row_to_the_least() {
        let state = &mut law(&[]);
        after(state, 100, 20);
        let (law, window) = state;
        let (before, at) = (law.cwnd, |us| Time(us * US));
        let loss = |us| Loss {
            at: at(us),
            ..Loss::default()
        };
        let timeout = |us| Timeout {
            at: at(us),
            ..Timeout::default()
        };
        law.on_loss(&loss(200), window);
        law.on_loss(&loss(219), window);
        assert_eq!(law.cwnd, 0.75 * before);
        law.on_timeout(&timeout(220), window);
        law.on_timeout(&timeout(230), window);
        assert_eq!(law.cwnd, 0.75 * 0.75 * before);
        law.on_timeout(&timeout(231), window);
        assert_eq!((law.cwnd, window.cwnd), (0.125, 125.0));
    }
}
