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

/// A star of `hosts` hosts, each sending one long flow to the next but one.
fn star(hosts: u32, switch: &str) -> Plan {
    let settings = format!(
        r#"{{"hosts": {hosts}, "nodes": {}, "routing": {{"kind": "shortest-path"}},
            "choice": "free", "seed": 1, "time_limit_ps": 1000000000000000, "switch": {switch},
            "transport": {{"kind": "sawl", "p": 4, "alpha": 1.1, "beta": 0.5,
                "initial_timeout_ps": 1000000000, "max_timeout_ps": 60000000000000,
                "segment_bytes": 9000, "header_bytes": 0, "control_bytes": 64}}}}"#,
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
    }
    let mut flows = Flows::default();
    for flow in 0..4 * hosts {
        flows.source.push(flow % hosts);
        flows.destination.push((flow * 3 + 1) % hosts);
        flows.start_ps.push(u64::from(flow) * 1000);
        flows.bytes.push(60_000_000);
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

#[test]
fn nothing_is_allocated_in_the_steady_state() {
    for switch in [
        r#"{"kind": "hybrid", "buffer_ports": 5}"#,
        r#"{"kind": "all-optical"}"#,
        r#"{"kind": "electronic"}"#,
    ] {
        let plan = star(16, switch);
        let mut run = lightburst_sim::prepare(&plan).unwrap();
        assert!(!run.advance(400_000), "the warm-up must not end the run");
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        assert!(!run.advance(400_000), "the steady state must last");
        let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
        assert_eq!(allocations, 0, "{switch}");
    }
}
