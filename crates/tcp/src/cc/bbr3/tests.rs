//! Exact cases by hand, by the draft's pseudocode and its test cases (appendix A). A segment has
//! 1000 bytes; a path delivers one each millisecond, with a round trip of 20 ms, so that bdp = 20.

mod cycle;
mod losses;
mod others;
mod path;

use super::*;

const MSS: u64 = 1000;
/// A segment each millisecond, in segments per microsecond times 2^24.
const BANDWIDTH: u64 = (1 << SCALE) / 1000;
const ROUND_TRIP: u64 = 20_000;
const BDP: u64 = 20;
const SECOND: u64 = 1_000_000;

fn constants() -> Constants {
    Constants {
        units: Units::new(MSS as u32),
        cwnd_gain: 2_000,
        loss_threshold: 20,
        beta: 700,
        headroom: 150,
        min_rtt_window: 10 * SECOND,
        probe_rtt_interval: 5 * SECOND,
        probe_rtt_time: 200_000,
        aggregation: true,
    }
}

/// A law, its window, and the counts of its connection.
struct Connection {
    law: Bbr3,
    window: Window,
    now: u64,
    delivered: u64,
    lost: u64,
    in_flight: u64,
    phase: Phase,
    limited: bool,
    window_limited: bool,
}

impl Connection {
    fn new() -> Connection {
        Connection::with(constants())
    }

    fn with(constants: Constants) -> Connection {
        let mut law = Bbr3::with(constants, 1);
        let mut window = law.start(10_000.0);
        let now = 1_000_000_000;
        law.on_established(
            &Established {
                at: Time(now * MICROSECOND),
                rtt: Some(Duration(ROUND_TRIP * MICROSECOND)),
                selective: true,
            },
            &mut window,
        );
        Connection {
            law,
            window,
            now,
            delivered: 1,
            lost: 0,
            in_flight: BDP,
            phase: Phase::Open,
            limited: false,
            window_limited: true,
        }
    }

    /// Returns the sample of an acknowledgement of `count` segments, `after` microseconds later, with
    /// a rate of `per_round` segments in a round trip, the first of which was sent a round ago.
    fn sample(&mut self, count: u64, after: u64, per_round: u64) -> RateSample {
        self.now += after;
        self.delivered += count;
        let at = Time(self.now * MICROSECOND);
        RateSample {
            at,
            delivered: self.delivered,
            delivered_at: at,
            lost: self.lost,
            newly_delivered: count,
            newly_lost: 0,
            prior_in_flight: self.in_flight + count,
            in_flight: self.in_flight,
            window_limited: self.window_limited,
            rate: Some(Rated {
                prior_delivered: self.delivered.saturating_sub(per_round),
                delivered: per_round,
                interval: Some(Duration(ROUND_TRIP * MICROSECOND)),
                application_limited: self.limited,
                in_flight: per_round,
                lost: 0,
            }),
            rtt: Some(Duration((ROUND_TRIP + 1) * MICROSECOND)),
            smoothed: Some(Duration(ROUND_TRIP * MICROSECOND)),
            may_be_delayed: false,
            phase: self.phase,
            ahead: Duration::ZERO,
        }
    }

    fn hear(&mut self, sample: &RateSample) -> bool {
        self.law.on_rate(sample, &mut self.window)
    }

    /// Hears of a whole round in one acknowledgement.
    fn round(&mut self, segments: u64) -> bool {
        let sample = self.sample(segments, ROUND_TRIP, segments);
        self.hear(&sample)
    }

    /// Hears of one segment of a round that goes on.
    fn within_round(&mut self) {
        let sample = self.sample(1, 1, BDP);
        self.hear(&sample);
    }

    fn rounds(&mut self, count: usize, segments: u64) {
        for _ in 0..count {
            self.round(segments);
        }
    }

    /// Marks segments lost that were sent with `in_flight` in the network, from `number` on.
    fn lose(&mut self, numbers: std::ops::Range<u64>, in_flight: u64) {
        let before = self.lost;
        for number in numbers {
            self.lost += 1;
            self.law.on_lost(
                &Lost {
                    at: Time(self.now * MICROSECOND),
                    number,
                    delivered: self.delivered,
                    in_flight,
                    lost: self.lost - before,
                    application_limited: self.limited,
                },
                &mut self.window,
            );
        }
    }

    fn segments(&self) -> u64 {
        self.law.constants.units.cwnd(&self.window)
    }

    /// Returns a connection that has filled its pipe, in DOWN: one segment too many in flight keeps it
    /// there, and DRAIN for its three rounds.
    fn down() -> Connection {
        let mut connection = Connection::new();
        connection.in_flight = BDP + 1;
        connection.rounds(4 + 4, BDP);
        assert_eq!(connection.law.state, State::Down);
        connection
    }

