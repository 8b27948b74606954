//! What a node of the network does with header packets: it books channels, and passes them on.

use super::channels::{Booking, Channels};
use super::scheduler::Wanted;
use super::signalling::Handled;
use crate::edge::Core;
use crate::switch::{Build, ObsSettings};
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::{
    Birth, Bundle, BurstHeader, BurstId, Bytes, Choice, Context, Counted, Counters, DropReason,
    HeaderId, PortId, Rate, Slot, Switch, Token, Unit,
};
use serde::Deserialize;
use std::collections::VecDeque;
use std::ops::Range;

/// The timer of a port: a header whose burst had to wait at the ingress is sent.
const SEND: u8 = 2;

/// No channel was free.
pub const NO_CHANNEL: &DropReason = &DropReason {
    name: "no-channel",
    busy: false,
};

/// The header was handled when its burst had already come.
pub const LATE_HEADER: &DropReason = &DropReason {
    name: "late-header",
    busy: false,
};

/// What becomes of a burst for which no channel is free where it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IngressRule {
    /// It is lost.
    Lose,
    /// It waits for the next void that holds it.
    Delay,
}

/// What a core counts.
#[derive(Debug, Default)]
pub struct ObsCounters {
    arrived: u64,
    forwarded: u64,
    no_channel: u64,
    late_header: u64,
}

impl Counters for ObsCounters {
    fn counted(&self, _end: Time) -> Counted {
        Counted::default()
            .count("arrived", self.arrived)
            .count("forwarded", self.forwarded)
            .dropped(NO_CHANNEL, self.no_channel)
            .dropped(LATE_HEADER, self.late_header)
    }
}

/// A burst that wants to leave.
#[derive(Clone, Copy, Debug)]
struct Request {
    /// When the node has handled its header.
    handled: Time,
    /// When its head is here; at the ingress, when it can leave.
    start: Time,
    /// How long a channel takes for it.
    time: Duration,
    /// The channel over which it comes; none where it was made here.
    channel: Option<u16>,
    burst: Birth,
}

/// A port and what it has for a burst.
#[derive(Clone, Copy, Debug)]
struct Offer {
    port: PortId,
    slot: Slot,
}

/// A header that is sent later.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    until: Time,
    header: HeaderId,
    slot: Slot,
}

/// A node that books channels.
pub struct ObsCore {
    settings: ObsSettings,
    /// How long a control channel takes for a header.
    header_time: Duration,
    choice: Choice,
    draw: Stream,
    fibre_rate: Option<Rate>,
    /// By port; none where it leads to a host.
    fibres: Vec<Option<Channels>>,
    /// Headers that wait for their time, by port.
    waiting: Vec<VecDeque<Waiting>>,
    /// When the processor has handled the headers that came.
    busy_until: Time,
    counters: ObsCounters,
}

impl ObsCore {
    /// A node on which nothing is booked.
    pub fn new(settings: &ObsSettings, build: Build) -> ObsCore {
        let fibre = |&channels: &u16| (channels > 0).then(|| Channels::new(channels));
        ObsCore {
            settings: settings.clone(),
            header_time: settings.header_time(),
            choice: build.choice,
            draw: build.draw,
            fibre_rate: build.fibre_rate,
            fibres: build.channels.iter().map(fibre).collect(),
            waiting: vec![VecDeque::new(); build.channels.len()],
            busy_until: Time::ZERO,
            counters: ObsCounters::default(),
        }
    }

    fn transmission_time(&self, bytes: u32) -> Duration {
        let rate = self.fibre_rate.expect("a fibre, since there are bursts");
        rate.transmission_time(Bytes(u64::from(bytes)))
    }

    /// The data channels of a port that leads to another node of the network.
    fn channels(&self, port: PortId) -> &Channels {
        self.fibres[usize::from(port.0)].as_ref().expect("a fibre")
    }

