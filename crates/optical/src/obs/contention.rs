//! Contention resolution for a burst that finds no free channel at its output. Each resolver has a
//! file of its own and a line in [`REGISTRY`]. A node tries its resolvers in the order of its
//! settings and takes the first solution.

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
use lightburst_net::link::outages::LINK_DOWN;
use lightburst_net::{
    BurstHeaderId, Context, Counted, Counters, Cut, CutCounters, DropReason, Route,
};
pub use segmentation::DropEnd;
use segmentation::SegmentationSettings;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;

/// Burst without a free channel.
#[derive(Clone, Copy, Debug)]
pub struct Contention {
    /// Header of the burst, which is at this node.
    pub header: BurstHeaderId,
    /// Time and channels that the burst requested.
    pub request: Request,
    /// The output ports of the burst; none of them has a free channel.
    pub ports: Route,
}

/// Solution of a contention: the reservation to make instead of the requested one.
#[derive(Clone, Copy, Debug)]
pub struct Resolved {
    /// Port, channel and time to reserve.
    pub offer: Offer,
    /// The burst as it will leave: possibly later or shorter than requested.
    pub request: Request,
    /// Packets cut off its head beforehand.
    pub cut: Option<Cut>,
}

impl Resolved {
    /// Solution in which the whole burst leaves.
    pub fn whole(offer: Offer, request: Request) -> Resolved {
        let cut = None;
        Resolved {
            offer,
            request,
            cut,
        }
    }
}

/// Method of contention resolution at one node.
pub trait Resolver: Send {
    /// Finds a solution and reserves its resources, except for the channel, which the node reserves
    /// afterwards. An error contains a reason if the failure has a more specific one than the lack
    /// of a channel.
    fn resolve(
        &mut self,
        burst: &Contention,
        outputs: &mut Outputs,
        ctx: &mut Context<'_>,
    ) -> Result<Resolved, Option<&'static DropReason>>;

    /// Counts a burst that is lost for a reason returned by this resolver; no later resolver gave
    /// another reason or a solution.
    fn lost(&mut self, reason: &'static DropReason);

    /// Returns the counters up to `end`.
    fn counted(&self, end: Time) -> Counted;
}

/// Settings of one resolver.
pub trait ResolverSettings: Debug + Send + Sync {
    /// Creates the resolver of one node.
    fn build(&self) -> Box<dyn Resolver>;

    /// Returns which part of a burst, head or tail, this resolver cuts off; `None` if neither.
    fn cuts(&self) -> Option<DropEnd> {
        None
    }
}

/// Registry entry of a resolver.
pub struct ResolverKind {
    /// Name in the scenario.
    pub name: &'static str,
    /// Returns the counters of the resolver, all zero.
    pub counted: fn() -> Counted,
    /// Reads the resolver's settings from its table.
    read: fn(Table) -> serde_json::Result<Arc<dyn ResolverSettings>>,
}

/// All resolvers. To add one, create a file and add a line here.
pub const REGISTRY: &[ResolverKind] = &[
    kind::<DelayLineSettings, DelayLineCounters>("delay-line"),
    kind::<DeflectionSettings, DeflectionCounters>("deflection"),
    kind::<SegmentationSettings, CutCounters>("segmentation"),
];

/// Makes the entry of the resolver with the settings `S` and the counters `C`.
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

/// Settings of the resolvers of a node, in the order of use.
#[derive(Clone, Debug, Default)]
pub struct ChainSettings(Vec<Arc<dyn ResolverSettings>>);

impl ChainSettings {
    /// Returns which part of a burst, head or tail, the resolvers cut off; `None` if neither.
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

/// Resolvers of one node, in the order of use.
pub struct Chain(Vec<Box<dyn Resolver>>);

impl Chain {
    /// Creates the resolvers in their initial state.
    pub fn new(ChainSettings(settings): &ChainSettings) -> Chain {
        Chain(settings.iter().map(|resolver| resolver.build()).collect())
    }

    /// Tries one resolver after the other. If all fail, the burst is lost because the links of all
    /// its ports are down, or for the last reason given, by default the lack of a channel.
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
        if outputs.all_down(burst.ports, ctx) {
            return Err(LINK_DOWN);
        }
        let Some((number, reason)) = given else {
            return Err(NO_CHANNEL);
        };
        self.0[number].lost(reason);
        Err(reason)
    }

    /// Returns the counters of all resolvers up to `end`.
    pub fn counted(&self, end: Time) -> Counted {
        let counted = self.0.iter().map(|resolver| resolver.counted(end));
        counted.fold(Counted::default(), Counted::and)
    }
}
