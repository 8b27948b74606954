//! Tests of an edge. Ends 0 and 1 are its hosts, at ports 0 and 1; ends 2 and 3 stand for hosts of
//! two other edges. A byte of a burst that ends here takes 200 ps.

use super::*;
use crate::assembly::{
    Assembly, AssemblyPolicy, AssemblySettings, Decision, Mixed, Queue, Size, Timer,
};
use crate::edge::Ordering;
use crate::switch::BurstSettings;
use lightburst_des::Ties;
use lightburst_net::alone::SEED;

/// Node number of the edge, after four far ends.
const EDGE: u32 = 4;

const TIME: Duration = Duration(1_000_000);

fn settings(rule: impl AssemblySettings + 'static) -> BurstSettings {
    BurstSettings {
        switching_time: SWITCHING,
        assembly: Some(Assembly {
            rule: Arc::new(rule),
            max_bytes: Some(9000),
            min_bytes: None,
        }),
        assemble_acknowledgements: true,
        ordering: Ordering::None,
    }
}

fn timer() -> BurstSettings {
    settings(Timer { time: TIME })
}

fn size() -> BurstSettings {
    settings(Size { size_bytes: 1500 })
}

fn mixed() -> BurstSettings {
    settings(Mixed {
        time: TIME,
        size_bytes: 1500,
    })
}

fn edge(settings: &BurstSettings) -> Alone {
    let around = Around {
        edges: vec![EDGE, EDGE, 10, 11],
        ..Around::default()
    };
    alone_in(around, settings, &[1; 4])
}

/// Sends a script of packets (time, bytes) to end 2 and returns the departures.
fn assembled(settings: &BurstSettings, packets: &[(u64, u32)]) -> Vec<Left> {
    let mut node = edge(settings);
    for &(time, bytes) in packets {
        node.packet(time, 0, 2, bytes);
    }
    let (left, dropped) = run(&mut node);
    assert_eq!(dropped, []);
    left
}

#[test]
fn by_timer_a_burst_leaves_so_long_after_its_first_packet() {
    let packets = [
        (0, 1000),
        (400_000, 500),
        // Arrives when the timer expires and is handled first; the next packet opens the next
        // burst.
        (1_000_000, 100),
        (1_000_001, 64),
    ];
    let left = [
        Left::burst(1_000_000, 2, &[1, 2, 3], 1600),
        // Closed at 2,000,001; leaves when the link is free, at 1,000,000 + 1600 * 800.
        Left::burst(2_280_000, 2, &[4], 64),
    ];
    assert_eq!(assembled(&timer(), &packets), left);
    let late = [(0, 1000), (1_400_000, 64)];
    let left = [
        Left::burst(1_000_000, 2, &[1], 1000),
        Left::burst(2_400_000, 2, &[2], 64),
    ];
    assert_eq!(assembled(&timer(), &late), left);
}

#[test]
fn by_size_a_burst_leaves_with_the_packet_that_fills_it() {
    let packets = [(0, 1000), (400_000, 499), (5_000_000, 1), (6_300_000, 1500)];
    let left = [
        Left::burst(5_000_000, 2, &[1, 2, 3], 1500),
        Left::burst(6_300_000, 2, &[4], 1500),
    ];
    assert_eq!(assembled(&size(), &packets), left);
}

#[test]
fn mixed_is_by_size_or_timer_as_comes_first() {
    let packets = [
        (0, 1000),
        (200_000, 500),
        // The timer set for the first burst, at 1,000,000, does not apply to this one.
        (900_000, 64),
        (1_800_000, 64),
    ];
    let left = [
        Left::burst(200_000, 2, &[1, 2], 1500),
        Left::burst(1_900_000, 2, &[3, 4], 128),
    ];
    assert_eq!(assembled(&mixed(), &packets), left);
    // It does not apply to an empty queue either.
    assert_eq!(assembled(&mixed(), &packets[..2]), left[..1]);
}

/// Rule with a timer of exponentially distributed length.
#[derive(Clone, Debug)]
struct RandomTimer {
    /// Mean length in picoseconds.
    mean: f64,
}

impl AssemblyPolicy for RandomTimer {
    fn on_packet(&mut self, queue: &Queue, draw: &mut Stream) -> Decision {
        match queue.packets {
            1 => Decision::StartTimer(Duration::nearest(self.mean * draw.exponential())),
            _ => Decision::Wait,
        }
    }
}