    /// Returns one in CRUISE.
    fn cruise() -> Connection {
        let mut connection = Connection::down();
        connection.in_flight = BDP;
        connection.within_round();
        assert_eq!(connection.law.state, State::Cruise);
        connection
    }

    /// Returns one in REFILL: 20 rounds, the product, later at most (Reno's time).
    fn refill() -> Connection {
        let mut connection = Connection::cruise();
        while connection.law.state == State::Cruise {
            connection.round(BDP);
        }
        assert_eq!(connection.law.state, State::Refill);
        connection
    }

    /// Returns one in UP.
    fn up() -> Connection {
        let mut connection = Connection::refill();
        connection.round(BDP);
        assert_eq!(connection.law.state, State::Up);
        connection
    }
}

/// 0.99 times a rate in bytes per second; truncated divisions leave out less than a ten thousandth.
fn is_paced(law: &Bbr3, bytes_per_second: f64) -> bool {
    let expected = 0.99 * bytes_per_second;
    (law.pacing_rate as f64 - expected).abs() < 1e-4 * expected
}

#[test]
fn the_gains_are_those_of_the_table() {
    // Section 5.6.1.
    let table = [
        (State::Startup, 2.77, 2.0),
        (State::Drain, 0.5, 2.0),
        (State::Down, 0.9, 2.0),
        (State::Cruise, 1.0, 2.0),
        (State::Refill, 1.0, 2.0),
        (State::Up, 1.25, 2.25),
        (State::ProbeRoundTrip, 1.0, 0.5),
    ];
    let mut law = Connection::new().law;
    for (state, pacing, cwnd) in table {
        law.state = state;
        let model = law.model().unwrap();
        assert_eq!((model.pacing_gain, model.cwnd_gain), (pacing, cwnd));
    }
}

#[test]
fn the_initial_window_is_paced_over_a_round_trip_times_the_gain_of_startup() {
    let law = Connection::new().law;
    // 10 segments of 1000 bytes in 20 ms, times 2.77, without the margin of 1 %.
    assert!((law.pacing_rate as f64 / (0.5e6 * 2.77) - 1.0).abs() < 1e-4);
    // Without a round trip, 1 ms stands for it until the first is known.
    let mut unknown = Connection::new();
    unknown.law = Bbr3::with(constants(), 1);
    let established = Established {
        at: Time(unknown.now * MICROSECOND),
        rtt: None,
        selective: true,
    };
    unknown
        .law
        .on_established(&established, &mut unknown.window);
    assert!((unknown.law.pacing_rate as f64 / (10e6 * 2.77) - 1.0).abs() < 1e-4);
    let mut sample = unknown.sample(1, 1, BDP);
    sample.rate = None;
    unknown.hear(&sample);
    assert!((unknown.law.pacing_rate as f64 / (0.5e6 * 2.77) - 1.0).abs() < 1e-4);
}

#[test]
fn the_quantum_is_a_millisecond_of_pacing_within_bounds() {
    let mut law = Connection::new().law;
    // In segments of 1000 bytes: at least two, at most 64 KB.
    for (rate, quantum) in [(1, 2), (2_999_999, 2), (3_000_000, 3), (1 << 40, 65)] {
        law.pacing_rate = rate;
        law.set_quantum();
        assert_eq!(law.quantum, quantum, "{rate}");
    }
}

#[test]
fn the_window_holds_the_product_or_the_hosts_quanta_or_four_segments() {
    let mut law = Connection::new().law;
    law.quantum = 3;
    for (segments, least) in [(20, 20), (9, 9), (8, 9), (1, 9)] {
        assert_eq!(law.with_budget(segments), least);
    }
    law.quantum = 1;
    assert_eq!(law.with_budget(1), 4);
    law.state = State::Up;
    assert_eq!(law.with_budget(20), 22);
}

#[test]
fn each_flow_draws_its_waits_of_two_to_three_seconds() {
    let mut law = Connection::down().law;
    let (mut counts, mut sum) = ([0u32; 2], 0.0);
    for _ in 0..4000 {
        law.start_down();
        counts[law.rounds.since_up as usize] += 1;
        assert!((2 * SECOND..3 * SECOND).contains(&law.probe.wait));
        sum += law.probe.wait as f64 / 4000.0;
    }
    // Four standard deviations: sqrt (4000) / 2 = 32 and 1 s / sqrt (12 * 4000) = 4.6 ms.
    assert!(counts[0].abs_diff(2000) < 4 * 32, "{counts:?}");
    assert!((sum - 2.5e6).abs() < 4.0 * 4.6e3, "{sum}");
    let mut drawn = |flow| {
        law.on_flow(FlowId(flow));
        [law.draw.next_u64(), law.draw.next_u64()]
    };
    assert_eq!(drawn(3), drawn(3));
    assert_ne!(drawn(3), drawn(4));
}
