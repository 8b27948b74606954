//! Strict priorities and deficit round robin: lines of several groups of flows, each of one flow with
//! the number of the group.

use super::*;
use lightburst_net::Ecn;

fn lines(queue: serde_json::Value, limit: Option<u64>, threshold: Option<u64>) -> Alone {
    let table = json!({"queue_bytes": limit, "ecn_threshold_bytes": threshold, "queue": queue});
    let settings: ElectronicSettings = serde_json::from_value(table).expect("settings");
    let around = Around {
        groups: vec![0, 1, 2, 3],
        ..Around::default()
    };
    alone_in(around, &settings, &[2, 1])
}

fn prio(bands: [u16; 4], buffer: &str) -> serde_json::Value {
    json!({"kind": "prio", "bands": bands, "buffer": buffer})
}

fn drr(quanta: [u32; 4], buffer: &str) -> serde_json::Value {
    json!({"kind": "drr", "quanta_bytes": quanta, "buffer": buffer})
}

/// Lets packets of a group arrive, one each picosecond.
fn packets(node: &mut Alone, time: u64, group: u32, sizes: &[u32]) {
    for (time, &bytes) in (time..).zip(sizes) {
        node.packet_of((group, 0), time, 0, 1, bytes);
    }
}

/// Returns the numbers of the packets in the order in which they leave, and those of the dropped ones.
fn order(node: &mut Alone) -> (Vec<u64>, Vec<u64>) {
    let (left, dropped) = run(node);
    assert!(dropped.iter().all(|it| it.reason == QUEUE_FULL));
    let sent = left.iter().map(|left| match left.unit {
        Content::Packet(packet) | Content::Marked(packet) => packet,
        _ => unreachable!("a packet"),
    });
    (sent.collect(), dropped.iter().map(|it| it.packet).collect())
}

#[test]
fn a_unit_of_an_earlier_band_is_sent_next_and_interrupts_none() {
    // Groups 0 and 2 share the last band, in the order of their arrival.
    let mut node = lines(prio([2, 1, 2, 0], "own"), None, None);
    packets(&mut node, 0, 0, &[1000; 3]);
    packets(&mut node, 3, 2, &[1000]);
    packets(&mut node, 4, 0, &[1000]);
    packets(&mut node, 5, 1, &[1000; 2]);
    // During the transmission that begins at 1.6 us.
    packets(&mut node, 2_000_000, 3, &[1000]);
    assert_eq!(order(&mut node), (vec![1, 6, 7, 8, 2, 3, 4, 5], vec![]));
}

#[test]
fn each_band_has_its_limit_or_all_have_one() {
    let arrive = |buffer: &str| {
        let mut node = lines(prio([0, 1, 1, 1], buffer), Some(2500), None);
        packets(&mut node, 0, 1, &[1000; 4]);
        packets(&mut node, 4, 0, &[1000; 3]);
        order(&mut node)
    };
    // Number 1 is under way, and of its band: with 2 and 3 there are 3000 bytes less a bit. Of the
    // other band 2000 wait.
    assert_eq!(arrive("own"), (vec![1, 5, 6, 2], vec![3, 4, 7]));
    assert_eq!(arrive("shared"), (vec![1, 2], vec![3, 4, 5, 6, 7]));
}

#[test]
fn units_are_marked_by_the_bytes_of_their_band() {
    let mut node = lines(prio([0, 1, 1, 1], "own"), None, Some(1000));
    for time in 0..3 {
        node.ecn_of((1, Ecn::Classic), time, 0, 1, 1000);
    }
    for time in 3..6 {
        node.ecn_of((0, Ecn::Classic), time, 0, 1, 1000);
    }
    let (left, _) = run(&mut node);
    let marked = left.iter().filter_map(|left| match left.unit {
        Content::Marked(packet) => Some(packet),
        _ => None,
    });
    // Number 2 finds 999 bytes and more of number 1, rounded up; 3 finds 2000. Of band 0 none is
    // under way: 4 finds 0, 5 finds 1000, 6 finds 2000.
    assert_eq!(marked.collect::<Vec<_>>(), [5, 6, 2, 3]);
}

