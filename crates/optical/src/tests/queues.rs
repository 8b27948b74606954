//! Explicit output queues. Drop-tail on them is compared with the output that decides a departure on
//! arrival.

mod dualpi2;
mod fq_codel;
mod lines;
mod pie;
mod shared;
mod trim;

use super::*;
use crate::queue::{EARLY, FORCED, TARGET_EXCEEDED};
use crate::switch::ElectronicSettings;
use lightburst_net::alone::Content;
use lightburst_net::Counted;
use proptest::prelude::*;
use serde_json::json;

/// Creates a switch with two ports to the first far end and one to the second.
fn switch(queue: Option<serde_json::Value>, limit: Option<u64>, threshold: Option<u64>) -> Alone {
    let mut table = json!({"queue_bytes": limit, "ecn_threshold_bytes": threshold});
    if let Some(queue) = queue {
        table["queue"] = queue;
    }
    let settings: ElectronicSettings = serde_json::from_value(table).expect("settings");
    alone(&settings, &[2, 1])
}

fn drop_tail() -> Option<serde_json::Value> {
    Some(json!({"kind": "drop-tail"}))
}

/// An arrival: picoseconds since the one before, far end, destination and bytes; a burst of this
/// many packets, or a single packet.
type Arrival = (u64, u32, u32, u32, usize);

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    // Multiples of the transmission time of 1000 bytes make arrivals at the end of a transmission.
    let gap = prop_oneof![Just(0u64), Just(400_000), Just(800_000), 0..2_000_000u64];
    let bytes = prop_oneof![Just(500u32), Just(1000), 1..1500u32];
    let arrival = (
        gap,
        0..2u32,
        0..2u32,
        bytes,
        prop_oneof![Just(0usize), 0..3usize],
    );
    prop::collection::vec(arrival, 1..60)
}

fn play(node: &mut Alone, arrivals: &[Arrival]) -> (Vec<Left>, Vec<Dropped>, Counted) {
    let mut now = 0;
    for &(gap, from, to, bytes, packets) in arrivals {
        now += gap;
        match packets {
            0 => node.packet(now, from, to, bytes),
            packets => node.burst(now, from, &vec![(to, bytes); packets]),
        };
    }
    let (left, dropped) = run(node);
    let mut counted = node.node().counted(Time(now + 1_000_000_000));
    counted.counts.sort_unstable();
    counted
        .drops
        .sort_unstable_by_key(|(reason, _)| reason.name);
    (left, dropped, counted)
}

proptest! {
    #[test]
    fn drop_tail_on_a_queue_does_what_an_output_without_one_does(
        arrivals in arrivals(),
        limit in prop_oneof![Just(None), (1500..6000u64).prop_map(Some)],
        threshold in prop_oneof![Just(None), (0..4000u64).prop_map(Some)],
    ) {
        let committed = play(&mut switch(None, limit, threshold), &arrivals);
        let explicit = play(&mut switch(drop_tail(), limit, threshold), &arrivals);
        prop_assert_eq!(committed, explicit);
    }
}

#[test]
fn a_unit_that_waits_leaves_at_the_end_of_the_transmission_ahead() {
    let mut node = switch(drop_tail(), Some(2000), None);
    for time in [0, 100_000, 200_000] {
        node.packet(time, 0, 1, 1000);
    }
    // 875 + 1000 bytes are ahead of the third.
    let left = [Left::packet(0, 2, 1), Left::packet(800_000, 2, 2)];
    let dropped = [lost(200_000, 2, 3, QUEUE_FULL)];
    assert_eq!(run(&mut node), (left.to_vec(), dropped.to_vec()));
    assert_eq!(
        counts(&node, ["buffered", "forwarded", "eo_bytes"]),
        [1, 2, 2000]
    );
    assert_eq!(
        sum(&node, "buffer_byte_ps", Time(800_000)),
        700_000.0 * 1000.0
    );
}

#[test]
fn a_queue_of_an_unknown_kind_is_refused() {
    let table = json!({"queue": {"kind": "stack"}});
    let error = serde_json::from_value::<ElectronicSettings>(table).unwrap_err();
    let known = "no \"stack\" in queues; known: drop-tail";
    assert!(error.to_string().starts_with(known), "{error}");
}

/// Creates a switch with the discipline `queue` and unlimited queues.
fn with(queue: serde_json::Value) -> Alone {
    switch(Some(queue), None, None)
}

/// Lets packets of 1000 bytes for port 2 arrive all at 0; returns the times at which some were
/// dropped or marked.
fn at_once(node: &mut Alone, packets: usize, capable: bool) -> Vec<u64> {
    for _ in 0..packets {
        match capable {
            true => node.capable(0, 0, 1, 1000),
            false => node.packet(0, 0, 1, 1000),
        };
    }
    let (left, dropped) = run(node);
    let marked = left
        .iter()
        .filter(|left| matches!(left.unit, Content::Marked(_)));
    assert!(left
        .windows(2)
        .all(|pair| pair[1].start == pair[0].start + 800_000));
    let marked = marked.map(|left| left.start);
    dropped.iter().map(|it| it.time).chain(marked).collect()
}

fn codel(ecn: bool) -> serde_json::Value {
    json!({"kind": "codel", "target_ps": 1_600_000, "interval_ps": 8_000_000, "ecn": ecn})
}

