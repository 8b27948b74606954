//! Opportunistic linked increases of the subflows of one connection, OLIA (Khalili, Gast, Popovic and
//! Le Boudec, "MPTCP is not Pareto-optimal", IEEE/ACM Transactions on Networking 21, 2013).

use super::{
    Ack, CongestionControl, CongestionControlSettings, Loss, Reno, Subflow, Timeout, Window,
};
use crate::congestion::subflows::Subflows;

/// Window law of a subflow. Slow start and losses are those of Reno.
#[derive(Clone)]
pub struct Olia {
    reno: Reno,
    mss: f64,
    subflows: Subflows,
}

/// Returns by how much a path is presumably good: l_p / rtt_p^2.
fn quality(subflow: &Subflow) -> f64 {
    subflow.between_losses as f64 / (subflow.rtt() * subflow.rtt())
}

impl Olia {
    /// Creates the state of one subflow.
    pub fn new(settings: &CongestionControlSettings) -> Olia {
        Olia {
            reno: Reno::new(settings),
            mss: f64::from(settings.mss),
            subflows: Subflows::default(),
        }
    }

    /// Returns alpha_r: traffic moves to the best paths that have no largest window.
    fn alpha(&self, own: &Subflow) -> f64 {
        let all = || self.subflows.iter();
        let largest = all().map(|it| it.cwnd).fold(0.0, f64::max);
        let best = all().map(quality).fold(0.0, f64::max);
        // Collected paths: best, without a largest window.
        let is_collected = |it: &Subflow| quality(it) >= best && it.cwnd < largest;
        let collected = all().filter(|it| is_collected(it)).count();
        let paths = all().count();
        if collected == 0 {
            return 0.0;
        }
        if is_collected(own) {
            // alpha_r = (1 / |R_u|) / |B \ M| for r in B \ M
            return 1.0 / (paths * collected) as f64;
        }
        if own.cwnd >= largest {
            // alpha_r = -(1 / |R_u|) / |M| for r in M
            let full = all().filter(|it| it.cwnd >= largest).count();
            return -1.0 / (paths * full) as f64;
        }
        0.0
    }

    /// Returns the growth in congestion avoidance by an acknowledgement of `bytes`.
    fn increase(&mut self, bytes: f64, cwnd: f64) -> f64 {
        let Some(own) = self.subflows.own(cwnd) else {
            return bytes * self.mss / cwnd;
        };
        let all = self.subflows.iter();
        let sum: f64 = all.map(|it| it.cwnd / it.rtt()).sum();
        let (rtt, alpha) = (own.rtt(), self.alpha(&own));
        // Windows in segments, per segment acknowledged:
        // w_r / rtt_r^2 / (SUM w_p / rtt_p)^2 + alpha_r / w_r
        bytes * self.mss * (cwnd / (rtt * rtt) / (sum * sum) + alpha / cwnd)
    }
}

impl CongestionControl for Olia {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if window.in_slow_start() {
            return self.reno.on_ack(ack, window);
        }
        let grown = window.cwnd + self.increase(ack.bytes as f64, window.cwnd);
        // A path whose window is given up keeps a segment, so that it is tried.
        window.cwnd = grown.max(self.mss);
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        self.reno.on_loss(loss, window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        self.reno.on_timeout(timeout, window);
    }

