use super::*;

/// The switch has one port to each of three far ends.
fn switch() -> Alone {
    alone(&ALL_OPTICAL, &[1, 1, 1])
}

#[test]
fn a_unit_that_finds_its_output_free_leaves_after_the_switching_time() {
    let mut node = switch();
    node.packet(5_000, 0, 1, 1000);
    node.burst(7_000, 1, &[(2, 1000), (2, 500)]);
    let left = [
        Left::packet(15_000, 1, 1),
        Left::burst(17_000, 2, &[2, 3], 1500),
    ];
    assert_eq!(run(&mut node), (left.to_vec(), vec![]));
    assert_eq!(counts(&node, ["arrived", "forwarded"]), [2, 2]);
}

#[test]
fn a_unit_that_finds_its_output_busy_is_lost_at_once() {
    let mut node = switch();
    // The first packet occupies port 2 from its arrival, before its head reaches the port, until
    // 10,000 + 1000 * 800 = 810,000.
    node.packet(0, 0, 2, 1000);
    node.packet(1, 1, 2, 1000);
    node.packet(809_999, 0, 2, 64);
    node.burst(809_999, 1, &[(2, 64), (2, 64)]);
    node.packet(810_000, 1, 2, 64);
    let left = [Left::packet(10_000, 2, 1), Left::packet(820_000, 2, 6)];
    let dropped = [(1, 2), (809_999, 3), (809_999, 4), (809_999, 5)]
        .map(|(time, number)| lost(time, 2, number, CONTENTION));
    let (found, mut gone) = run(&mut node);
    gone.sort_by_key(|lost| lost.packet);
    assert_eq!((found, gone), (left.to_vec(), dropped.to_vec()));
    assert_eq!(counts(&node, ["arrived", "forwarded"]), [5, 2]);
    // Counted in units: a burst is one unit.
    assert_eq!(node.node().counted(Time::ZERO).drops, [(CONTENTION, 3)]);
}

/// Ports 1 and 2 lead to end 1; three packets arrive while the first is transmitted.
fn three_for_two_ports(choice: Choice, seed: u64) -> (Vec<Left>, Vec<Dropped>) {
    let around = Around {
        choice,
        seed,
        ..Around::default()
    };
    let mut node = alone_in(around, &ALL_OPTICAL, &[1, 2]);
    for time in [0, 100_000, 200_000] {
        node.packet(time, 0, 1, 1000);
    }
    run(&mut node)
}

#[test]
fn of_several_outputs_a_free_one_is_taken() {
    let mut firsts = [0, 0];
    for seed in 0..20 {
        let (left, dropped) = three_for_two_ports(Choice::Free, seed);
        let first = left[0].port;
        firsts[usize::from(first) - 1] += 1;
        let others = [
            Left::packet(10_000, first, 1),
            Left::packet(110_000, 3 - first, 2),
        ];
        assert_eq!(left, others);
        assert_eq!(dropped, [lost(200_000, 1, 3, CONTENTION)]);
    }
    assert!(firsts[0] > 0 && firsts[1] > 0, "{firsts:?}");
}

#[test]
fn an_output_that_is_drawn_may_be_busy_though_another_is_free() {
    let mut lost_in_all = Vec::new();
    for seed in 0..20 {
        // One draw for each packet. A port is busy if an earlier packet was sent to it.
        let mut draw = Stream::new(seed, "switch");
        let ports: [u16; 3] = std::array::from_fn(|_| 1 + draw.below(2) as u16);
        let free = [
            true,
            ports[1] != ports[0],
            ports[2] != ports[0] && ports[1] == ports[0],
        ];
        let (mut left, mut dropped) = (Vec::new(), Vec::new());
        for (i, time) in [(0, 0), (1, 100_000), (2, 200_000)] {
            let (port, number) = (ports[i], 1 + i as u64);
            if free[i] {
                left.push(Left::packet(time + 10_000, port, number));
            } else {
                dropped.push(lost(time, port, number, CONTENTION));
            }
        }
        lost_in_all.push(dropped.len());
        assert_eq!(
            three_for_two_ports(Choice::Random, seed),
            (left, dropped),
            "{seed}"
        );
    }
    assert!(lost_in_all.contains(&1) && lost_in_all.contains(&2));
}

#[test]
fn the_output_of_a_flow_is_always_the_same() {
    let mut ports = Vec::new();
    for salt in 0..20 {
        let (left, dropped) = three_for_two_ports(Choice::FlowHash { salt }, 0);
        let port = left[0].port;
        assert_eq!(left, [Left::packet(10_000, port, 1)]);
        let others = [(100_000, 2), (200_000, 3)];
        let others = others.map(|(time, n)| lost(time, port, n, CONTENTION));
        assert_eq!(dropped, others);
        ports.push(port);
    }
    assert!(ports.contains(&1) && ports.contains(&2));
}
