//! HighSpeed TCP (RFC 3649): a larger window grows faster and shrinks less.

use super::{Ack, CongestionControl, CongestionControlSettings, Loss, Timeout, Window};
use lightburst_des::real::{ln, root};

/// Low_Window, up to which the law equals standard TCP, and High_Window; both in segments.
const LOW_WINDOW: f64 = 38.0;
const HIGH_WINDOW: f64 = 83_000.0;
/// High_Decrease, the value of b at High_Window.
const HIGH_DECREASE: f64 = 0.1;
/// Lower bound of b. The formula of the RFC would fall below it far beyond High_Window, where the
/// RFC gives no value.
const LEAST_DECREASE: f64 = 0.01;

/// Window law of HighSpeed TCP.
#[derive(Clone)]
pub struct HighSpeed {
    mss: f64,
    /// Window in whole segments to which the cached `increase` belongs.
    segments: f64,
    /// Growth in segments per round trip, a (w).
    increase: f64,
}

impl HighSpeed {
    /// Creates the state of one connection.
    pub fn new(settings: &CongestionControlSettings) -> HighSpeed {
        HighSpeed {
            mss: f64::from(settings.mss),
            segments: 0.0,
            increase: 1.0,
        }
    }
}

/// Returns b (w), the fraction by which a loss reduces a window of `w` segments.
pub fn decrease(w: f64) -> f64 {
    if w <= LOW_WINDOW {
        return 0.5;
    }
    // Section 5: b (w) = (High_Decrease - 0.5) (log (w) - log (W)) / (log (W_1) - log (W)) + 0.5
    let share = (ln(w) - ln(LOW_WINDOW)) / (ln(HIGH_WINDOW) - ln(LOW_WINDOW));
    ((HIGH_DECREASE - 0.5) * share + 0.5).max(LEAST_DECREASE)
}

/// Returns a (w), the growth of a window of `w` segments in segments per round trip.
pub fn increase(w: f64) -> f64 {
    if w <= LOW_WINDOW {
        return 1.0;
    }
    let b = decrease(w);
    // Section 5: a (w) = w^2 * p (w) * 2 * b (w) / (2 - b (w)), p (w) = 0.078 / w^1.2
    0.078 * (w / root(w, 5)) * 2.0 * b / (2.0 - b)
}

impl CongestionControl for HighSpeed {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if window.in_slow_start() {
            return window.slow_start(ack, self.mss);
        }
        let segments = (window.cwnd / self.mss).floor();
        if segments != self.segments {
            self.segments = segments;
            self.increase = increase(segments);
        }
        // Section 5: w <- w + a (w) / w
        window.cwnd += self.increase * self.mss * self.mss / window.cwnd;
    }

    fn on_loss(&mut self, _loss: &Loss, window: &mut Window) {
        // Section 5: w <- (1 - b (w)) w
        let kept = 1.0 - decrease((window.cwnd / self.mss).floor());
        window.lower_threshold(kept * window.cwnd, self.mss);
        window.cwnd = window.ssthresh;
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        // Section 5 leaves the timeout of standard TCP unchanged.
        window.restart(timeout.in_flight as f64 / 2.0, timeout.repeated, self.mss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks all rows of the table in appendix B, and the formulas against an independent
    /// calculation.
    #[test]
    fn increase_and_decrease_are_those_of_the_table_of_the_rfc() {
        let table = include_str!("../../../../tests/data/hstcp_rfc3649.csv");
        let rows: Vec<Vec<f64>> = table
            .lines()
            .skip(1)
            .map(|line| line.split(',').map(|x| x.parse().unwrap()).collect())
            .collect();
        assert_eq!(rows.len(), 72);
        for row in &rows {
            let [w, a, _, b, rounded, a_formula] = row[..] else {
                panic!("a row of the table");
            };
            // The table lists the smallest window, found in steps, whose increase rounds to a.
            assert!((increase(w) - a).abs() < 0.05, "{w}");
            assert!((increase(w) - a_formula).abs() <= 0.5e-4 + 1e-12, "{w}");
            assert!((decrease(w) - b).abs() <= 0.5e-5 + 1e-12, "{w}");
            assert!((decrease(w) - rounded).abs() <= 0.005 + 1e-12, "{w}");
        }
        assert_eq!((increase(38.0), decrease(38.0)), (1.0, 0.5));
        assert!((decrease(83_000.0) - 0.1).abs() < 1e-15);
        assert_eq!(decrease(1e7), 0.01);
    }

    #[test]
    fn a_window_of_a_thousand_segments_moves_by_a_and_b() {
        let mut law = HighSpeed {
            mss: 1000.0,
            segments: 0.0,
            increase: 1.0,
        };
        let mut window = Window {
            cwnd: 1e6,
            ssthresh: 0.0,
        };
        let ack = Ack {
            bytes: 1000,
            ..Ack::default()
        };
        (0..1000).for_each(|_| law.on_ack(&ack, &mut window));
        // 7.7398 segments per round trip, slightly less because the window grows meanwhile.
        let grown = window.cwnd / 1000.0 - 1000.0;
        assert!((grown - 7.74).abs() < 0.05, "{grown}");
        window.cwnd = 1e6;
        law.on_loss(&Loss::default(), &mut window);
        // b (1000) = 0.3299
        assert!((window.cwnd - 670_100.0).abs() < 50.0);
        assert_eq!(window.ssthresh, window.cwnd);
    }
}
