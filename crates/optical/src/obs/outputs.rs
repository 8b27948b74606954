//! The outputs of a node: what is booked on their fibres, and how a channel is found for a burst.

use super::channels::{Booking, Channels};
use super::contention::{Contention, DropEnd, Resolved};
use super::scheduler::Wanted;
use super::signalling::Handled;
use crate::switch::{Build, ObsSettings};
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::{Birth, Bytes, Choice, Context, HeaderId, PortId, Rate, Route, Sent, Slot};
use std::collections::VecDeque;
use std::ops::Range;

/// A burst that wants to leave.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// When the node has handled its header.
    pub handled: Time,
    /// When its head leaves: when it is here, and at the ingress when it can.
    pub start: Time,
    /// For how long it is in a delay line of this node before that.
    pub delayed: Duration,
    /// How long a channel takes for it.
    pub time: Duration,
    /// The channel over which it comes; none where it was made here.
    pub channel: Option<u16>,
    /// Which burst it is.
    pub burst: Birth,
}

impl Request {
    /// The same behind a delay line.
    pub fn delayed(&self, by: Duration) -> Request {
        Request {
            start: self.start + by,
            delayed: self.delayed + by,
            ..*self
        }
    }
}

/// A port and what it has for a burst.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// The port.
    pub port: PortId,
    /// When, and on which channel.
    pub slot: Slot,
    /// From when to when that is booked then.
    pub booked: (Time, Time),
}

/// The outputs of a node.
pub struct Outputs {
    /// The settings of the node.
    pub settings: ObsSettings,
    choice: Choice,
    draw: Stream,
    fibre_rate: Option<Rate>,
    /// By port; none where it leads to a host.
    fibres: Vec<Option<Channels>>,
    /// The bursts that were sent off by each port, without the first of them that were over when
    /// the last one was; none where nobody asks for them.
    sent: Option<Vec<VecDeque<Sent>>>,
}

impl Outputs {
    /// Outputs on which nothing is booked.
    pub fn new(settings: &ObsSettings, build: Build) -> Outputs {
        let cuts_tails = settings.contention.cuts() == Some(DropEnd::Tail);
        let fibre = |&channels: &u16| (channels > 0).then(|| Channels::new(channels));
        Outputs {
            settings: settings.clone(),
            choice: build.choice,
            draw: build.draw,
            sent: cuts_tails.then(|| vec![VecDeque::new(); build.channels.len()]),
            fibre_rate: build.fibre_rate,
            fibres: build.channels.iter().map(fibre).collect(),
        }
    }

    /// How long a channel takes for a burst.
    #[inline]
    pub fn transmission_time(&self, bytes: u32) -> Duration {
        let rate = self.fibre_rate.expect("a fibre, since there are bursts");
        rate.transmission_time(Bytes(u64::from(bytes)))
    }

    /// The whole bytes that a channel has transmitted after some time.
    pub fn transmitted(&self, time: Duration) -> u64 {
        let rate = self.fibre_rate.expect("a fibre, since there are bursts");
        rate.whole_bytes_in(time).0
    }

    /// The data channels of a port that leads to another node of the network.
    pub fn channels(&self, port: PortId) -> &Channels {
        self.fibres[usize::from(port.0)].as_ref().expect("a fibre")
    }