/// Times of the first drops of CoDel where a unit leaves each 800,000 and all have waited since 0.
/// The delay reaches the target at 1.6 us, and the first drop follows an interval later, the second
/// another interval later; then 17.6 + 8 / sqrt(2) = 23.2569 us, + 8 / sqrt(3) = 27.8757 us,
/// + 4 = 31.8757 us, + 8 / sqrt(5) = 35.4534 us, each at the next departure.
const CODEL_DROPS: [u64; 6] = [
    9_600_000, 17_600_000, 24_000_000, 28_000_000, 32_000_000, 36_000_000,
];

#[test]
fn codel_drops_at_intervals_over_the_root_of_their_number() {
    let mut node = with(codel(false));
    let times = at_once(&mut node, 54, false);
    assert_eq!(times, CODEL_DROPS);
    let counted = node.node().counted(Time::ZERO + Duration(100_000_000));
    assert!(counted.drops.contains(&(TARGET_EXCEEDED, 6)));
    assert_eq!(
        counts(&node, ["arrived", "forwarded", "marked"]),
        [54, 48, 0]
    );
}

#[test]
fn codel_marks_in_place_of_drops_where_the_transport_is_capable() {
    assert_eq!(at_once(&mut with(codel(true)), 48, true), CODEL_DROPS);
    let mut node = with(codel(true));
    assert_eq!(at_once(&mut node, 54, false), CODEL_DROPS);
    assert_eq!(count(&node, "marked"), 0);
    assert_eq!(at_once(&mut with(codel(false)), 54, true), CODEL_DROPS);
}

#[test]
fn codel_drops_only_while_more_than_a_packet_waits_behind() {
    let strict = || with(json!({"kind": "codel", "target_ps": 1, "interval_ps": 1, "ecn": false}));
    let none: [u64; 0] = [];
    // At 800,000 the delay is above the target, and two packets wait behind the second of four. At
    // 1,600,000 only one waits behind the third.
    assert_eq!(at_once(&mut strict(), 4, false), none);
    assert_eq!(at_once(&mut strict(), 5, false), [1_600_000]);
}

#[test]
fn codel_resumes_with_the_rate_of_its_last_drops() {
    let mut node = with(codel(false));
    for _ in 0..45 {
        node.packet(0, 0, 1, 1000);
    }
    // The first drops are those of `CODEL_DROPS` up to 28 us: 45 packets less 4 leave up to 32.8 us.
    for _ in 0..25 {
        node.packet(33_000_000, 0, 1, 1000);
    }
    let (_, dropped) = run(&mut node);
    let times: Vec<u64> = dropped.iter().map(|it| it.time).collect();
    // Count was 4 at 28 us and 1 at 9.6 us. The delay is above the target at 34.6 us; the drop an
    // interval later begins with count 3: the next follows 8 / sqrt(3) us later, at 47.2188 us.
    let expected = [
        9_600_000, 17_600_000, 24_000_000, 28_000_000, 42_600_000, 47_400_000,
    ];
    assert_eq!(times, expected);
}

fn red(changes: serde_json::Value) -> serde_json::Value {
    let mut table = json!({
        "kind": "red", "min_threshold_bytes": 1500, "max_threshold_bytes": 3500,
        "max_probability": 1.0, "weight": 1.0, "mean_packet_bytes": 1000, "gentle": false,
        "ecn": false,
    });
    for (key, value) in changes.as_object().expect("a table") {
        table[key] = value.clone();
    }
    table
}

#[test]
fn red_drops_all_above_the_upper_threshold() {
    // With the weight 1 the average is the queue that a packet finds: 0, 1000, 2000, and so on.
    // Between the thresholds no drop is possible with a probability of 0.
    let mut node = with(red(json!({"max_probability": 0.0})));
    for time in 0..6 {
        node.packet(time, 0, 1, 1000);
    }
    let (left, dropped) = run(&mut node);
    assert_eq!(left.len(), 4);
    let expected = [lost(4, 2, 5, FORCED), lost(5, 2, 6, FORCED)];
    assert_eq!(dropped, expected);
    // Gentle: at 4000 bytes the probability is (4000 - 3500) / 3500, and no drop is forced.
    let mut node = with(red(json!({"max_probability": 0.0, "gentle": true})));
    for time in 0..6 {
        node.packet(time, 0, 1, 1000);
    }
    let (_, dropped) = run(&mut node);
    assert!(!dropped.is_empty() && dropped.iter().all(|it| it.reason == EARLY));
}

#[test]
fn red_marks_early_and_drops_when_forced() {
    // At 2000 and 3000 bytes the probability p_a reaches 1 with the second packet at the latest.
    let mut node = with(red(
        json!({"ecn": true, "min_threshold_bytes": 0, "max_threshold_bytes": 2500}),
    ));
    for time in 0..6 {
        node.capable(time, 0, 1, 1000);
    }
    let (left, dropped) = run(&mut node);
    let marked = left
        .iter()
        .filter(|left| matches!(left.unit, Content::Marked(_)));
    assert_eq!(marked.count() as u64, count(&node, "marked"));
    assert!(count(&node, "marked") > 0);
    assert!(dropped.iter().all(|it| it.reason == FORCED));
    assert_eq!(left.len(), 3);
}
