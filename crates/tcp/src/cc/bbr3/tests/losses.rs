//! Losses: the end of STARTUP, both bounds, recoveries and those that were spurious.

use super::*;

/// A round of STARTUP with `ranges` lost in a recovery; the last sample tells of `lost` of 40.
fn lossy_startup(ranges: u64, lost: u64) -> Connection {
    let mut connection = Connection::new();
    for segments in [10, 20, 40] {
        connection.round(segments);
    }
    connection
        .law
        .on_loss(&Loss::default(), &mut connection.window);
    connection.phase = Phase::Recovery;
    for range in 0..ranges {
        // Two neighbours each.
        connection.lose(100 + 10 * range..102 + 10 * range, 40);
    }
    let mut sample = connection.sample(50, ROUND_TRIP, 50);
    let rate = sample.rate.as_mut().unwrap();
    (rate.in_flight, rate.lost) = (40, lost);
    rate.prior_delivered = connection.delivered - 50;
    connection.hear(&sample);
    connection
}

/// Section 5.3.1.3 and appendix A.2.
#[test]
fn startup_ends_by_more_than_2_percent_lost_in_six_ranges() {
    for (ranges, lost, over) in [(6, 1, true), (5, 20, false), (6, 0, false)] {
        let connection = lossy_startup(ranges, lost);
        assert_eq!(
            connection.law.state != State::Startup,
            over,
            "{ranges} {lost}"
        );
    }
    let connection = lossy_startup(6, 1);
    assert_eq!(connection.law.undo.state, Some(State::Startup));
    // The product of 2 segments a millisecond and 20 ms is less than the 50 delivered.
    assert_eq!(connection.law.longterm, 50);
    assert!(connection.law.full && connection.law.full_now);
}

#[test]
fn without_sack_any_loss_in_a_recovery_ends_startup() {
    let mut connection = Connection::new();
    connection.law.selective = false;
    connection.round(10);
    connection.lose(30..31, 20);
    connection.within_round();
    assert_eq!(connection.law.state, State::Startup);
    connection.lose(40..41, 20);
    connection.phase = Phase::Recovery;
    connection.within_round();
    assert_ne!(connection.law.state, State::Startup);
}

/// Appendices A.6 and A.21: losses in UP.
#[test]
fn a_probe_that_loses_more_than_2_percent_ends_and_bounds_what_is_in_flight() {
    let mut connection = Connection::up();
    // 2 of 100 are not more.
    connection.lose(1000..1002, 100);
    assert_eq!(connection.law.state, State::Up);
    assert_eq!(connection.law.longterm, UNBOUNDED);
    let mut connection = Connection::up();
    connection.lose(1000..1003, 100);
    assert_eq!(connection.law.state, State::Down);
    assert!(connection.law.probe.too_high);
    // Before the third, 99 were in flight and two lost: 0.02 * 99 < 2.
    assert_eq!(connection.law.longterm, 99);
    // Each probe answers once.
    connection.lose(1003..1010, 50);
    assert_eq!(connection.law.longterm, 99);
}

#[test]
fn the_bound_falls_to_no_less_than_beta_times_the_product() {
    let mut connection = Connection::up();
    connection.lose(1000..1001, 5);
    // 0.7 * 20
    assert_eq!(connection.law.longterm, 14);
    // No bound by data that the application limits; the probe ends all the same.
    let mut connection = Connection::up();
    connection.limited = true;
    connection.lose(1000..1001, 5);
    assert_eq!(connection.law.longterm, UNBOUNDED);
    assert_eq!(connection.law.state, State::Down);
}