#[test]
fn a_rule_can_draw_the_length_of_its_timer() {
    let mean = 1_000_000.0;
    // One packet at a time: no timer is as long as thirty times the mean.
    let packets: Vec<_> = (0..20).map(|n| (n * 30_000_000, 64)).collect();
    let left = assembled(&settings(RandomTimer { mean }), &packets);
    // The timers are the draws of the edge's stream of assembly, in order.
    let mut draw = Stream::new(Around::default().seed, "assembly");
    let expected = (1..).zip(&packets).map(|(packet, (time, bytes))| {
        let timer = Duration::nearest(mean * draw.exponential());
        Left::burst(time + timer.0, 2, &[packet], *bytes)
    });
    assert_eq!(left, expected.collect::<Vec<_>>());
}

#[test]
fn a_burst_has_at_most_and_at_least_so_many_bytes() {
    let mut limited = timer();
    let assembly = limited.assembly.as_mut().expect("an assembly");
    (assembly.max_bytes, assembly.min_bytes) = (Some(1400), Some(900));
    let packets = [
        (0, 1000),
        (100_000, 400),
        // Does not fit: the queue is closed, and a new assembly time starts.
        (300_000, 1),
        // Does not fit either. The timers set at 0 and at 300,000 have no further effect.
        (1_200_000, 1401),
        (2_400_000, 64),
    ];
    let left = [
        Left::burst(300_000, 2, &[1, 2], 1400),
        // Closed at 1,200,000; the link is free at 300,000 + 1400 * 800.
        Left::burst(1_420_000, 2, &[3], 900),
        Left::burst(2_200_000, 2, &[4], 1401),
        Left::burst(3_400_000, 2, &[5], 900),
    ];
    assert_eq!(assembled(&limited, &packets), left);
    // A packet larger than the limit, in an empty queue.
    let left = [Left::burst(1_000_000, 2, &[1], 1401)];
    assert_eq!(assembled(&limited, &[(0, 1401)]), left);
}

#[test]
fn each_egress_has_a_queue_and_what_waits_is_counted() {
    let mut node = edge(&timer());
    node.packet(0, 0, 2, 1000);
    node.packet(300_000, 1, 3, 700);
    node.packet(400_000, 1, 2, 500);
    node.run_until(999_999);
    assert_eq!((node.inside(), node.node().held(0)), (3, 2200));
    node.run_until(1_000_000);
    assert_eq!(node.node().held(0), 700);
    let left = [
        Left::burst(1_000_000, 2, &[1, 3], 1500),
        Left::burst(1_300_000, 3, &[2], 700),
    ];
    assert_eq!(run(&mut node), (left.to_vec(), vec![]));
    assert_eq!(node.node().held(0), 0);
    assert_eq!(counts(&node, ["arrived", "forwarded"]), [3, 2]);
    assert_eq!(counts(&node, ["bursts", "burst_packets"]), [2, 3]);
    assert_eq!(counts(&node, ["burst_bytes", "eo_bytes"]), [2200, 2200]);
    // Two packets wait for the whole assembly time, and one arrives 400,000 after the first.
    let waited = (1_000_000 + 600_000 + 1_000_000) as f64;
    assert_eq!(sum(&node, "assembly_wait_ps", Time::NEVER), waited);
}

#[test]
fn acknowledgements_wait_too_or_are_bursts_of_their_own() {
    for acknowledgements in [true, false] {
        let mut settings = timer();
        settings.assemble_acknowledgements = acknowledgements;
        settings.assembly.as_mut().expect("an assembly").min_bytes = Some(100);
        let mut node = edge(&settings);
        node.packet(0, 0, 2, 1000);
        node.acknowledgement(100_000, 1, 2, 64);
        node.acknowledgement(150_000, 1, 2, 64);
        let left = if acknowledgements {
            vec![Left::burst(1_000_000, 2, &[1, 2, 3], 1128)]
        } else {
            vec![
                Left::burst(100_000, 2, &[2], 100),
                // the link is busy for 100 * 800
                Left::burst(180_000, 2, &[3], 100),
                Left::burst(1_000_000, 2, &[1], 1000),
            ]
        };
        assert_eq!(run(&mut node), (left, vec![]));
    }
}

