//! Linked increases of the subflows of one connection, LIA (RFC 6356): the connection takes what one
//! TCP would take on its best path. Slow start and losses are those of Reno (section 3).

use super::Subflow;
use crate::congestion::subflows::Subflows;

/// See [`crate::congestion::subflows::Grown`].
pub fn grown(own: &Subflow, all: &Subflows, bytes: f64, mss: f64) -> f64 {
    let (mut total, mut best, mut sum) = (0.0, 0.0_f64, 0.0);
    for subflow in all.iter() {
        let (cwnd, rtt) = (subflow.cwnd, subflow.rtt());
        total += cwnd;
        best = best.max(cwnd / (rtt * rtt));
        sum += cwnd / rtt;
    }
    // Section 3, equation 2: alpha = cwnd_total * MAX (cwnd_i / rtt_i^2) / SUM (cwnd_i / rtt_i)^2
    let alpha = total * best / (sum * sum);
    // Section 3, equation 1:
    // min ( alpha * bytes_acked * MSS_i / cwnd_total, bytes_acked * MSS_i / cwnd_i )
    own.cwnd + (alpha * bytes * mss / total).min(bytes * mss / own.cwnd)
}

#[cfg(test)]
mod tests {
    use super::grown;
    use crate::congestion::subflows::tests::{assert_near, growth, law};

    /// Returns how much the window of a subflow grows by an acknowledgement of one segment; each has a
    /// window and a round-trip time in milliseconds.
    fn growth_of(own: usize, subflows: &[(f64, u64)]) -> f64 {
        let subflows: Vec<_> = subflows.iter().map(|&(cwnd, rtt)| (cwnd, rtt, 0)).collect();
        growth(law(grown, own, &subflows), subflows[own].0, 2000.0)
    }

    #[test]
    fn equal_subflows_grow_together_like_one_flow() {
        // alpha = 20 * (10 / 1) / (10 + 10)^2 = 1/2; 1/2 * 1000 * 1000 / 20000 = 25 bytes each.
        let equal = [(10_000.0, 100), (10_000.0, 100)];
        assert_near(growth_of(0, &equal), 25.0);
        assert_near(growth_of(1, &equal), 25.0);
    }

    #[test]
    fn alpha_is_that_of_the_path_on_which_one_flow_would_be_best() {
        // 8 segments at 100 ms, 12 at 300 ms; in units of 1000 bytes and 100 ms:
        // alpha = 20 * max(8 / 1, 12 / 9) / (8 / 1 + 12 / 3)^2 = 160 / 144 = 10/9;
        // 10/9 * 1000 * 1000 / 20000 = 500/9 bytes on either subflow.
        let unequal = [(8_000.0, 100), (12_000.0, 300)];
        assert_near(growth_of(0, &unequal), 500.0 / 9.0);
        assert_near(growth_of(1, &unequal), 500.0 / 9.0);
    }

    #[test]
    fn no_subflow_grows_faster_than_one_flow() {
        // alpha = 22 * max(2 / 1, 20 / 400) / (2 / 1 + 20 / 20)^2 = 44/9: 44/9 * 1e6 / 22000 is
        // 222 bytes, and 1e6 / 20000 is 50.
        let unequal = [(2_000.0, 10), (20_000.0, 200)];
        assert_near(growth_of(0, &unequal), 2000.0 / 9.0);
        assert_near(growth_of(1, &unequal), 50.0);
    }

    #[test]
    fn the_own_window_is_the_present_one_and_others_without_a_round_trip_do_not_count() {
        // The own window was 8000 at the last event, and is 10000 now.
        let equal = [(8_000.0, 100, 0), (10_000.0, 100, 0)];
        assert_near(growth(law(grown, 0, &equal), 10_000.0, 2000.0), 25.0);
        assert_near(growth(law(grown, 0, &equal[..1]), 10_000.0, 2000.0), 100.0);
    }
}
