//! Choice among equal-cost next hops.

mod flowlets;
mod least_queue;

pub use flowlets::Flowlets;
pub use least_queue::LeastQueue;

use crate::{Ahead, Context, Envelope, FlowId, NodeId, PortId, Readiness, Route, Sendable};
use lightburst_des::{mix, Stream};

/// Rule by which a node chooses one port of a route, with the state of the rule at that node.
#[derive(Clone, Debug)]
pub enum Choice {
    /// Uniformly at random among the ports that are free now (minakhmetov2018).
    Free,
    /// Uniformly at random among all ports.
    Random,
    /// By a hash of flow and node, constant during a run (ECMP, RFC 2992).
    FlowHash {
        /// Salt of the hash, different in each run.
        salt: u64,
    },
    /// By a hash of flow, node and a number that the sender changes.
    Adaptive {
        /// Salt of the hash, different in each run.
        salt: u64,
    },
    /// Uniformly at random for each flowlet.
    Flowlet(Box<Flowlets>),
    /// The output with the fewest bytes to send.
    LeastQueue(Box<LeastQueue>),
}

impl Choice {
    /// Names of the rules in a plan.
    pub const NAMES: [&'static str; 7] = [
        "free",
        "random",
        "flow-hash",
        "adaptive",
        "flowlet",
        "least-queue",
        "entropy-spray",
    ];

    /// Returns the choice by hash for a run with this `seed`.
    pub fn flow_hash(seed: u64) -> Choice {
        Choice::FlowHash { salt: mix(seed) }
    }

    /// Returns the choice by a hash that senders change, for a run with this `seed`.
    pub fn adaptive(seed: u64) -> Choice {
        Choice::Adaptive { salt: mix(seed) }
    }

    /// Returns whether the rule is [`Choice::Free`].
    #[inline(always)]
    pub fn is_free(&self) -> bool {
        matches!(self, Choice::Free)
    }

    /// Chooses a member of a route without regard to free ports. `QUEUES`: bytes in the explicit
    /// queue of an output count as bytes to send.
    #[inline(always)]
    pub fn member<const QUEUES: bool>(
        &mut self,
        route: Route,
        unit: impl Sendable,
        draw: &mut Stream,
        ctx: &Context<'_>,
    ) -> u32 {
        let len = u32::from(route.len);
        match self {
            _ if len == 1 => 0,
            Choice::Free | Choice::Random => draw.below(len),
            Choice::FlowHash { salt } => hashed(*salt, ctx.envelope(unit).flow, ctx.node(), len),
            Choice::Adaptive { salt } => {
                let Envelope { flow, path, .. } = *ctx.envelope(unit);
                hashed_to(*salt, (flow, path), ctx.node(), len)
            }
            Choice::Flowlet(_) | Choice::LeastQueue(_) => {
                self.stateful::<QUEUES>(route, unit, draw, ctx)
            }
        }
    }

    /// As [`Choice::member`], apart from the code of the rules without state.
    #[inline(never)]
    fn stateful<const QUEUES: bool>(
        &mut self,
        route: Route,
        unit: impl Sendable,
        draw: &mut Stream,
        ctx: &Context<'_>,
    ) -> u32 {
        let ports = ctx.ports(route);
        let chosen = match self {
            Choice::Flowlet(flowlets) => {
                flowlets.port(ctx.envelope(unit), ctx.now(), ports, || {
                    ports[draw.below(u32::from(route.len)) as usize]
                })
            }
            Choice::LeastQueue(least) => least.port(route, ports, draw, |port| match QUEUES {
                true => ctx.queued(port),
                false => ctx.backlog(port),
            }),
            _ => unreachable!("a rule without state"),
        };
        let member = ports.iter().position(|&port| port == chosen);
        member.expect("a port of the route") as u32
    }

