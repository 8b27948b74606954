//! Nodes with a control plane. Ends 0 and 1 lead to other nodes over fibres of two channels; at an
//! edge, end 2 is a host, which needs no channels. A byte of a burst takes 200 ps, and the delay of
//! a link is 1 ps.

use super::*;
use crate::assembly::{Assembly, Timer};
use crate::edge::Ordering;
use crate::obs::contention::ChainSettings;
use crate::obs::{scheduler, signalling, Conversion, IngressRule, LATE_HEADER, NO_CHANNEL};
use crate::switch::ObsSettings;

/// Transmission time of a burst of 100 bytes.
const TX: u64 = 20_000;

pub fn settings() -> ObsSettings {
    let scheduler = scheduler::REGISTRY.iter().find(|s| s.name == "lauc-vf");
    let signalling = signalling::REGISTRY.iter().find(|s| s.name == "jet");
    ObsSettings {
        assembly: Some(Assembly {
            rule: Arc::new(Timer {
                time: Duration::ZERO,
            }),
            max_bytes: None,
            min_bytes: None,
        }),
        assemble_acknowledgements: true,
        ordering: Ordering::None,
        switching_time: Duration::ZERO,
        header_processing_time: Duration::ZERO,
        header_bytes: 64,
        control_rate: None,
        offset_time: Duration::ZERO,
        extra_offset_ps: Vec::new(),
        offset_per_hop: None,
        signalling: *signalling.unwrap(),
        scheduler: *scheduler.unwrap(),
        conversion: Conversion::Full,
        ingress: IngressRule::Lose,
        contention: ChainSettings::default(),
    }
}

/// Creates a node without hosts, with two channels on each fibre.
fn core(settings: &ObsSettings) -> Alone {
    core_of(settings, 2)
}

/// Creates a node without hosts, with the given number of channels on each fibre.
pub fn core_of(settings: &ObsSettings, channels: u16) -> Alone {
    let around = Around {
        edges: vec![10, 11],
        channels: vec![channels; 2],
        ..Around::default()
    };
    alone_in(around, settings, &[1, 1])
}

/// Creates a node with a host at end 2; behind ends 0 and 1 are the edges 10 and 11.
fn edge(settings: &ObsSettings) -> Alone {
    let around = Around {
        edges: vec![10, 11, 3],
        channels: vec![2, 2, 0],
        ..Around::default()
    };
    alone_in(around, settings, &[1, 1, 1])
}

/// Schedules headers of bursts of 100 bytes from end 0 to end 1: for each its arrival time, and the
/// channel and arrival time of the burst.
pub fn headers(node: &mut Alone, script: &[(u64, (u16, u64))]) {
    for &(time, data) in script {
        node.header(time, 0, &[(1, 100)], data);
    }
}

pub fn gone(left: &[Left]) -> Vec<(u64, Left)> {
    left.iter().map(|left| (left.start, left.clone())).collect()
}

#[test]
fn a_header_reserves_a_channel_for_its_burst_and_goes_on_at_once() {
    let mut node = core(&settings());
    headers(
        &mut node,
        &[
            (1_000, (0, 50_000)),
            (2_000, (0, 60_000)),
            (3_000, (0, 69_999)),
        ],
    );
    let (left, dropped) = run(&mut node);
    let first = Left::header(1_000, 1, (0, 50_000), &[1]);
    // The first burst is on channel 0 until 70,000.
    let second = Left::header(2_000, 1, (1, 60_000), &[2]);
    assert_eq!(left, [first, second]);
    assert_eq!(dropped, [lost(3_000, 1, 3, NO_CHANNEL)]);
    assert_eq!(counts(&node, ["arrived", "forwarded"]), [3, 2]);
}

#[test]
fn a_channel_is_free_at_the_instant_at_which_a_reservation_ends() {
    let mut node = core(&settings());
    let script = [(0, (0, 50_000)), (1, (0, 50_000)), (2, (0, 50_000 + TX))];
    headers(&mut node, &script);
    let (left, dropped) = run(&mut node);
    assert_eq!(dropped, []);
    assert_eq!(gone(&left)[2].1, Left::header(2, 1, (0, 70_000), &[3]));
}

#[test]
fn a_burst_that_comes_sooner_than_one_that_is_reserved_fits_before_it() {
    let mut node = core(&ObsSettings {
        conversion: Conversion::None,
        ..settings()
    });
    let script = [
        (0, (1, 100_000)),
        (1, (1, 80_000)),
        (2, (1, 79_999)),
        (3, (1, 60_000)),
    ];
    headers(&mut node, &script);
    let (left, dropped) = run(&mut node);
    assert_eq!(dropped, [lost(2, 1, 3, NO_CHANNEL)]);
    assert_eq!(left.last(), Some(&Left::header(3, 1, (1, 60_000), &[4])));
}

