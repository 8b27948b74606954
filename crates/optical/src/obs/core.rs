//! Core of a node with a control plane: processes header packets, reserves channels and forwards
//! the headers.

use super::contention::{self, Chain, Contention, Resolved};
use super::outputs::{Offer, Outputs, Request};
use crate::edge::{Core, EdgeTimer};
use crate::switch::{Build, ObsSettings};
use lightburst_des::{Duration, Time};
use lightburst_net::link::outages::LINK_DOWN;
use lightburst_net::{
    Bundle, BurstHeader, BurstHeaderId, BurstId, Context, Counted, Counters, DropReason, PortId,
    Route, Switch, TimerId, Unit,
};
use serde::Deserialize;
use std::collections::VecDeque;

/// No channel was free.
pub const NO_CHANNEL: &DropReason = &DropReason {
    name: "no-channel",
    busy: false,
};

/// The header was processed too late for its burst.
pub const LATE_HEADER: &DropReason = &DropReason {
    name: "late-header",
    busy: false,
};

/// Treatment of a burst for which no channel is free at its ingress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IngressRule {
    /// The burst is lost.
    Lose,
    /// The burst waits for the next void that is long enough.
    Delay,
}

/// Counters of a core besides those of its resolvers.
#[derive(Debug, Default)]
pub struct ObsCounters {
    arrived: u64,
    forwarded: u64,
    no_channel: u64,
    late_header: u64,
    link_down: u64,
}

impl Counters for ObsCounters {
    fn counted(&self, _end: Time) -> Counted {
        let own = Counted::default()
            .count("arrived", self.arrived)
            .count("forwarded", self.forwarded)
            .dropped(NO_CHANNEL, self.no_channel)
            .dropped(LATE_HEADER, self.late_header)
            .dropped(LINK_DOWN, self.link_down);
        // The table has a column for every resolver, whether the node uses it or not.
        let resolvers = contention::REGISTRY.iter().map(|kind| (kind.counted)());
        resolvers.fold(own, Counted::and)
    }
}

/// Header that is to be sent later.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    until: Time,
    header: BurstHeaderId,
    offer: Offer,
}