    /// Asks for the links that [`Choice::pick`] will probably read for a unit, and for what follows
    /// from the link that it would take now.
    #[inline]
    pub fn prepare(
        &self,
        unit: impl Sendable,
        draw: &Stream,
        readiness: Readiness,
        ahead: &Ahead<'_>,
    ) {
        let route = ahead.route(unit);
        let len = u32::from(route.len);
        let member = match self {
            _ if len == 1 => 0,
            Choice::Free | Choice::Random => draw.clone().below(len),
            Choice::FlowHash { salt } => {
                hashed(*salt, ahead.envelope(unit).flow, ahead.node(), len)
            }
            Choice::Adaptive { salt } => {
                let Envelope { flow, path, .. } = *ahead.envelope(unit);
                hashed_to(*salt, (flow, path), ahead.node(), len)
            }
            Choice::Flowlet(_) | Choice::LeastQueue(_) => return,
        };
        let port = ahead.port(route, member);
        if readiness == Readiness::Switch {
            ahead.prefetch_link(port);
        } else if self.is_free() && len > 1 && !ahead.is_free(port) {
            ahead.prefetch_exits(route);
        } else {
            ahead.prefetch_last(port);
        }
    }

    /// Chooses an output for a unit. `QUEUES`: an output with a unit in its explicit queue is busy.
    #[inline(always)]
    pub fn pick<const QUEUES: bool>(
        &mut self,
        route: Route,
        unit: impl Sendable,
        draw: &mut Stream,
        ctx: &Context<'_>,
    ) -> Pick {
        if self.is_free() && route.len > 1 {
            return any_free::<QUEUES>(route, draw, ctx).map_or(Pick::Busy(route), Pick::Free);
        }
        let member = self.member::<QUEUES>(route, unit, draw, ctx);
        let port = ctx.port(route, member);
        if is_free::<QUEUES>(port, ctx) {
            Pick::Free(port)
        } else {
            Pick::Busy(route.only(member))
        }
    }
}

/// Returns the choice among `len` ports by hash.
#[inline(always)]
fn hashed(salt: u64, flow: FlowId, node: NodeId, len: u32) -> u32 {
    part(hash(salt, flow, node), len)
}

#[inline(always)]
fn hash(salt: u64, flow: FlowId, node: NodeId) -> u64 {
    mix(salt ^ ((u64::from(flow.0) << 32) | u64::from(node.0)))
}

/// Returns the choice among `len` ports by hash of a flow on the path with a number; path 0 is that
/// of the flow without a number.
fn hashed_to(salt: u64, (flow, path): (FlowId, u8), node: NodeId, len: u32) -> u32 {
    match hash(salt, flow, node) {
        hash if path == 0 => part(hash, len),
        hash => part(mix(hash ^ u64::from(path)), len),
    }
}

/// Returns the part of `len` equal ones in which a hash is.
#[inline(always)]
fn part(hash: u64, len: u32) -> u32 {
    ((u128::from(hash) * u128::from(len)) >> 64) as u32
}

/// Result of the choice of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// An output that is free now.
    Free(PortId),
    /// Outputs that are admissible, but all busy now.
    Busy(Route),
}

#[inline(always)]
fn is_free<const QUEUES: bool>(port: PortId, ctx: &Context<'_>) -> bool {
    if QUEUES {
        ctx.is_idle(port)
    } else {
        ctx.is_free(port)
    }
}

/// Returns a free port of the route, uniformly at random; `None` if all are busy. One port is drawn
/// from all first, and only if it is busy the free ones are listed. In most cases only one link is
/// read.
#[inline(always)]
pub fn any_free<const QUEUES: bool>(
    route: Route,
    draw: &mut Stream,
    ctx: &Context<'_>,
) -> Option<PortId> {
    let len = u32::from(route.len);
    if len == 1 {
        let port = ctx.port(route, 0);
        return is_free::<QUEUES>(port, ctx).then_some(port);
    }
    let probe = ctx.port(route, draw.below(len));
    if is_free::<QUEUES>(probe, ctx) {
        return Some(probe);
    }
    let free = || {
        ctx.ports(route)
            .iter()
            .copied()
            .filter(|&port| is_free::<QUEUES>(port, ctx))
    };
    let count = free().count() as u32;
    if count == 0 {
        return None;
    }
    free().nth(draw.below(count) as usize)
}
