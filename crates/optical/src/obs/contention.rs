//! Contention: what is tried for a burst that finds no channel on its output. One file for each
//! resolver; [`REGISTRY`] is the one list of them. A node asks its resolvers in the order in which
//! its settings name them, and the first that finds a way out decides.

mod deflection;
mod delay_line;
mod segmentation;

use super::outputs::{Offer, Outputs, Request};
use super::NO_CHANNEL;
use crate::settings::{of_kind, Table};
use deflection::{DeflectionCounters, DeflectionSettings};
pub use delay_line::DELAY_LINES_FULL;
use delay_line::{DelayLineCounters, DelayLineSettings};
use lightburst_des::Time;
use lightburst_net::{Context, Counted, Counters, Cut, CutCounters, DropReason, HeaderId, Route};
pub use segmentation::DropEnd;
use segmentation::SegmentationSettings;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;

/// A burst for which there is no channel.
#[derive(Clone, Copy, Debug)]
pub struct Contention {
    /// Its header, which is here.
    pub header: HeaderId,
    /// What it wanted.
    pub request: Request,
    /// Where: none of these ports has a channel.
    pub ports: Route,
}

/// A way out: what is booked in place of what the burst wanted.
#[derive(Clone, Copy, Debug)]
pub struct Resolved {
    /// Where and when.
    pub offer: Offer,
    /// The burst as it leaves now: it may be later than it wanted, or shorter.
    pub request: Request,
    /// What is cut off it before.
    pub cut: Option<Cut>,
}

impl Resolved {
    /// The whole burst leaves.
    pub fn whole(offer: Offer, request: Request) -> Resolved {
        let cut = None;
        Resolved {
            offer,
            request,
            cut,
        }
    }
}

/// One that knows a way out.
pub trait Resolver: Send {
    /// Finds a way out, and keeps what that takes beside the channel, which the node books then. If
    /// there is none it says why, where that is more than the want of a channel.
    fn resolve(
        &mut self,
        burst: &Contention,
        outputs: &mut Outputs,
        ctx: &mut Context<'_>,
    ) -> Result<Resolved, Option<&'static DropReason>>;

    /// A burst is lost for a reason that this has given: nothing behind it in the order has helped.
    fn lost(&mut self, reason: &'static DropReason);

    /// What it has counted up to `end`.
    fn counted(&self, end: Time) -> Counted;
}

/// The settings of one resolver.
pub trait ResolverSettings: Debug + Send + Sync {
    /// The resolver of one node.
    fn build(&self) -> Box<dyn Resolver>;

    /// What it cuts off bursts, if it does.
    fn cuts(&self) -> Option<DropEnd> {
        None
    }
}

/// A resolver by its name in the scenario.
pub struct ResolverKind {
    /// The name.
    pub name: &'static str,
    /// What it counts, before it has counted anything.
    pub counted: fn() -> Counted,
    /// Reads its settings.
    read: fn(Table) -> serde_json::Result<Arc<dyn ResolverSettings>>,
}

/// All resolvers. A new one is a new file and a line here.
pub const REGISTRY: &[ResolverKind] = &[
    kind::<DelayLineSettings, DelayLineCounters>("delay-line"),
    kind::<DeflectionSettings, DeflectionCounters>("deflection"),
    kind::<SegmentationSettings, CutCounters>("segmentation"),
];

/// The resolver with the settings `S` that counts `C`.
const fn kind<S, C>(name: &'static str) -> ResolverKind
where
    S: ResolverSettings + DeserializeOwned + 'static,
    C: Counters,
{
    ResolverKind {
        name,
        counted: || C::default().counted(Time::ZERO),
        read: |table| Ok(Arc::new(S::deserialize(Value::Object(table))?)),
    }
}

/// The resolvers that the settings of a node name, in their order.
#[derive(Clone, Debug, Default)]
pub struct ChainSettings(Vec<Arc<dyn ResolverSettings>>);

impl ChainSettings {
    /// What is cut off bursts, if anything is.
    pub fn cuts(&self) -> Option<DropEnd> {
        self.0.iter().find_map(|resolver| resolver.cuts())
    }
}

impl<'de> Deserialize<'de> for ChainSettings {
    fn deserialize<D: Deserializer<'de>>(tables: D) -> Result<ChainSettings, D::Error> {
        let read = |mut table: Table| {
            let kind = of_kind("resolvers", REGISTRY, |kind| kind.name, &mut table);
            (kind.map_err(D::Error::custom)?.read)(table).map_err(D::Error::custom)
        };
        let tables = Vec::<Table>::deserialize(tables)?.into_iter();
        Ok(ChainSettings(tables.map(read).collect::<Result<_, _>>()?))
    }
}

/// The resolvers of one node, in the order in which they are asked.
pub struct Chain(Vec<Box<dyn Resolver>>);

impl Chain {
    /// Resolvers that have not been asked yet.
    pub fn new(ChainSettings(settings): &ChainSettings) -> Chain {
        Chain(settings.iter().map(|resolver| resolver.build()).collect())
    }

    /// Asks one after the other. If none finds a way out the burst is lost, for the reason that was
    /// given last.
    pub fn resolve(
        &mut self,
        burst: &Contention,
        outputs: &mut Outputs,
        ctx: &mut Context<'_>,
    ) -> Result<Resolved, &'static DropReason> {
        let mut given = None;
        for (number, resolver) in self.0.iter_mut().enumerate() {
            match resolver.resolve(burst, outputs, ctx) {
                Ok(resolved) => return Ok(resolved),
                Err(Some(reason)) => given = Some((number, reason)),
                Err(None) => {}
            }
        }
        let Some((number, reason)) = given else {
            return Err(NO_CHANNEL);
        };
        self.0[number].lost(reason);
        Err(reason)
    }

    /// What they have counted up to `end`.
    pub fn counted(&self, end: Time) -> Counted {
        let counted = self.0.iter().map(|resolver| resolver.counted(end));
        counted.fold(Counted::default(), Counted::and)
    }
}
