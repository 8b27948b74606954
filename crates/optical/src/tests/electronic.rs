use super::*;
use crate::switch::ElectronicSettings;
use serde_json::json;

/// Creates a switch with one port to each of three far ends.
fn switch(queue_bytes: Option<u64>, ecn_threshold_bytes: Option<u64>) -> Alone {
    let settings = ElectronicSettings {
        queue_bytes,
        ecn_threshold_bytes,
        queue: None,
        ..ElectronicSettings::default()
    };
    alone(&settings, &[1; 3])
}

/// Sends two packets to port 0: the first is transmitted from 0 to 800,000, and the second arrives
/// at `time`. Returns the departure of the second.
fn second(mut node: Alone, time: u64) -> (Left, Alone) {
    node.packet(0, 1, 0, 1000);
    node.packet(time, 2, 0, 1000);
    let (left, dropped) = run(&mut node);
    assert_eq!((&left[0], dropped), (&Left::packet(0, 0, 1), vec![]));
    (left[1].clone(), node)
}

#[test]
fn units_leave_at_once_or_one_behind_the_other() {
    let mut node = switch(None, None);
    node.packet(100_000, 1, 0, 1000);
    node.packet(200_000, 2, 0, 500);
    node.burst(300_000, 1, &[(0, 1000), (0, 64)]);
    node.packet(300_000, 2, 1, 64);
    node.packet(2_151_200, 1, 0, 64);
    let left = [
        Left::packet(100_000, 0, 1),
        Left::packet(300_000, 1, 5),
        Left::packet(900_000, 0, 2),
        Left::burst(1_300_000, 0, &[3, 4], 1064),
        // 1,300,000 + 1064 * 800
        Left::packet(2_151_200, 0, 6),
    ];
    assert_eq!(run(&mut node), (left.to_vec(), vec![]));
    assert_eq!(counts(&node, ["arrived", "forwarded"]), [5, 5]);
    // One unit waited behind the first, another one behind that; the last one arrived when the port
    // became free.
    assert_eq!(count(&node, "buffered"), 2);
    // every unit is converted
    assert_eq!(counts(&node, ["oe_bytes", "eo_bytes"]), [2692, 2692]);
}

#[test]
fn a_queue_holds_so_many_bytes() {
    // At 100,000 there are 700,000 / 800 = 875 bytes of the first packet left.
    let (left, _) = second(switch(Some(1875), None), 100_000);
    assert_eq!(left, Left::packet(800_000, 0, 2));
    let mut node = switch(Some(1874), None);
    node.packet(0, 1, 0, 1000);
    node.packet(100_000, 2, 0, 1000);
    // the other port has its own queue
    node.packet(100_000, 1, 2, 1000);
    let left = [Left::packet(0, 0, 1), Left::packet(100_000, 2, 3)];
    let dropped = [lost(100_000, 0, 2, QUEUE_FULL)];
    assert_eq!(run(&mut node), (left.to_vec(), dropped.to_vec()));
    assert_eq!(counts(&node, ["arrived", "forwarded"]), [3, 2]);
}

#[test]
fn a_packet_is_marked_from_the_threshold_on() {
    let marked = |threshold, time| {
        let mut node = switch(None, Some(threshold));
        node.packet(0, 1, 0, 1000);
        node.capable(time, 2, 0, 1000);
        let left = run(&mut node).0[1].clone();
        let marked = u64::from(left == Left::marked(800_000, 0, 2));
        assert_eq!(count(&node, "marked"), marked);
        marked == 1
    };
    // the backlog ahead of the packet is 875 bytes; its own bytes do not count
    assert!(marked(875, 100_000));
    assert!(!marked(876, 100_000));
    // A byte counts until it has been transmitted completely.
    assert!(marked(875, 100_799));
    assert!(!marked(875, 100_800));
}

