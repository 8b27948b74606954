//! FAST TCP (Wei, Jin, Low and Hegde 2006): the window follows the queueing delay, so that each
//! flow keeps alpha segments in the queues along its path.

use super::{
    Ack, CongestionControl, CongestionControlSettings, Loss, Report, Timeout, Wants, Window,
};
use crate::flight::rounds::Rounds;
use crate::recovery::Phase;
use crate::transport::parameters::{FRACTION, TIME};

/// Window law of FAST; round-trip times in picoseconds, alpha and beta in segments.
#[derive(Clone)]
pub struct Fast {
    mss: f64,
    alpha: f64,
    beta: f64,
    gamma: f64,
    /// Queueing delay in picoseconds below which the window grows as in slow start.
    threshold: f64,
    /// Shortest round-trip time (baseRTT), and the moving average of all of them; the average is
    /// `None` before the first sample.
    shortest: f64,
    average: Option<f64>,
    rounds: Rounds,
    /// Whether the window is updated at the end of this round trip; true in every other round trip.
    updates: bool,
}

impl Fast {
    /// Creates the state of one connection.
    pub fn new(settings: &CongestionControlSettings) -> Fast {
        let parameters = settings.parameters;
        Fast {
            mss: f64::from(settings.mss),
            alpha: parameters.get("alpha", 0.0..=1e9),
            beta: parameters.get("beta", 0.0..=1e9),
            gamma: parameters.get("gamma", FRACTION),
            threshold: parameters.get("mi_threshold_ps", TIME),
            shortest: f64::INFINITY,
            average: None,
            rounds: Rounds::default(),
            updates: false,
        }
    }

    fn sample(&mut self, rtt: f64, w: f64) {
        self.shortest = self.shortest.min(rtt);
        // Section III.A: eta = min (3 / w, 1/4)
        let eta = (3.0 / w).min(0.25);
        self.average = Some(
            self.average
                .map_or(rtt, |old| (1.0 - eta) * old + eta * rtt),
        );
    }

    /// Returns the next window in segments, given the current window `w` and the average round-trip
    /// time.
    fn next(&self, w: f64, average: f64) -> f64 {
        let kept = self.shortest / average * w;
        let queued = w - kept;
        if queued >= self.alpha && queued < self.beta {
            return w;
        }
        // Equation 6: w <- min (2 w, (1 - gamma) w + gamma (baseRTT / RTT w + alpha))
        (2.0 * w).min((1.0 - self.gamma) * w + self.gamma * (kept + self.alpha))
    }
}

impl CongestionControl for Fast {
    fn on_ack(&mut self, _ack: &Ack, _window: &mut Window) {}

    fn on_report(&mut self, report: &Report, window: &mut Window) {
        let w = window.cwnd / self.mss;
        if let Some(rtt) = report.ack.rtt {
            self.sample(rtt.0 as f64, w);
        }
        let ends = self.rounds.ends(&report.ack);
        self.updates ^= ends;
        // The window stays constant during a recovery.
        let Some(average) = self.average.filter(|_| report.phase != Phase::Recovery) else {
            return;
        };
        if average - self.shortest < self.threshold {
            window.ssthresh = f64::INFINITY;
            window.slow_start(&report.ack, self.mss);
            return;
        }
        window.ssthresh = 0.0;
        if ends && self.updates {
            window.cwnd = self.next(w, average).max(2.0) * self.mss;
        }
    }

    fn on_loss(&mut self, _loss: &Loss, window: &mut Window) {
        window.cwnd = (window.cwnd / 2.0).max(2.0 * self.mss);
    }

    fn on_timeout(&mut self, _timeout: &Timeout, window: &mut Window) {
        window.cwnd = self.mss;
    }

    fn wants(&self) -> Wants {
        Wants::DELAYS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::vectors::{list, number, vectors};

    fn fast(shortest: f64) -> Fast {
        Fast {
            mss: 1.0,
            alpha: 100.0,
            beta: 100.0,
            gamma: 0.5,
            threshold: 0.0,
            shortest,
            average: None,
            rounds: Rounds::default(),
            updates: false,
        }
    }

    #[test]
    fn the_next_window_is_that_of_equation_6_and_its_fixed_point() {
        let all = &vectors()["fast"];
        for row in list(&all["one"]) {
            let next = fast(number(&row["baseRTT"])).next(number(&row["w"]), number(&row["RTT"]));
            assert!((next - number(&row["w_next"])).abs() < 1e-9, "{row}");
        }
        for row in list(&all["fixpoint"]) {
            let law = fast(number(&row["baseRTT"]));
            let mut w = 50.0;
            (0..2000).for_each(|_| w = law.next(w, number(&row["RTT"])));
            assert!((w / number(&row["w"]) - 1.0).abs() < 1e-9, "{row}");
        }
        // With between alpha and beta segments in the queues, the window stays constant.
        let mut law = fast(0.1);
        law.beta = 120.0;
        assert_eq!(law.next(1210.0, 0.11), 1210.0);
        assert!(law.next(1330.0, 0.11) < 1330.0);
    }
}
