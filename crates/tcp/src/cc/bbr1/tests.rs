//! Exact cases by hand. A segment has 1000 bytes; a path delivers one each millisecond, with a round
//! trip of 10 ms, so that bdp = 10.

use super::*;

const MSS: u64 = 1000;
/// A segment each millisecond, in segments per microsecond times 2^24.
const BANDWIDTH: u64 = (1 << SCALE) / 1000;
const ROUND_TRIP: u64 = 10_000;
const BDP: u64 = 10;

fn constants() -> Constants {
    Constants {
        units: Units::new(MSS as u32),
        cwnd_gain: 2 * UNIT,
        min_rtt_window: 2500,
        probe_rtt_time: 50,
        policers: true,
        aggregation: true,
    }
}

/// A law, its window, and the totals of its connection.
struct Connection {
    law: Bbr1,
    window: Window,
    now: u64,
    delivered: u64,
    lost: u64,
    in_flight: u64,
    phase: Phase,
}

impl Connection {
    fn new(seed: u64) -> Connection {
        let mut law = Bbr1::with(constants(), seed);
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
            window_limited: true,
            rate: Some(Rated {
                prior_delivered: self.delivered.saturating_sub(per_round),
                delivered: per_round,
                interval: Some(Duration(ROUND_TRIP * MICROSECOND)),
                application_limited: false,
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

    fn rounds(&mut self, count: usize, segments: u64) {
        for _ in 0..count {
            self.round(segments);
        }
    }

    fn segments(&self) -> u64 {
        self.law.cwnd(&self.window)
    }

    /// Fills the pipe, and removes its queue.
    fn fill(&mut self) {
        for _ in 0..4 {
            self.round(BDP);
        }
        assert_eq!(self.law.mode, Mode::ProbeBandwidth);
    }

    /// Returns a connection in the phase of PROBE_BW with this number.
    fn in_phase(phase: usize) -> Connection {
        let mut connection = Connection::new(1);
        connection.fill();
        connection.law.phase = phase;
        connection.law.phase_start = connection.now;
        connection.law.update_gains();
        connection
    }
}

/// 0.99 times a rate in bytes per second; truncated divisions leave out a few.
fn is_paced(law: &Bbr1, bytes_per_second: f64) -> bool {
    let expected = 0.99 * bytes_per_second;
    (law.pacing_rate as f64 - expected).abs() < 2e-5 * expected
}

#[test]
fn the_gains_are_those_of_the_kernel() {
    // In 256ths: 2885 / 1000 and one more, 1000 / 2885, 5 / 4 and 3 / 4.
    assert_eq!((HIGH_GAIN, DRAIN_GAIN), (739, 88));
    let phases: Vec<u64> = (0..8)
        .map(|i| Connection::in_phase(i).law.pacing_gain)
        .collect();
    assert_eq!(phases, [320, 192, 256, 256, 256, 256, 256, 256]);
}

#[test]
fn the_initial_window_is_paced_over_a_round_trip_times_the_gain_of_startup() {
    let connection = Connection::new(1);
    // 10 segments of 1000 bytes in 10 ms, times 739 / 256.
    assert!(is_paced(&connection.law, 1e6 * 739.0 / 256.0));
}

#[test]
fn startup_doubles_until_three_rounds_find_no_more_and_drain_removes_the_queue() {
    let mut connection = Connection::new(1);
    connection.in_flight = 40;
    for segments in [10, 20, 40] {
        connection.round(segments);
        assert_eq!(connection.law.mode, Mode::Startup);
        assert_eq!(connection.law.bandwidth.value(), BANDWIDTH * segments / 10);
    }
    // Every segment delivered opens the window by one.
    assert_eq!(connection.segments(), 10 + 10 + 20 + 40);
    // 49 of 40 is less than a quarter more, in two rounds; 50 begins to count anew.
    connection.round(49);
    connection.round(49);
    assert_eq!(connection.law.plateau.rounds, 2);
    connection.round(50);
    assert_eq!(connection.law.plateau.rounds, 0);
    connection.in_flight = 100;
    connection.rounds(2, 50);
    assert_eq!(connection.law.mode, Mode::Startup);
    connection.round(50);
    assert_eq!(connection.law.mode, Mode::Drain);
    assert!(is_paced(&connection.law, 5e6 * 88.0 / 256.0));
    // bdp = 50; three bunches of floor (14.3 MB/s / 1024 / 1000) = 13 segments make it 90.
    assert_eq!(connection.window.ssthresh, 90_000.0);
    // Until no more than bdp and the bunches, now of 2 segments, are in flight.
    connection.in_flight = 57;
    connection.round(50);
    assert_eq!(connection.law.mode, Mode::Drain);
    connection.in_flight = 56;
    connection.round(50);
    assert_eq!(connection.law.mode, Mode::ProbeBandwidth);
}

#[test]
fn samples_that_the_application_limits_neither_lower_the_bandwidth_nor_fill_the_pipe() {
    let mut connection = Connection::new(1);
    connection.round(20);
    for segments in [2, 2, 2, 2, 2, 21] {
        let mut sample = connection.sample(segments, ROUND_TRIP, segments);
        sample.rate.as_mut().unwrap().application_limited = true;
        connection.hear(&sample);
    }
    // The last one is more than was known.
    assert_eq!(connection.law.bandwidth.value(), (21 << SCALE) / ROUND_TRIP);
    assert_eq!(connection.law.plateau.rounds, 0);
    // The same samples without the mark fill the pipe.
    connection.rounds(3, 2);
    assert!(connection.law.full);
}

#[test]
fn the_window_is_twice_the_product_of_bandwidth_and_round_trip_with_room_for_bunches() {
    let mut connection = Connection::in_phase(2);
    connection.round(BDP);
    // 2 * 10 and three bunches of two segments. No segment came before its time.
    assert_eq!(connection.law.bdp(BANDWIDTH, 2 * UNIT), 20);
    let excess = connection.law.aggregation.most();
    assert_eq!(connection.segments(), (20 + excess + 6).next_multiple_of(2));
    // In the phase that probes, two more.
    connection.law.phase = 0;
    assert_eq!(connection.law.with_budget(20), 28);
}

#[test]
fn a_phase_of_probing_lasts_a_round_trip_and_until_the_path_holds_more() {
    for (in_flight, lost, after, over) in [
        // 5/4 * 10 = 13 rounded up, 6 for the bunches makes 20 even, 2 of the phase; with the bunch
        // of 2 that leaves next, 20 are enough.
        (20, 0, ROUND_TRIP + 1, true),
        (19, 0, ROUND_TRIP + 1, false),
        (19, 1, ROUND_TRIP + 1, true),
        (20, 0, ROUND_TRIP, false),
    ] {
        let mut connection = Connection::in_phase(0);
        let mut sample = connection.sample(1, after, BDP);
        (sample.prior_in_flight, sample.newly_lost) = (in_flight, lost);
        connection.hear(&sample);
        assert_eq!(
            connection.law.phase,
            usize::from(over),
            "{in_flight} {lost} {after}"
        );
    }
}

#[test]
fn a_phase_of_draining_ends_when_the_queue_is_gone_or_after_a_round_trip() {
    for (in_flight, after, over) in [(16, 1, true), (17, 1, false), (17, ROUND_TRIP + 1, true)] {
        let mut connection = Connection::in_phase(1);
        let mut sample = connection.sample(1, after, BDP);
        sample.prior_in_flight = in_flight;
        connection.hear(&sample);
        assert_eq!(connection.law.phase == 2, over, "{in_flight} {after}");
    }
}

#[test]
fn segments_that_leave_before_the_next_one_do_not_count_as_in_the_network() {
    let mut connection = Connection::in_phase(1);
    let mut sample = connection.sample(1, 1, BDP);
    // One segment each millisecond.
    (sample.prior_in_flight, sample.ahead) = (18, Duration(2001 * MICROSECOND));
    connection.hear(&sample);
    assert_eq!(connection.law.phase, 2);
}

#[test]
fn the_first_phase_is_drawn_among_all_but_the_one_that_drains() {
    let mut counts = [0u32; 8];
    let mut connection = Connection::new(1);
    for _ in 0..7000 {
        connection.law.probe_bandwidth();
        counts[connection.law.phase] += 1;
    }
    assert_eq!(counts[1], 0);
    // Chi-squared test with 6 degrees of freedom; the 99.9 % quantile is 22.5.
    let others = (0..8).filter(|phase| *phase != 1);
    let chi: f64 = others
        .map(|phase| (f64::from(counts[phase]) - 1e3).powi(2) / 1e3)
        .sum();
    assert!(chi < 22.5, "{counts:?}");
    // Each flow draws from its own stream.
    let mut drawn = |flow| {
        connection.law.on_flow(FlowId(flow));
        let draw = &mut connection.law.draw;
        [draw.next_u64(), draw.next_u64()]
    };
    assert_eq!(drawn(3), drawn(3));
    assert_ne!(drawn(3), drawn(4));
}

#[test]
fn a_round_trip_of_ten_seconds_ago_is_measured_again_with_four_segments_in_flight() {
    let mut connection = Connection::in_phase(2);
    let before = connection.segments();
    // Ticks of 4 ms: more than 2500 after the one of the handshake.
    connection.now = 1_000_000_000 + 2501 * TICK - 1 - ROUND_TRIP;
    assert!(!connection.round(BDP));
    connection.now = 1_000_000_000 + 2501 * TICK;
    connection.in_flight = BDP;
    let sample = connection.sample(2, 0, BDP);
    // The data in flight counts as limited by the application.
    assert!(connection.hear(&sample));
    assert_eq!(connection.law.mode, Mode::ProbeRoundTrip);
    assert_eq!(
        (connection.law.pacing_gain, connection.segments()),
        (UNIT, 4)
    );
    // The old least round trip no longer counts.
    assert_eq!(connection.law.min_rtt, Some(ROUND_TRIP + 1));
    // From the time when four are in flight, 200 ms and a round.
    connection.in_flight = 4;
    connection.round(4);
    let begin = connection.now / TICK;
    while connection.law.mode == Mode::ProbeRoundTrip {
        let mut sample = connection.sample(4, ROUND_TRIP, 4);
        sample.rate.as_mut().unwrap().application_limited = true;
        sample.rtt = None;
        connection.hear(&sample);
    }
    // The next ten seconds count from the end.
    assert_eq!(connection.law.min_rtt_at, connection.now / TICK);
    let ticks = connection.now / TICK - begin;
    assert!((51..=51 + ROUND_TRIP / TICK).contains(&ticks), "{ticks}");
    assert_eq!(connection.law.mode, Mode::ProbeBandwidth);
    assert!(connection.segments() >= before.min(26));
}

#[test]
fn a_round_trip_as_short_as_the_least_begins_its_ten_seconds_anew() {
    let mut connection = Connection::in_phase(2);
    connection.now = 1_000_000_000 + 1000 * TICK;
    let mut sample = connection.sample(2, 0, BDP);
    sample.rtt = Some(Duration(ROUND_TRIP * MICROSECOND));
    connection.hear(&sample);
    // `bbr_update_min_rtt`: rtt_us <= min_rtt_us.
    assert_eq!(connection.law.min_rtt_at, connection.now / TICK);
}

#[test]
fn few_segments_stay_in_flight_for_a_round_however_long() {
    let mut connection = Connection::in_phase(2);
    connection.now = 1_000_000_000 + 2501 * TICK;
    connection.in_flight = 4;
    let sample = connection.sample(2, 0, BDP);
    connection.hear(&sample);
    // 200 ms later no segment was delivered that was sent since.
    let mut sample = connection.sample(1, 300_000, 4);
    sample.rate.as_mut().unwrap().prior_delivered = 1;
    connection.hear(&sample);
    assert_eq!(connection.law.mode, Mode::ProbeRoundTrip);
    connection.round(1);
    assert_ne!(connection.law.mode, Mode::ProbeRoundTrip);
}

#[test]
fn a_tenth_of_the_segments_lost_is_no_policer() {
    let mut connection = Connection::in_phase(2);
    for _ in 0..40 {
        connection.lost += BDP / 10;
        let mut sample = connection.sample(BDP, ROUND_TRIP, BDP);
        sample.newly_lost = BDP / 10;
        connection.hear(&sample);
        assert!(!connection.law.long_term.used);
    }
}

#[test]
fn a_delayed_acknowledgement_does_not_replace_an_old_round_trip() {
    let mut connection = Connection::in_phase(2);
    connection.now = 1_000_000_000 + 2501 * TICK;
    let mut sample = connection.sample(2, 0, BDP);
    sample.may_be_delayed = true;
    connection.hear(&sample);
    assert_eq!(connection.law.min_rtt, Some(ROUND_TRIP));
}

#[test]
fn a_first_round_of_recovery_sends_what_is_delivered_and_the_window_comes_back() {
    let mut connection = Connection::in_phase(2);
    connection.rounds(3, BDP);
    let before = connection.segments();
    connection
        .law
        .on_loss(&Loss::default(), &mut connection.window);
    connection.phase = Phase::Recovery;
    connection.in_flight = 7;
    let mut sample = connection.sample(1, 100, BDP);
    (sample.newly_lost, sample.prior_in_flight) = (2, BDP);
    connection.hear(&sample);
    assert_eq!(connection.segments(), 7 + 1);
    let sample = connection.sample(1, 100, BDP);
    connection.hear(&sample);
    assert_eq!(connection.segments(), 8);
    // After a round the window grows with each delivery, up to its target.
    let sample = connection.sample(2, ROUND_TRIP, 2);
    connection.hear(&sample);
    assert_eq!(connection.segments(), 10);
    connection.phase = Phase::Open;
    let sample = connection.sample(1, 100, BDP);
    connection.hear(&sample);
    assert!(connection.segments().abs_diff(before) <= 2);
}

#[test]
fn a_timeout_saves_the_window_and_looks_for_a_full_pipe_anew() {
    let mut connection = Connection::new(1);
    connection.rounds(2, BDP);
    let before = connection.segments();
    let timeout = Timeout {
        lost: 5,
        ..Timeout::default()
    };
    connection.law.on_timeout(&timeout, &mut connection.window);
    assert_eq!(connection.law.prior_cwnd, before);
    assert_eq!(connection.law.plateau.bandwidth, 0);
    // The recovery has set the window to one segment; afterwards it comes back.
    connection.law.set_cwnd(1, &mut connection.window);
    connection.in_flight = 0;
    let sample = connection.sample(1, ROUND_TRIP, 1);
    connection.hear(&sample);
    assert!(connection.segments() >= before);
}

#[test]
fn a_spurious_recovery_resets_the_search_for_a_full_pipe_but_not_the_window() {
    let mut connection = Connection::new(1);
    connection.rounds(3, BDP);
    assert_eq!(connection.law.plateau.rounds, 2);
    connection.law.on_spurious();
    assert_eq!(
        (
            connection.law.plateau.rounds,
            connection.law.plateau.bandwidth
        ),
        (0, 0)
    );
}

#[test]
fn after_an_idle_time_the_known_bandwidth_paces() {
    let mut connection = Connection::in_phase(0);
    connection.round(BDP);
    let at = Time((connection.now + 1_000_000) * MICROSECOND);
    connection.law.on_restart(at, &mut connection.window);
    assert!(connection.law.idle_restart);
    assert!(is_paced(&connection.law, 1e6));
    // An old round trip is not measured again: the idle time has drained the queue.
    connection.now = 1_000_000_000 + 2501 * TICK;
    connection.round(BDP);
    assert_eq!(connection.law.mode, Mode::ProbeBandwidth);
    assert!(!connection.law.idle_restart);
}

#[test]
fn two_lossy_intervals_of_one_bandwidth_are_those_of_a_policer_for_48_rounds() {
    let mut connection = Connection::in_phase(2);
    let lossy = |connection: &mut Connection| {
        connection.lost += 3;
        let mut sample = connection.sample(BDP, ROUND_TRIP, BDP);
        sample.newly_lost = 3;
        connection.hear(&sample);
    };
    // The first loss begins an interval, and each has four rounds. 3 of 10 are more than 50 / 256.
    (0..4).for_each(|_| lossy(&mut connection));
    assert!(!connection.law.long_term.used);
    assert_eq!(connection.law.long_term.bandwidth, BANDWIDTH);
    (0..3).for_each(|_| lossy(&mut connection));
    assert!(!connection.law.long_term.used);
    lossy(&mut connection);
    assert!(connection.law.long_term.used);
    assert_eq!(connection.law.estimate(), BANDWIDTH);
    assert_eq!(connection.law.pacing_gain, UNIT);
    connection.rounds(47, BDP);
    assert!(connection.law.long_term.used);
    connection.round(BDP);
    assert!(!connection.law.long_term.used);
}

#[test]
fn acknowledgements_in_bunches_widen_the_window_for_five_to_ten_rounds() {
    let mut connection = Connection::in_phase(2);
    let most = |connection: &Connection| connection.law.aggregation.most();
    connection.rounds(12, BDP);
    // The segments of a round at once, and one for the truncation of the expected ones.
    assert_eq!(most(&connection), BDP + 1);
    // Eight more in a moment.
    let sample = connection.sample(8, 1, BDP);
    connection.hear(&sample);
    assert_eq!(most(&connection), BDP + 9);
    // They count until acknowledgements are late.
    connection.rounds(10, BDP);
    assert_eq!(most(&connection), BDP + 9);
    let sample = connection.sample(1, 2 * ROUND_TRIP, BDP);
    connection.hear(&sample);
    connection.rounds(10, BDP);
    assert_eq!(most(&connection), BDP + 1);
}

#[test]
fn no_sample_changes_the_bandwidth_if_its_interval_is_shorter_than_any_round_trip() {
    let mut connection = Connection::in_phase(2);
    let mut sample = connection.sample(1, 1, 100 * BDP);
    sample.rate.as_mut().unwrap().interval = None;
    connection.hear(&sample);
    assert_eq!(connection.law.bandwidth.value(), BANDWIDTH);
}