#[test]
fn what_is_not_capable_of_ecn_is_counted_and_passes_unmarked() {
    for discipline in [None, Some(json!({"kind": "drop-tail"}))] {
        let mut table = json!({"queue_bytes": null, "ecn_threshold_bytes": 875});
        if let Some(discipline) = discipline {
            table["queue"] = discipline;
        }
        let settings: ElectronicSettings = serde_json::from_value(table).expect("settings");
        let mut node = alone(&settings, &[2, 1]);
        node.packet(0, 0, 1, 1000);
        node.packet(100_000, 0, 1, 1000);
        node.capable(200_000, 0, 1, 1000);
        let left = [
            Left::packet(0, 2, 1),
            Left::packet(800_000, 2, 2),
            Left::marked(1_600_000, 2, 3),
        ];
        assert_eq!(run(&mut node), (left.to_vec(), vec![]));
        assert_eq!(count(&node, "marked"), 2);
    }
}

#[test]
fn the_occupancy_is_that_of_what_waits() {
    // The second packet waits 700,000 behind 875 bytes; it does not count during its transmission.
    let (_, node) = second(switch(None, None), 100_000);
    assert_eq!(count(&node, "buffer_max_bytes"), 1875);
    assert_eq!(
        sum(&node, "buffer_byte_ps", Time(5_000_000)),
        1000.0 * 700_000.0
    );
    // a lower backlog later does not change the maximum
    let mut node = switch(None, None);
    for (time, bytes) in [(0, 1000), (0, 1000), (1_600_000, 10), (1_600_001, 10)] {
        node.packet(time, 1, 0, bytes);
    }
    run(&mut node);
    assert_eq!(count(&node, "buffer_max_bytes"), 2000);
    // waiting after the time limit is not counted
    let around = Around {
        time_limit: Time(500_000),
        ..Around::default()
    };
    let node = alone_in(around, &ElectronicSettings::default(), &[1; 3]);
    let (_, node) = second(node, 100_000);
    assert_eq!(
        sum(&node, "buffer_byte_ps", Time(500_000)),
        1000.0 * 400_000.0
    );
}

#[test]
fn what_waits_at_a_look_has_waited_up_to_then() {
    // The packet waits from 100,000 to 800,000; at the second look, at 900,000, all of it counts.
    let around = Around {
        looks: [Time(300_000), Time(900_000)],
        ..Around::default()
    };
    let node = alone_in(around, &ElectronicSettings::default(), &[1; 3]);
    let (_, node) = second(node, 100_000);
    let waited = |end| sum(&node, "buffer_byte_ps", Time(end)) / 1000.0;
    assert_eq!(
        [300_000, 900_000, 5_000_000].map(waited),
        [200_000.0, 700_000.0, 700_000.0]
    );
}

#[test]
fn of_several_outputs_that_are_all_busy_any_one_is_drawn() {
    // Ports 1 and 2 to end 1 become free at 800,000 and 900,000, in random order.
    let mut found = Vec::new();
    for seed in 0..20 {
        let around = Around {
            seed,
            ..Around::default()
        };
        let mut node = alone_in(around, &ElectronicSettings::default(), &[1, 2]);
        for time in [0, 100_000, 200_000] {
            node.packet(time, 0, 1, 1000);
        }
        let (left, _) = run(&mut node);
        let first = left[0].port;
        let drawn = left[2].port;
        let start = if drawn == first { 800_000 } else { 900_000 };
        let expected = [
            Left::packet(0, first, 1),
            Left::packet(100_000, 3 - first, 2),
            Left::packet(start, drawn, 3),
        ];
        assert_eq!(left, expected);
        found.push((first, drawn));
    }
    for pair in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        assert!(found.contains(&pair), "{pair:?}");
    }
}

#[test]
fn a_single_output_is_taken_without_a_draw() {
    // The second packet finds port 0 busy. The first draw is for the port of the third packet.
    for seed in 0..20 {
        let around = Around {
            seed,
            ..Around::default()
        };
        let mut node = alone_in(around, &ElectronicSettings::default(), &[1, 2]);
        for (time, to) in [(0, 0), (1, 0), (2, 1)] {
            node.packet(time, 1 - to, to, 1000);
        }
        let port = 1 + Stream::new(seed, "switch").below(2) as u16;
        let (left, _) = run(&mut node);
        assert_eq!(left[1], Left::packet(2, port, 3));
    }
}
