//! Deflection routing: Wang, Morikawa and Aoyama 2000, "Burst optical deflection routing protocol for
//! wavelength routing WDM networks"; Hsu, Liu and Huang 2002, "Performance analysis of deflection
//! routing in optical burst-switched networks". A burst takes another way, by the port from which
//! the rest of it is shortest; from then on it is routed by shortest paths, whatever path was chosen
//! for it.

use super::{Contention, Resolved, Resolver, ResolverSettings};
use crate::obs::outputs::Outputs;
use lightburst_des::Time;
use lightburst_net::{Context, Counted, Counters, Detour, DropReason, PortId};
use serde::Deserialize;
use std::num::NonZeroU16;

/// Every other way was over more fibres than a burst may take.
const HOP_LIMIT: &DropReason = &DropReason {
    name: "hop-limit",
    busy: false,
};

/// On every other way that is within the limit the header would come too late.
const OFFSET_USED_UP: &DropReason = &DropReason {
    name: "offset-used-up",
    busy: false,
};

/// How a node deflects bursts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeflectionSettings {
    /// Over how many fibres a burst may go in all that is deflected.
    pub hop_limit: NonZeroU16,
    /// Whether it may come back to the node that deflects it.
    pub loops: bool,
}

/// What deflection counts.
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
    /// The other ways of a burst, the shortest first.
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
    /// Finds the other ways of a burst.
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
            // It is the want of a channel now, if this has none.
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
