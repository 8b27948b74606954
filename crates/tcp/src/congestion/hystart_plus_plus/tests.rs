use super::*;
use crate::cc::{Reno, StopAndWait};
use crate::recovery::Phase;
use crate::Value;
use lightburst_des::Duration;

const MILLISECOND: u64 = 1_000_000_000;
const MSS: u64 = 1000;

fn settings(changes: &[(&str, f64)]) -> Parameters {
    let usual = [
        ("min_rtt_thresh_ps", 4e9),
        ("max_rtt_thresh_ps", 16e9),
        ("min_rtt_divisor", 8.0),
        ("n_rtt_sample", 8.0),
        ("css_growth_divisor", 4.0),
        ("css_rounds", 5.0),
    ];
    let numbers = usual.iter().chain(changes);
    Parameters::new(numbers.map(|(name, x)| (name.to_string(), Value::Number(*x))))
}

/// A connection that hears acknowledgements, with Reno below HyStart++.
struct Connection {
    law: HyStartPlusPlus,
    window: Window,
}

impl Connection {
    fn new(paced: bool, changes: &[(&str, f64)]) -> Connection {
        let own = Parameters::new([(
            "halving".to_string(),
            Value::Word("flight-size".to_string()),
        )]);
        let reno = Reno::new(&CongestionControlSettings {
            parameters: &own,
            mss: MSS as u32,
            rwnd: 1e12,
            paced,
            seed: 0,
        });
        let constants = Constants::new(&settings(changes), MSS as f64, paced);
        let law = HyStartPlusPlus::new(Box::new(reno), constants);
        let window = law.start(10_000.0);
        Connection { law, window }
    }

    /// Hears an acknowledgement of `bytes` with a round trip in milliseconds, and `in_flight` bytes
    /// outstanding. Returns the growth of the window.
    fn hear(&mut self, bytes: u64, in_flight: u64, rtt: f64) -> f64 {
        let before = self.window.cwnd;
        let ack = Ack {
            bytes,
            in_flight,
            rtt: Some(Duration((rtt * MILLISECOND as f64) as u64)),
            ..Ack::default()
        };
        self.law.on_ack(&ack, &mut self.window);
        let report = Report {
            ack,
            delivered: bytes,
            lost: 0,
            phase: Phase::Open,
            application_limited: false,
        };
        self.law.on_report(&report, &mut self.window);
        self.window.cwnd - before
    }

    /// Hears a round of acknowledgements of one segment each, with these round trips. Each round is
    /// in flight when its first acknowledgement comes. Returns the growth at each.
    fn round(&mut self, rtts: &[f64]) -> Vec<f64> {
        // All of this round but its first segment, and as much as the next one has, are irrelevant:
        // a round ends with the first byte beyond those in flight at its start.
        let mut left = rtts.len() as u64 * MSS;
        let mut growth = Vec::new();
        for rtt in rtts {
            left -= MSS;
            growth.push(self.hear(MSS, left, *rtt));
        }
        growth
    }

    fn is_conservative(&self) -> bool {
        matches!(self.law.stage, Stage::Conservative { .. })
    }
}

#[test]
fn the_rise_that_counts_is_an_eighth_between_4_and_16_ms() {
    for (last, threshold) in [(20.0, 4.0), (64.0, 8.0), (200.0, 16.0)] {
        for (more, conservative) in [(threshold - 0.001, false), (threshold, true)] {
            let mut connection = Connection::new(false, &[]);
            connection.round(&[last; 8]);
            connection.round(&[last + more; 8]);
            assert_eq!(connection.is_conservative(), conservative, "{last} {more}");
        }
    }
}

#[test]
fn a_round_is_judged_by_its_least_and_from_the_eighth_sample_on() {
    let mut connection = Connection::new(false, &[]);
    // A first round has no round before it.
    connection.round(&[30.0, 90.0, 90.0, 90.0, 90.0, 90.0, 90.0, 90.0]);
    assert_eq!(connection.law.last, INFINITE);
    connection.round(&[90.0; 7]);
    assert!(!connection.is_conservative());
    // Its least, 30 ms, was that of the round before; now it is 90 ms.
    assert_eq!(connection.law.last, 30 * MILLISECOND);
    connection.round(&[100.0; 8]);
    assert!(!connection.is_conservative());
    // 90 ms and an eighth; one low sample prevents the end.
    connection.round(&[120.0, 120.0, 110.0, 120.0, 120.0, 120.0, 120.0, 120.0]);
    assert!(!connection.is_conservative());
    connection.round(&[130.0; 7]);
    assert!(!connection.is_conservative());
    connection.round(&[150.0; 8]);
    assert!(connection.is_conservative());
}

