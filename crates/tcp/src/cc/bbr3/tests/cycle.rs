//! The cycle of PROBE_BW.

use super::*;

/// Appendix A.8: exit of DOWN by the data in flight.
#[test]
fn down_ends_when_the_product_and_the_bound_less_headroom_hold_what_is_in_flight() {
    for (longterm, in_flight, over) in [
        (UNBOUNDED, 20, true),
        (UNBOUNDED, 21, false),
        // 20 - 0.15 * 20 = 17
        (20, 17, true),
        (20, 18, false),
        // At least one segment is left to others, and four are kept.
        (6, 5, true),
        (6, 6, false),
        (4, 4, true),
    ] {
        let mut connection = Connection::down();
        connection.law.longterm = longterm;
        connection.in_flight = in_flight;
        let mut sample = connection.sample(1, 1, BDP);
        sample.rate.as_mut().unwrap().in_flight = 1;
        connection.hear(&sample);
        let expected = if over { State::Cruise } else { State::Down };
        assert_eq!(connection.law.state, expected, "{longterm} {in_flight}");
    }
}

/// Appendix A.9: exit of DOWN by time.
#[test]
fn down_ends_with_a_probe_when_the_wait_is_over() {
    let mut connection = Connection::down();
    connection.in_flight = 2 * BDP;
    connection.law.rounds.since_up = 0;
    let end = connection.law.probe.began + connection.law.probe.wait;
    connection.now = end - 1;
    connection.within_round();
    assert_eq!(connection.law.state, State::Down);
    connection.within_round();
    assert_eq!(connection.law.state, State::Refill);
}

#[test]
fn a_probe_comes_after_as_many_rounds_as_the_product_has_segments_at_most_63() {
    for (bandwidth, rounds) in [(BANDWIDTH, 20), (2 * BANDWIDTH, 40), (4 * BANDWIDTH, 63)] {
        let mut connection = Connection::cruise();
        connection.law.bandwidth = bandwidth;
        (connection.law.now, connection.law.cwnd) = (connection.law.probe.began, 1000);
        connection.law.rounds.since_up = rounds - 1;
        assert!(!connection.law.probes_in_time());
        connection.law.rounds.since_up = rounds;
        assert!(connection.law.probes_in_time());
    }
    // A window cut below the product counts instead.
    let mut connection = Connection::cruise();
    (connection.law.cwnd, connection.law.rounds.since_up) = (7, 7);
    assert!(connection.law.probes_in_time());
}

#[test]
fn refill_drops_the_short_term_bounds_and_lasts_a_round() {
    let mut connection = Connection::cruise();
    connection.law.short_term = ShortTerm {
        bandwidth: BANDWIDTH / 2,
        in_flight: 12,
    };
    connection.law.rounds.since_up = 63;
    connection.within_round();
    assert_eq!(connection.law.state, State::Refill);
    assert_eq!(connection.law.short_term, ShortTerm::UNBOUNDED);
    assert_eq!(connection.law.probe.phase, AckPhase::Refilling);
    connection.within_round();
    assert_eq!(connection.law.state, State::Refill);
    connection.round(BDP);
    assert_eq!(connection.law.state, State::Up);
    assert!(connection.law.probe.samples);
    assert_eq!(connection.law.probe.phase, AckPhase::Starting);
    assert!(is_paced(&connection.law, 1.25e6));
}

/// Appendix A.5: exit of UP on a plateau of the bandwidth.
#[test]
fn up_ends_after_three_rounds_without_a_quarter_more() {
    let mut connection = Connection::up();
    connection.window_limited = false;
    connection.rounds(2, 24);
    assert_eq!(connection.law.state, State::Up);
    assert_eq!(connection.law.probe.phase, AckPhase::Feedback);
    connection.round(24);
    assert_eq!(connection.law.state, State::Down);
    assert_eq!(connection.law.probe.phase, AckPhase::Stopping);
    // A larger bandwidth goes on: 25 of 20 is a quarter more.
    let mut connection = Connection::up();
    connection.window_limited = false;
    connection.rounds(2, 24);
    connection.round(25);
    connection.rounds(2, 25);
    assert_eq!(connection.law.state, State::Up);
}

/// Appendix A.7: no exit of UP while the application limits.
#[test]
fn up_goes_on_while_the_application_limits() {
    let mut connection = Connection::up();
    connection.limited = true;
    connection.rounds(50, 3);
    assert_eq!(connection.law.state, State::Up);
}