    /// When a header that comes now is handled, after those before it. None: its burst comes sooner
    /// than the matrix can be set, and both are lost.
    fn handle(&mut self, header: HeaderId, ctx: &mut Context<'_>) -> Option<Time> {
        self.counters.arrived += 1;
        let begins = ctx.now().max(self.busy_until);
        self.busy_until = begins + self.settings.header_processing_time;
        let BurstHeader { data_at, .. } = *ctx.header(header);
        if self.busy_until + self.settings.switching_time <= data_at {
            return Some(self.busy_until);
        }
        let port = ctx.port(ctx.route(header), 0);
        self.counters.late_header += 1;
        ctx.drop(header, port, LATE_HEADER);
        None
    }

    /// From when to when a channel is booked.
    fn booked(&self, request: &Request) -> (Time, Time) {
        let handled = Handled {
            at: request.handled,
            start: request.start,
            setup: self.settings.switching_time,
        };
        let from = (self.settings.signalling.booked_from)(handled);
        (from, request.start + request.time)
    }

    /// The channels of a port that a burst can use.
    fn reach(&self, port: PortId, request: &Request) -> Range<u16> {
        let all = self.channels(port).all();
        match request.channel {
            Some(channel) => self.settings.conversion.reach(channel, all),
            None => all,
        }
    }

    /// A slot on a port, if there is one.
    fn slot(&mut self, port: PortId, request: &Request) -> Option<Slot> {
        let (start, end) = self.booked(request);
        let wanted = Wanted {
            channels: self.reach(port, request),
            start,
            end,
        };
        let channels = self.fibres[usize::from(port.0)].as_ref().expect("a fibre");
        let channel = (self.settings.scheduler.choose)(channels, wanted, &mut self.draw)?;
        Some(Slot {
            channel,
            start: request.start,
        })
    }

    /// A port for a burst, with a slot; otherwise one that it wanted.
    fn find(
        &mut self,
        header: HeaderId,
        request: &Request,
        ctx: &Context<'_>,
    ) -> Result<Offer, PortId> {
        let route = ctx.route(header);
        if self.choice != Choice::Free || route.len == 1 {
            let member = self.choice.member(route, header, &mut self.draw, ctx);
            let port = ctx.port(route, member);
            let slot = self.slot(port, request).ok_or(port)?;
            return Ok(Offer { port, slot });
        }
        // Uniformly among those that have a slot.
        let (mut found, mut able) = (None, 0);
        for &port in ctx.ports(route) {
            if let Some(slot) = self.slot(port, request) {
                able += 1;
                if self.draw.below(able) == 0 {
                    found = Some(Offer { port, slot });
                }
            }
        }
        found.ok_or_else(|| ctx.port(route, self.draw.below(u32::from(route.len))))
    }

    /// Books what was offered.
    fn book(&mut self, Offer { port, slot }: Offer, request: &Request, now: Time) {
        let (start, end) = self.booked(request);
        let booking = Booking {
            start,
            end,
            burst: request.burst,
        };
        let channels = self.fibres[usize::from(port.0)].as_mut();
        channels.expect("a fibre").book(slot.channel, booking, now);
    }

    /// Loses a burst for which there was no channel. What is said to hold it up is on the first
    /// channel that it could have used.
    fn lose(&mut self, header: HeaderId, port: PortId, request: &Request, ctx: &mut Context<'_>) {
        self.counters.no_channel += 1;
        let (start, end) = self.booked(request);
        let first = self.reach(port, request).next();
        let holder = first.and_then(|channel| self.channels(port).holder(channel, start, end));
        ctx.drop_for(
            header,
            port,
            NO_CHANNEL,
            holder.map(|booking| booking.burst),
        );
    }

    fn send(&mut self, offer: Offer, header: HeaderId, from: Time, ctx: &mut Context<'_>) {
        self.counters.forwarded += 1;
        ctx.send_header(offer.port, header, (from, self.header_time), offer.slot);
    }

