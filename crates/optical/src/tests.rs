//! Tests of each kind of switch, and of the edge, alone: units arrive by a script, and departures
//! and drops are compared with results worked out by hand. Times are in picoseconds.
//!
//! A link transmits a byte in 800 ps (10 Gb/s), and the set-up of a path through a switch takes
//! 10,000 ps.

mod all_optical;
mod conservation;
mod delay_lines;
mod edge;
mod electronic;
mod hybrid;
mod obs;
mod queues;
mod segmentation;
mod settings;

use crate::queue::{self, QUEUE_FULL};
use crate::switch::{AllOpticalSettings, Build, SwitchSettings, CONTENTION};
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::alone::{Alone, Dropped, Left};
use lightburst_net::{Choice, DropReason, NodeId, Rate};
use std::sync::Arc;

const SWITCHING: Duration = Duration(10_000);

const ALL_OPTICAL: AllOpticalSettings = AllOpticalSettings {
    switching_time: SWITCHING,
};

/// Data from which a switch is built, besides its settings.
#[derive(Clone)]
struct Around {
    choice: Choice,
    seed: u64,
    /// Switch of each host, at an edge.
    edges: Vec<u32>,
    /// Group of each flow, if queues distinguish groups.
    groups: Vec<u16>,
    /// Number of data channels of each port.
    channels: Vec<u16>,
    time_limit: Time,
    looks: [Time; 2],
}

impl Default for Around {
    fn default() -> Around {
        Around {
            choice: Choice::Free,
            seed: 1,
            edges: Vec::new(),
            groups: Vec::new(),
            channels: Vec::new(),
            time_limit: Time::NEVER,
            looks: [Time::NEVER; 2],
        }
    }
}

/// Creates a switch with `ports[i]` ports to the far end `i`.
fn alone(settings: &dyn SwitchSettings, ports: &[usize]) -> Alone {
    alone_in(Around::default(), settings, ports)
}

fn alone_in(around: Around, settings: &dyn SwitchSettings, ports: &[usize]) -> Alone {
    let edges: Arc<[NodeId]> = around.edges.into_iter().map(NodeId).collect();
    Alone::new(ports, Rate::from_bps(10_000_000_000), |node, sets| {
        settings.build(Build {
            choice: around.choice,
            draw: Stream::new(around.seed, "switch"),
            seed: around.seed,
            outputs: 0..ports.iter().sum::<usize>() as u32,
            holds_back: true,
            pauses: false,
            assembly: Stream::new(around.seed, "assembly"),
            sets,
            node,
            edges,
            classes: [].into(),
            groups: around.groups.into(),
            sizes: Arc::default(),
            switching_times: Vec::new().into(),
            channels: around.channels,
            // Faster than the links, so that results show which of the two rates applies.
            fibre_rate: Some(Rate::from_bps(40_000_000_000)),
            time_limit: around.time_limit,
            looks: around.looks,
            layout: None,
            closures: None,
        })
    })
}

fn lost(time: u64, port: u16, packet: u64, reason: &'static DropReason) -> Dropped {
    Dropped {
        time,
        port: Some(port),
        packet,
        reason,
        // a queue has no single unit as the cause of its drops
        held: reason != QUEUE_FULL && !queue::reasons().any(|of_queue| of_queue == reason),
    }
}

/// Runs the script to its end and checks that every unit has left or was dropped.
fn run(node: &mut Alone) -> (Vec<Left>, Vec<Dropped>) {
    node.run();
    assert_eq!(node.inside(), 0, "packets were left behind");
    (node.left(), node.dropped())
}

/// Returns the counters with these names.
fn counts<const N: usize>(node: &Alone, names: [&str; N]) -> [u64; N] {
    let counted = node.node().counted(Time::NEVER).counts;
    let named = |name| counted.iter().filter(move |(of, _)| *of == name);
    names.map(|name| named(name).map(|(_, value)| value).sum())
}

fn count(node: &Alone, name: &str) -> u64 {
    counts(node, [name])[0]
}

/// Returns the sum with this name, as counted up to `end`.
fn sum(node: &Alone, name: &str, end: Time) -> f64 {
    let sums = node.node().counted(end).sums;
    let named = sums.iter().filter(|(of, _)| *of == name);
    named.map(|(_, value)| *value as f64).sum()
}
