//! Buffers that the outputs of a switch share (Choudhury and Hahne 1998), and marks at departures.

use super::*;

fn electronic(table: serde_json::Value, ports: &[usize]) -> Alone {
    let mut all = json!({"queue_bytes": null, "ecn_threshold_bytes": null,
        "queue": {"kind": "drop-tail"}});
    for (key, value) in table.as_object().expect("a table") {
        all[key] = value.clone();
    }
    let settings: ElectronicSettings = serde_json::from_value(all).expect("settings");
    alone(&settings, ports)
}

/// Lets 40 packets of 1000 bytes for each of `n` outputs arrive in turns, one each picosecond;
/// returns how many
/// each takes in.
fn taken(n: u32, alpha: f64, limit: Option<u64>) -> Vec<usize> {
    let table =
        json!({"queue_bytes": limit, "shared_buffer": {"size_bytes": 30_000, "alpha": alpha}});
    let mut node = electronic(table, &[1; 4]);
    for i in 0..40 * n {
        node.packet(u64::from(i), 3, i % n, 1000);
    }
    let (left, dropped) = run(&mut node);
    assert!(dropped.iter().all(|it| it.reason == QUEUE_FULL));
    let of = |to: u32| left.iter().filter(|it| u32::from(it.port) == to).count();
    (0..n).map(of).collect()
}

#[test]
fn saturated_queues_have_the_share_of_the_closed_form() {
    // Each of n saturated queues has alpha B / (1 + n alpha), and 1 / (1 + n alpha) of B is free.
    assert_eq!(taken(2, 1.0, None), [10, 10]);
    assert_eq!(taken(1, 1.0, None), [15]);
    assert_eq!(taken(2, 2.0, None), [12, 12]);
    assert_eq!(taken(1, 0.5, None), [10]);
    // 7.5: with 8 + 7 + 7 the second may have one more, as 8 <= 30 - 22, and the third may not.
    assert_eq!(taken(3, 1.0, None), [8, 8, 7]);
}

#[test]
fn no_threshold_gives_more_than_there_is() {
    assert_eq!(taken(1, 100.0, None), [30]);
    assert_eq!(taken(2, 100.0, None), [15, 15]);
    assert_eq!(taken(2, 1.0, Some(4000)), [4, 4]);
}

#[test]
fn a_threshold_falls_and_rises_with_the_others() {
    let table = json!({"shared_buffer": {"size_bytes": 8000, "alpha": 1.0}});
    let mut node = electronic(table, &[1; 3]);
    // Alone the first has 4000; then the second has 2000, as 2000 <= 8000 - 5000 and not 3000 <=
    // 8000 - 6000.
    for (time, to) in (0..).zip([0, 0, 0, 0, 0, 1, 1, 1]) {
        node.packet(time, 2, to, 1000);
    }
    // At 1.6 us both have sent two: 2000 and nothing are left, and so 2000 + 1000 <= 6000.
    for time in 1_600_010..1_600_013 {
        node.packet(time, 2, 0, 1000);
    }
    let (_, dropped) = run(&mut node);
    let expected = [(4, 0, 5), (7, 1, 8), (1_600_012, 0, 11)];
    let expected = expected.map(|(time, port, packet)| lost(time, port, packet, QUEUE_FULL));
    assert_eq!(dropped, expected);
}

/// Returns the numbers of the marked packets of six that arrive at once, where a packet of 1000 bytes
/// marks with as much behind it, or before it.
fn marked(queue: serde_json::Value, departure: bool) -> Vec<u64> {
    let table = json!({"queue_bytes": null, "ecn_threshold_bytes": 3000,
        "marks_at_departure": departure, "queue": queue});
    let settings: ElectronicSettings = serde_json::from_value(table).expect("settings");
    let around = Around {
        groups: vec![0],
        ..Around::default()
    };
    let mut node = alone_in(around, &settings, &[2, 1]);
    for time in 0..6 {
        node.capable(time, 0, 1, 1000);
    }
    let (left, _) = run(&mut node);
    let marked = left.iter().filter_map(|left| match left.unit {
        Content::Marked(packet) => Some(packet),
        _ => None,
    });
    assert_eq!(count(&node, "marked"), 3 - u64::from(departure));
    marked.collect()
}

#[test]
fn units_are_marked_by_what_is_before_them_or_behind() {
    let kinds = [
        json!({"kind": "drop-tail"}),
        json!({"kind": "prio", "bands": [0], "buffer": "own"}),
        json!({"kind": "drr", "quanta_bytes": [1000], "buffer": "own"}),
    ];
    for queue in kinds {
        // Before numbers 4, 5 and 6 there are 3000 bytes or more. Number 1 leaves at once, without
        // any behind it; behind 2 and 3 there are 4000 and 3000.
        assert_eq!(marked(queue.clone(), false), [4, 5, 6]);
        assert_eq!(marked(queue, true), [2, 3]);
    }
}
