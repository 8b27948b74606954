//! The subflows of one connection, and the laws that couple their windows.

use crate::cc::{Ack, CongestionControl, CongestionControlSettings, Loss, Reno, Timeout, Window};
use lightburst_des::Duration;

/// State of one subflow at the end of its last event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subflow {
    /// Congestion window in payload bytes, without the inflation of a recovery.
    pub cwnd: f64,
    /// Smoothed round-trip time.
    pub rtt: Duration,
    /// Payload bytes acknowledged between its last two losses, or since the last one if these are
    /// more.
    pub between_losses: u64,
}

impl Subflow {
    /// Returns the round-trip time in picoseconds.
    pub fn rtt(&self) -> f64 {
        self.rtt.0 as f64
    }
}

/// The subflows of a connection, as one of them sees them.
#[derive(Clone, Debug, Default)]
pub struct Subflows {
    own: usize,
    all: Vec<Option<Subflow>>,
}

impl Subflows {
    /// Notes the subflows; `own` is the number of the one that sees them.
    pub fn note(&mut self, own: usize, all: &[Option<Subflow>]) {
        self.own = own;
        self.all.clear();
        self.all.extend_from_slice(all);
    }

    /// Returns the state of the own subflow, whose window is `cwnd` now; `None` if it has no
    /// round-trip time yet.
    pub fn own(&mut self, cwnd: f64) -> Option<Subflow> {
        let own = self.all.get_mut(self.own)?.as_mut()?;
        own.cwnd = cwnd;
        Some(*own)
    }

    /// Yields the subflows in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Subflow> {
        self.all.iter().flatten()
    }
}

/// Returns the window of the subflow `own` after it has grown in congestion avoidance by an
/// acknowledgement of so many bytes, as one of all; the last number is the payload of a segment.
pub type Grown = fn(own: &Subflow, all: &Subflows, bytes: f64, mss: f64) -> f64;

/// Window law of a subflow: Reno, but in congestion avoidance its growth depends on all subflows.
#[derive(Clone)]
pub struct Coupled {
    reno: Reno,
    mss: f64,
    subflows: Subflows,
    grown: Grown,
}

impl Coupled {
    /// Creates the state of one subflow.
    pub fn new(settings: &CongestionControlSettings, grown: Grown) -> Coupled {
        Coupled {
            reno: Reno::new(settings),
            mss: f64::from(settings.mss),
            subflows: Subflows::default(),
            grown,
        }
    }
}

impl CongestionControl for Coupled {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if window.in_slow_start() {
            return self.reno.on_ack(ack, window);
        }
        let bytes = ack.bytes as f64;
        window.cwnd = match self.subflows.own(window.cwnd) {
            Some(own) => (self.grown)(&own, &self.subflows, bytes, self.mss),
            // Before its first round-trip time it grows like one flow.
            None => window.cwnd + bytes * self.mss / window.cwnd,
        };
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
pub(crate) mod tests {
    use super::*;
    use crate::{Parameters, Value};

    const MS: u64 = 1_000_000_000;

    /// Returns the law of the subflow `own`; each subflow has a window, a round-trip time in
    /// milliseconds, and data between losses.
    pub fn law(grown: Grown, own: usize, subflows: &[(f64, u64, u64)]) -> Coupled {
        let halving = Value::Word("flight-size".to_string());
        let parameters = Parameters::new([("halving".to_string(), halving)]);
        let settings = CongestionControlSettings {
            parameters: &parameters,
            mss: 1000,
            rwnd: 1e9,
            paced: false,
            seed: 0,
        };
        let mut law = Coupled::new(&settings, grown);
        let each = subflows.iter().map(|&(cwnd, rtt, between_losses)| {
            Some(Subflow {
                cwnd,
                rtt: Duration(rtt * MS),
                between_losses,
            })
        });
        law.on_subflows(own, &each.collect::<Vec<_>>());
        law
    }

    /// Returns how much a window grows by an acknowledgement of one segment.
    pub fn growth(mut law: Coupled, cwnd: f64, ssthresh: f64) -> f64 {
        let mut window = Window { cwnd, ssthresh };
        let ack = Ack {
            bytes: 1000,
            ..Ack::default()
        };
        law.on_ack(&ack, &mut window);
        window.cwnd - cwnd
    }

    /// Asserts that a growth is that of the equations, but for rounding.
    pub fn assert_near(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() < 1e-9 * expected.abs(),
            "{found}, not {expected}"
        );
    }

    /// A growth by the sum of all windows.
    fn by_sum(own: &Subflow, all: &Subflows, _bytes: f64, _mss: f64) -> f64 {
        own.cwnd + all.iter().map(|it| it.cwnd).sum::<f64>()
    }

    #[test]
    fn the_own_window_is_the_present_one() {
        // The own window was 8000 at the last event, and is 10000 now.
        let subflows = [(8_000.0, 100, 0), (10_000.0, 100, 0)];
        assert_near(
            growth(law(by_sum, 0, &subflows), 10_000.0, 2000.0),
            20_000.0,
        );
    }

    #[test]
    fn a_subflow_without_a_round_trip_time_grows_like_one_flow_and_others_do_not_count_it() {
        let mut alone = law(by_sum, 0, &[(8_000.0, 100, 0)]);
        alone.on_subflows(0, &[alone.subflows.all[0], None]);
        assert_near(growth(alone.clone(), 10_000.0, 2000.0), 10_000.0);
        alone.on_subflows(1, &[None, None]);
        assert_near(growth(alone, 10_000.0, 2000.0), 100.0);
    }

    #[test]
    fn slow_start_is_not_coupled() {
        let subflows = [(4_000.0, 100, 0), (4_000.0, 100, 0)];
        assert_near(growth(law(by_sum, 0, &subflows), 4_000.0, 8_000.0), 1000.0);
    }
}
