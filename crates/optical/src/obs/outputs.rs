//! Outputs of a node: the reservations on their fibres, and the search for a channel.

use super::channels::{Channels, Reservation};
use super::contention::{Contention, DropEnd, Resolved};
use super::scheduler::Wanted;
use super::signalling::Handled;
use crate::switch::{Build, ObsSettings};
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::{
    BurstHeaderId, Bytes, Choice, Context, Identity, PortId, Rate, Route, Sent, Slot,
};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Request for a channel.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Time when the node has processed the header.
    pub handled: Time,
    /// Departure time of the head: its arrival time, or at the ingress the end of the offset time.
    pub start: Time,
    /// Time that the burst spends in a delay line of this node before its departure.
    pub delayed: Duration,
    /// Transmission time of the burst.
    pub time: Duration,
    /// Channel on which the burst arrives; `None` at its ingress.
    pub channel: Option<u16>,
    /// Identity of the burst.
    pub burst: Identity,
}

impl Request {
    /// Returns the request of the burst after an additional delay.
    pub fn delayed(&self, by: Duration) -> Request {
        Request {
            start: self.start + by,
            delayed: self.delayed + by,
            ..*self
        }
    }
}

/// Port and channel that are free for a request.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// The port.
    pub port: PortId,
    /// Channel and departure time.
    pub slot: Slot,
    /// Start and end of the reservation, including the set-up of the switch.
    pub reserved: (Time, Time),
}

/// Outputs of one node.
pub struct Outputs {
    /// Settings of the node.
    pub settings: ObsSettings,
    choice: Choice,
    draw: Stream,
    fibre_rate: Option<Rate>,
    /// Channels by port; `None` if the port leads to a host.
    fibres: Vec<Option<Channels>>,
    /// Bursts sent by each port, for tail dropping. Bursts that have ended are removed from the
    /// front when another one is sent. `None` if no tails are cut.
    sent: Option<Vec<VecDeque<Sent>>>,
    /// Whether the link of each port is down at present, or all its channels are. Empty if no link
    /// of the network can be.
    down: Vec<bool>,
    /// Whether each channel of a port is down at present, and the channels without those; only for
    /// ports with such channels.
    partly: BTreeMap<PortId, (Vec<bool>, Channels)>,
}

