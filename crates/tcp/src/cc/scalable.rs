//! Scalable TCP (Kelly 2003): a window grows by a share of itself in a round trip, and loses a
//! share of itself, so that the time to recover is the same for all windows.

use super::{Ack, CongestionControl, CongestionControlSettings, Loss, Timeout, Window};

/// The window law of Scalable TCP.
#[derive(Clone)]
pub struct Scalable {
    mss: f64,
    /// a, in segments for each acknowledgement.
    increase: f64,
    /// b, of the window at each loss.
    decrease: f64,
    /// The window up to which it is standard TCP (lwnd), in bytes.
    legacy: f64,
}

impl Scalable {
    /// The law of one connection.
    pub fn new(settings: &CongestionControlSettings) -> Scalable {
        let mss = f64::from(settings.mss);
        Scalable {
            mss,
            increase: settings.parameters.get("increase"),
            decrease: settings.parameters.get("decrease"),
            legacy: settings.parameters.get("legacy_window") * mss,
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
            // ln (1 / (1 - b)) / a = 13.35; Kelly has log (1 - b) / log (1 + a) = 13.4
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
