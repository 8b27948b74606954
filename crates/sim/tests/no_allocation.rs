//! In the steady state nothing is allocated: arenas, agenda and queues have
//! grown to what they need, and every place is used again.
#![allow(unsafe_code)]

use lightburst_sim::plan::{Flows, Links, Plan, Settings};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SAWL: &str = r#"{"kind": "sawl", "p": 4, "alpha": 1.1, "beta": 0.5,
    "initial_timeout_ps": 1000000000, "max_timeout_ps": 60000000000000,
    "segment_bytes": 9000, "header_bytes": 0, "control_bytes": 64}"#;

fn tcp(recovery: &str) -> String {
    format!(
        r#"{{"kind": "tcp", "congestion_control": "reno", "recovery": "{recovery}",
            "halving": "flight-size", "partial_acknowledgement": "impatient",
            "full_acknowledgement": "flight-size", "rtt_samples": "one-at-a-time",
            "initial_window_bytes": 90000, "advertised_window_bytes": 900000,
            "acknowledge_every": 2, "acknowledgement_delay_ps": 1000000000,
            "initial_timeout_ps": 1000000000, "min_timeout_ps": 1000000000,
            "max_timeout_ps": 60000000000000, "clock_granularity_ps": 1000000, "backoff": 2.0,
            "duplicate_threshold": 3, "limited_transmit": true, "window_growth_on_exit": false,
            "bug_fix": true, "rescue_retransmission": true, "sack_blocks": 4,
            "duplicate_sack": true, "timestamps": false, "receiver_timers": true,
            "segment_bytes": 9000, "header_bytes": 0, "control_bytes": 64}}"#
    )
}

/// A star of `hosts` hosts, each sending one long flow to the next but one; the
/// links from the hosts to the switch lose one unit with data in 200.
fn star(hosts: u32, switch: &str, transport: &str, megabytes: u64) -> Plan {
    let settings = format!(
        r#"{{"hosts": {hosts}, "nodes": {}, "routing": {{"kind": "shortest-path"}},
            "choice": "free", "seed": 1, "time_limit_ps": 1000000000000000, "switch": {switch},
            "loss": {{"probability": 0.005, "acknowledgement_probability": 0.0}},
            "transport": {transport}}}"#,
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
    let mut flows = Flows::default();
    for flow in 0..4 * hosts {
        flows.source.push(flow % hosts);
        flows.destination.push((flow * 3 + 1) % hosts);
        flows.start_ps.push(u64::from(flow) * 1000);
        flows.bytes.push(megabytes * 1_000_000);
    }
    let same = |i: &usize| flows.source[*i] == flows.destination[*i];
    let clash: Vec<usize> = (0..flows.source.len()).filter(same).collect();
    for i in clash {
        flows.destination[i] = (flows.destination[i] + 1) % hosts;
    }
    Plan {
        settings: Settings::from_json(&settings).unwrap(),
        links,
        flows,
    }
}

/// The allocations between two moments of a run that is well under way.
fn allocations(plan: &Plan) -> u64 {
    let mut run = lightburst_sim::prepare(plan).unwrap();
    assert!(!run.advance(400_000), "the warm-up must not end the run");
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    assert!(!run.advance(400_000), "the steady state must last");
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

#[test]
fn nothing_is_allocated_in_the_steady_state() {
    for switch in [
        r#"{"kind": "hybrid", "buffer_ports": 5}"#,
        r#"{"kind": "all-optical"}"#,
        r#"{"kind": "electronic"}"#,
    ] {
        assert_eq!(allocations(&star(16, switch, SAWL, 60)), 0, "{switch}");
    }
    for recovery in ["tahoe", "reno", "new-reno", "sack", "sack1"] {
        let switch = r#"{"kind": "electronic", "queue_bytes": 900000}"#;
        let plan = star(4, switch, &tcp(recovery), 6000);
        assert_eq!(allocations(&plan), 0, "{recovery}");
    }
}