impl Outputs {
    /// Creates outputs without reservations.
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
            down: Vec::new(),
            partly: BTreeMap::new(),
        }
    }

    /// Notes which links are down now: their ports offer no channel to the header at this node.
    #[inline]
    pub fn look(&mut self, ctx: &Context<'_>) {
        if ctx.has_outages() {
            self.look_at_links(ctx);
        }
    }

    #[cold]
    fn look_at_links(&mut self, ctx: &Context<'_>) {
        let ports = (0..).map(PortId).take(self.fibres.len());
        self.down.clear();
        self.down.extend(ports.map(|port| ctx.is_down(port)));
        self.partly.clear();
        if ctx.has_channel_outages() {
            self.look_at_channels(ctx);
        }
    }

    fn look_at_channels(&mut self, ctx: &Context<'_>) {
        for (port, fibre) in (0..).map(PortId).zip(&self.fibres) {
            let Some(channels) = fibre else { continue };
            let down = |channel| ctx.is_channel_down(port, channel);
            let down: Vec<bool> = channels.all().map(down).collect();
            if down.iter().all(|&down| down) {
                self.down[usize::from(port.0)] = true;
            } else if down.contains(&true) {
                let rest = channels.without(&down);
                self.partly.insert(port, (down, rest));
            }
        }
    }

    /// Returns whether a channel of a port was down at the last look, and others not.
    pub fn is_channel_down(&self, port: PortId, channel: u16) -> bool {
        let partly = self.partly.get(&port);
        partly.is_some_and(|(down, _)| down[usize::from(channel)])
    }

    /// Returns whether the link of a port was down at the last look.
    #[inline]
    pub fn is_down(&self, port: PortId) -> bool {
        !self.down.is_empty() && self.down[usize::from(port.0)]
    }

    /// Returns whether the links of all ports of a route are down.
    pub fn all_down(&self, ports: Route, ctx: &Context<'_>) -> bool {
        ctx.ports(ports).iter().all(|&port| self.is_down(port))
    }

    /// Returns the transmission time of a burst on a channel.
    #[inline]
    pub fn transmission_time(&self, bytes: u32) -> Duration {
        let rate = self.fibre_rate.expect("a fibre, since there are bursts");
        rate.transmission_time(Bytes(u64::from(bytes)))
    }

    /// Returns the number of whole bytes that a channel transmits in a given time.
    pub fn transmitted(&self, time: Duration) -> u64 {
        let rate = self.fibre_rate.expect("a fibre, since there are bursts");
        rate.whole_bytes_in(time).0
    }

    /// Returns the data channels of a port, which must lead to another switch.
    pub fn channels(&self, port: PortId) -> &Channels {
        self.fibres[usize::from(port.0)].as_ref().expect("a fibre")
    }

    /// Returns the ports that lead to other switches.
    pub fn fibres(&self) -> impl Iterator<Item = PortId> + '_ {
        let ports = (0..).map(PortId).zip(&self.fibres);
        ports.filter_map(|(port, fibre)| fibre.as_ref().map(|_| port))
    }

    /// Returns the start and the end of the reservation that a request needs.
    #[inline]
    pub fn reserved(&self, request: &Request) -> (Time, Time) {
        let handled = Handled {
            at: request.handled,
            start: request.start,
            setup: self.settings.switching_time,
        };
        let from = (self.settings.signalling.reserved_from)(handled);
        (from, request.start + request.time)
    }

    /// Returns the channels of a port that conversion allows for a burst.
    #[inline]
    pub fn reach(&self, port: PortId, request: &Request) -> Range<u16> {
        let all = self.channels(port).all();
        match request.channel {
            Some(channel) => self.settings.conversion.reach(channel, all),
            None => all,
        }
    }

    /// Finds a channel of a port for a request.
    #[inline]
    pub fn offer_of(&mut self, port: PortId, request: &Request) -> Option<Offer> {
        if self.is_down(port) {
            return None;
        }
        let (start, end) = self.reserved(request);
        let wanted = Wanted {
            channels: self.reach(port, request),
            start,
            end,
        };
        let fibre = || self.fibres[usize::from(port.0)].as_ref().expect("a fibre");
        let channels = match self.partly.get(&port) {
            None => fibre(),
            Some((_, rest)) => rest,
        };
        let channel = (self.settings.scheduler.choose)(channels, wanted, &mut self.draw)?;
        let slot = Slot {
            channel,
            start: request.start,
            delayed: request.delayed,
        };
        let reserved = (start, end);
        Some(Offer {
            port,
            slot,
            reserved,
        })
    }

    /// Returns the output ports of a burst according to its route and the choice rule.
    #[inline]
    pub fn ports(&mut self, header: BurstHeaderId, ctx: &Context<'_>) -> Route {
        let route = ctx.route(header);
        match &mut self.choice {
            Choice::Free => route,
            choice => route.only(choice.member::<false>(route, header, &mut self.draw, ctx)),
        }
    }

    /// Finds a port and a channel for a request. Draws uniformly among the `able` ports that have a
    /// free channel.
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

    /// Draws one of several ports uniformly.
    pub fn any(&mut self, ports: Route, ctx: &Context<'_>) -> PortId {
        let member = match ports.len {
            1 => 0,
            number => self.draw.below(u32::from(number)),
        };
        ctx.port(ports, member)
    }

    /// Draws one of several ports uniformly among those whose links are up.
    fn any_up(&mut self, ports: Route, ctx: &Context<'_>) -> PortId {
        let up = |port: &&PortId| !self.is_down(**port);
        let mut up: Vec<PortId> = ctx.ports(ports).iter().filter(up).copied().collect();
        match up.len() {
            1 => up[0],
            number => up.swap_remove(self.draw.below(number as u32) as usize),
        }
    }

    /// Delays a burst at its ingress, with its header, until a random one of its ports whose links
    /// are up has a free channel. There must be one.
    pub fn wait(&mut self, burst: &Contention, ctx: &Context<'_>) -> Resolved {
        let mut request = burst.request;
        let port = self.any_up(burst.ports, ctx);
        let (from, end) = self.reserved(&request);
        let rest = self.partly.get(&port).map(|(_, rest)| rest);
        let channels = rest.unwrap_or_else(|| self.channels(port));
        let scheduler = &self.settings.scheduler;
        let next = scheduler.earliest(channels, channels.all(), from, end.since(from));
        let later = next.expect("a channel").since(from);
        request.start = request.start + later;
        request.handled = request.handled + later;
        let offer = self.offer_of(port, &request).expect("a void");
        Resolved::whole(offer, request)
    }

    /// Reserves the channel of an offer.
    #[inline]
    pub fn reserve(&mut self, offer: Offer, burst: Identity, now: Time) {
        let Offer {
            port,
            slot,
            reserved,
        } = offer;
        let (start, end) = reserved;
        let reservation = Reservation { start, end, burst };
        let channels = self.fibres[usize::from(port.0)].as_mut();
        channels
            .expect("a fibre")
            .reserve(slot.channel, reservation, now);
    }

    /// Records a burst that is sent, if tails may be cut.
    #[inline]
    pub fn note_sent(&mut self, offer: Offer, header: BurstHeaderId, ctx: &Context<'_>) {
        if self.sent.is_some() {
            self.keep_sent(offer, header, ctx);
        }
    }

    #[cold]
    fn keep_sent(
        &mut self,
        Offer { port, slot, .. }: Offer,
        header: BurstHeaderId,
        ctx: &Context<'_>,
    ) {
        let bytes = ctx.header(header).envelope.bytes;
        let end = slot.start + self.transmission_time(bytes);
        let sent = self.sent.as_mut().expect("bursts that are asked for");
        let bursts = &mut sent[usize::from(port.0)];
        while bursts.front().is_some_and(|it| it.end <= ctx.now()) {
            bursts.pop_front();
        }
        bursts.push_back(ctx.sent(header, slot, end));
    }

    /// Returns the index of a reservation's burst among those sent by a port; `None` if its header
    /// has not been sent.
    pub fn place_of(&self, port: PortId, channel: u16, reservation: &Reservation) -> Option<usize> {
        let is_it = |it: &Sent| (it.slot.channel, it.end) == (channel, reservation.end);
        let sent = self.sent.as_ref().expect("bursts that are asked for");
        sent[usize::from(port.0)].iter().rposition(is_it)
    }

    /// Returns a burst sent by a port, by its index.
    pub fn sent(&self, port: PortId, place: usize) -> &Sent {
        &self.sent.as_ref().expect("bursts that are asked for")[usize::from(port.0)][place]
    }

    /// Shortens a burst sent by a port, and its reservation, to `bytes`. Returns the burst as it
    /// was.
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

    /// Returns the burst of the last reservation, on the channel of an offer, that overlaps the
    /// time originally requested.
    pub fn before(&self, offer: &Offer, wanted: &Request) -> Option<Identity> {
        let (start, end) = self.reserved(wanted);
        let channels = self.channels(offer.port);
        let holder = channels.last_holder(offer.slot.channel, start, end);
        holder.map(|reservation| reservation.burst)
    }

    /// Returns the burst to be named as the cause when a port has no channel: that of the first
    /// overlapping reservation on the first usable channel.
    pub fn holder(&self, port: PortId, request: &Request) -> Option<Identity> {
        let (start, end) = self.reserved(request);
        let first = self.reach(port, request).next()?;
        let holder = self.channels(port).holder(first, start, end);
        holder.map(|reservation| reservation.burst)
    }
}
