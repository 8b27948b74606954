//! STARTUP, DRAIN, the least round trip, idle times and bunches.

use super::*;

/// Appendix A.1: exit of STARTUP on a plateau of the bandwidth.
#[test]
fn startup_ends_after_three_rounds_without_a_quarter_more() {
    let mut connection = Connection::new();
    for segments in [10, 20, 40] {
        connection.round(segments);
        assert_eq!(connection.law.state, State::Startup);
    }
    assert_eq!(connection.law.max_bandwidth.value(), 2 * BANDWIDTH);
    // Every segment delivered opens the window by one.
    assert_eq!(connection.segments(), 10 + 10 + 20 + 40);
    // The gain of 2.77 on two segments a millisecond, less 1 %.
    assert!(is_paced(&connection.law, 2e6 * 2.77));
    // 49 of 40 is less than a quarter more, in two rounds; 50 begins to count anew.
    connection.rounds(2, 49);
    assert_eq!(connection.law.plateau.rounds, 2);
    connection.round(50);
    assert_eq!(connection.law.plateau.rounds, 0);
    connection.in_flight = 100;
    connection.rounds(2, 50);
    assert_eq!(connection.law.state, State::Startup);
    connection.round(50);
    assert!(connection.law.full && connection.law.full_now);
    assert_eq!(connection.law.state, State::Drain);
    assert!(is_paced(&connection.law, 2.5e6 / 2.0));
}

/// Appendix A.7: no exit of STARTUP while the application limits.
#[test]
fn startup_goes_on_while_the_application_limits() {
    let mut connection = Connection::new();
    connection.round(20);
    connection.limited = true;
    connection.rounds(20, 2);
    assert_eq!(connection.law.state, State::Startup);
    assert_eq!(connection.law.max_bandwidth.value(), BANDWIDTH);
    // A larger rate counts all the same.
    connection.round(40);
    assert_eq!(connection.law.max_bandwidth.value(), 2 * BANDWIDTH);
}

/// Appendix A.3: exit of DRAIN by the data in flight.
#[test]
fn drain_ends_when_no_more_than_the_product_is_in_flight() {
    let mut connection = Connection::new();
    connection.in_flight = BDP + 1;
    connection.rounds(4, BDP);
    assert_eq!(connection.law.state, State::Drain);
    connection.within_round();
    assert_eq!(connection.law.state, State::Drain);
    connection.in_flight = BDP;
    // A bound keeps DOWN, which would otherwise end at the same acknowledgement.
    connection.law.longterm = BDP;
    connection.within_round();
    assert_eq!(connection.law.state, State::Down);
}

/// Appendix A.4: exit of DRAIN by time.
#[test]
fn drain_ends_after_three_rounds() {
    let mut connection = Connection::new();
    connection.in_flight = 2 * BDP;
    connection.rounds(4, BDP);
    connection.rounds(3, BDP);
    assert_eq!(connection.law.state, State::Drain);
    connection.round(BDP);
    assert_eq!(connection.law.state, State::Down);
}

/// Appendix A.10: PROBE_RTT.
#[test]
fn after_five_seconds_half_of_the_product_is_in_flight_for_200_ms_and_a_round() {
    let mut connection = Connection::cruise();
    connection.now = 1_000_000_000 + 5 * SECOND - 1;
    connection.within_round();
    assert_ne!(connection.law.state, State::ProbeRoundTrip);
    let before = connection.segments();
    connection.in_flight = 11;
    let sample = connection.sample(1, 1, BDP);
    // The data in flight counts as limited by the application.
    assert!(connection.hear(&sample));
    assert_eq!(connection.law.state, State::ProbeRoundTrip);
    // 0.5 * bdp, rounded up for one microsecond more.
    assert_eq!(connection.law.min_rtt.rtt, Some(ROUND_TRIP));
    assert_eq!(connection.segments(), 10);
    assert_eq!(connection.law.prior_cwnd, before);
    // One segment too many is in flight.
    connection.within_round();
    assert_eq!(connection.law.probe_rtt_done, None);
    connection.in_flight = 10;
    connection.within_round();
    let begin = connection.now;
    assert_eq!(connection.law.probe_rtt_done, Some(begin + 200_000));
    connection.rounds(10, 10);
    assert_eq!(connection.now, begin + 200_000);
    assert_eq!(connection.law.state, State::ProbeRoundTrip);
    connection.within_round();
    assert_eq!(connection.law.state, State::Cruise);
    assert_eq!(connection.law.probe_rtt.at, connection.now);
    // The window before, as far as it is permitted.
    assert_eq!(before, 2 * BDP + 22);
    assert_eq!(
        connection.segments(),
        2 * BDP + connection.law.excess.value()
    );
}

