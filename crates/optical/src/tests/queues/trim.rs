//! Trimming to headers. A packet of 1000 bytes takes 800,000 ps, a header of 64 bytes 51,200.

use super::*;

/// Two packets of data wait at most, and two headers.
fn trim(changes: serde_json::Value) -> serde_json::Value {
    let mut table = json!({
        "kind": "trim", "packets": 2, "header_bytes": 64, "header_queue_bytes": 128, "weight": 10,
        "tail": 0.0,
    });
    for (key, value) in changes.as_object().expect("a table") {
        table[key] = value.clone();
    }
    table
}

/// Five packets that may be trimmed; returns the starts and numbers of those that left.
fn five(node: &mut Alone) -> Vec<(u64, u64)> {
    for time in 0..5 {
        node.trimmable(time, 0, 1, 1000);
    }
    let (left, _) = run(node);
    let sent = left.iter().map(|left| match left.unit {
        Content::Packet(packet) => (left.start, packet),
        _ => unreachable!("a packet"),
    });
    sent.collect()
}

#[test]
fn headers_overtake_the_data_that_waits() {
    let mut node = with(trim(json!({})));
    // The second and third packet wait. The fourth and fifth are trimmed, and leave before them.
    let expected = [
        (0, 1),
        (800_000, 4),
        (851_200, 5),
        (902_400, 2),
        (1_702_400, 3),
    ];
    assert_eq!(five(&mut node), expected);
    let names = ["arrived", "forwarded", "trimmed", "oe_bytes", "eo_bytes"];
    assert_eq!(counts(&node, names), [5, 5, 2, 5000, 3128]);
}

#[test]
fn headers_and_data_take_turns_by_the_weight() {
    let mut node = with(trim(json!({"weight": 1})));
    let expected = [
        (0, 1),
        (800_000, 4),
        (851_200, 2),
        (1_651_200, 5),
        (1_702_400, 3),
    ];
    assert_eq!(five(&mut node), expected);
}

#[test]
fn the_last_packet_that_waits_is_trimmed_in_place_of_the_arriving_one() {
    let mut node = with(trim(json!({"tail": 1.0})));
    // The fourth packet takes the place of the third, and the fifth that of the fourth.
    let expected = [
        (0, 1),
        (800_000, 3),
        (851_200, 4),
        (902_400, 2),
        (1_702_400, 5),
    ];
    assert_eq!(five(&mut node), expected);
    // The first four waited; a trimmed one is counted once.
    assert_eq!(counts(&node, ["buffered", "trimmed"]), [4, 2]);
    let mut node = with(trim(json!({"tail": 0.5, "header_queue_bytes": 1_000_000})));
    for time in 0..2000 {
        node.trimmable(time, 0, 1, 1000);
    }
    let (left, _) = run(&mut node);
    // The last packet of data that leaves is the last one to have taken the place of another: at
    // evens its distance from the end is geometric, and more than 50 once in 10^15.
    let last = match left.last().expect("a packet").unit {
        Content::Packet(packet) => packet,
        _ => unreachable!("a packet"),
    };
    assert!((1950..=2000).contains(&last), "{last}");
}

#[test]
fn what_finds_no_room_for_headers_or_may_not_be_trimmed_is_dropped() {
    let mut node = with(trim(json!({})));
    for time in 0..3 {
        node.trimmable(time, 0, 1, 1000);
    }
    // A packet of another transport, and the third that has no data.
    node.packet(3, 0, 1, 1000);
    node.trimmable(4, 0, 1, 1000);
    node.acknowledgement(5, 0, 1, 64);
    node.trimmable(6, 0, 1, 1000);
    node.acknowledgement(7, 0, 1, 64);
    let (left, dropped) = run(&mut node);
    assert_eq!(left.len(), 5);
    let expected = [4, 7, 8].map(|packet| lost(packet - 1, 2, packet, QUEUE_FULL));
    assert_eq!(dropped, expected);
    // The header that was lost was trimmed before.
    assert_eq!(counts(&node, ["trimmed", "forwarded"]), [2, 5]);
}

#[test]
fn a_header_without_room_returns_once_and_a_packet_without_data_is_dropped() {
    let mut node = with(trim(json!({"return_to_sender": true})));
    for time in 0..5 {
        node.trimmable(time, 0, 1, 1000);
    }
    // The headers of the first two trimmed packets fill their queue. Port 2 leads to end 1, and the
    // others to end 0.
    node.trimmable(5, 0, 1, 1000);
    node.acknowledgement(6, 0, 1, 64);
    let (left, dropped) = run(&mut node);
    let returned = left[1].clone();
    assert_eq!((returned.start, returned.unit), (5, Content::Packet(6)));
    assert!(returned.port < 2);
    assert_eq!(dropped, [lost(6, 2, 7, QUEUE_FULL)]);
    let names = ["arrived", "forwarded", "trimmed", "returned", "buffered"];
    assert_eq!(counts(&node, names), [7, 6, 3, 1, 4]);
}

#[test]
fn a_header_on_its_way_back_that_finds_no_room_is_dropped() {
    let mut node = with(trim(
        json!({"return_to_sender": true, "header_queue_bytes": 63}),
    ));
    for time in 0..4 {
        node.trimmable(time, 0, 1, 1000);
    }
    let (left, dropped) = run(&mut node);
    assert_eq!(left.len(), 3);
    assert_eq!(dropped.len(), 1);
    let Dropped { packet, port, .. } = dropped[0];
    // At the port towards its sender.
    assert!(packet == 4 && port < Some(2), "{dropped:?}");
    assert_eq!(counts(&node, ["trimmed", "returned"]), [1, 1]);
}

#[test]
fn the_header_of_the_last_packet_that_waits_returns_too() {
    let mut node = with(trim(
        json!({"return_to_sender": true, "header_queue_bytes": 64, "tail": 1.0}),
    ));
    // The third and the fourth packet are trimmed in turn. The first header waits.
    let left = five(&mut node);
    assert_eq!(left[..3], [(0, 1), (4, 4), (800_000, 3)]);
    assert_eq!(counts(&node, ["trimmed", "returned"]), [2, 1]);
}