#[test]
fn a_conservative_slow_start_grows_by_a_quarter_and_ends_after_five_rounds() {
    let mut connection = Connection::new(false, &[]);
    assert_eq!(connection.round(&[50.0; 8]), [1000.0; 8]);
    // The eighth sample ends slow start; its own growth comes before that.
    assert_eq!(connection.round(&[60.0; 10])[..8], [1000.0; 8]);
    assert_eq!(connection.window.cwnd, 26_500.0);
    // The rest of that round is the first of five.
    for _ in 0..4 {
        assert_eq!(connection.window.ssthresh, f64::INFINITY);
        assert_eq!(connection.round(&[60.0; 8]), [250.0; 8]);
    }
    // With the first acknowledgement of the sixth, the fifth is complete: ssthresh = cwnd.
    let w = connection.window.cwnd;
    assert_eq!(w, 26_500.0 + 4.0 * 8.0 * 250.0);
    assert_eq!(connection.round(&[60.0; 1]), [250.0]);
    assert_eq!(connection.window.ssthresh, w + 250.0);
    // Congestion avoidance of the law.
    connection.hear(MSS, 0, 60.0);
    assert_eq!(connection.window.cwnd, w + 250.0 + 1e6 / (w + 250.0));
}

#[test]
fn a_round_trip_below_the_baseline_resumes_slow_start() {
    let mut connection = Connection::new(false, &[]);
    connection.round(&[50.0; 8]);
    connection.round(&[60.0; 8]);
    assert!(connection.is_conservative());
    connection.round(&[60.0; 8]);
    // Judged from the eighth sample on.
    let growth = connection.round(&[59.999; 9]);
    assert_eq!(growth[..8], [250.0; 8]);
    assert_eq!(growth[8], 1000.0);
    assert!(!connection.is_conservative());
    // HyStart++ resumes, too: five rounds count anew.
    connection.round(&[67.498; 8]);
    assert!(!connection.is_conservative());
    connection.round(&[75.94; 8]);
    assert!(connection.is_conservative());
    for _ in 0..4 {
        connection.round(&[75.94; 8]);
    }
    assert_eq!(connection.window.ssthresh, f64::INFINITY);
    connection.round(&[75.94; 1]);
    assert!(connection.window.ssthresh < f64::INFINITY);
}

#[test]
fn an_acknowledgement_counts_for_eight_segments_without_pacing() {
    for (paced, changes, expected) in [
        (false, &[][..], 8_000.0),
        (true, &[], 20_000.0),
        (false, &[("limit", 2.0)], 2_000.0),
        (true, &[("limit", 3.0)], 3_000.0),
    ] {
        let mut connection = Connection::new(paced, changes);
        assert_eq!(connection.hear(20 * MSS, 0, 50.0), expected);
        assert_eq!(connection.hear(300, 0, 50.0), 300.0);
        connection.law.stage = Stage::Conservative {
            baseline: 0,
            rounds: 0,
        };
        assert_eq!(connection.hear(20 * MSS, 0, 50.0), expected / 4.0);
    }
}

#[test]
fn after_a_loss_or_a_timeout_slow_start_is_that_of_the_law() {
    let loss = Loss {
        in_flight: 20 * MSS,
        ..Loss::default()
    };
    let timeout = Timeout {
        in_flight: 20 * MSS,
        ..Timeout::default()
    };
    for times_out in [false, true] {
        let mut connection = Connection::new(false, &[]);
        connection.round(&[50.0; 8]);
        match times_out {
            true => connection.law.on_timeout(&timeout, &mut connection.window),
            false => connection.law.on_loss(&loss, &mut connection.window),
        }
        assert_eq!(connection.window.ssthresh, 10_000.0);
        // Even if the loss was spurious and ssthresh is restored.
        connection.window.ssthresh = f64::INFINITY;
        assert_eq!(connection.hear(3 * MSS, 0, 50.0), 1000.0);
        for _ in 0..3 {
            connection.round(&[90.0; 8]);
        }
        assert!(!connection.is_conservative());
    }
}

#[test]
fn a_law_without_growth_is_left_alone() {
    let constants = Constants::new(&settings(&[]), MSS as f64, false);
    let law = HyStartPlusPlus::new(Box::new(StopAndWait::new(MSS as u32)), constants);
    let window = law.start(10_000.0);
    let mut connection = Connection { law, window };
    connection.round(&[50.0; 20]);
    assert_eq!(connection.window.cwnd, 1000.0);
}
