//! No memory is allocated in the steady state: arenas, event queue and queues have reached their
//! final size and reuse their slots.
#![allow(unsafe_code)]

use lightburst_sim::columns::{Column, Output};
use lightburst_sim::plan::{Flows, Links, Nodes, Plan, PlanSettings};
use lightburst_sim::Run;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Allocations of this thread; that of the test harness reports a test of more than a minute.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const WARM_UP: u64 = 400_000;

const SAWL: &str = r#"{"kind": "sawl", "p": 4, "alpha": 1.1, "beta": 0.5,
    "initial_timeout_ps": 1000000000, "max_timeout_ps": 60000000000000,
    "segment_bytes": 9000, "header_bytes": 0, "control_bytes": 64}"#;

const AT_RANDOM: &str = r#"{"probability": 0.005, "acknowledgement_probability": 0.0}"#;

const KEPT_APART: &str = r#"{"kind": "multi-queue", "time_ps": 1000000000, "allocation": {
    "kind": "a-posteriori", "queues": 2, "forget_after_ps": 1000000000000}}"#;

const BBR1: &str = r#"{"kind": "bbr1", "cwnd_gain": 2.0, "min_rtt_window_ps": 10000000000000,
    "probe_rtt_time_ps": 200000000000, "policer_detection": true, "ack_aggregation": true}"#;

const BBR3: &str = r#"{"kind": "bbr3", "cwnd_gain": 2.0, "loss_threshold": 0.02, "beta": 0.7,
    "headroom": 0.15, "min_rtt_window_ps": 10000000000000, "probe_rtt_interval_ps": 5000000000000,
    "probe_rtt_time_ps": 200000000000, "ack_aggregation": true}"#;

/// Drops for two flows: three segments in every 200, the first of them twice, so that a timeout
/// causes duplicates; and two acknowledgements in every 150.
fn by_script() -> String {
    let mut drops = Vec::new();
    for (flow, k) in (0..2).flat_map(|flow| (1..100).map(move |k| (flow, k))) {
        let (data, back) = (200 * k, 150 * k);
        for (last, transmission) in [(data + 2, 1), (data, 2)] {
            drops.push(format!(
                r#"{{"flow": {flow}, "segments": [{data}, {last}], "transmission": {transmission}}}"#
            ));
        }
        let last = back + 1;
        drops.push(format!(
            r#"{{"flow": {flow}, "acknowledgements": [{back}, {last}]}}"#
        ));
    }
    let drops = drops.join(", ");
    format!(r#"{{"probability": 0.0, "acknowledgement_probability": 0.0, "drops": [{drops}]}}"#)
}

fn tcp(recovery: &str, timestamps: bool) -> String {
    format!(
        r#"{{"kind": "tcp", "congestion_control": {{"kind": "reno", "halving": "flight-size"}},
            "recovery": {{"kind": "{recovery}", "partial_acknowledgement": "impatient",
                "full_acknowledgement": "flight-size", "duplicate_threshold": 3,
                "limited_transmit": true, "window_growth_on_exit": false, "bug_fix": true,
                "rescue_retransmission": true, "sack_blocks": 3, "duplicate_sack": true}},
            "rtt_samples": "one-at-a-time",
            "initial_window_bytes": 90000, "advertised_window_bytes": 900000,
            "acknowledge_every": 2, "acknowledgement_delay_ps": 1000000000,
            "initial_timeout_ps": 1000000000, "min_timeout_ps": 1000000000,
            "max_timeout_ps": 60000000000000, "clock_granularity_ps": 1000000, "backoff": 2.0,
            "timestamps": {timestamps}, "receiver_timers": true,
            "segment_bytes": 9000, "header_bytes": 0, "control_bytes": 64}}"#
    )
}

