//! Queue disciplines of an output: which units it takes in, and which one it sends next.
//!
//! Each discipline has a file of its own and a line in [`REGISTRY`].

mod codel;
mod drop_tail;
mod drr;
mod dualpi2;
mod fq_codel;
mod marking;
mod pie;
mod prio;
mod red;
mod trim;

pub use codel::{CoDel, TARGET_EXCEEDED};
pub use drop_tail::DropTail;
pub use drr::Drr;
pub use dualpi2::{DualPi2, DUALPI2_EARLY};
pub use fq_codel::FqCoDel;
pub use marking::Marking;
pub use pie::{Pie, PIE_EARLY};
pub use prio::Prio;
pub use red::{Red, EARLY, FORCED};
pub use trim::Trim;

use crate::output::Output;
use crate::settings::{of_kind, Table};
use lightburst_des::{Stream, Time};
use lightburst_net::{Counted, DropReason, LinkId, Unit};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;

/// The queue had no room.
pub const QUEUE_FULL: &DropReason = &DropReason {
    name: "queue-full",
    busy: false,
};

/// Queue of one output.
pub trait Discipline: Send {
    /// Queues a unit, or drops it.
    fn enqueue(&mut self, unit: Unit, output: &mut Output<'_, '_>);

    /// Takes out the unit whose transmission starts now, with the time since which it has waited.
    /// At least one unit waits; `None` if all were dropped.
    fn dequeue(&mut self, output: &mut Output<'_, '_>) -> Option<(Unit, Time)>;

    /// Takes out all units, without a departure.
    fn flush(&mut self, output: &mut Output<'_, '_>) -> Vec<Unit>;
}

/// Data from which the queue of an output is built, besides its settings.
#[derive(Clone, Debug)]
pub struct Port {
    /// Link of the output.
    pub link: LinkId,
    /// Seed of the run.
    pub seed: u64,
    /// Backlog in bytes from which on units are marked on arrival (ECN).
    pub ecn_threshold_bytes: u64,
    /// Backlog in bytes behind a departing unit from which on it is marked.
    pub departure_threshold_bytes: u64,
    /// Group of each flow, for disciplines with settings for each group; empty for others.
    pub groups: Arc<[u16]>,
}

impl Port {
    /// Returns the random stream of the queue.
    pub fn draw(&self) -> Stream {
        Stream::new(self.seed, &format!("queue/{}", self.link.0))
    }
}

/// Settings of a discipline.
pub trait DisciplineSettings: Debug + Send + Sync {
    /// Creates an empty queue with these settings.
    fn build(&self, port: &Port) -> Box<dyn Discipline>;

    /// Returns the line of each group of flows; `None`: it does not distinguish groups.
    fn lines(&self) -> Option<Arc<[u16]>> {
        None
    }
}

/// Registry entry of a discipline.
pub struct DisciplineKind {
    /// Name in the scenario.
    pub name: &'static str,
    /// Reasons of its drops, besides [`QUEUE_FULL`] and those of the kinds before it.
    pub reasons: &'static [&'static DropReason],
    /// Reads the settings of the discipline from its table.
    read: fn(Table) -> serde_json::Result<Arc<dyn DisciplineSettings>>,
}

/// All disciplines. To add one, create a file and add a line here.
pub const REGISTRY: &[DisciplineKind] = &[
    kind::<DropTail>("drop-tail", &[]),
    kind::<CoDel>("codel", &[TARGET_EXCEEDED]),
    kind::<Red>("red", &[EARLY, FORCED]),
    kind::<Pie>("pie", &[PIE_EARLY]),
    kind::<FqCoDel>("fq-codel", &[]),
    kind::<Prio>("prio", &[]),
    kind::<Drr>("drr", &[]),
    kind::<DualPi2>("dualpi2", &[DUALPI2_EARLY]),
    kind::<Marking>("marking", &[]),
    kind::<Trim>("trim", &[]),
];

const fn kind<S: DisciplineSettings + DeserializeOwned + 'static>(
    name: &'static str,
    reasons: &'static [&'static DropReason],
) -> DisciplineKind {
    DisciplineKind {
        name,
        reasons,
        read: |table| Ok(Arc::new(S::deserialize(Value::Object(table))?)),
    }
}

/// Reads the settings of a discipline, of the kind named in the table.
pub(crate) fn discipline<'de, D: Deserializer<'de>>(
    table: D,
) -> Result<Option<Arc<dyn DisciplineSettings>>, D::Error> {
    let mut table = Table::deserialize(table)?;
    let kind = of_kind("queues", REGISTRY, |kind| kind.name, &mut table);
    let kind = kind.map_err(D::Error::custom)?;
    (kind.read)(table).map(Some).map_err(D::Error::custom)
}

/// Iterates over the reasons of drops of all disciplines, besides [`QUEUE_FULL`].
pub fn reasons() -> impl Iterator<Item = &'static DropReason> {
    REGISTRY.iter().flat_map(|kind| kind.reasons).copied()
}

/// Returns the numbers of drops of all disciplines, from a function that gives that of a reason.
pub(crate) fn dropped(of: impl Fn(&'static DropReason) -> u64) -> Counted {
    reasons().fold(Counted::default(), |counted, reason| {
        counted.dropped(reason, of(reason))
    })
}
