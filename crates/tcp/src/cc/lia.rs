//! Linked increases of the subflows of one connection, LIA (RFC 6356): the connection takes what one
//! TCP would take on its best path.

use super::{
    Ack, CongestionControl, CongestionControlSettings, Loss, Reno, Subflow, Timeout, Window,
};
use crate::congestion::subflows::Subflows;

/// Window law of a subflow. Slow start and losses are those of Reno (RFC 6356, section 3).
#[derive(Clone)]
pub struct Lia {
    reno: Reno,
    mss: f64,
    subflows: Subflows,
}

impl Lia {
    /// Creates the state of one subflow.
    pub fn new(settings: &CongestionControlSettings) -> Lia {
        Lia {
            reno: Reno::new(settings),
            mss: f64::from(settings.mss),
            subflows: Subflows::default(),
        }
    }

    /// Returns the growth in congestion avoidance by an acknowledgement of `bytes`.
    fn increase(&mut self, bytes: f64, cwnd: f64) -> f64 {
        // Section 3: min ( ..., bytes_acked * MSS_i / cwnd_i )
        let alone = bytes * self.mss / cwnd;
        if self.subflows.own(cwnd).is_none() {
            return alone;
        }
        let (mut total, mut best, mut sum) = (0.0, 0.0_f64, 0.0);
        for subflow in self.subflows.iter() {
            let (cwnd, rtt) = (subflow.cwnd, subflow.rtt());
            total += cwnd;
            best = best.max(cwnd / (rtt * rtt));
            sum += cwnd / rtt;
        }
        // Section 3, equation 2: alpha = cwnd_total * MAX (cwnd_i / rtt_i^2) / SUM (cwnd_i / rtt_i)^2
        let alpha = total * best / (sum * sum);
        // Section 3, equation 1: alpha * bytes_acked * MSS_i / cwnd_total
        (alpha * bytes * self.mss / total).min(alone)
    }
}

impl CongestionControl for Lia {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if window.in_slow_start() {
            return self.reno.on_ack(ack, window);
        }
        window.cwnd += self.increase(ack.bytes as f64, window.cwnd);
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
    use crate::Parameters;
    use crate::Value;
    use lightburst_des::Duration;

    const MS: u64 = 1_000_000_000;

    /// Returns the law of a connection whose subflows have these windows and round-trip times in
    /// milliseconds.
    fn law(own: usize, subflows: &[(f64, u64)]) -> Lia {
        let parameters = Parameters::new([(
            "halving".to_string(),
            Value::Word("flight-size".to_string()),
        )]);
        let mut law = Lia::new(&CongestionControlSettings {
            parameters: &parameters,
            mss: 1000,
            rwnd: 1e9,
            paced: false,
            seed: 0,
        });
        let each = subflows.iter().map(|&(cwnd, rtt)| {
            Some(Subflow {
                cwnd,
                rtt: Duration(rtt * MS),
                between_losses: 0,
            })
        });
        law.on_subflows(own, &each.collect::<Vec<_>>());
        law
    }

    /// Returns how much the window grows by an acknowledgement of one segment.
    fn growth(mut law: Lia, cwnd: f64) -> f64 {
        let mut window = Window {
            cwnd,
            ssthresh: 2000.0,
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
            (found - expected).abs() < 1e-9 * expected,
            "{found}, not {expected}"
        );
    }

    #[test]
    fn equal_subflows_grow_together_like_one_flow() {
        // alpha = 20 * (10 / 1) / (10 + 10)^2 = 1/2; 1/2 * 1000 * 1000 / 20000 = 25 bytes each.
        let equal = [(10_000.0, 100), (10_000.0, 100)];
        assert_near(growth(law(0, &equal), 10_000.0), 25.0);
        assert_near(growth(law(1, &equal), 10_000.0), 25.0);
    }

    #[test]
    fn alpha_is_that_of_the_path_on_which_one_flow_would_be_best() {
        // 8 segments at 100 ms, 12 at 300 ms; in units of 1000 bytes and 100 ms:
        // alpha = 20 * max(8 / 1, 12 / 9) / (8 / 1 + 12 / 3)^2 = 160 / 144 = 10/9;
        // 10/9 * 1000 * 1000 / 20000 = 500/9 bytes on either subflow.
        let unequal = [(8_000.0, 100), (12_000.0, 300)];
        assert_near(growth(law(0, &unequal), 8_000.0), 500.0 / 9.0);
        assert_near(growth(law(1, &unequal), 12_000.0), 500.0 / 9.0);
    }

    #[test]
    fn no_subflow_grows_faster_than_one_flow() {
        // alpha = 22 * max(2 / 1, 20 / 400) / (2 / 1 + 20 / 20)^2 = 44/9: 44/9 * 1e6 / 22000 is
        // 222 bytes, and 1e6 / 20000 is 50.
        let unequal = [(2_000.0, 10), (20_000.0, 200)];
        assert_near(growth(law(0, &unequal), 2_000.0), 2000.0 / 9.0);
        assert_near(growth(law(1, &unequal), 20_000.0), 50.0);
    }

    #[test]
    fn the_own_window_is_the_present_one_and_others_without_a_round_trip_do_not_count() {
        // The own window was 8000 at the last event, and is 10000 now.
        let equal = [(8_000.0, 100), (10_000.0, 100)];
        assert_near(growth(law(0, &equal), 10_000.0), 25.0);
        let mut alone = law(0, &equal[..1]);
        assert_near(growth(alone.clone(), 10_000.0), 100.0);
        // Before its own first round-trip time it grows like one flow.
        alone.on_subflows(1, &[None, None]);
        assert_near(growth(alone, 10_000.0), 100.0);
    }

    #[test]
    fn slow_start_is_not_coupled() {
        let mut window = Window {
            cwnd: 4000.0,
            ssthresh: 8000.0,
        };
        let ack = Ack {
            bytes: 1000,
            ..Ack::default()
        };
        law(0, &[(4_000.0, 100), (4_000.0, 100)]).on_ack(&ack, &mut window);
        assert_near(window.cwnd, 5000.0);
    }
}