/// The sender of Linux, with timers of a data centre.
fn linux(law: &str, pacing: bool) -> String {
    format!(
        r#"{{"kind": "tcp", "congestion_control": {law},
            "recovery": {{"kind": "rack-tlp", "sack": true, "sack_blocks": 3,
                "duplicate_sack": true, "duplicate_threshold": 3, "reordering_threshold": true,
                "static_reordering_window": false, "tail_loss_probe": true, "frto": true,
                "reduction": "linux", "restart_after_idle": true, "pacing": {pacing}}},
            "rtt_samples": "every-acknowledgement",
            "initial_window_bytes": 90000, "advertised_window_bytes": 900000,
            "acknowledge_every": 2, "acknowledgement_delay_ps": 1000000000,
            "initial_timeout_ps": 1000000000, "min_timeout_ps": 1000000000,
            "max_timeout_ps": 60000000000000, "clock_granularity_ps": 1000000, "backoff": 2.0,
            "timeout": "linux", "timestamps": true, "receiver_timers": true,
            "segment_bytes": 9000, "header_bytes": 0, "control_bytes": 64}}"#
    )
}

/// Star of `hosts` hosts with four long flows each. The links from the hosts to the switch lose
/// units.
fn star(hosts: u32, switch: &str, transport: &str, loss: &str, megabytes: u64) -> Plan {
    let settings = format!(
        r#"{{"hosts": {hosts}, "nodes": {}, "routing": {{"kind": "shortest-path", "metric": "hops"}},
            "choice": "free", "seed": 1, "time_limit_ps": 1000000000000000, "switches": [{switch}],
            "loss": {loss}, "groups": [{{"transport": {transport}}}]}}"#,
        hosts + 1
    );
    let mut links = Links::default();
    for (from, to) in (0..hosts)
        .map(|h| (h, hosts))
        .chain((0..hosts).map(|h| (hosts, h)))
    {
        links.from.push(from);
        links.to.push(to);
        links.rate_bps.push(10_000_000_000);
        links.delay_ps.push(50_000);
        links.lossy.push(u8::from(from < hosts));
    }
    let source = |flow| flow % hosts;
    let destination = |flow| match (flow * 3 + 1) % hosts {
        clash if clash == source(flow) => (clash + 1) % hosts,
        other => other,
    };
    let each = || 0..4 * hosts;
    let flows = Flows {
        source: each().map(source).collect::<Vec<_>>().into(),
        destination: each().map(destination).collect::<Vec<_>>().into(),
        start_ps: each()
            .map(|flow| u64::from(flow) * 1000)
            .collect::<Vec<_>>()
            .into(),
        bytes: vec![megabytes * 1_000_000; each().len()].into(),
        ..Flows::default()
    };
    Plan {
        settings: PlanSettings::from_json(&settings).unwrap(),
        nodes: Nodes {
            switch: vec![0],
            ..Nodes::default()
        },
        links,
        flows,
    }
}

/// The path of yu2004: flows from host 0 over two edges and two cores to host 1. Bursts are lost in
/// both directions.
fn burst_path(assembly: &str, transport: &str, count: usize) -> Plan {
    let settings = format!(
        r#"{{"hosts": 2, "nodes": 6, "routing": {{"kind": "shortest-path", "metric": "hops"}},
            "choice": "free", "seed": 1, "time_limit_ps": 4000000000000000000,
            "switches": [{{"kind": "burst", "switching_time_ps": 0, "assembly": {assembly},
                "assemble_acknowledgements": true}}],
            "loss": {{"probability": 0.005, "acknowledgement_probability": 0.005}},
            "groups": [{{"transport": {transport}}}]}}"#
    );
    let mut links = Links::default();
    let chain: [(u32, u32); 5] = [(0, 2), (2, 3), (3, 4), (4, 5), (5, 1)];
    let mut both: Vec<_> = chain.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
    both.sort();
    for (from, to) in both {
        let access = from.min(to) < 2;
        links.from.push(from);
        links.to.push(to);
        links.rate_bps.push(if access {
            1_000_000_000
        } else {
            80_000_000_000
        });
        links.delay_ps.push(10_000_000_000);
        links
            .lossy
            .push(u8::from([(2, 3), (5, 4)].contains(&(from, to))));
    }
    let flows = Flows {
        source: vec![0; count].into(),
        destination: vec![1; count].into(),
        start_ps: vec![0; count].into(),
        bytes: vec![100_000_000_000_000; count].into(),
        ..Flows::default()
    };
    Plan {
        settings: PlanSettings::from_json(&settings).unwrap(),
        nodes: Nodes {
            switch: vec![0; 4],
            ..Nodes::default()
        },
        links,
        flows,
    }
}

