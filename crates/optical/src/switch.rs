//! Switches: one file for each kind; [`REGISTRY`] is the one list of them.

mod all_optical;
mod burst;
mod electronic;
mod hybrid;
mod obs;

pub use all_optical::{AllOptical, AllOpticalSettings, CONTENTION};
pub use burst::BurstSettings;
pub use electronic::{ElectronicSettings, QUEUE_FULL};
pub use hybrid::{HybridSettings, ReEmission, BUFFER_FULL, NO_INPUT_PORT};
pub use obs::ObsSettings;

use crate::assembly::Assembly;
use crate::edge::EdgeCounters;
use crate::obs::contention::DropEnd;
use crate::obs::ObsCounters;
use crate::settings::{of_kind, Table};
use all_optical::AllOpticalCounters;
use electronic::ElectronicCounters;
use hybrid::HybridCounters;
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::{
    Choice, Context, Counted, Counters, NodeId, NoticeDelay, Pick, PortId, Rate, Sendable, Switch,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;

/// The settings of one kind of switch, and what follows from them for the network around it.
pub trait SwitchSettings: Debug + Send + Sync {
    /// An idle switch with these settings.
    fn build(&self, build: Build) -> Box<dyn Switch>;

    /// Whether it acts on the tail of a unit (or on its head), which comes from a host or from
    /// another switch.
    fn stores_and_forwards(&self, _from_host: bool) -> bool {
        false
    }

    /// Time to set up a connection through the optical matrix.
    fn switching_time(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether it is an edge of bursts where it has hosts.
    fn assembles(&self) -> bool {
        false
    }

    /// How it then makes bursts of the packets that hosts send, if it takes those, too.
    fn assembly(&self) -> Option<&Assembly> {
        None
    }

    /// How long after a loss it is to be told which flows that hit, if it wants to know.
    fn notices(&self) -> Option<NoticeDelay> {
        self.assembly()?.rule.notices()
    }

    /// How many classes of bursts it tells apart; none where they are all alike.
    fn classes(&self) -> usize {
        0
    }

    /// What it cuts off bursts, if it does.
    fn cuts(&self) -> Option<DropEnd> {
        None
    }

    /// Whether headers go ahead of the bursts.
    fn sends_headers(&self) -> bool {
        false
    }
}

/// What one switch is built from, beside its settings.
pub struct Build {
    /// Choice among equal-cost next hops.
    pub choice: Choice,
    /// The switch's own random stream.
    pub draw: Stream,
    /// That of the rule by which it assembles bursts, if it does.
    pub assembly: Stream,
    /// The number of its sets of next hops.
    pub sets: usize,
    /// Which switch it is.
    pub node: NodeId,
    /// The switch of each host.
    pub edges: Arc<[NodeId]>,
    /// The class of each flow; empty where bursts are all alike.
    pub classes: Arc<[u16]>,
    /// What each node adds to the time of a unit that passes it.
    pub switching_times: Arc<[Duration]>,
    /// The data channels of each of its ports; none where it leads to a host.
    pub channels: Vec<u16>,
    /// The rate of the links between switches, if there are any: one rate where units are bursts.
    pub fibre_rate: Option<Rate>,
    /// What is later is not counted.
    pub time_limit: Time,
    /// When counts are read before the end of the run.
    pub looks: [Time; 2],
}

/// A kind of switch by its name in the scenario.
pub struct SwitchKind {
    /// The name.
    pub name: &'static str,
    /// What a switch of this kind counts, before it has counted anything.
    pub counted: fn() -> Counted,
    /// Reads its settings.
    read: fn(Table) -> serde_json::Result<Arc<dyn SwitchSettings>>,
}

/// All kinds of switch. A new one is a new file and a line here.
pub const REGISTRY: &[SwitchKind] = &[
    kind::<AllOpticalSettings, AllOpticalCounters>("all-optical"),
    kind::<HybridSettings, HybridCounters>("hybrid"),
    kind::<ElectronicSettings, ElectronicCounters>("electronic"),
    kind::<BurstSettings, EdgeCounters>("burst"),
    kind::<ObsSettings, ObsCounters>("obs"),
];

/// The kind with the settings `S` that counts `C`.
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

/// Reads the settings of a switch, by its kind.
pub fn read(mut table: Table) -> Result<Arc<dyn SwitchSettings>, String> {
    let kind = of_kind("switches", REGISTRY, |kind| kind.name, &mut table)?;
    (kind.read)(table).map_err(|error| error.to_string())
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
