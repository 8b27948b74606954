//! Explicit output queues. Drop-tail on them is compared with the output that decides a departure on
//! arrival.

use super::*;
use crate::switch::ElectronicSettings;
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
    let arrival = (gap, 0..2u32, 0..2u32, bytes, prop_oneof![Just(0usize), 0..3usize]);
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
    counted.drops.sort_unstable_by_key(|(reason, _)| reason.name);
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
    assert_eq!(counts(&node, ["buffered", "forwarded", "eo_bytes"]), [1, 2, 2000]);
    assert_eq!(sum(&node, "buffer_byte_ps", Time(800_000)), 700_000.0 * 1000.0);
}

#[test]
fn a_queue_of_an_unknown_kind_is_refused() {
    let table = json!({"queue": {"kind": "stack"}});
    let error = serde_json::from_value::<ElectronicSettings>(table).unwrap_err();
    let known = "no \"stack\" in queues; known: drop-tail";
    assert!(error.to_string().starts_with(known), "{error}");
}