const RING: u32 = 4;
/// Number of bursts per flow, one every 2 us to 4 us.
const BURSTS: u64 = 60_000;

/// Ring of edges that generate bursts of 1 us for the next node and the one after it. Fibres have
/// two channels and a delay of 1 ms.
fn burst_ring() -> Plan {
    let settings = format!(
        r#"{{"hosts": {RING}, "nodes": {}, "routing": {{"kind": "shortest-path", "metric": "hops"}},
            "choice": "free", "seed": 1, "time_limit_ps": 1000000000000000,
            "switches": [{{"kind": "obs", "switching_time_ps": 0,
                "assembly": {{"kind": "timer", "time_ps": 0}}, "assemble_acknowledgements": true,
                "header_processing_time_ps": 100000, "header_bytes": 64,
                "control_rate_bps": 10000000000, "offset_time_ps": 5000000,
                "offset_per_hop_ps": null, "signalling": "jet", "scheduler": "lauc-vf",
                "conversion": {{"kind": "full"}}, "ingress": "lose"}}],
            "groups": [{{"transport": {{"kind": "bursts",
                "segment_bytes": 1250, "header_bytes": 0, "control_bytes": 64}}}}]}}"#,
        2 * RING
    );
    let mut links = Links::default();
    for from in 0..2 * RING {
        let edge = RING + from % RING;
        let ends = match from < RING {
            true => vec![edge],
            false => vec![from - RING, RING + (from + 1) % RING],
        };
        for to in ends {
            links.from.push(from);
            links.to.push(to);
            links.rate_bps.push(10_000_000_000);
            links.delay_ps.push(1_000_000_000);
            links.channels.push(2);
        }
    }
    let each = || 0..2 * RING;
    let destination = |flow: u32| (flow % RING + 1 + flow / RING) % RING;
    let departures = |flow: u32| {
        let gap = 2_000_000 + 250_000 * u64::from(flow);
        (0..BURSTS).map(move |i| gap * i)
    };
    let flows = Flows {
        source: each().map(|flow| flow % RING).collect::<Vec<_>>().into(),
        destination: each().map(destination).collect::<Vec<_>>().into(),
        start_ps: vec![0; each().len()].into(),
        bytes: vec![BURSTS * 1250; each().len()].into(),
        departures_ps: each().flat_map(departures).collect::<Vec<_>>().into(),
        departure_offsets: (0..=u64::from(2 * RING))
            .map(|flow| flow * BURSTS)
            .collect::<Vec<_>>()
            .into(),
        ..Flows::default()
    };
    Plan {
        settings: PlanSettings::from_json(&settings).unwrap(),
        nodes: Nodes {
            switch: vec![0; RING as usize],
            ..Nodes::default()
        },
        links,
        flows,
    }
}

/// Returns the number of allocations during 400,000 events after the first `warm_up`.
fn allocations(plan: &Plan, warm_up: u64) -> u64 {
    steady(plan, warm_up).0
}

/// Returns the allocations as `allocations` does, and the run after these events.
fn steady(plan: &Plan, warm_up: u64) -> (u64, Box<dyn Run>) {
    let mut run = warm(plan, warm_up);
    let before = ALLOCATIONS.get();
    assert!(!run.advance(400_000), "the steady state must last");
    (ALLOCATIONS.get() - before, run)
}

/// Returns a run after its first `warm_up` events.
fn warm(plan: &Plan, warm_up: u64) -> Box<dyn Run> {
    let mut run = lightburst_sim::prepare(plan).unwrap();
    assert!(!run.advance(warm_up), "the warm-up must not end the run");
    run
}

