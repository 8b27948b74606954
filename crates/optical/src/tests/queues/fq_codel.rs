//! FQ-CoDel: turns of the queues, room taken from the largest, and a CoDel for each.

use super::*;

const QUANTUM: u32 = 2000;

fn fq_codel(changes: serde_json::Value) -> serde_json::Value {
    let mut table = json!({
        "kind": "fq-codel", "target_ps": 1_000_000_000, "interval_ps": 1_000_000_000,
        "flows": 1024, "quantum_bytes": QUANTUM, "ecn": false,
    });
    for (key, value) in changes.as_object().expect("a table") {
        table[key] = value.clone();
    }
    table
}

/// Lets packets of a flow arrive, one each picosecond.
fn packets(node: &mut Alone, time: u64, flow: u32, sizes: &[u32]) {
    for (time, &bytes) in (time..).zip(sizes) {
        node.packet_of((flow, 0), time, 0, 1, bytes);
    }
}

/// Two flows of six packets, numbers 1 to 6 and 7 to 12, and a flow of a small packet (13) and
/// another one (14) a little later.
fn three_flows(queue: serde_json::Value) -> Vec<(u64, u64)> {
    let mut node = with(queue);
    packets(&mut node, 0, 1, &[1000; 6]);
    packets(&mut node, 6, 2, &[1000; 6]);
    packets(&mut node, 5_000_000, 3, &[500]);
    packets(&mut node, 6_100_000, 3, &[500]);
    let (left, dropped) = run(&mut node);
    assert!(dropped.is_empty());
    let sent = left.iter().map(|left| match left.unit {
        Content::Packet(packet) => (left.start, packet),
        _ => unreachable!("a packet"),
    });
    sent.collect()
}

#[test]
fn queues_take_turns_of_a_quantum_and_new_ones_come_first() {
    // The third flow is new at 5 us, and its packet leaves next. At 6 us its queue is empty and
    // comes last among the old ones, so that its second packet waits for both others.
    let expected = [
        (0, 1),
        (800_000, 2),
        (1_600_000, 7),
        (2_400_000, 8),
        (3_200_000, 3),
        (4_000_000, 4),
        (4_800_000, 9),
        (5_600_000, 13),
        (6_000_000, 10),
        (6_800_000, 5),
        (7_600_000, 6),
        (8_400_000, 14),
        (8_800_000, 11),
        (9_600_000, 12),
    ];
    assert_eq!(three_flows(fq_codel(json!({}))), expected);
}

#[test]
fn flows_of_one_hash_are_one_queue() {
    let numbers = three_flows(fq_codel(json!({"flows": 1})));
    let numbers: Vec<u64> = numbers.iter().map(|(_, packet)| *packet).collect();
    assert_eq!(numbers, (1..=14).collect::<Vec<u64>>());
}

#[test]
fn a_turn_that_was_too_long_is_paid_back() {
    // A packet of 3500 bytes leaves 1500 too few credits for the quantum of 2000: after the next
    // round there are 500, for one more packet.
    let mut node = with(fq_codel(json!({})));
    packets(&mut node, 0, 1, &[3500, 1000, 1000]);
    packets(&mut node, 3, 2, &[1000; 5]);
    let (left, _) = run(&mut node);
    let expected = [1, 4, 5, 2, 6, 7, 3, 8].map(Content::Packet);
    let units: Vec<Content> = left.into_iter().map(|left| left.unit).collect();
    assert_eq!(units, expected);
}

#[test]
fn room_is_taken_from_the_head_of_the_largest_queue() {
    let mut node = switch(Some(fq_codel(json!({}))), Some(4000), None);
    // The first is under way, and 2000 bytes of its flow wait.
    packets(&mut node, 0, 1, &[1000; 3]);
    // The second has 1400 bytes with the packet of 400 that finds no room: number 2 is dropped. Then
    // number 6 finds none, with which the first has 2000 bytes: number 3 is dropped.
    packets(&mut node, 3, 2, &[1000, 400]);
    packets(&mut node, 5, 1, &[1000]);
    // With 3500 bytes the queue of this one is the largest.
    packets(&mut node, 6, 3, &[3500]);
    let (left, dropped) = run(&mut node);
    let expected = [(4, 2), (5, 3), (6, 7)].map(|(time, packet)| lost(time, 2, packet, QUEUE_FULL));
    assert_eq!(dropped, expected);
    let expected = [(0, 1), (800_000, 6), (1_600_000, 4), (2_400_000, 5)];
    let expected = expected.map(|(start, packet)| Left::packet(start, 2, packet));
    assert_eq!(left, expected);
}

#[test]
fn each_queue_has_its_codel() {
    let short = |ecn: bool| {
        let table = json!({"target_ps": 1_600_000, "interval_ps": 8_000_000, "ecn": ecn});
        with(fq_codel(table))
    };
    assert_eq!(at_once(&mut short(false), 54, false), CODEL_DROPS);
    assert_eq!(at_once(&mut short(true), 48, true), CODEL_DROPS);
    // CoDel drops while more than a packet waits behind in the same queue.
    let drops = |flows: u32, each: usize| {
        let table = json!({"target_ps": 1, "interval_ps": 1, "quantum_bytes": 1000});
        let mut node = with(fq_codel(table));
        for flow in 0..flows {
            packets(&mut node, 0, flow, &vec![1000; each]);
        }
        let (_, dropped) = run(&mut node);
        assert!(dropped.iter().all(|it| it.reason == TARGET_EXCEEDED));
        dropped.len()
    };
    assert_eq!(drops(4, 2), 0);
    assert!(drops(1, 8) > 0);
}
