//! Opportunistic linked increases of the subflows of one connection, OLIA (Khalili, Gast, Popovic and
//! Le Boudec, "MPTCP is not Pareto-optimal", IEEE/ACM Transactions on Networking 21, 2013). Slow start
//! and losses are those of Reno.

use super::Subflow;
use crate::congestion::subflows::Subflows;

/// Returns by how much a path is presumably good: l_p / rtt_p^2.
fn quality(subflow: &Subflow) -> f64 {
    subflow.between_losses as f64 / (subflow.rtt() * subflow.rtt())
}

/// Returns alpha_r: traffic moves to the best paths that have no largest window.
fn alpha(own: &Subflow, subflows: &Subflows) -> f64 {
    let all = || subflows.iter();
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

/// See [`crate::congestion::subflows::Grown`].
pub fn grown(own: &Subflow, all: &Subflows, bytes: f64, mss: f64) -> f64 {
    let sum: f64 = all.iter().map(|it| it.cwnd / it.rtt()).sum();
    let (rtt, cwnd, alpha) = (own.rtt(), own.cwnd, alpha(own, all));
    // Windows in segments, per segment acknowledged:
    // w_r / rtt_r^2 / (SUM w_p / rtt_p)^2 + alpha_r / w_r
    let growth = bytes * mss * (cwnd / (rtt * rtt) / (sum * sum) + alpha / cwnd);
    // A path whose window is given up keeps a segment, so that it is tried.
    (cwnd + growth).max(mss)
}

#[cfg(test)]
mod tests {
    use super::grown;
    use crate::congestion::subflows::tests::{assert_near, growth as growth_of, law};

    /// Returns the growth by an acknowledgement of one segment.
    fn growth(own: usize, subflows: &[(f64, u64, u64)]) -> f64 {
        growth_of(law(grown, own, subflows), subflows[own].0, 1000.0)
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
