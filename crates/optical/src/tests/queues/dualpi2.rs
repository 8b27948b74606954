//! DualPI2: two queues in turns, the step and the ramp of the scalable one, and the probability that
//! couples them.

use super::*;
use crate::queue::DUALPI2_EARLY;
use lightburst_net::Ecn;

/// Creates a switch with a probability that no update changes, but for the changes given.
fn dualpi2(changes: serde_json::Value) -> Alone {
    let mut table = json!({
        "kind": "dualpi2", "target_ps": 1_000_000_000, "update_ps": 1_000_000_000,
        "alpha": 0.0, "beta": 0.0, "coupling": 2.0,
        "l4s_threshold_ps": 1_000_000_000, "l4s_range_ps": 0,
        "quantum_bytes": 1000, "l4s_weight": 1,
    });
    for (key, value) in changes.as_object().expect("a table") {
        table[key] = value.clone();
    }
    with(table)
}

/// Lets packets of 1000 bytes of senders of a kind arrive, one each picosecond.
fn packets(node: &mut Alone, time: u64, ecn: Ecn, number: u64) {
    for time in time..time + number {
        node.ecn_of((0, ecn), time, 0, 1, 1000);
    }
}

/// Returns the numbers of the packets in the order in which they leave, those with a mark, and the
/// dropped ones.
fn sent(node: &mut Alone) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
    let (left, dropped) = run(node);
    assert!(dropped.iter().all(|it| it.reason == DUALPI2_EARLY));
    let (mut all, mut marked) = (Vec::new(), Vec::new());
    for it in left {
        match it.unit {
            Content::Packet(packet) => all.push(packet),
            Content::Marked(packet) => {
                all.push(packet);
                marked.push(packet);
            }
            _ => unreachable!("a packet"),
        }
    }
    let dropped = dropped.iter().map(|it| it.packet).collect();
    (all, marked, dropped)
}

#[test]
fn scalable_senders_have_a_queue_with_the_larger_share() {
    // Number 1 leaves at once, with 1000 of the 3000 bytes of the turn: two more of the scalable
    // ones follow, then one of the others.
    let mut node = dualpi2(json!({"l4s_weight": 3}));
    packets(&mut node, 0, Ecn::Scalable, 7);
    packets(&mut node, 7, Ecn::Classic, 2);
    packets(&mut node, 9, Ecn::NotCapable, 1);
    let expected = vec![1, 2, 3, 8, 4, 5, 6, 9, 7, 10];
    assert_eq!(sent(&mut node), (expected, vec![], vec![]));
}

#[test]
fn marks_begin_at_the_threshold_and_end_where_one_packet_waits() {
    // Unit n leaves at (n - 1) 0.8 us. From 1.6 us on all are marked: the sum of the likelihoods is
    // 1 at number 3, not yet above 1, and 2 at number 4. Behind number 6 only one waits.
    let step = json!({"l4s_threshold_ps": 1_500_000});
    let mut node = dualpi2(step.clone());
    packets(&mut node, 0, Ecn::Scalable, 7);
    assert_eq!(sent(&mut node).1, [4, 5]);
    // Classic packets have no threshold.
    let mut node = dualpi2(step);
    packets(&mut node, 0, Ecn::Classic, 7);
    assert_eq!(sent(&mut node).1, Vec::<u64>::new());
}

#[test]
fn the_likelihood_grows_over_the_range() {
    // At 0.8, 1.6, 2.4, 3.2, 4.0 and 4.8 us (less a bit, as the packets come a picosecond apart)
    // 0, 1/4, 1/2, 3/4, 1 and 1: the sums are 0.25, 0.75, 1.5, 1.5 and 1.5.
    let mut node = dualpi2(json!({"l4s_threshold_ps": 800_000, "l4s_range_ps": 3_200_000}));
    packets(&mut node, 0, Ecn::Scalable, 9);
    assert_eq!(sent(&mut node).1, [5, 6, 7]);
}

/// Settings with which the first update, at 2 us, makes the probability `p`: the first unit that
/// waits then has waited 2 us less a picosecond, and it stays for good.
fn fixed(p: f64) -> serde_json::Value {
    json!({"target_ps": 1_000_000, "update_ps": 2_000_000, "alpha": p * 1e12 / 999_999.0})
}

#[test]
fn marks_of_scalable_senders_are_twice_the_base_and_drops_its_square() {
    // One update: until 4 us, at which the second comes, numbers 4 and 5 leave, at 2.4 and 3.2 us.
    let after = |ecn: Ecn, p: f64| {
        let mut node = dualpi2(fixed(p));
        packets(&mut node, 0, ecn, 5);
        sent(&mut node)
    };
    // 2 * 0.4 = 0.8: the sums are 0.8 and 1.6.
    assert_eq!(after(Ecn::Scalable, 0.4).1, [5]);
    assert_eq!(after(Ecn::Scalable, 0.2).1, Vec::<u64>::new());
    // 0.9^2 = 0.81: the sums are 0.81 and 1.62. 0.81 is above 1/4: an overload drops all.
    for ecn in [Ecn::NotCapable, Ecn::Classic] {
        assert_eq!(after(ecn, 0.9), (vec![1, 2, 3, 4], vec![], vec![5]));
    }
    // Overload also drops those of scalable senders: the sum is 0.81, and 1.81 with the one of the
    // mark; 0.81 remain. With number 5 it is 1.62, a drop.
    assert_eq!(
        after(Ecn::Scalable, 0.9),
        (vec![1, 2, 3, 4], vec![4], vec![5])
    );
}

#[test]
fn classic_packets_are_marked_where_they_can_be() {
    // With a coupling of 1 there is no overload below 1: 0.9^2 marks number 5, or drops it; twice
    // 0.6^2 is less than 1.
    let run = |ecn: Ecn, p: f64| {
        let mut settings = fixed(p);
        settings["coupling"] = json!(1.0);
        let mut node = dualpi2(settings);
        packets(&mut node, 0, ecn, 5);
        sent(&mut node)
    };
    let all = vec![1, 2, 3, 4, 5];
    assert_eq!(run(Ecn::Classic, 0.9), (all.clone(), vec![5], vec![]));
    assert_eq!(
        run(Ecn::NotCapable, 0.9),
        (vec![1, 2, 3, 4], vec![], vec![5])
    );
    assert_eq!(run(Ecn::Classic, 0.6), (all, vec![], vec![]));
}

#[test]
fn the_longer_wait_of_both_queues_counts() {
    let mut node = dualpi2(fixed(0.4));
    packets(&mut node, 0, Ecn::NotCapable, 5);
    packets(&mut node, 1_900_000, Ecn::Scalable, 2);
    // At 2 us number 4 has waited for 2 us, number 6 for 0.1 us: the base is 0.4. Number 6 leaves at
    // 2.4 us, with the sum 0.8, and 4 at 3.2 us, with 0.16. At 4 us number 5 has waited for 4 us: the
    // base is 1, and an overload drops numbers 7 and 5, with the sums 1.8 and 1.16.
    assert_eq!(sent(&mut node), (vec![1, 2, 3, 6, 4], vec![], vec![7, 5]));
}
