//! Switches. Each kind has a file of its own and a line in [`REGISTRY`].

mod all_optical;
mod burst;
mod circuit;
mod electronic;
mod hybrid;
mod obs;

pub use all_optical::{AllOptical, AllOpticalSettings, CONTENTION};
pub use burst::BurstSettings;
pub use circuit::{CircuitCounters, CircuitSettings};
pub use electronic::{ElectronicSettings, HEADROOM_FULL, QUEUE_FLUSHED};
pub use hybrid::{HybridSettings, ReEmission, BUFFER_FULL, NO_INPUT_PORT};
pub use obs::ObsSettings;

use crate::assembly::Assembly;
use crate::circuit::{Closures, Layout};
use crate::edge::EdgeCounters;
use crate::obs::contention::DropEnd;
use crate::obs::ObsCounters;
use crate::settings::{of_kind, Table};
use all_optical::AllOpticalCounters;
use electronic::ElectronicCounters;
use hybrid::HybridCounters;
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::link::pause::Bounds;
use lightburst_net::{
    Choice, Context, Counted, Counters, NodeId, NoticeDelay, Pick, PortId, Rate, Sendable, Switch,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// Settings of one kind of switch, and their consequences for the network around it.
pub trait SwitchSettings: Debug + Send + Sync {
    /// Creates an idle switch with these settings.
    fn build(&self, build: Build) -> Box<dyn Switch>;

    /// Whether the switch acts on the tail of an arriving unit rather than on its head, for units
    /// from a host or from another switch.
    fn stores_and_forwards(&self, _from_host: bool) -> bool {
        false
    }

    /// Whether units wait in explicit queues at its outputs.
    fn queues_at_outputs(&self) -> bool {
        false
    }

    /// Whether a unit at an output waits in a queue until its transmission begins, and can be taken
    /// back before.
    fn gives_back(&self) -> bool {
        false
    }

    /// Whether the switch handles packets only, and reads the state of no other node, so that it can
    /// be in a network that runs in parts.
    fn runs_in_parts(&self) -> bool {
        false
    }

    /// Whether links at the switch can be down: its routes can change while it runs.
    fn takes_outages(&self) -> bool {
        false
    }

    /// Returns the time to set up a connection through the optical matrix.
    fn switching_time(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether the switch assembles bursts if it has hosts.
    fn assembles(&self) -> bool {
        false
    }

    /// Returns its burst assembly; `None` if it accepts no packets from hosts.
    fn assembly(&self) -> Option<&Assembly> {
        None
    }

    /// Returns the delay after a burst loss until the switch knows the affected flows; `None`: it
    /// receives no notices.
    fn notices(&self) -> Option<NoticeDelay> {
        self.assembly()?.rule.notices()
    }

    /// Returns the line of each group of flows in its queues; `None`: they do not distinguish groups.
    fn lines_of_groups(&self) -> Option<Arc<[u16]>> {
        None
    }

    /// Returns the bounds of its priority flow control; `None`: it asks for no pauses.
    fn pauses(&self) -> Option<Bounds> {
        None
    }

    /// Returns the number of burst classes; 0 if bursts are not divided into classes.
    fn classes(&self) -> usize {
        0
    }

    /// Returns which part of a burst, head or tail, the switch cuts off; `None` if neither.
    fn cuts(&self) -> Option<DropEnd> {
        None
    }

    /// Returns its circuits; `None` if it is no circuit switch.
    fn circuits(&self) -> Option<&CircuitSettings> {
        None
    }

    /// Whether it asks for the sizes of flows.
    fn wants_sizes(&self) -> bool {
        false
    }

    /// Whether header packets precede the bursts.
    fn sends_headers(&self) -> bool {
        false
    }
}

/// Data from which a switch is built, besides its settings.
pub struct Build {
    /// Choice among equal-cost next hops.
    pub choice: Choice,
    /// Random stream of the switch.
    pub draw: Stream,
    /// Seed of the run.
    pub seed: u64,
    /// Numbers of its output links.
    pub outputs: Range<u32>,
    /// Whether one of them can have several units to send that left an explicit queue.
    pub holds_back: bool,
    /// Whether links of the network are paused.
    pub pauses: bool,
    /// Random stream of its assembly policy.
    pub assembly: Stream,
    /// Number of its sets of next hops.
    pub sets: usize,
    /// Number of the node.
    pub node: NodeId,
    /// Edge switch of each host.
    pub edges: Arc<[NodeId]>,
    /// Class of each flow; empty if bursts are not divided into classes.
    pub classes: Arc<[u16]>,
    /// Group of each flow, if some queues distinguish groups; otherwise empty.
    pub groups: Arc<[u16]>,
    /// Bytes of each flow; empty where no switch asks for them.
    pub sizes: Arc<[u64]>,
    /// Time each node adds to the transit of a unit.
    pub switching_times: Arc<[Duration]>,
    /// Number of data channels of each port; 0 if the port leads to a host.
    pub channels: Vec<u16>,
    /// Rate of the links between switches, if any; all have the same rate if units are bursts.
    pub fibre_rate: Option<Rate>,
    /// End of the run; later times are not counted.
    pub time_limit: Time,
    /// Times before the end of the run at which the counters are read.
    pub looks: [Time; 2],
    /// Racks and circuit switches, if there are circuits.
    pub layout: Option<Arc<Layout>>,
    /// Circuits that lead nowhere for a time, if links can be down.
    pub closures: Option<Arc<Closures>>,
}

/// Registry entry of a kind of switch.
pub struct SwitchKind {
    /// Name in the scenario.
    pub name: &'static str,
    /// Returns the counters of such a switch, all zero.
    pub counted: fn() -> Counted,
    /// Reads the settings of the switch from its table.
    read: fn(Table) -> serde_json::Result<Arc<dyn SwitchSettings>>,
}

/// All kinds of switches. To add one, create a file and add a line here.
pub const REGISTRY: &[SwitchKind] = &[
    kind::<AllOpticalSettings, AllOpticalCounters>("all-optical"),
    kind::<HybridSettings, HybridCounters>("hybrid"),
    kind::<ElectronicSettings, ElectronicCounters>("electronic"),
    kind::<BurstSettings, EdgeCounters>("burst"),
    kind::<ObsSettings, ObsCounters>("obs"),
    kind::<CircuitSettings, CircuitCounters>("circuit"),
];

/// Makes the entry of the kind with the settings `S` and the counters `C`.
const fn kind<S, C>(name: &'static str) -> SwitchKind
where
    S: SwitchSettings + DeserializeOwned + 'static,
    C: Counters,
{
    SwitchKind {
        name,
        counted: || C::default().counted(Time::ZERO),
        read: |table| Ok(Arc::new(S::deserialize(Value::Object(table))?)),
    }
}

/// Reads the settings of a switch, of the kind named in the table.
pub fn read(mut table: Table) -> Result<Arc<dyn SwitchSettings>, String> {
    let kind = of_kind("switches", REGISTRY, |kind| kind.name, &mut table)?;
    (kind.read)(table).map_err(|error| error.to_string())
}

/// Returns a free output, or a random one if all are busy; with `QUEUES` one with an empty queue.
#[inline(always)]
pub(crate) fn output<const QUEUES: bool>(
    choice: &mut Choice,
    unit: impl Sendable,
    draw: &mut Stream,
    ctx: &Context<'_>,
) -> PortId {
    let route = ctx.route(unit);
    match choice.pick::<QUEUES>(route, unit, draw, ctx) {
        Pick::Free(port) => port,
        Pick::Busy(outputs) if outputs.len == 1 => ctx.port(outputs, 0),
        Pick::Busy(outputs) => ctx.port(outputs, draw.below(u32::from(outputs.len))),
    }
}

/// Sends a unit through the optical matrix without buffering it.
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