/// Section 5.5.10.3.
#[test]
fn a_round_with_losses_lowers_the_short_term_bounds_by_beta_or_to_what_is_delivered() {
    let mut connection = Connection::cruise();
    let cwnd = connection.segments();
    connection.lose(1000..1001, BDP);
    connection.within_round();
    assert_eq!(connection.law.short_term, ShortTerm::UNBOUNDED);
    // A round later, with 90 % of the bandwidth.
    connection.law.signals.bandwidth = 0;
    connection.law.signals.in_flight = 0;
    connection.round(18);
    let short = connection.law.short_term;
    assert_eq!(short.bandwidth, (18 << SCALE) / ROUND_TRIP);
    assert_eq!(short.in_flight, (cwnd * 7 / 10).max(18));
    assert!(is_paced(&connection.law, 0.9e6));
    // With a tenth of it, by no more than beta.
    connection.round(2);
    connection.lose(1001..1002, 18);
    connection.round(2);
    assert_eq!(
        connection.law.short_term.bandwidth,
        (18 << SCALE) / ROUND_TRIP * 7 / 10
    );
    // A round without losses leaves them.
    let short = connection.law.short_term;
    connection.rounds(3, 2);
    assert_eq!(connection.law.short_term, short);
}

#[test]
fn states_that_accelerate_have_no_short_term_bounds() {
    for mut connection in [Connection::new(), Connection::refill(), Connection::up()] {
        connection.law.probe.samples = false;
        connection.lose(1000..1001, 100);
        connection.rounds(2, BDP);
        assert_eq!(connection.law.short_term, ShortTerm::UNBOUNDED);
    }
}

#[test]
fn an_echo_of_a_mark_counts_as_a_loss_of_its_round() {
    let mut connection = Connection::cruise();
    connection
        .law
        .on_loss(&Loss::default(), &mut connection.window);
    connection.within_round();
    assert!(connection.law.signals.lossy);
    connection.round(BDP);
    assert_ne!(connection.law.short_term, ShortTerm::UNBOUNDED);
}

#[test]
fn the_window_before_a_timeout_comes_back_when_the_recovery_is_over() {
    let mut connection = Connection::refill();
    let before = connection.segments();
    connection
        .law
        .on_timeout(&Timeout::default(), &mut connection.window);
    assert_eq!(connection.law.prior_cwnd, before);
    connection.window.cwnd = 1_000.0;
    connection.phase = Phase::Loss;
    connection.within_round();
    assert_eq!(connection.segments(), 4);
    connection.phase = Phase::Open;
    connection.within_round();
    // With the one newly delivered.
    assert_eq!(connection.segments(), before + 1);
}

/// Appendix A.18: a spurious recovery in UP.
#[test]
fn a_spurious_end_of_a_probe_is_undone_by_another() {
    let mut connection = Connection::up();
    connection.law.longterm = 60;
    connection
        .law
        .on_loss(&Loss::default(), &mut connection.window);
    connection.lose(1000..1001, 20);
    assert_eq!(
        (connection.law.state, connection.law.longterm),
        (State::Down, 19)
    );
    connection.law.on_spurious();
    assert_eq!(
        (connection.law.state, connection.law.longterm),
        (State::Refill, 60)
    );
    // The round begins with the acknowledgement that shows it.
    connection.within_round();
    assert_eq!(connection.law.rounds.end, connection.delivered);
}

#[test]
fn a_spurious_end_of_startup_is_undone() {
    let mut connection = lossy_startup(6, 1);
    connection.law.on_spurious();
    assert_eq!(connection.law.state, State::Startup);
    assert!(!connection.law.full);
    assert_eq!(connection.law.longterm, UNBOUNDED);
}

#[test]
fn a_spurious_recovery_restores_the_short_term_bounds() {
    let mut connection = Connection::cruise();
    let before = ShortTerm {
        bandwidth: BANDWIDTH,
        in_flight: 35,
    };
    connection.law.short_term = before;
    connection.lose(1000..1001, BDP);
    connection.law.signals.in_flight = 0;
    connection.rounds(2, 10);
    assert!(connection.law.short_term.in_flight < 35);
    connection.law.on_spurious();
    assert_eq!(connection.law.short_term, before);
}