#[test]
fn lines_take_turns_of_their_quantum_and_keep_what_is_left() {
    let mut node = lines(drr([500; 4], "own"), None, None);
    packets(&mut node, 0, 3, &[1000]);
    packets(&mut node, 1, 0, &[200, 750, 20]);
    packets(&mut node, 4, 1, &[500, 500]);
    packets(&mut node, 6, 2, &[600, 400]);
    packets(&mut node, 8, 3, &[180, 700, 50]);
    // Round 1: 500 is enough for 200, leaves 300; for 500, leaves 0; not for 600; for 180, leaves 320.
    // Round 2: 800 is enough for 750 and 20; 500 for 500; 1000 for 600 and 400; 820 for 700 and 50.
    let expected = vec![1, 2, 5, 9, 3, 4, 6, 7, 8, 10, 11];
    assert_eq!(order(&mut node), (expected, vec![]));
}

#[test]
fn an_empty_line_keeps_no_deficit() {
    let mut node = lines(drr([1500, 1000, 1, 1], "own"), None, None);
    // Number 1 leaves 500 of its quantum, which is lost: 1500 is not enough for number 2.
    packets(&mut node, 0, 0, &[1000, 1600]);
    packets(&mut node, 2, 1, &[1000]);
    assert_eq!(order(&mut node), (vec![1, 3, 2], vec![]));
}

#[test]
fn quanta_are_shares() {
    let mut node = lines(drr([3000, 1000, 1000, 1000], "own"), None, None);
    packets(&mut node, 0, 3, &[1000]);
    for group in 0..2 {
        packets(&mut node, 1 + 100 * u64::from(group), group, &[1000; 30]);
    }
    let (sent, _) = order(&mut node);
    // In 40 packets after the first one, ten turns of three and of one.
    let of_first = |sent: &[u64]| sent.iter().filter(|&&n| (2..=31).contains(&n)).count();
    assert_eq!(of_first(&sent[1..41]), 30);
    assert_eq!(of_first(&sent[1..5]), 3);
}

#[test]
fn room_is_taken_from_the_longest_line() {
    let mut node = lines(drr([1000; 4], "shared"), Some(4000), None);
    // The first is under way, and 2000 bytes of group 1 wait.
    packets(&mut node, 0, 1, &[1000; 3]);
    // Group 0 has 2000 bytes with number 5, no more than group 1, and comes first of equals: number 4
    // is dropped, and the turn of its line is over, which begins anew behind that of group 1.
    packets(&mut node, 3, 0, &[1000]);
    packets(&mut node, 4, 0, &[1000]);
    // With 3500 bytes the line of number 6 is the longest.
    packets(&mut node, 5, 2, &[3500]);
    assert_eq!(order(&mut node), (vec![1, 2, 5, 3], vec![4, 6]));
    let mut own = lines(drr([1000; 4], "own"), Some(4000), None);
    packets(&mut own, 0, 1, &[1000; 5]);
    packets(&mut own, 5, 0, &[3500, 1000]);
    assert_eq!(order(&mut own), (vec![1, 2, 3, 4, 6], vec![5, 7]));
}

proptest! {
    #[test]
    fn one_line_is_drop_tail(
        arrivals in arrivals(),
        limit in prop_oneof![Just(None), (1500..6000u64).prop_map(Some)],
        threshold in prop_oneof![Just(None), (0..4000u64).prop_map(Some)],
    ) {
        let expected = play(&mut switch(drop_tail(), limit, threshold), &arrivals);
        for buffer in ["own", "shared"] {
            let one = play(&mut lines(prio([0; 4], buffer), limit, threshold), &arrivals);
            prop_assert_eq!(&one, &expected);
        }
        let own = play(&mut lines(drr([300; 4], "own"), limit, threshold), &arrivals);
        prop_assert_eq!(&own, &expected);
    }
}
