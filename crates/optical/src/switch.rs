//! Switches: one file for each kind; [`REGISTRY`] is the one list of them.

mod all_optical;
mod electronic;
mod hybrid;

pub use all_optical::AllOptical;
pub use electronic::Electronic;
pub use hybrid::Hybrid;

use crate::assembly::Assembly;
use crate::edge::Edge;
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::{Choice, Context, NodeId, Pick, PortId, Rate, Sendable, Switch};
use std::sync::Arc;

/// The settings of all kinds of switch; each kind reads its own.
#[derive(Clone, Debug, Default)]
pub struct SwitchSettings {
    /// Time to set up a connection through the optical matrix.
    pub switching_time: Duration,
    /// Ports into, and as many out of, the shared electronic buffer (ne).
    pub buffer_ports: usize,
    /// Bytes that the shared buffer holds; none: unlimited.
    pub buffer_bytes: Option<u64>,
    /// Whether a buffered unit may leave before it is fully received.
    pub re_emit_early: bool,
    /// Bytes that an output queue holds; none: unlimited.
    pub queue_bytes: Option<u64>,
    /// Backlog from which on units are marked (ECN); none: never.
    pub ecn_threshold_bytes: Option<u64>,
    /// How bursts are made.
    pub assembly: Option<Assembly>,
}

/// What one switch is built from.
pub struct Build<'a> {
    /// Its settings.
    pub settings: &'a SwitchSettings,
    /// Choice among equal-cost next hops.
    pub choice: Choice,
    /// The switch's own random stream.
    pub draw: Stream,
    /// The number of its sets of next hops.
    pub sets: usize,
    /// Which switch it is.
    pub node: NodeId,
    /// The switch of each host.
    pub edges: Arc<[NodeId]>,
    /// The rate of the links between switches, if there are any: one rate where units are bursts.
    pub fibre_rate: Option<Rate>,
    /// What is later is not counted.
    pub time_limit: Time,
}

/// A kind of switch by its name in the scenario.
pub struct SwitchKind {
    /// The name.
    pub name: &'static str,
    /// Whether it acts on the tail of a unit (or on its head).
    pub store_and_forward: bool,
    /// Builds one.
    pub build: fn(Build) -> Box<dyn Switch>,
}

/// All kinds of switch. A new one is a new file and a line here.
pub const REGISTRY: &[SwitchKind] = &[
    SwitchKind {
        name: "all-optical",
        store_and_forward: false,
        build: |b| Box::new(AllOptical::new(b)),
    },
    SwitchKind {
        name: "hybrid",
        store_and_forward: false,
        build: |b| Box::new(Hybrid::new(b)),
    },
    SwitchKind {
        name: "electronic",
        store_and_forward: true,
        build: |b| Box::new(Electronic::new(b)),
    },
    SwitchKind {
        name: "burst",
        store_and_forward: false,
        build: |b| match b.edges.contains(&b.node) {
            true => Box::new(Edge::new(b)),
            false => Box::new(AllOptical::new(b)),
        },
    },
];

/// The kind called `name`.
pub fn find(name: &str) -> Option<&'static SwitchKind> {
    REGISTRY.iter().find(|kind| kind.name == name)
}

/// A free output, or one of all if none is free.
#[inline]
pub(crate) fn output(
    choice: Choice,
    unit: impl Sendable,
    draw: &mut Stream,
    ctx: &Context<'_>,
) -> PortId {
    let route = ctx.route(unit);
    match choice.pick(route, unit, draw, ctx) {
        Pick::Free(port) => port,
        Pick::Busy(outputs) if outputs.len == 1 => ctx.port(outputs, 0),
        Pick::Busy(outputs) => ctx.port(outputs, draw.below(u32::from(outputs.len))),
    }
}

/// Sends a unit straight through the optical matrix.
#[inline]
pub(crate) fn cut_through(
    port: PortId,
    unit: impl Sendable,
    switching_time: Duration,
    ctx: &mut Context<'_>,
) {
    let start: Time = ctx.now() + switching_time;
    ctx.send(port, unit, start);
}