#[test]
fn a_burst_is_traced_from_its_first_packet_to_its_departure() {
    let mut settings = timer();
    settings.assemble_acknowledgements = false;
    let mut node = edge(&settings);
    node.packet(100_000, 0, 2, 1000);
    node.packet(200_000, 1, 2, 500);
    node.acknowledgement(1_100_001, 1, 2, 64);
    run(&mut node);
    let rows = node.made().into_iter();
    let found = rows.map(|row| (row.opened.0, row.departure.0, row.packets, row.data));
    // The second burst is closed at once, and the link is free at 1,100,000 + 1500 * 800.
    let expected = [
        (100_000, 1_100_000, 2, true),
        (1_100_001, 2_300_000, 1, false),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn a_packet_for_a_host_of_this_edge_goes_to_it_at_once() {
    let mut node = edge(&timer());
    node.packet(50_000, 0, 1, 1000);
    node.acknowledgement(60_000, 1, 0, 64);
    let left = [Left::packet(50_000, 1, 1), Left::packet(60_000, 0, 2)];
    assert_eq!(run(&mut node), (left.to_vec(), vec![]));
    assert_eq!(count(&node, "bursts"), 0);
}

#[test]
fn a_burst_for_this_edge_is_taken_apart_when_its_tail_is_here() {
    // The tail arrives at 100,000 + 1700 * 200, by the rate of the fibre. Packet 1 then takes
    // 1000 * 800, by the rate of the host's link.
    let mut node = edge(&timer());
    node.burst(100_000, 2, &[(0, 1000), (1, 500), (0, 200)]);
    let left = [
        Left::packet(440_000, 0, 1),
        Left::packet(440_000, 1, 2),
        Left::packet(1_240_000, 0, 3),
    ];
    assert_eq!(run(&mut node), (left.to_vec(), vec![]));
    assert_eq!(counts(&node, ["arrived", "forwarded"]), [1, 3]);
    assert_eq!(counts(&node, ["oe_bytes", "eo_bytes"]), [1700, 0]);
}

#[test]
fn bursts_that_follow_each_other_are_taken_apart_one_by_one() {
    // The head of the second burst arrives with the tail of the first, at 100,000 + 1000 * 200.
    let mut node = edge(&timer());
    node.burst(100_000, 2, &[(0, 1000)]);
    node.burst(300_000, 2, &[(1, 500)]);
    let left = [Left::packet(300_000, 0, 1), Left::packet(400_000, 1, 2)];
    assert_eq!(run(&mut node), (left.to_vec(), vec![]));
}

#[test]
fn a_burst_for_another_edge_passes_in_light_or_is_lost() {
    let mut node = edge(&timer());
    node.burst(100_000, 2, &[(3, 1000), (3, 500)]);
    // port 3 is busy until 110,000 + 1500 * 800
    node.burst(1_309_999, 2, &[(3, 64)]);
    node.burst(1_310_000, 2, &[(3, 64)]);
    let left = [
        Left::burst(110_000, 3, &[1, 2], 1500),
        Left::burst(1_320_000, 3, &[4], 64),
    ];
    let dropped = [lost(1_309_999, 3, 3, CONTENTION)];
    assert_eq!(run(&mut node), (left.to_vec(), dropped.to_vec()));
    assert_eq!(counts(&node, ["arrived", "forwarded"]), [3, 2]);
    assert_eq!(counts(&node, ["oe_bytes", "eo_bytes"]), [0, 0]);
}

#[test]
fn tails_that_end_at_one_instant_over_two_links_come_in_the_order_that_is_drawn() {
    // The head of the longer burst arrives first, over either link; both tails arrive at `tail`.
    // Simultaneous timers of a node are ordered by a rank of their subject, here the link.
    let mut longer_first = Vec::new();
    for tail in (1_000_000..1_000_020).map(|i| i * 7) {
        for (long, short) in [(2, 3), (3, 2)] {
            let mut node = edge(&timer());
            node.burst(tail - 1000 * 200, long, &[(0, 1000)]);
            node.burst(tail - 500 * 200, short, &[(0, 500)]);
            let rank = |link| Ties::new(SEED, None).rank_at(Time(tail), EDGE, link);
            let left = if rank(long) < rank(short) {
                [
                    Left::packet(tail, 0, 1),
                    Left::packet(tail + 1000 * 800, 0, 2),
                ]
            } else {
                [
                    Left::packet(tail, 0, 2),
                    Left::packet(tail + 500 * 800, 0, 1),
                ]
            };
            assert_eq!(run(&mut node), (left.to_vec(), vec![]));
            longer_first.push(rank(long) < rank(short));
        }
    }
    assert!(longer_first.contains(&true) && longer_first.contains(&false));
}
