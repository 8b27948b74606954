//! Segmentation at a node with a control plane. A byte takes 200 ps.

use super::obs::{core_of, headers, settings};
use super::*;
use crate::switch::ObsSettings;
use lightburst_net::CUT;
use serde_json::json;

fn dropping(what: &str) -> ObsSettings {
    let chain = json!([{"kind": "segmentation", "drop": what}]);
    ObsSettings {
        contention: serde_json::from_value(chain).unwrap(),
        ..settings()
    }
}

fn head_drop() -> ObsSettings {
    dropping("head")
}

/// Creates a node with one channel, which is in use from 50,000 to 70,000. The header of a second
/// burst follows, with packets of 50, 30 and 20 bytes; its head arrives at `head`.
fn second(settings: &ObsSettings, head: u64) -> Alone {
    let mut node = core_of(settings, 1);
    headers(&mut node, &[(0, (0, 50_000))]);
    node.header(1, 0, &[(1, 50), (1, 30), (1, 20)], (0, head));
    node
}

#[test]
fn a_burst_that_comes_too_soon_loses_the_packets_that_overlap() {
    let mut node = second(&head_drop(), 60_000);
    let (left, dropped) = run(&mut node);
    // The first packet ends when the channel becomes free.
    assert_eq!(left[1], Left::header(1, 1, (0, 70_000), &[3, 4]));
    assert_eq!(dropped, [lost(1, 1, 2, CUT)]);
    assert_eq!(
        counts(&node, ["arrived", "forwarded", "bursts_cut", "packets_cut"]),
        [2, 2, 1, 1]
    );
}

#[test]
fn no_part_of_a_packet_survives() {
    let mut node = second(&head_drop(), 59_999);
    let (left, dropped) = run(&mut node);
    assert_eq!(left[1], Left::header(1, 1, (0, 75_999), &[4]));
    assert_eq!(dropped, [lost(1, 1, 2, CUT), lost(1, 1, 3, CUT)]);
    assert_eq!(counts(&node, ["bursts_cut", "packets_cut"]), [1, 2]);
}

#[test]
fn a_burst_of_which_nothing_would_be_left_is_lost_as_a_whole() {
    let mut node = second(&head_drop(), 53_999);
    let (left, dropped) = run(&mut node);
    assert_eq!(left.len(), 1);
    assert_eq!(
        dropped,
        [2, 3, 4].map(|packet| lost(1, 1, packet, crate::obs::NO_CHANNEL))
    );
    assert_eq!(counts(&node, ["bursts_cut", "packets_cut"]), [0, 0]);
}

#[test]
fn what_is_left_keeps_its_channel_from_others_and_no_longer() {
    let mut node = second(&head_drop(), 60_000);
    node.header(2, 0, &[(1, 100)], (0, 80_000));
    let (left, _) = run(&mut node);
    // The remaining 50 bytes occupy the channel from 70,000 on.
    assert_eq!(left[2], Left::header(2, 1, (0, 80_000), &[5]));
    let mut node = second(&head_drop(), 60_000);
    node.header(2, 0, &[(1, 100)], (0, 79_999));
    assert_eq!(run(&mut node).0.len(), 2);
}

#[test]
fn what_makes_room_for_the_switch_to_be_set_up_is_cut_too() {
    let settings = ObsSettings {
        switching_time: Duration(1),
        ..head_drop()
    };
    let mut node = second(&settings, 60_000);
    assert_eq!(run(&mut node).0[1], Left::header(1, 1, (0, 76_000), &[4]));
}

/// Creates a node with one channel, in use from 50,000 to 70,000 for a burst whose first packet
/// ends at 60,000. Then the headers of other bursts arrive, with their heads and sizes. Returns the
/// headers sent for these.
fn behind(settings: &ObsSettings, others: &[(u64, u32)]) -> Vec<Left> {
    let mut node = core_of(settings, 1);
    node.header(0, 0, &[(1, 50), (1, 30), (1, 20)], (0, 50_000));
    for (time, &(head, bytes)) in (1..).zip(others) {
        node.header(time, 0, &[(1, bytes)], (0, head));
    }
    let (left, dropped) = run(&mut node);
    // Packets cut off the tail of a burst are dropped at its egress.
    assert_eq!(left.len() + dropped.len(), 1 + others.len());
    left[1..].to_vec()
}

#[test]
fn an_earlier_burst_gives_way_if_its_first_packet_has_left() {
    let tail = dropping("tail");
    let found = behind(&tail, &[(60_000, 100)]);
    assert_eq!(found, [Left::header(1, 1, (0, 60_000), &[4])]);
    assert_eq!(behind(&tail, &[(59_999, 100)]), []);
}

#[test]
fn an_earlier_burst_gives_way_if_it_would_end_first() {
    let tail = dropping("tail");
    assert_eq!(behind(&tail, &[(60_000, 51)]).len(), 1);
    assert_eq!(behind(&tail, &[(60_000, 50)]), []);
}

#[test]
fn the_later_burst_keeps_the_channel_from_others() {
    let tail = dropping("tail");
    assert_eq!(behind(&tail, &[(60_399, 100), (80_399, 100)]).len(), 2);
    // The burst has only one packet, which cannot be cut.
    assert_eq!(behind(&tail, &[(60_399, 100), (80_398, 100)]).len(), 1);
}
