//! PIE: the updates at their times, and its drops and marks.

use super::*;
use crate::queue::PIE_EARLY;

/// Creates a switch with PIE. Its alpha is so large that the probability is 1 after an update with a
/// delay above 1.6 us, and 0 after one with less.
fn pie(changes: serde_json::Value) -> Alone {
    let mut table = json!({
        "kind": "pie", "target_ps": 1_600_000, "update_ps": 4_000_000, "alpha": 1e12, "beta": 0.0,
        "burst_ps": 8_000_000, "mean_packet_bytes": 1, "ecn": false, "mark_below": 0.1,
    });
    for (key, value) in changes.as_object().expect("a table") {
        table[key] = value.clone();
    }
    with(table)
}

fn packets(node: &mut Alone, time: u64, number: usize) {
    for _ in 0..number {
        node.packet(time, 0, 1, 1000);
    }
}

/// Returns the times of drops.
fn times(dropped: &[Dropped]) -> Vec<u64> {
    assert!(dropped.iter().all(|it| it.reason == PIE_EARLY));
    dropped.iter().map(|it| it.time).collect()
}

#[test]
fn updates_are_made_up_for_at_their_times() {
    let mut node = pie(json!({}));
    let long = 1_000_000_000_000;
    for start in [0, long] {
        // 16 us of transmission. The updates at 4 and 8 us use up the allowance of 8 us, and the
        // first unit that may be dropped arrives at the second one.
        packets(&mut node, start, 20);
        packets(&mut node, start + 7_999_999, 1);
        packets(&mut node, start + 8_000_000, 1);
        // The update at 16 us finds 0.8 us, less than the target.
        packets(&mut node, start + 15_999_999, 1);
        packets(&mut node, start + 16_000_000, 1);
    }
    // Those in the second of idle time restore the allowance.
    let (left, dropped) = run(&mut node);
    let expected = [8_000_000, 15_999_999, long + 8_000_000, long + 15_999_999];
    assert_eq!(times(&dropped), expected);
    assert_eq!(left.len(), 44);
}

#[test]
fn an_update_counts_what_is_in_transmission() {
    // At 4 us the fifth packet has 0.4 us left, and one waits: 1.2 us. With less than that as the
    // target the packet at 4 us is dropped, otherwise it is not.
    for (target, drops) in [(1_199_999, 1), (1_200_000, 0)] {
        let mut node = pie(json!({"target_ps": target, "alpha": 1e16, "burst_ps": 0}));
        packets(&mut node, 400_000, 6);
        packets(&mut node, 4_000_000, 1);
        let (_, dropped) = run(&mut node);
        assert_eq!(dropped.len(), drops, "{target}");
    }
}

/// Lets 200 packets of 1000 bytes arrive at 9 us, after one update to a probability of 0.05: the
/// numbers of those that were dropped or marked.
fn at_five_percent(changes: serde_json::Value, capable: bool) -> (Vec<u64>, Vec<u64>) {
    // At 8 us the delay is 8 us, that is 6.4 us above the target.
    let mut table = json!({
        "update_ps": 8_000_000, "alpha": 0.05 * 2048.0 / 6.4e-6, "burst_ps": 0,
    });
    for (key, value) in changes.as_object().expect("a table") {
        table[key] = value.clone();
    }
    let mut node = pie(table);
    packets(&mut node, 0, 20);
    for _ in 0..200 {
        match capable {
            true => node.capable(9_000_000, 0, 1, 1000),
            false => node.packet(9_000_000, 0, 1, 1000),
        };
    }
    let (left, dropped) = run(&mut node);
    let marked = left.iter().filter_map(|left| match left.unit {
        Content::Marked(packet) => Some(packet),
        _ => None,
    });
    let lost = |it: &Dropped| {
        assert_eq!(it.reason, PIE_EARLY);
        it.packet
    };
    (dropped.iter().map(lost).collect(), marked.collect())
}

#[test]
fn the_packets_that_would_be_dropped_are_marked() {
    let (dropped, marked) = at_five_percent(json!({}), false);
    // The mean is 10, with a standard deviation of 3.1.
    assert!((2..=20).contains(&dropped.len()) && marked.is_empty());
    let ecn = |mark_below: f64| json!({"ecn": true, "mark_below": mark_below});
    assert_eq!(at_five_percent(ecn(0.1), true), (vec![], dropped.clone()));
    assert_eq!(at_five_percent(ecn(0.1), false), (dropped.clone(), vec![]));
    // RFC 8033, section 5.1: from mark_ecnth on packets are dropped.
    assert_eq!(at_five_percent(ecn(0.049), true), (dropped, vec![]));
}

#[test]
fn no_more_than_two_packets_are_too_few_for_a_drop() {
    for (mean, drops) in [(2499, 1), (2500, 0)] {
        // Of 10,000 bytes 5000 are left after 4 us.
        let mut node = pie(json!({"burst_ps": 0, "mean_packet_bytes": mean}));
        packets(&mut node, 0, 10);
        packets(&mut node, 4_000_000, 1);
        let (_, dropped) = run(&mut node);
        assert_eq!(dropped.len(), drops, "{mean}");
    }
}

#[test]
fn an_update_sees_the_delay_at_its_time() {
    // The update at 6.5 us finds 1.5 us of a transmission of 8 us, during which nothing else
    // happens until a packet arrives that finds 0.1 us.
    for (target, drops) in [(1_499_999, 1), (1_500_000, 0)] {
        let settings = json!({
            "target_ps": target, "update_ps": 6_500_000, "alpha": 1e16, "burst_ps": 0,
        });
        let mut node = pie(settings);
        node.packet(0, 0, 1, 10_000);
        packets(&mut node, 7_900_000, 1);
        let (_, dropped) = run(&mut node);
        assert_eq!(dropped.len(), drops, "{target}");
    }
}