/// Returns the units dropped by script, and the duplicates.
fn happened(run: Box<dyn Run>) -> [u64; 2] {
    let outputs = run.columns();
    [("drops", "units"), ("flows", "duplicates")].map(|(table, wanted)| {
        let output = outputs.iter().find(|(name, _)| *name == table);
        let Some((_, Output::Columns(table))) = output else {
            panic!("no table called {table}");
        };
        let column = table.iter().find(|(name, _)| *name == wanted);
        match &column.expect("counts of this name").1 {
            Column::U8(values) => values.iter().copied().map(u64::from).sum(),
            Column::U16(values) => values.iter().copied().map(u64::from).sum(),
            Column::U32(values) => values.iter().copied().map(u64::from).sum(),
            Column::U64(values) => values.iter().sum(),
            _ => panic!("no counts called {wanted}"),
        }
    })
}

#[test]
fn nothing_is_allocated_in_the_steady_state() {
    for switch in [
        r#"{"kind": "hybrid", "switching_time_ps": 0, "buffer_ports": 5, "re_emission": "after-reception"}"#,
        r#"{"kind": "all-optical", "switching_time_ps": 0}"#,
        r#"{"kind": "electronic"}"#,
    ] {
        let plan = star(16, switch, SAWL, AT_RANDOM, 60);
        // Without buffers, half of the flows wait for the others to end and lose their first data
        // only then.
        assert_eq!(allocations(&plan, 3 * WARM_UP), 0, "{switch}");
    }
    let switch = r#"{"kind": "electronic", "queue_bytes": 900000}"#;
    for recovery in ["tahoe", "reno", "new-reno", "sack", "sack1"] {
        let plan = star(4, switch, &tcp(recovery, false), AT_RANDOM, 6000);
        assert_eq!(allocations(&plan, 2 * WARM_UP), 0, "{recovery}");
    }
    for assembly in [
        r#"{"kind": "timer", "time_ps": 1000000000}"#,
        r#"{"kind": "mixed", "time_ps": 1000000000, "size_bytes": 45000}"#,
        r#"{"kind": "average-delay", "time_ps": 100000000}"#,
        r#"{"kind": "window-based", "slow_time_ps": 1000000000, "medium_time_ps": 1500000000,
            "fast_time_ps": 2000000000, "medium_window": 16, "fast_window": 64,
            "acknowledgements": "medium"}"#,
        r#"{"kind": "multi-queue", "time_ps": 1000000000,
            "allocation": {"kind": "a-priori", "queues": 2}}"#,
    ] {
        let plan = burst_path(assembly, &tcp("sack", true), 1);
        assert_eq!(allocations(&plan, 2 * WARM_UP), 0, "{assembly}");
    }
    // Two flows that lose data together: the largest number of simultaneous holes comes later.
    let plan = burst_path(KEPT_APART, &tcp("sack", true), 2);
    assert_eq!(allocations(&plan, 8 * WARM_UP), 0, "{KEPT_APART}");
    assert_eq!(allocations(&burst_ring(), WARM_UP), 0, "bursts of edges");
    // With timestamps, and D-SACK for duplicates; the largest number of holes comes early.
    let plan = star(4, switch, &tcp("sack", true), &by_script(), 6000);
    let (allocated, run) = steady(&plan, 2 * WARM_UP);
    assert_eq!(allocated, 0, "by script");
    let (seen, now) = (happened(warm(&plan, 2 * WARM_UP)), happened(run));
    assert!(now.iter().zip(seen).all(|(now, seen)| now - seen > 50));
    for (law, pacing) in [
        (
            r#"{"kind": "linux-cubic", "hystart": true, "fast_convergence": true}"#,
            false,
        ),
        (BBR1, true),
        (BBR3, true),
    ] {
        let plan = star(4, switch, &linux(law, pacing), &by_script(), 6000);
        assert_eq!(allocations(&plan, 2 * WARM_UP), 0, "{law}");
    }
}