    /// The ports that lead to other nodes of the network.
    pub fn fibres(&self) -> impl Iterator<Item = PortId> + '_ {
        let ports = (0..).map(PortId).zip(&self.fibres);
        ports.filter_map(|(port, fibre)| fibre.as_ref().map(|_| port))
    }

    /// From when to when a channel is booked.
    #[inline]
    pub fn booked(&self, request: &Request) -> (Time, Time) {
        let handled = Handled {
            at: request.handled,
            start: request.start,
            setup: self.settings.switching_time,
        };
        let from = (self.settings.signalling.booked_from)(handled);
        (from, request.start + request.time)
    }

    /// The channels of a port that a burst can use.
    #[inline]
    pub fn reach(&self, port: PortId, request: &Request) -> Range<u16> {
        let all = self.channels(port).all();
        match request.channel {
            Some(channel) => self.settings.conversion.reach(channel, all),
            None => all,
        }
    }

    /// What a port has for a burst, if it has a channel.
    #[inline]
    pub fn offer_of(&mut self, port: PortId, request: &Request) -> Option<Offer> {
        let (start, end) = self.booked(request);
        let wanted = Wanted {
            channels: self.reach(port, request),
            start,
            end,
        };
        let channels = self.fibres[usize::from(port.0)].as_ref().expect("a fibre");
        let channel = (self.settings.scheduler.choose)(channels, wanted, &mut self.draw)?;
        let slot = Slot {
            channel,
            start: request.start,
            delayed: request.delayed,
        };
        let booked = (start, end);
        Some(Offer { port, slot, booked })
    }

    /// The ports by any of which a burst may leave, as it is routed.
    #[inline]
    pub fn ports(&mut self, header: HeaderId, ctx: &Context<'_>) -> Route {
        let route = ctx.route(header);
        match self.choice {
            Choice::Free => route,
            choice => route.only(choice.member(route, header, &mut self.draw, ctx)),
        }
    }

    /// A port of several for a burst, with a slot: uniformly among those that have one and that
    /// are `able`.
    #[inline]
    pub fn offer(
        &mut self,
        ports: Route,
        request: &Request,
        able: impl Fn(PortId) -> bool,
        ctx: &Context<'_>,
    ) -> Option<Offer> {
        if ports.len == 1 {
            let port = ctx.port(ports, 0);
            return able(port).then(|| self.offer_of(port, request))?;
        }
        self.offer_of_several(ports, request, able, ctx)
    }

    #[inline(never)]
    fn offer_of_several(
        &mut self,
        ports: Route,
        request: &Request,
        able: impl Fn(PortId) -> bool,
        ctx: &Context<'_>,
    ) -> Option<Offer> {
        let (mut found, mut number) = (None, 0);
        for &port in ctx.ports(ports).iter().filter(|&&port| able(port)) {
            if let Some(offer) = self.offer_of(port, request) {
                number += 1;
                if self.draw.below(number) == 0 {
                    found = Some(offer);
                }
            }
        }
        found
    }

    /// One of several ports, uniformly.
    pub fn any(&mut self, ports: Route, ctx: &Context<'_>) -> PortId {
        let member = match ports.len {
            1 => 0,
            number => self.draw.below(u32::from(number)),
        };
        ctx.port(ports, member)
    }

    /// A burst that is made here waits for the next slot of a port.
    pub fn wait(&mut self, burst: &Contention, ctx: &Context<'_>) -> Resolved {
        let mut request = burst.request;
        let port = self.any(burst.ports, ctx);
        let (from, end) = self.booked(&request);
        let (channels, scheduler) = (self.channels(port), &self.settings.scheduler);
        let next = scheduler.earliest(channels, channels.all(), from, end.since(from));
        let later = next.expect("a channel").since(from);
        request.start = request.start + later;
        request.handled = request.handled + later;
        let offer = self.offer_of(port, &request).expect("a void");
        Resolved::whole(offer, request)
    }

    /// Books what was offered to a burst.
    #[inline]
    pub fn book(&mut self, offer: Offer, burst: Birth, now: Time) {
        let Offer { port, slot, booked } = offer;
        let (start, end) = booked;
        let booking = Booking { start, end, burst };
        let channels = self.fibres[usize::from(port.0)].as_mut();
        channels.expect("a fibre").book(slot.channel, booking, now);
    }

    /// Notes that a burst is sent off, if somebody asks for that later.
    #[inline]
    pub fn note_sent(&mut self, offer: Offer, header: HeaderId, ctx: &Context<'_>) {
        if self.sent.is_some() {
            self.keep_sent(offer, header, ctx);
        }
    }

    #[cold]
    fn keep_sent(&mut self, Offer { port, slot, .. }: Offer, header: HeaderId, ctx: &Context<'_>) {
        let bytes = ctx.header(header).envelope.bytes;
        let end = slot.start + self.transmission_time(bytes);
        let sent = self.sent.as_mut().expect("bursts that are asked for");
        let bursts = &mut sent[usize::from(port.0)];
        while bursts.front().is_some_and(|it| it.end <= ctx.now()) {
            bursts.pop_front();
        }
        bursts.push_back(ctx.sent(header, slot, end));
    }

    /// The place among the bursts that were sent off by a port of that for which a channel is
    /// booked; none if its header still waits.
    pub fn place_of(&self, port: PortId, channel: u16, booking: &Booking) -> Option<usize> {
        let is_it = |it: &Sent| (it.slot.channel, it.end) == (channel, booking.end);
        let sent = self.sent.as_ref().expect("bursts that are asked for");
        sent[usize::from(port.0)].iter().rposition(is_it)
    }

    /// A burst that was sent off by a port.
    pub fn sent(&self, port: PortId, place: usize) -> &Sent {
        &self.sent.as_ref().expect("bursts that are asked for")[usize::from(port.0)][place]
    }

    /// Of a burst that was sent off by a port only so many bytes go on; returns what it was.
    pub fn shorten(&mut self, port: PortId, place: usize, bytes: u32) -> Sent {
        let earlier = self.transmission_time(bytes);
        let sent = self.sent.as_mut().expect("bursts that are asked for");
        let it = &mut sent[usize::from(port.0)][place];
        let before = *it;
        (it.bytes, it.end) = (bytes, it.slot.start + earlier);
        let (channel, end) = (it.slot.channel, it.end);
        let fibre = self.fibres[usize::from(port.0)].as_mut();
        fibre.expect("a fibre").shorten(channel, before.end, end);
        before
    }

    /// What has the channel of an offer last in the time for which the burst first wanted one.
    pub fn before(&self, offer: &Offer, wanted: &Request) -> Option<Birth> {
        let (start, end) = self.booked(wanted);
        let channels = self.channels(offer.port);
        let holder = channels.last_holder(offer.slot.channel, start, end);
        holder.map(|booking| booking.burst)
    }

    /// What is said to hold up a burst for which a port has no channel: what is on the first that it
    /// could have used.
    pub fn holder(&self, port: PortId, request: &Request) -> Option<Birth> {
        let (start, end) = self.booked(request);
        let first = self.reach(port, request).next()?;
        let holder = self.channels(port).holder(first, start, end);
        holder.map(|booking| booking.burst)
    }
}
