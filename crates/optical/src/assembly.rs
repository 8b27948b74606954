//! Burst assembly: when the packets that wait for one egress become a burst.
//!
//! One file for each; [`REGISTRY`] is the one list of them.

mod average_delay;
mod mixed;
mod multi_queue;
mod size;
mod timer;
mod window_based;

pub use average_delay::AverageDelay;
pub use mixed::Mixed;
pub use multi_queue::{APosteriori, Allocation, MultiQueue};
pub use size::Size;
pub use timer::Timer;
pub use window_based::{Pace, WindowBased};

use crate::settings::{least_bytes, of_kind, Table};
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::{NoticeDelay, Notices, Packet};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;

/// What waits for one egress in one queue, the packet that just came included.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queue {
    /// Which of the queues for the egress.
    pub number: u32,
    /// How many packets.
    pub packets: u32,
    /// How many bytes.
    pub bytes: u32,
    /// When the newest packet came.
    pub newest: Time,
    /// Sum of the arrival times of all, in picoseconds.
    pub arrivals: u128,
}

/// What becomes of a queue when a packet has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing.
    Wait,
    /// It will be closed after this time, unless it is closed before.
    StartTimer(Duration),
    /// It becomes a burst now.
    Close,
}

/// What a rule sees as a packet comes for which it chooses a queue.
pub struct Sight<'a> {
    /// The present time.
    pub now: Time,
    /// The random stream of the edge.
    pub draw: &'a mut Stream,
    /// What the edge is told of its bursts for this egress, if it wants to know.
    pub notices: Option<&'a mut Notices>,
}

/// A rule for the assembly of the bursts for one egress.
pub trait AssemblyPolicy: Send {
    /// Whether the packets for one egress wait in several queues.
    fn has_queues(&self) -> bool {
        false
    }

    /// The queue in which a packet is to wait, where there are several.
    fn queue(&mut self, _packet: &Packet, _sight: &mut Sight<'_>) -> u32 {
        0
    }

    /// A packet has come into a queue.
    fn on_packet(&mut self, queue: &Queue) -> Decision;
}

/// The settings of one rule.
pub trait AssemblySettings: Debug + Send + Sync {
    /// The rule for one egress, for which nothing waits.
    fn start(&self) -> Box<dyn AssemblyPolicy>;

    /// How long after a loss the edge is to be told which flows it hit, if it wants to know.
    fn notices(&self) -> Option<NoticeDelay> {
        None
    }
}

/// A rule that has nothing beside its settings is its own.
impl<P: AssemblyPolicy + Clone + Debug + Sync + 'static> AssemblySettings for P {
    fn start(&self) -> Box<dyn AssemblyPolicy> {
        Box::new(self.clone())
    }
}

/// How an edge makes bursts.
#[derive(Clone, Debug, Deserialize)]
pub struct Assembly {
    /// No burst has more bytes; none: unlimited.
    pub max_bytes: Option<u32>,
    /// A shorter burst is padded; none: it is not.
    #[serde(default, deserialize_with = "least_bytes")]
    pub min_bytes: Option<u32>,
    /// The rule, with what else the table has.
    #[serde(flatten, deserialize_with = "read")]
    pub rule: Arc<dyn AssemblySettings>,
}

/// A rule by its name in the scenario.
pub struct AssemblyKind {
    /// The name.
    pub name: &'static str,
    /// Reads its settings.
    read: fn(Table) -> serde_json::Result<Arc<dyn AssemblySettings>>,
}

/// All rules. A new one is a new file and a line here.
pub const REGISTRY: &[AssemblyKind] = &[
    kind::<Timer>("timer"),
    kind::<Size>("size"),
    kind::<Mixed>("mixed"),
    kind::<WindowBased>("window-based"),
    kind::<MultiQueue>("multi-queue"),
    kind::<AverageDelay>("average-delay"),
];

const fn kind<S>(name: &'static str) -> AssemblyKind
where
    S: AssemblySettings + DeserializeOwned + 'static,
{
    AssemblyKind {
        name,
        read: |table| Ok(Arc::new(S::deserialize(Value::Object(table))?)),
    }
}

fn read<'de, D: Deserializer<'de>>(table: D) -> Result<Arc<dyn AssemblySettings>, D::Error> {
    let mut table = Table::deserialize(table)?;
    let kind = of_kind("assemblies", REGISTRY, |kind| kind.name, &mut table);
    (kind.map_err(Error::custom)?.read)(table).map_err(Error::custom)
}
