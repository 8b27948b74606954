//! Scalable TCP (Kelly 2003): the window grows by a fixed fraction of itself per round trip and
//! shrinks by a fixed fraction at a loss, so the recovery time does not depend on its size.

use super::{Ack, CongestionControl, CongestionControlSettings, Loss, Timeout, Window};
use crate::transport::parameters::FRACTION;

/// Window law of Scalable TCP.
#[derive(Clone)]
pub struct Scalable {
    mss: f64,
    /// Growth per acknowledgement in segments (a).
    increase: f64,
    /// Fraction by which a loss reduces the window (b).
    decrease: f64,
    /// Window in bytes up to which the law equals standard TCP (lwnd).
    legacy: f64,
}

impl Scalable {
    /// Creates the state of one connection.
    pub fn new(settings: &CongestionControlSettings) -> Scalable {
        let mss = f64::from(settings.mss);
        Scalable {
            mss,
            increase: settings.parameters.get("increase", 0.0..=1e9),
            decrease: settings.parameters.get("decrease", FRACTION),
            legacy: settings.parameters.get("legacy_window", 0.0..=1e9) * mss,
        }
    }
}

impl CongestionControl for Scalable {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if window.in_slow_start() {
            window.slow_start(ack, self.mss);
        } else if window.cwnd <= self.legacy {
            window.cwnd += self.mss * self.mss / window.cwnd;
        } else {
            // Section 2: cwnd <- cwnd + a
            window.cwnd += self.increase * self.mss;
        }
    }

    fn on_loss(&mut self, _loss: &Loss, window: &mut Window) {
        // Section 2: cwnd <- cwnd - b cwnd
        let share = if window.cwnd <= self.legacy {
            0.5
        } else {
            self.decrease
        };
        window.lower_threshold((1.0 - share) * window.cwnd, self.mss);
        window.cwnd = window.ssthresh;
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        window.restart(timeout.in_flight as f64 / 2.0, timeout.repeated, self.mss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_recovers_in_as_many_round_trips_from_any_window() {
        for start in [100.0, 1000.0, 10_000.0] {
            let mut law = Scalable {
                mss: 1.0,
                increase: 0.01,
                decrease: 0.125,
                legacy: 16.0,
            };
            let mut window = Window {
                cwnd: start,
                ssthresh: 0.0,
            };
            law.on_loss(&Loss::default(), &mut window);
            assert_eq!(window.cwnd, 0.875 * start);
            let mut round_trips = 0.0;
            while window.cwnd < start {
                round_trips += 1.0 / window.cwnd;
                law.on_ack(&Ack::default(), &mut window);
            }
            // ln (1 / (1 - b)) / a = 13.35; Kelly gives log (1 - b) / log (1 + a) = 13.4.
            assert!((round_trips - 13.35).abs() < 0.1, "{round_trips}");
        }
    }

    #[test]
    fn a_small_window_is_that_of_standard_tcp() {
        let mut law = Scalable {
            mss: 100.0,
            increase: 0.01,
            decrease: 0.125,
            legacy: 1600.0,
        };
        let mut window = Window {
            cwnd: 1600.0,
            ssthresh: 0.0,
        };
        law.on_ack(&Ack::default(), &mut window);
        assert_eq!(window.cwnd, 1606.25);
        law.on_ack(&Ack::default(), &mut window);
        assert_eq!(window.cwnd, 1607.25);
        window.cwnd = 1600.0;
        law.on_loss(&Loss::default(), &mut window);
        assert_eq!(window.cwnd, 800.0);
    }
}
