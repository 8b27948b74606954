//! Deflection routing: Wang, Morikawa and Aoyama 2000, "Burst optical deflection routing protocol
//! for wavelength routing WDM networks"; Hsu, Liu and Huang 2002, "Performance analysis of
//! deflection routing in optical burst-switched networks". A burst leaves by the alternative port
//! with the shortest remaining path. From there on it follows shortest paths, whatever path it was
//! assigned.

use super::{Contention, Resolved, Resolver, ResolverSettings};
use crate::obs::outputs::Outputs;
use lightburst_des::Time;
use lightburst_net::{Context, Counted, Counters, Detour, DropReason, PortId};
use serde::Deserialize;
use std::num::NonZeroU16;

/// Every alternative path exceeds the hop limit.
const HOP_LIMIT: &DropReason = &DropReason {
    name: "hop-limit",
    busy: false,
};

/// On every alternative path within the hop limit the header would arrive too late.
const OFFSET_USED_UP: &DropReason = &DropReason {
    name: "offset-used-up",
    busy: false,
};

/// Settings of deflection at a node.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeflectionSettings {
    /// Greatest number of fibres on the whole path of a deflected burst.
    pub hop_limit: NonZeroU16,
    /// Whether a deflected burst may return to this node.
    pub loops: bool,
}

/// Counters of deflection.
#[derive(Debug, Default)]
pub struct DeflectionCounters {
    bursts_deflected: u64,
    hop_limit: u64,
    offset_used_up: u64,
}

impl Counters for DeflectionCounters {
    fn counted(&self, _end: Time) -> Counted {
        Counted::default()
            .count("bursts_deflected", self.bursts_deflected)
            .dropped(HOP_LIMIT, self.hop_limit)
            .dropped(OFFSET_USED_UP, self.offset_used_up)
    }
}

/// Deflection at one node.
struct Deflection {
    hop_limit: u32,
    loops: bool,
    /// Alternative ports of the current burst with their paths, shortest first.
    others: Vec<(Detour, PortId)>,
    counters: DeflectionCounters,
}

impl ResolverSettings for DeflectionSettings {
    fn build(&self) -> Box<dyn Resolver> {
        Box::new(Deflection {
            hop_limit: u32::from(self.hop_limit.get()),
            loops: self.loops,
            others: Vec::new(),
            counters: DeflectionCounters::default(),
        })
    }
}

impl Deflection {
    /// Finds the alternative paths of a burst.
    fn look(&mut self, burst: &Contention, outputs: &Outputs, ctx: &Context<'_>) {
        let wanted = ctx.ports(burst.ports);
        let others = outputs.fibres().filter(|port| !wanted.contains(port));
        let ways = others.map(|port| (ctx.detour(port, burst.header), port));
        self.others.clear();
        self.others
            .extend(ways.filter(|(way, _)| self.loops || !way.loops));
        self.others
            .sort_unstable_by_key(|&(way, port)| (way.length, way.fibres, port));
    }
}

impl Resolver for Deflection {
    fn resolve(
        &mut self,
        burst: &Contention,
        outputs: &mut Outputs,
        ctx: &mut Context<'_>,
    ) -> Result<Resolved, Option<&'static DropReason>> {
        self.look(burst, outputs, ctx);
        let request = burst.request;
        let passed = u32::from(ctx.header(burst.header).hops);
        let ahead = request.start.since(request.handled);
        let mut reason = self.others.first().map(|_| HOP_LIMIT);
        for &(Detour { fibres, .. }, port) in &self.others {
            if passed + fibres > self.hop_limit {
                continue;
            }
            if ahead < outputs.settings.offset_needed(u64::from(fibres)) {
                reason = reason.map(|_| OFFSET_USED_UP);
                continue;
            }
            // If this port has no channel either, the loss counts as a lack of channels.
            reason = None;
            if let Some(offer) = outputs.offer_of(port, &request) {
                self.counters.bursts_deflected += 1;
                ctx.deflect(burst.header);
                return Ok(Resolved::whole(offer, request));
            }
        }
        Err(reason)
    }

    fn lost(&mut self, reason: &'static DropReason) {
        match reason == HOP_LIMIT {
            true => self.counters.hop_limit += 1,
            false => self.counters.offset_used_up += 1,
        }
    }

    fn counted(&self, end: Time) -> Counted {
        self.counters.counted(end)
    }
}