    fn on_subflows(&mut self, own: usize, subflows: &[Option<Subflow>]) {
        self.subflows.note(own, subflows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Parameters, Value};
    use lightburst_des::Duration;

    const MS: u64 = 1_000_000_000;

    /// Returns the growth by an acknowledgement of one segment; of each subflow the window, the
    /// round-trip time in milliseconds and the data between losses.
    fn growth(own: usize, subflows: &[(f64, u64, u64)]) -> f64 {
        let halving = Value::Word("flight-size".to_string());
        let parameters = Parameters::new([("halving".to_string(), halving)]);
        let mut law = Olia::new(&CongestionControlSettings {
            parameters: &parameters,
            mss: 1000,
            rwnd: 1e9,
            paced: false,
            seed: 0,
        });
        let each = subflows.iter().map(|&(cwnd, rtt, between_losses)| {
            Some(Subflow {
                cwnd,
                rtt: Duration(rtt * MS),
                between_losses,
            })
        });
        law.on_subflows(own, &each.collect::<Vec<_>>());
        let cwnd = subflows[own].0;
        let mut window = Window {
            cwnd,
            ssthresh: 1000.0,
        };
        let ack = Ack {
            bytes: 1000,
            ..Ack::default()
        };
        law.on_ack(&ack, &mut window);
        window.cwnd - cwnd
    }

    fn assert_near(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() < 1e-9 * expected.abs(),
            "{found}, not {expected}"
        );
    }

    #[test]
    fn without_a_better_path_the_windows_grow_by_the_first_term_alone() {
        // In segments and 100 ms: 10 / 1 / (10 + 10)^2 = 1/40 of a segment.
        let equal = [(10_000.0, 100, 5_000), (10_000.0, 100, 5_000)];
        assert_near(growth(0, &equal), 25.0);
        // The best path has the largest window: no collected paths, alpha is 0.
        // 12 / 1 / (12 + 4)^2 = 12/256, and 4/256.
        let best_is_full = [(12_000.0, 100, 9_000), (4_000.0, 100, 5_000)];
        assert_near(growth(0, &best_is_full), 12_000.0 / 256.0);
        assert_near(growth(1, &best_is_full), 4_000.0 / 256.0);
        // One path: 10 / 10^2, like one flow.
        assert_near(growth(0, &equal[..1]), 100.0);
    }

    #[test]
    fn traffic_moves_from_the_largest_window_to_the_best_path() {
        // |R| = 2, |M| = 1, |B \ M| = 1: alpha is 1/2 on the best path, -1/2 on the other.
        let moves = [(12_000.0, 100, 5_000), (4_000.0, 100, 9_000)];
        assert_near(growth(0, &moves), 12_000.0 / 256.0 - 500.0 / 12.0);
        assert_near(growth(1, &moves), 4_000.0 / 256.0 + 500.0 / 4.0);
    }

    #[test]
    fn the_round_trip_counts_twice_for_the_best_path() {
        // 9000 / 2^2 is less than 5000 / 1^2: the first path is best and full.
        let moves = [(12_000.0, 100, 5_000), (4_000.0, 200, 9_000)];
        // 12 / 1 / (12 + 2)^2, and 4 / 4 / (12 + 2)^2.
        assert_near(growth(0, &moves), 12_000.0 / 196.0);
        assert_near(growth(1, &moves), 1_000.0 / 196.0);
    }

    #[test]
    fn paths_that_are_neither_best_nor_full_have_no_share_in_the_move() {
        // |R| = 4, M = {0, 1}, B \ M = {3}: alpha = -1/8, -1/8, 0, 1/4.
        let moves = [
            (8_000.0, 100, 1_000),
            (8_000.0, 100, 1_000),
            (4_000.0, 100, 1_000),
            (4_000.0, 100, 9_000),
        ];
        let first = |cwnd: f64| cwnd / (24.0 * 24.0);
        assert_near(growth(0, &moves), first(8_000.0) - 1000.0 / 8.0 / 8.0);
        assert_near(growth(1, &moves), first(8_000.0) - 1000.0 / 8.0 / 8.0);
        assert_near(growth(2, &moves), first(4_000.0));
        assert_near(growth(3, &moves), first(4_000.0) + 1000.0 / 4.0 / 4.0);
    }

    #[test]
    fn a_window_keeps_one_segment() {
        // A window of 1000 bytes, the largest beside 900: 1 / (1 + 0.9 / 0.5)^2 = 0.1276 of a segment
        // less 1/2.
        let moves = [(1_000.0, 100, 1_000), (900.0, 50, 9_000)];
        assert_eq!(growth(0, &moves), 0.0);
    }
}