    /// The next slot of a port for a burst that is made here, which waits until then.
    fn next_slot(&mut self, port: PortId, request: &mut Request) -> Slot {
        let (from, end) = self.booked(request);
        let (channels, scheduler) = (self.channels(port), &self.settings.scheduler);
        let next = scheduler.earliest(channels, channels.all(), from, end.since(from));
        let later = next.expect("a channel").since(from);
        request.start = request.start + later;
        request.handled = request.handled + later;
        self.slot(port, request).expect("a void")
    }

    /// Sends a header when its time has come.
    fn send_later(&mut self, offer: Offer, header: HeaderId, until: Time, ctx: &mut Context<'_>) {
        let Offer { port, slot } = offer;
        let waiting = &mut self.waiting[usize::from(port.0)];
        let one = Waiting {
            until,
            header,
            slot,
        };
        waiting.insert(waiting.partition_point(|other| other.until <= until), one);
        let token = Token {
            kind: SEND,
            subject: u32::from(port.0),
        };
        ctx.timer(until, token);
    }
}

impl Core for ObsCore {
    fn launch(&mut self, bundle: &Bundle, nth: u32, ctx: &mut Context<'_>) {
        let burst = ctx.bundle(bundle, nth);
        let header = ctx.announce(burst);
        // Each fibre ends at a node that handles the header; the last link leads to a host.
        let fibres = u64::from(ctx.links_to_go(header) - 1);
        let now = ctx.now();
        let settings = &self.settings;
        let offset = settings.offset_time + settings.offset_per_hop() * fibres;
        let offset = offset + settings.extra_offset(bundle.class);
        let mut request = Request {
            handled: now,
            start: now + offset,
            time: self.transmission_time(bundle.bytes),
            channel: None,
            burst: ctx.header(header).birth,
        };
        let mut found = self.find(header, &request, ctx);
        if let (Err(port), IngressRule::Delay) = (found, self.settings.ingress) {
            let slot = self.next_slot(port, &mut request);
            found = Ok(Offer { port, slot });
        }
        ctx.note_burst(bundle, burst, request.start);
        match found {
            Err(port) => self.lose(header, port, &request, ctx),
            Ok(offer) => {
                self.book(offer, &request, now);
                match request.handled == now {
                    true => self.send(offer, header, now, ctx),
                    false => self.send_later(offer, header, request.handled, ctx),
                }
            }
        }
    }

    fn receive(&mut self, unit: Unit, ctx: &mut Context<'_>) -> Option<(BurstId, Time)> {
        let Unit::Header(header) = unit else {
            unreachable!("what comes over a fibre is a header");
        };
        self.handle(header, ctx)?;
        let BurstHeader {
            envelope, data_at, ..
        } = *ctx.header(header);
        let burst = ctx.take_header(header);
        Some((burst, data_at + self.transmission_time(envelope.bytes)))
    }
}

impl Switch for ObsCore {
    fn on_unit(&mut self, unit: Unit, ctx: &mut Context<'_>) {
        let Unit::Header(header) = unit else {
            unreachable!("what comes over a fibre is a header");
        };
        let Some(handled) = self.handle(header, ctx) else {
            return;
        };
        let it = ctx.header(header);
        let request = Request {
            handled,
            start: it.data_at,
            time: self.transmission_time(it.envelope.bytes),
            channel: Some(it.channel),
            burst: it.birth,
        };
        match self.find(header, &request, ctx) {
            Ok(offer) => {
                self.book(offer, &request, ctx.now());
                self.send(offer, header, handled, ctx);
            }
            Err(port) => self.lose(header, port, &request, ctx),
        }
    }

    fn on_timer(&mut self, Token { subject, .. }: Token, ctx: &mut Context<'_>) {
        let port = PortId(subject as u16);
        let first = self.waiting[usize::from(port.0)].pop_front();
        let Waiting {
            until,
            header,
            slot,
        } = first.expect("a header that waits");
        self.send(Offer { port, slot }, header, until, ctx);
    }

    fn counted(&self, end: Time) -> Counted {
        self.counters.counted(end)
    }
}
