//! TCP Vegas (Brakmo and Peterson 1995): once per round trip the window grows or shrinks by one
//! segment, so that between alpha and beta segments are queued along the path. The retransmission
//! rules of Vegas are not included, since they belong to a loss recovery.

use super::{
    Ack, CongestionControl, CongestionControlSettings, Loss, Report, Timeout, Wants, Window,
};
use crate::flight::rounds::Rounds;
use crate::recovery::Phase;

/// Window law of Vegas; round-trip times in picoseconds, alpha, beta and gamma in segments.
#[derive(Clone)]
pub struct Vegas {
    mss: f64,
    alpha: f64,
    beta: f64,
    gamma: f64,
    /// Shortest round-trip time (BaseRTT).
    shortest: f64,
    /// Sum and number of the round-trip times sampled in this round trip.
    sum: f64,
    count: f64,
    rounds: Rounds,
    /// Whether the window doubles in this round trip of slow start; true in every other round trip.
    doubles: bool,
}

impl Vegas {
    /// Creates the state of one connection.
    pub fn new(settings: &CongestionControlSettings) -> Vegas {
        let parameters = settings.parameters;
        Vegas {
            mss: f64::from(settings.mss),
            alpha: parameters.get("alpha", 0.0..=1e9),
            beta: parameters.get("beta", 0.0..=1e9),
            gamma: parameters.get("gamma", 0.0..=1e9),
            shortest: f64::INFINITY,
            sum: 0.0,
            count: 0.0,
            rounds: Rounds::default(),
            doubles: false,
        }
    }

    /// Updates the window at the end of a round trip; `rtt` is the mean of the sampled round-trip
    /// times.
    fn round(&mut self, rtt: f64, window: &mut Window) {
        // Section 3.2: Diff = (Expected - Actual) BaseRTT = cwnd (1 - BaseRTT / RTT)
        let w = window.cwnd / self.mss;
        let queued = w * (1.0 - self.shortest / rtt);
        if window.in_slow_start() {
            self.doubles = !self.doubles;
            // Section 3.3; as in ns-2, the end of slow start reduces the window by one eighth.
            if self.doubles && queued > self.gamma {
                window.lower_threshold(0.0, self.mss);
                window.cwnd = (window.cwnd - window.cwnd / 8.0).max(window.ssthresh);
            }
        } else if queued > self.beta {
            window.cwnd = (window.cwnd - self.mss).max(2.0 * self.mss);
        } else if queued < self.alpha {
            window.cwnd += self.mss;
        }
    }
}

impl CongestionControl for Vegas {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if window.in_slow_start() && self.doubles {
            window.slow_start(ack, self.mss);
        }
    }

    fn on_report(&mut self, report: &Report, window: &mut Window) {
        if let Some(rtt) = report.ack.rtt {
            let rtt = rtt.0 as f64;
            self.shortest = self.shortest.min(rtt);
            self.sum += rtt;
            self.count += 1.0;
        }
        if !self.rounds.ends(&report.ack) || self.count == 0.0 {
            return;
        }
        let mean = self.sum / self.count;
        (self.sum, self.count) = (0.0, 0.0);
        // The window stays constant during a recovery.
        if report.phase != Phase::Recovery {
            self.round(mean, window);
        }
    }

    fn on_loss(&mut self, _loss: &Loss, window: &mut Window) {
        // Section 3.1 and ns-2: reduces the window by a quarter and ends slow start.
        window.lower_threshold(0.0, self.mss);
        window.cwnd = (0.75 * window.cwnd).max(window.ssthresh);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        window.restart(timeout.in_flight as f64 / 2.0, timeout.repeated, self.mss);
    }

    fn wants(&self) -> Wants {
        Wants::DELAYS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::vectors::{list, number, vectors};

    fn vegas(shortest: f64) -> Vegas {
        Vegas {
            mss: 1.0,
            alpha: 1.0,
            beta: 3.0,
            gamma: 1.0,
            shortest,
            sum: 0.0,
            count: 0.0,
            rounds: Rounds::default(),
            doubles: false,
        }
    }

    #[test]
    fn a_round_trip_moves_the_window_by_what_waits() {
        for row in list(&vectors()["vegas"]) {
            let mut window = Window {
                cwnd: number(&row["cwnd"]),
                ssthresh: 2.0,
            };
            vegas(number(&row["base"])).round(number(&row["rtt"]), &mut window);
            assert_eq!(window.cwnd, number(&row["next"]), "{row}");
        }
    }

    #[test]
    fn slow_start_doubles_every_other_round_trip_until_something_waits() {
        let mut law = vegas(0.1);
        let mut window = law.start(16.0);
        law.round(0.1, &mut window);
        assert!(law.doubles);
        let ack = Ack {
            bytes: 1,
            ..Ack::default()
        };
        (0..16).for_each(|_| law.on_ack(&ack, &mut window));
        law.round(0.11, &mut window);
        law.on_ack(&ack, &mut window);
        assert_eq!(window.cwnd, 32.0);
        // 32 (1 - 0.1 / 0.11) = 2.9 segments are queued, more than gamma = 1: slow start ends.
        law.round(0.11, &mut window);
        assert_eq!((window.cwnd, window.ssthresh), (28.0, 2.0));
    }
}
