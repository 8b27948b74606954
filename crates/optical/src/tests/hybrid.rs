use super::*;
use crate::switch::{HybridSettings, ReEmission, BUFFER_FULL, NO_INPUT_PORT, QUEUE_FLUSHED};

/// Creates a switch with one port to each of four far ends, and with `ne` input and output ports of
/// the buffer. Buffered units leave after reception unless `early` is set.
fn switch(ne: u16, early: bool, bytes: Option<u64>) -> Alone {
    alone(&settings(ne, early, bytes), &[1; 4])
}

fn settings(ne: u16, early: bool, bytes: Option<u64>) -> HybridSettings {
    HybridSettings {
        switching_time: SWITCHING,
        buffer_ports: ne,
        buffer_bytes: bytes,
        re_emission: match early {
            true => ReEmission::CutThrough,
            false => ReEmission::AfterReception,
        },
    }
}

#[test]
fn a_unit_that_meets_a_busy_output_leaves_when_it_is_received_and_the_output_is_free() {
    // The first packet occupies port 0 from 10,000 on. The second is received in the buffer at
    // 100,000 + 10,000 + 1000 * 800 = 910,000; with `early` it need not wait for that.
    for (bytes, early, start) in [
        // port 0 is free at 810,000: the packet waits until it is received
        (1000, false, 920_000),
        (1000, true, 820_000),
        // port 0 is free at 1,610,000: the packet is received earlier and waits for the port
        (2000, false, 1_620_000),
        (2000, true, 1_620_000),
    ] {
        let mut node = switch(1, early, None);
        node.packet(0, 1, 0, bytes);
        node.packet(100_000, 2, 0, 1000);
        let left = [Left::packet(10_000, 0, 1), Left::packet(start, 0, 2)];
        assert_eq!(run(&mut node), (left.to_vec(), vec![]));
        assert_eq!(counts(&node, ["arrived", "forwarded"]), [2, 2]);
        assert_eq!(count(&node, "buffered"), 1);
        assert_eq!(counts(&node, ["oe_bytes", "eo_bytes"]), [1000, 1000]);
        // The packet is in the buffer until it is sent back to the matrix.
        let held = 1000.0 * (start - 10_000 - 100_000) as f64;
        assert_eq!(count(&node, "buffer_max_bytes"), 1000);
        assert_eq!(sum(&node, "buffer_byte_ps", Time(5_000_000)), held);
    }
}

#[test]
fn an_input_port_is_taken_until_the_unit_is_received() {
    // Port 0 is busy until 8,010,000. The second packet is received at 910,000; the third needs the
    // input port just before that. The fourth finds it free and occupies it until 910,000 + 10,000
    // + 2000 * 800 = 2,520,000.
    let mut node = switch(1, false, None);
    node.packet(0, 1, 0, 10_000);
    node.packet(100_000, 2, 0, 1000);
    node.packet(909_999, 3, 0, 1000);
    node.packet(910_000, 1, 0, 2000);
    node.packet(2_519_999, 3, 0, 1000);
    let left = [
        Left::packet(10_000, 0, 1),
        Left::packet(8_020_000, 0, 2),
        Left::packet(8_830_000, 0, 4),
    ];
    let dropped = [(909_999, 3), (2_519_999, 5)];
    let dropped = dropped.map(|(time, n)| lost(time, 0, n, NO_INPUT_PORT));
    assert_eq!(run(&mut node), (left.to_vec(), dropped.to_vec()));
    // With two input ports the third packet uses the other one.
    let mut node = switch(2, false, None);
    node.packet(0, 1, 0, 10_000);
    for (time, from, bytes) in [(100_000, 2, 1000), (909_999, 3, 1000), (910_000, 1, 2000)] {
        node.packet(time, from, 0, bytes);
    }
    let (left, dropped) = run(&mut node);
    let starts: Vec<u64> = left.iter().map(|left| left.start).collect();
    assert_eq!(starts, [10_000, 8_020_000, 8_830_000, 9_640_000]);
    assert_eq!(dropped, []);
}

#[test]
fn an_output_that_becomes_free_goes_to_the_unit_that_waits_for_it() {
    // The second packet may leave at 910,000. The third arrives at that instant: it finds the
    // output taken by the second, and the input port just freed by it. The third is received at
    // 910,000 + 10,000 + 800,000 = 1,720,000, when the output becomes free.
    let mut node = switch(1, false, None);
    node.packet(0, 1, 0, 1000);
    node.packet(100_000, 2, 0, 1000);
    node.packet(910_000, 3, 0, 1000);
    let left = [
        Left::packet(10_000, 0, 1),
        Left::packet(920_000, 0, 2),
        Left::packet(1_730_000, 0, 3),
    ];
    assert_eq!(run(&mut node), (left.to_vec(), vec![]));
}

#[test]
fn first_buffered_is_first_re_emitted_and_takes_an_output_port_of_the_buffer() {
    // Ports 0 and 1 are busy until 8,010,000. One packet waits for port 1, a later one for port 0.
    for (ne, second) in [
        // the only output port of the buffer is free at 8,020,000 + 1000 * 800; then the matrix is
        // set
        (1, 8_830_000),
        (2, 8_020_000),
    ] {
        let mut node = switch(ne, false, None);
        node.packet(0, 2, 0, 10_000);
        node.packet(0, 3, 1, 10_000);
        let first = node.packet(100_000, 0, 1, 1000);
        let then = node.packet(1_000_000, 1, 0, 500);
        let (left, dropped) = run(&mut node);
        let mut expected = [
            Left::packet(8_020_000, 1, first),
            Left::packet(second, 0, then),
        ];
        expected.sort_by_key(|left| (left.start, left.port));
        assert_eq!((&left[2..], dropped), (&expected[..], vec![]));
    }
}

