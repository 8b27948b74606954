//! Delay lines of a node with a control plane. The transmission of a burst of 100 bytes takes
//! 20,000 ps.

use super::obs::{core_of, gone, headers, settings};
use super::*;
use crate::obs::DELAY_LINES_FULL;
use crate::switch::ObsSettings;
use serde_json::{json, Value};

/// Delay lines with delays of 15,000 and 30,000 ps, with the given changes of their settings.
fn lines(changes: Value) -> ObsSettings {
    let mut table = json!({"kind": "delay-line", "granularity_ps": 15_000, "delays": 2,
                           "lines": null, "occupied": "entering"});
    let table_of = table.as_object_mut().unwrap();
    table_of.extend(changes.as_object().unwrap().clone());
    ObsSettings {
        contention: serde_json::from_value(json!([table])).unwrap(),
        ..settings()
    }
}

/// Returns the headers sent and the drops.
fn left_of(node: &mut Alone) -> (Vec<Left>, Vec<Dropped>) {
    let (left, dropped) = run(node);
    (
        gone(&left).into_iter().map(|(_, left)| left).collect(),
        dropped,
    )
}

#[test]
fn a_burst_takes_the_shortest_delay_after_which_a_channel_is_free() {
    let mut node = core_of(&lines(json!({})), 1);
    let script = [
        (0, (0, 50_000)),
        // The second burst finds no channel at 60,000, but at 75,000. The third finds none at
        // 62,000, 77,000 and 92,000.
        (1, (0, 60_000)),
        (2, (0, 62_000)),
        (3, (0, 66_000)),
    ];
    headers(&mut node, &script);
    let (left, dropped) = left_of(&mut node);
    let expected = [
        Left::header(0, 1, (0, 50_000), &[1]),
        Left::header(1, 1, (0, 75_000), &[2]),
        Left::header(3, 1, (0, 96_000), &[4]),
    ];
    assert_eq!(left, expected);
    assert_eq!(dropped, [lost(2, 1, 3, DELAY_LINES_FULL)]);
    assert_eq!(
        counts(&node, ["arrived", "forwarded", "bursts_delayed"]),
        [4, 3, 2]
    );
    assert_eq!(sum(&node, "delay_line_ps", Time::NEVER), 45_000.0);
}

/// Returns the numbers of the bursts lost at a node with the given number of channels.
fn lost_of(changes: Value, channels: u16, script: &[(u64, (u16, u64))]) -> Vec<u64> {
    let mut settings = lines(changes);
    settings.switching_time = Duration(1_000);
    let mut node = core_of(&settings, channels);
    headers(&mut node, script);
    let (_, dropped) = left_of(&mut node);
    let full = |drop: &Dropped| drop.reason == DELAY_LINES_FULL && drop.held;
    assert!(dropped.iter().all(full));
    dropped.iter().map(|drop| drop.packet).collect()
}

/// Two channels are in use until 70,000.
const IN_USE: [(u64, (u16, u64)); 2] = [(0, (0, 50_000)), (1, (1, 50_000))];

#[test]
fn a_line_takes_in_one_burst_at_a_time() {
    // Both later bursts are delayed until a channel is free.
    let script = [IN_USE[0], IN_USE[1], (2, (0, 56_000)), (3, (1, 57_000))];
    let none: [u64; 0] = [];
    for (number, expected) in [
        (json!(null), &none[..]),
        (json!(2), &none),
        (json!(1), &[4]),
    ] {
        let one = json!({"delays": 1, "lines": number});
        assert_eq!(lost_of(one, 2, &script), expected);
    }
}

#[test]
fn a_line_that_a_burst_has_gone_into_is_free_unless_it_holds_only_one() {
    // The third burst is in the line from 56,000 to 91,000, and the fourth finds a channel at once.
    let third = [IN_USE[0], IN_USE[1], (2, (0, 56_000)), (3, (1, 71_000))];
    let lost_at = |time, occupied| {
        let one = json!({"delays": 1, "lines": 1, "occupied": occupied});
        lost_of(one, 2, &[&third[..], &[(4, (0, time))]].concat())
    };
    let none: [u64; 0] = [];
    assert_eq!(lost_at(77_000, "entering"), none);
    assert_eq!(lost_at(77_000, "inside"), [5]);
}

#[test]
fn a_line_is_kept_from_when_the_way_into_it_is_set_up() {
    // A third channel is in use until 85,000, and the line until 76,000.
    let others = [(2, (1, 65_000)), (3, (0, 56_000)), (4, (1, 71_000))];
    let lost_at = |time| {
        let one = json!({"delays": 1, "lines": 1});
        let script = [&IN_USE[..], &others, &[(5, (0, time))]].concat();
        lost_of(one, 3, &script)
    };
    assert_eq!(lost_at(76_999), [6]);
    assert_eq!(lost_at(77_000), [] as [u64; 0]);
}
