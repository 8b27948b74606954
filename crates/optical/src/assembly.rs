//! Burst assembly policies: when the packets waiting for an egress are closed into a burst.
//!
//! Each policy has a file of its own and a line in [`REGISTRY`].

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

/// State of one assembly queue, including the packet that has just arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queue {
    /// Number of the queue among the queues of its egress and class.
    pub number: u32,
    /// Number of packets in the queue.
    pub packets: u32,
    /// Number of bytes in the queue.
    pub bytes: u32,
    /// Arrival time of the newest packet.
    pub newest: Time,
    /// Sum of the arrival times of all packets, in picoseconds.
    pub arrivals: u128,
}

/// Action of a policy after the arrival of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Keep the queue as it is, with its timer if one is running.
    Wait,
    /// Close the queue after this time; replaces a timer that is running.
    StartTimer(Duration),
    /// Close the queue now: its packets become a burst.
    Close,
}

/// Context in which a policy chooses the queue of a packet.
pub struct Sight<'a> {
    /// Current time.
    pub now: Time,
    /// Random stream of the edge.
    pub draw: &'a mut Stream,
    /// Notices of lost bursts to this egress; `None` if there has never been one.
    pub notices: Option<&'a mut Notices>,
}

/// Assembly policy of one line: the bursts of one class for one egress.
pub trait AssemblyPolicy: Send {
    /// Whether packets of one line wait in several queues.
    fn has_queues(&self) -> bool {
        false
    }

    /// Returns the number of the queue for a packet; 0 if there is only one queue.
    fn queue(&mut self, _packet: &Packet, _sight: &mut Sight<'_>) -> u32 {
        0
    }

    /// Decides whether to close a queue that a packet has just joined; `draw` is the random stream
    /// of the edge.
    fn on_packet(&mut self, queue: &Queue, draw: &mut Stream) -> Decision;
}

/// Settings of an assembly policy.
pub trait AssemblySettings: Debug + Send + Sync {
    /// Returns the policy for one line, with no packets waiting.
    fn start(&self) -> Box<dyn AssemblyPolicy>;

    /// Delay after a burst loss until the edge knows the affected flows; `None`: it receives no
    /// notices.
    fn notices(&self) -> Option<NoticeDelay> {
        None
    }
}

/// A policy without state serves as its own settings.
impl<P: AssemblyPolicy + Clone + Debug + Sync + 'static> AssemblySettings for P {
    fn start(&self) -> Box<dyn AssemblyPolicy> {
        Box::new(self.clone())
    }
}

/// Assembly section of an edge's settings.
#[derive(Clone, Debug, Deserialize)]
pub struct Assembly {
    /// Greatest size of a burst of several packets, in bytes; `None`: unlimited.
    pub max_bytes: Option<u32>,
    /// Smaller bursts are padded to this number of bytes; `None`: no padding.
    #[serde(default, deserialize_with = "least_bytes")]
    pub min_bytes: Option<u32>,
    /// The policy, read from the remaining keys of the table.
    #[serde(flatten, deserialize_with = "read")]
    pub rule: Arc<dyn AssemblySettings>,
}

/// Registry entry of an assembly policy.
pub struct AssemblyKind {
    /// Name in the scenario.
    pub name: &'static str,
    /// Reads the policy's settings from its table.
    read: fn(Table) -> serde_json::Result<Arc<dyn AssemblySettings>>,
}

/// All assembly policies. To add one, create a file and add a line here.
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