#[test]
fn headers_are_handled_one_after_the_other_and_late_ones_are_lost_with_their_bursts() {
    let mut node = core(&ObsSettings {
        header_processing_time: Duration(5_000),
        switching_time: Duration(1_000),
        ..settings()
    });
    // The headers are processed at 5,000, 10,000 and 15,000.
    headers(
        &mut node,
        &[(0, (0, 6_000)), (1, (0, 30_000)), (2, (1, 15_999))],
    );
    let (left, dropped) = run(&mut node);
    let handled = [(5_000, 6_000, 0, 1), (10_000, 30_000, 0, 2)];
    let handled = handled.map(|(at, data, channel, n)| Left::header(at, 1, (channel, data), &[n]));
    assert_eq!(left, handled);
    let late = Dropped {
        held: false,
        port: None,
        ..lost(2, 1, 3, LATE_HEADER)
    };
    assert_eq!(dropped, [late]);
}

#[test]
fn just_in_time_reserves_from_the_header_on() {
    let jit = signalling::REGISTRY.iter().find(|s| s.name == "jit");
    let settings = ObsSettings {
        signalling: *jit.unwrap(),
        conversion: Conversion::None,
        ..settings()
    };
    let script = [(0, (0, 100_000)), (1, (0, 10_000))];
    let mut node = core(&settings);
    headers(&mut node, &script);
    let (_, dropped) = run(&mut node);
    assert_eq!(dropped, [lost(1, 1, 2, NO_CHANNEL)]);
}

#[test]
fn a_control_channel_sends_one_header_after_the_other() {
    let mut node = core(&ObsSettings {
        // 64 bytes take 51,200 ps.
        control_rate: Some(Rate::from_bps(10_000_000_000)),
        ..settings()
    });
    headers(&mut node, &[(0, (0, 200_000)), (1_000, (0, 300_000))]);
    let (left, _) = run(&mut node);
    // The recorded time is the arrival of the header less the delay of the link.
    let sent: Vec<u64> = left.iter().map(|left| left.start).collect();
    assert_eq!(sent, [51_200, 102_400]);
}

#[test]
fn a_burst_leaves_its_ingress_one_offset_time_behind_its_header() {
    let mut node = edge(&ObsSettings {
        offset_time: Duration(30_000),
        extra_offset_ps: Vec::new(),
        offset_per_hop: Some(Duration(7_000)),
        ..settings()
    });
    node.packet(1_000, 2, 1, 100);
    let (left, _) = run(&mut node);
    // The path has one fibre in this test: the link to the far end itself.
    assert_eq!(left, [Left::header(1_000, 1, (0, 31_000), &[1])]);
    assert_eq!(counts(&node, ["bursts", "eo_bytes"]), [1, 100]);
}

/// Launches four bursts of 100 bytes almost at once on a fibre of two channels.
fn crowd(ingress: IngressRule) -> (Vec<Left>, Vec<Dropped>) {
    let mut node = edge(&ObsSettings {
        ingress,
        offset_time: Duration(30_000),
        assemble_acknowledgements: false,
        ..settings()
    });
    for time in 0..4 {
        node.acknowledgement(time, 2, 1, 100);
    }
    run(&mut node)
}

#[test]
fn an_ingress_loses_what_finds_no_channel_or_sends_it_and_its_header_later() {
    let (left, dropped) = crowd(IngressRule::Lose);
    assert_eq!(left.len(), 2);
    assert_eq!(
        dropped,
        [lost(2, 1, 3, NO_CHANNEL), lost(3, 1, 4, NO_CHANNEL)]
    );
    let (left, dropped) = crowd(IngressRule::Delay);
    assert_eq!(dropped, []);
    let expected = [
        Left::header(0, 1, (0, 30_000), &[1]),
        Left::header(1, 1, (1, 30_001), &[2]),
        Left::header(TX, 1, (0, 30_000 + TX), &[3]),
        Left::header(TX + 1, 1, (1, 30_001 + TX), &[4]),
    ];
    assert_eq!(left, expected);
}

#[test]
fn a_burst_is_taken_apart_at_its_egress_when_its_tail_is_there() {
    let mut node = edge(&settings());
    node.header(1_000, 0, &[(2, 100), (2, 50)], (1, 40_000));
    // Starts later on another channel, but is complete earlier.
    node.header(2_000, 0, &[(2, 10)], (0, 41_000));
    let (left, _) = run(&mut node);
    let expected = [
        Left::packet(43_000, 2, 3),
        Left::packet(70_000, 2, 1),
        Left::packet(150_000, 2, 2),
    ];
    assert_eq!(left, expected);
}