/// Reservation for a burst, or the contention and the reason for its loss.
type Outcome = Result<Resolved, (Contention, &'static DropReason)>;

/// Core that reserves channels.
pub struct ObsCore {
    outputs: Outputs,
    /// Transmission time of a header on a control channel.
    header_time: Duration,
    /// Addition to the offset time for each fibre of the path.
    offset_per_hop: Duration,
    chain: Chain,
    /// Delayed headers by port, in order of time.
    waiting: Vec<VecDeque<Waiting>>,
    /// Time when the processor has finished all headers that have arrived.
    busy_until: Time,
    counters: ObsCounters,
}

impl ObsCore {
    /// Creates a core without reservations.
    pub fn new(settings: &ObsSettings, build: Build) -> ObsCore {
        ObsCore {
            header_time: settings.header_time(),
            offset_per_hop: settings.offset_per_hop(),
            chain: Chain::new(&settings.contention),
            waiting: vec![VecDeque::new(); build.channels.len()],
            outputs: Outputs::new(settings, build),
            busy_until: Time::ZERO,
            counters: ObsCounters::default(),
        }
    }

    /// Returns the time when a header that arrives now will have been processed, after all earlier
    /// ones. `None`: the switch could not be set before the burst arrives, and header and burst are
    /// dropped.
    #[inline(always)]
    fn handle(&mut self, header: BurstHeaderId, ctx: &mut Context<'_>) -> Option<Time> {
        self.counters.arrived += 1;
        let begins = ctx.now().max(self.busy_until);
        self.busy_until = begins + self.outputs.settings.header_processing_time;
        let data_at = ctx.header(header).data_at;
        if self.busy_until + self.outputs.settings.switching_time <= data_at {
            return Some(self.busy_until);
        }
        self.counters.late_header += 1;
        ctx.drop_on_arrival(header, LATE_HEADER);
        None
    }

    /// Finds a channel for a burst; the error contains the ports without a free channel. Separate
    /// from the contention resolution, which most bursts never need.
    #[inline(always)]
    fn find(
        &mut self,
        header: BurstHeaderId,
        request: &Request,
        ctx: &mut Context<'_>,
    ) -> Result<Offer, Route> {
        self.outputs.look(ctx);
        let ports = self.outputs.ports(header, ctx);
        let offer = self.outputs.offer(ports, request, |_| true, ctx);
        offer.ok_or(ports)
    }

    /// Delays a burst at its ingress or runs the resolvers, for a burst without a free channel.
    fn resolve(&mut self, burst: Contention, ctx: &mut Context<'_>) -> Outcome {
        let request = &burst.request;
        let waits =
            request.channel.is_none() && self.outputs.settings.ingress == IngressRule::Delay;
        if waits && !self.outputs.all_down(burst.ports, ctx) {
            return Ok(self.outputs.wait(&burst, ctx));
        }
        let resolved = self.chain.resolve(&burst, &mut self.outputs, ctx);
        resolved.map_err(|reason| (burst, reason))
    }

    /// Makes the reservation of a solution and cuts off the packets that are lost.
    fn reserve(&mut self, resolved: &Resolved, header: BurstHeaderId, ctx: &mut Context<'_>) {
        let Resolved {
            offer,
            request,
            cut,
        } = resolved;
        self.outputs.reserve(*offer, request.burst, ctx.now());
        if let Some(cut) = cut {
            let comes = Time(request.start.0 - request.delayed.0);
            let rest = request.channel.map(|_| comes);
            ctx.cut(header, offer.port, cut, rest);
        }
    }

    /// Drops a burst for which no solution was found.
    fn lose(&mut self, burst: &Contention, reason: &'static DropReason, ctx: &mut Context<'_>) {
        if reason == NO_CHANNEL {
            self.counters.no_channel += 1;
        }
        let port = self.outputs.any(burst.ports, ctx);
        let holder = match reason == LINK_DOWN {
            true => {
                self.counters.link_down += 1;
                None
            }
            false => self.outputs.holder(port, &burst.request),
        };
        ctx.drop_for(burst.header, port, reason, holder);
    }

    #[inline(always)]
    fn send(&mut self, offer: Offer, header: BurstHeaderId, from: Time, ctx: &mut Context<'_>) {
        self.counters.forwarded += 1;
        self.outputs.note_sent(offer, header, ctx);
        ctx.send_header(offer.port, header, (from, self.header_time), offer.slot);
    }

    /// Launches a burst that found no free channel at its ingress, or drops it.
    #[inline(never)]
    fn launch_against(
        &mut self,
        contention: Contention,
        burst: BurstId,
        bundle: &Bundle,
        ctx: &mut Context<'_>,
    ) -> Option<Time> {
        let Contention {
            header, request, ..
        } = contention;
        let found = self.resolve(contention, ctx);
        let as_it_leaves = found.map_or(request, |resolved| resolved.request);
        ctx.departing(bundle, burst, as_it_leaves.start);
        match found {
            Ok(resolved) => {
                self.reserve(&resolved, header, ctx);
                let Resolved { offer, request, .. } = resolved;
                match request.handled == ctx.now() {
                    true => self.send(offer, header, request.handled, ctx),
                    false => self.send_later(offer, header, request.handled, ctx),
                }
                Some(request.start)
            }
            Err((burst, reason)) => {
                self.lose(&burst, reason, ctx);
                None
            }
        }
    }

    /// Forwards a burst that found no free channel, or drops it.
    #[inline(never)]
    fn pass_against(&mut self, contention: Contention, ctx: &mut Context<'_>) {
        let Contention {
            header, request, ..
        } = contention;
        match self.resolve(contention, ctx) {
            Ok(resolved) => {
                self.reserve(&resolved, header, ctx);
                self.send(resolved.offer, header, request.handled, ctx);
            }
            Err((burst, reason)) => self.lose(&burst, reason, ctx),
        }
    }

    /// Sends a header at the time `until`.
    fn send_later(
        &mut self,
        offer: Offer,
        header: BurstHeaderId,
        until: Time,
        ctx: &mut Context<'_>,
    ) {
        let port = offer.port;
        let waiting = &mut self.waiting[usize::from(port.0)];
        let one = Waiting {
            until,
            header,
            offer,
        };
        waiting.insert(waiting.partition_point(|other| other.until <= until), one);
        let timer_id = EdgeTimer::Header.id(u32::from(port.0));
        ctx.timer(until, timer_id);
    }
}

impl Core for ObsCore {
    fn offset(&self, burst: BurstId, ctx: &Context<'_>) -> Duration {
        let settings = &self.outputs.settings;
        let offset = settings.offset_time + settings.extra_offset(ctx.burst(burst).class);
        match self.offset_per_hop {
            Duration::ZERO => offset,
            // Each fibre ends at a node that processes the header.
            each => offset + each * ctx.fibres(burst).count() as u64,
        }
    }

    fn launch(&mut self, burst: BurstId, bundle: &Bundle, ctx: &mut Context<'_>) -> Option<Time> {
        let identity = ctx.burst(burst).identity;
        let header = ctx.announce(burst);
        let now = ctx.now();
        let request = Request {
            handled: now,
            start: now + self.offset(burst, ctx),
            delayed: Duration::ZERO,
            time: self.outputs.transmission_time(bundle.bytes),
            channel: None,
            burst: identity,
        };
        match self.find(header, &request, ctx) {
            Ok(offer) => {
                ctx.departing(bundle, burst, request.start);
                self.outputs.reserve(offer, identity, now);
                self.send(offer, header, now, ctx);
                Some(request.start)
            }
            Err(ports) => {
                let contention = Contention {
                    header,
                    request,
                    ports,
                };
                self.launch_against(contention, burst, bundle, ctx)
            }
        }
    }

    fn receive(&mut self, unit: Unit, ctx: &mut Context<'_>) -> Option<(BurstId, Time)> {
        let Unit::BurstHeader(header) = unit else {
            unreachable!("what comes over a fibre is a header");
        };
        self.handle(header, ctx)?;
        let BurstHeader {
            envelope, data_at, ..
        } = ctx.header(header);
        let tail = *data_at + self.outputs.transmission_time(envelope.bytes);
        Some((ctx.take_header(header), tail))
    }
}

impl Switch for ObsCore {
    fn on_unit(&mut self, unit: Unit, ctx: &mut Context<'_>) {
        let Unit::BurstHeader(header) = unit else {
            unreachable!("what comes over a fibre is a header");
        };
        let Some(handled) = self.handle(header, ctx) else {
            return;
        };
        let it = ctx.header(header);
        let request = Request {
            handled,
            start: it.data_at,
            delayed: Duration::ZERO,
            time: self.outputs.transmission_time(it.envelope.bytes),
            channel: Some(it.channel),
            burst: it.identity,
        };
        match self.find(header, &request, ctx) {
            Ok(offer) => {
                self.outputs.reserve(offer, request.burst, ctx.now());
                self.send(offer, header, handled, ctx);
            }
            Err(ports) => {
                let contention = Contention {
                    header,
                    request,
                    ports,
                };
                self.pass_against(contention, ctx);
            }
        }
    }

    fn on_timer(&mut self, TimerId { subject, .. }: TimerId, ctx: &mut Context<'_>) {
        let port = PortId(subject as u16);
        let first = self.waiting[usize::from(port.0)].pop_front();
        let Waiting {
            until,
            header,
            offer,
        } = first.expect("a header that waits");
        self.send(offer, header, until, ctx);
    }

    fn counted(&self, end: Time) -> Counted {
        self.counters.counted(end).and(self.chain.counted(end))
    }
}