#[test]
fn a_bound_that_limits_the_window_has_up_go_on() {
    let mut connection = Connection::up();
    connection.law.longterm = 30;
    for _ in 0..5 {
        // A bound that grows by no more than one segment a round.
        connection.law.probe.doublings = 0;
        connection.round(24);
        connection.within_round();
    }
    assert_eq!(connection.law.state, State::Up);
    connection.window_limited = false;
    connection.rounds(3, 24);
    assert_eq!(connection.law.state, State::Down);
}

/// Appendix A.15: growth of the long-term bound, by 1, 2, 4 segments a round.
#[test]
fn the_bound_grows_in_up_by_twice_as_much_each_round() {
    let mut connection = Connection::up();
    connection.law.longterm = 30;
    connection.window.cwnd = 30_000.0;
    connection.law.probe.per_increase = 30;
    let mut grown = Vec::new();
    for _ in 0..3 {
        let before = connection.law.longterm;
        // A window of segments is acknowledged in each round.
        let sample = connection.sample(before, ROUND_TRIP, BDP);
        connection.hear(&sample);
        grown.push(connection.law.longterm - before);
    }
    assert_eq!(grown, [1, 2, 4]);
    // Not while something else limits the sender.
    connection.window_limited = false;
    let before = connection.law.longterm;
    connection.round(BDP);
    assert_eq!(connection.law.longterm, before);
}

#[test]
fn what_was_in_flight_without_losses_raises_the_bound() {
    let mut connection = Connection::cruise();
    connection.law.longterm = 18;
    connection.within_round();
    assert_eq!(connection.law.longterm, BDP);
    // Not with more than 2 % lost: 1 of 20.
    connection.law.longterm = 18;
    let mut sample = connection.sample(1, 1, BDP);
    sample.rate.as_mut().unwrap().lost = 1;
    connection.hear(&sample);
    assert_eq!(connection.law.longterm, 18);
}

/// Section 5.3.3.6: precautionary probing.
#[test]
fn after_a_probe_with_too_many_losses_the_next_stops_at_the_bound_and_is_repeated() {
    let mut connection = Connection::up();
    (connection.law.probe.too_high, connection.law.longterm) = (true, 24);
    connection.window_limited = false;
    connection.in_flight = 23;
    connection.within_round();
    assert_eq!(connection.law.state, State::Up);
    connection.in_flight = 24;
    connection.within_round();
    assert_eq!(connection.law.state, State::Down);
    assert!(connection.law.probe.precautionary && !connection.law.probe.too_high);
    // A round without too many losses: at once the next probe, without a rest.
    connection.within_round();
    assert_eq!(connection.law.state, State::Down);
    connection.round(BDP);
    assert_eq!(connection.law.state, State::Refill);
    assert!(!connection.law.probe.precautionary);
}

#[test]
fn a_bandwidth_is_forgotten_after_the_second_cycle() {
    let mut connection = Connection::down();
    let half = |connection: &mut Connection| {
        connection.round(BDP / 2);
        connection.law.max_bandwidth.value()
    };
    // The round after STARTUP begins a cycle.
    assert_eq!(half(&mut connection), BANDWIDTH);
    assert_eq!(connection.law.cycle, 1);
    assert_eq!(half(&mut connection), BANDWIDTH);
    connection.law.start_down();
    half(&mut connection);
    assert_eq!(connection.law.cycle, 2);
    assert!(half(&mut connection).abs_diff(BANDWIDTH / 2) <= 1);
    // A round that the application limits is none of a cycle.
    connection.limited = true;
    connection.law.start_down();
    half(&mut connection);
    assert_eq!(connection.law.cycle, 2);
}

/// Appendix A.22: a REFILL that the application limits.
#[test]
fn a_refill_that_the_application_limits_keeps_the_bandwidth() {
    let mut connection = Connection::refill();
    connection.limited = true;
    connection.round(3);
    assert_eq!(connection.law.max_bandwidth.value(), BANDWIDTH);
    assert_eq!(connection.law.state, State::Up);
}

#[test]
fn the_bounds_of_each_state_limit_the_window() {
    // Section 5.6.4.7, with 0.85 * 40 = 34.
    for (state, bound) in [
        (State::Startup, UNBOUNDED),
        (State::Drain, UNBOUNDED),
        (State::Down, 40),
        (State::Cruise, 34),
        (State::Refill, 40),
        (State::Up, 40),
        (State::ProbeRoundTrip, 34),
    ] {
        let mut law = Connection::new().law;
        (law.state, law.longterm) = (state, 40);
        assert_eq!(law.bound(), bound);
        law.short_term.in_flight = 30;
        assert_eq!(law.bound(), 30);
        law.short_term.in_flight = 1;
        assert_eq!(law.bound(), 4);
    }
}