#[test]
fn a_unit_is_not_held_up_by_one_that_waits_for_another_output() {
    // Port 0 is busy until 8,010,000, port 1 until 10,000 + 2000 * 800. The second buffered packet
    // is received at 1,010,000.
    let mut node = switch(2, false, None);
    node.packet(0, 2, 0, 10_000);
    node.packet(0, 3, 1, 2000);
    node.packet(100_000, 1, 0, 1000);
    node.packet(200_000, 0, 1, 1000);
    let left = [
        Left::packet(10_000, 0, 1),
        Left::packet(10_000, 1, 2),
        Left::packet(1_620_000, 1, 4),
        Left::packet(8_020_000, 0, 3),
    ];
    assert_eq!(run(&mut node), (left.to_vec(), vec![]));
}

#[test]
fn the_buffer_holds_so_many_bytes() {
    // Port 0 is busy until 4,010,000. Two packets of 1000 and 500 bytes fill the buffer; when the
    // first is re-emitted, at 4,010,000, there is room for 1000 bytes.
    let mut node = switch(4, false, Some(1500));
    node.packet(0, 1, 0, 5000);
    node.packet(100_000, 2, 0, 1000);
    node.packet(200_000, 3, 0, 501);
    node.packet(300_000, 3, 0, 500);
    node.packet(400_000, 2, 0, 1);
    node.packet(4_009_999, 2, 0, 1);
    node.packet(4_010_000, 2, 0, 1000);
    let left = [(10_000, 1), (4_020_000, 2), (4_830_000, 4), (5_240_000, 7)];
    // packet 7 is received at 4,820,000; packet 4 ends at 4,830,000 + 400,000
    let left = left.map(|(start, number)| Left::packet(start, 0, number));
    let dropped = [(200_000, 3), (400_000, 5), (4_009_999, 6)];
    let dropped = dropped.map(|(time, n)| lost(time, 0, n, BUFFER_FULL));
    assert_eq!(run(&mut node), (left.to_vec(), dropped.to_vec()));
    assert_eq!(count(&node, "buffer_max_bytes"), 1500);
}

#[test]
fn without_a_port_into_the_buffer_it_is_an_all_optical_switch() {
    let script = |mut node: Alone| {
        for (time, from) in [(0, 1), (1, 2), (809_999, 3), (810_000, 2), (900_000, 1)] {
            node.packet(time, from, 0, 1000);
        }
        let found = run(&mut node);
        (found, node.node().counted(Time::NEVER).drops)
    };
    let hybrid = script(switch(0, false, None));
    let all_optical = script(alone(&ALL_OPTICAL, &[1; 4]));
    assert_eq!(hybrid.0, all_optical.0);
    assert_eq!(all_optical.1, [(CONTENTION, 3)]);
    let others = [(NO_INPUT_PORT, 0), (BUFFER_FULL, 0), (QUEUE_FLUSHED, 0)];
    assert_eq!(hybrid.1, [all_optical.1, others.to_vec()].concat());
}

#[test]
fn a_unit_with_several_next_hops_leaves_by_the_first_that_becomes_free() {
    // Ports 1 and 2 to end 1 are busy until 810,000 and 1,010,000, in random order.
    for seed in 0..10 {
        let around = Around {
            seed,
            ..Around::default()
        };
        let mut node = alone_in(around, &settings(1, true, None), &[1, 2]);
        for time in [0, 200_000, 300_000] {
            node.packet(time, 0, 1, 1000);
        }
        let (left, dropped) = run(&mut node);
        let first = left[0].port;
        let expected = [
            Left::packet(10_000, first, 1),
            Left::packet(210_000, 3 - first, 2),
            Left::packet(820_000, first, 3),
        ];
        assert_eq!((left, dropped), (expected.to_vec(), vec![]));
    }
}

#[test]
fn units_that_wait_for_different_outputs_of_one_set_do_not_hold_each_other_up() {
    // Each packet draws port 1 or 2 to end 1. The first and the third draw one port, which is busy
    // until 8,010,000; the second and the fourth draw the other, busy until 10,001 + 2000 * 800.
    let mut found = 0;
    for seed in 0..100 {
        let mut draw = Stream::new(seed, "switch");
        let drawn: [u16; 4] = std::array::from_fn(|_| 1 + draw.below(2) as u16);
        let (long, short) = (drawn[0], drawn[1]);
        if long == short || drawn[2..] != [long, short] {
            continue;
        }
        let around = Around {
            choice: Choice::Random,
            seed,
            ..Around::default()
        };
        let mut node = alone_in(around, &settings(2, false, None), &[1, 2]);
        for (time, bytes) in [(0, 10_000), (1, 2000), (100_000, 1000), (200_000, 1000)] {
            node.packet(time, 0, 1, bytes);
        }
        let left = [
            Left::packet(10_000, long, 1),
            Left::packet(10_001, short, 2),
            Left::packet(1_620_001, short, 4),
            Left::packet(8_020_000, long, 3),
        ];
        assert_eq!(run(&mut node), (left.to_vec(), vec![]));
        found += 1;
    }
    assert!(found > 5, "{found}");
}

#[test]
fn a_burst_is_buffered_as_a_whole() {
    // received at 100,000 + 10,000 + 1500 * 800
    let mut node = switch(1, false, None);
    node.packet(0, 1, 0, 1000);
    node.burst(100_000, 2, &[(0, 1000), (0, 500)]);
    let left = [
        Left::packet(10_000, 0, 1),
        Left::burst(1_320_000, 0, &[2, 3], 1500),
    ];
    assert_eq!(run(&mut node), (left.to_vec(), vec![]));
    assert_eq!(count(&node, "oe_bytes"), 1500);
}