#[test]
fn the_last_probes_replace_a_least_round_trip_of_ten_seconds_ago() {
    let mut connection = Connection::cruise();
    // The probe after five seconds sees a longer round trip, and the least one stays.
    connection.now = 1_000_000_000 + 5 * SECOND;
    connection.within_round();
    assert_eq!(connection.law.probe_rtt.rtt, Some(ROUND_TRIP + 1));
    assert_eq!(connection.law.min_rtt.rtt, Some(ROUND_TRIP));
    connection.now = 1_000_000_000 + 10 * SECOND - 1;
    connection.within_round();
    assert_eq!(connection.law.min_rtt.rtt, Some(ROUND_TRIP));
    connection.within_round();
    assert_eq!(connection.law.min_rtt.rtt, Some(ROUND_TRIP + 1));
    // A shorter one counts at once.
    let mut sample = connection.sample(1, 1, BDP);
    sample.rtt = Some(Duration(15_000 * MICROSECOND));
    connection.hear(&sample);
    assert_eq!(connection.law.min_rtt.rtt, Some(15_000));
}

/// Appendix A.20: PROBE_RTT within STARTUP.
#[test]
fn a_probe_of_the_round_trip_in_startup_goes_back_to_startup() {
    let mut connection = Connection::new();
    connection.round(BDP);
    connection.now = 1_000_000_000 + 5 * SECOND;
    connection.in_flight = 4;
    connection.within_round();
    assert_eq!(connection.law.state, State::ProbeRoundTrip);
    connection.limited = true;
    connection.rounds(10, 4);
    connection.within_round();
    assert_eq!(connection.law.state, State::Startup);
}

/// Appendix A.11: no PROBE_RTT after an idle time.
#[test]
fn after_an_idle_time_the_known_bandwidth_paces_and_no_round_trip_is_probed() {
    let mut connection = Connection::down();
    assert!(is_paced(&connection.law, 0.9e6));
    connection.now = 1_000_000_000 + 6 * SECOND;
    let at = Time(connection.now * MICROSECOND);
    connection.law.on_restart(at, &mut connection.window);
    assert!(connection.law.idle_restart);
    assert!(is_paced(&connection.law, 1e6));
    connection.within_round();
    assert_ne!(connection.law.state, State::ProbeRoundTrip);
    assert!(!connection.law.idle_restart);
}

#[test]
fn an_idle_time_within_a_probe_of_the_round_trip_ends_it() {
    let mut connection = Connection::cruise();
    let before = connection.segments();
    connection.now = 1_000_000_000 + 5 * SECOND;
    connection.in_flight = 4;
    connection.within_round();
    assert_eq!(connection.segments(), 10);
    connection.now += SECOND;
    let at = Time(connection.now * MICROSECOND);
    connection.law.on_restart(at, &mut connection.window);
    assert_eq!(connection.law.state, State::Cruise);
    assert_eq!(connection.segments(), before);
}

/// Appendices A.12 and A.13: bunches of acknowledgements.
#[test]
fn the_most_excess_of_ten_rounds_widens_the_window() {
    let mut connection = Connection::cruise();
    connection.rounds(11, BDP);
    // A whole round at once, the one of the last step, and one for the truncation of the expected.
    let usual = connection.law.excess.value();
    assert_eq!(usual, BDP + 2);
    let sample = connection.sample(8, 1, BDP);
    connection.hear(&sample);
    let most = connection.law.excess.value();
    assert_eq!(most, usual + 8);
    connection.round(BDP);
    // 2 * 20 segments and the excess.
    assert_eq!(connection.segments(), 2 * BDP + most);
    // Until acknowledgements are late; it counts in that round and nine later ones.
    let late = connection.sample(1, 3 * ROUND_TRIP, BDP);
    connection.hear(&late);
    connection.rounds(9, BDP);
    assert_eq!(connection.law.excess.value(), most);
    connection.round(BDP);
    assert!(connection.law.excess.value() < most);
}

/// Appendix A.14: products of less than a segment.
#[test]
fn four_segments_are_the_least_window() {
    let mut connection = Connection::new();
    connection.law.constants.aggregation = false;
    connection.in_flight = 1;
    connection.rounds(6, 1);
    assert!(connection.law.full);
    connection.law.state = State::Cruise;
    // Three quanta of two segments are more.
    for (quantum, cwnd) in [(2, 6), (1, 4)] {
        connection.law.quantum = quantum;
        let sample = connection.sample(1, 1, 1);
        connection.law.update_cwnd(&sample);
        assert_eq!(connection.law.cwnd, cwnd);
    }
}

#[test]
fn a_probe_of_the_round_trip_lasts_a_round_however_long() {
    let mut connection = Connection::cruise();
    connection.now = 1_000_000_000 + 5 * SECOND;
    connection.in_flight = 4;
    connection.within_round();
    connection.now += 200_000;
    connection.within_round();
    assert_eq!(connection.law.state, State::ProbeRoundTrip);
    connection.round(BDP);
    assert_eq!(connection.law.state, State::Cruise);
}
