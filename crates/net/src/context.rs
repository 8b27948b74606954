//! Interface between a node and the network: a node reads and changes the network only through its
//! [`Context`].

mod bursts;
mod cut;
mod drop;
mod entry;
mod interface;
mod output;
mod part;
mod pause;
mod watched;

use crate::link::fifo;
use crate::observe::{Happening, Interest, Place};
use crate::routing::label::SHORTEST;
use crate::unit::units::Behind;
use crate::{
    Bundle, BurstHeaderId, BurstId, Detour, Dropped, Ecn, Envelope, Event, Fabric, FlowId, Header,
    Hop, LinkId, NodeId, Notices, Options, Packet, PacketId, PortId, Rate, Reading, Repaths, Route,
    Sendable, TimerId, Unit,
};
use lightburst_des::{Agenda, Duration, Time};

/// View of the network for the node that handles the present event.
pub struct Context<'a> {
    node: NodeId,
    /// Link at port 0 of the node.
    first_link: LinkId,
    /// Link over which the unit has just arrived; [`LinkId::NONE`] at a timer.
    input: LinkId,
    fabric: &'a mut Fabric,
    agenda: &'a mut Agenda<Event>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        node: NodeId,
        first_link: LinkId,
        input: LinkId,
        fabric: &'a mut Fabric,
        agenda: &'a mut Agenda<Event>,
    ) -> Self {
        Context {
            node,
            first_link,
            input,
            fabric,
            agenda,
        }
    }

    #[inline]
    fn link(&self, port: PortId) -> LinkId {
        LinkId(self.first_link.0 + u32::from(port.0))
    }

    /// Returns the present time.
    #[inline]
    pub fn now(&self) -> Time {
        self.agenda.now()
    }

    /// Returns the node that handles the event.
    #[inline]
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Returns the link over which the unit has just arrived; [`LinkId::NONE`] at a timer.
    #[inline]
    pub fn input(&self) -> LinkId {
        self.input
    }

    /// Returns the envelope of a unit at this node.
    #[inline]
    pub fn envelope(&self, unit: impl Sendable) -> &Envelope {
        unit.envelope(&self.fabric.units)
    }

    /// Returns a packet at this node.
    #[inline]
    pub fn packet(&self, packet: PacketId) -> &Packet {
        &self.fabric.units.packets[packet]
    }

    /// Marks a packet, if it is capable of ECN: congestion experienced (RFC 3168, section 5).
    #[inline]
    pub fn mark_congestion(&mut self, packet: PacketId) {
        let packet = &mut self.fabric.units.packets[packet];
        if packet.envelope.treatment.ecn() != Ecn::NotCapable {
            packet.header.flags |= Header::MARKED;
        }
    }

    /// Returns the options of a packet. The packet must carry some.
    #[inline]
    pub fn options(&self, packet: PacketId) -> &Options {
        self.fabric.options(packet)
    }

    /// Attaches options to a packet.
    #[inline]
    pub fn set_options(&mut self, packet: PacketId, options: Options) {
        self.fabric.set_options(packet, options);
    }

    /// Returns the equal-cost next hops of a unit.
    #[inline(always)]
    pub fn route(&self, unit: impl Sendable) -> Route {
        let envelope = unit.envelope(&self.fabric.units);
        self.fabric.routing.route_of(self.node, envelope)
    }

    /// Returns the `i`-th port of a route.
    #[inline]
    pub fn port(&self, route: Route, i: u32) -> PortId {
        self.fabric.routing.port(route, i)
    }

    /// Returns the ports of a route.
    #[inline]
    pub fn ports(&self, route: Route) -> &[PortId] {
        self.fabric.routing.ports(route)
    }

    /// Returns the end of the last transmission handed to a port.
    #[inline(always)]
    pub fn free_at(&self, port: PortId) -> Time {
        self.fabric.links.free_at(self.link(port))
    }

    /// Returns the earliest time at which one of a route's ports has sent all units handed to it.
    #[inline]
    pub fn earliest_free(&self, route: Route) -> Time {
        let times = self.ports(route).iter().map(|&port| self.free_at(port));
        times.fold(Time::NEVER, Time::min)
    }

    /// Returns whether the link of a port is free now.
    #[inline]
    pub fn is_free(&self, port: PortId) -> bool {
        self.free_at(port) <= self.now()
    }

    /// Returns the rate of a port.
    #[inline]
    pub fn rate(&self, port: PortId) -> Rate {
        self.fabric.links.rate(self.link(port))
    }

    /// Returns the transmission time of `bytes` at a port.
    #[inline]
    pub fn transmission_time(&self, port: PortId, bytes: u32) -> Duration {
        self.fabric.links.transmission_time(self.link(port), bytes)
    }

    /// Returns the transmission time of `bytes` at a port with the rate that its link has at the
    /// begin of the run.
    pub fn first_transmission_time(&self, port: PortId, bytes: u32) -> Duration {
        let links = &self.fabric.links;
        links.transmission_time_at(self.link(port), u64::from(bytes), Time::ZERO)
    }

    /// Puts a new packet into the network. The caller must send it.
    #[inline]
    pub fn create(&mut self, packet: Packet) -> PacketId {
        self.fabric.created += 1;
        let packet = self.fabric.units.packets.insert(packet);
        let fabric = &mut *self.fabric;
        if fabric.labels.is_some() || fabric.telemetry.is_some() || fabric.repaths.is_some() {
            fabric.enter(packet);
        }
        packet
    }

    /// Returns the node at the far end of a port.
    #[inline]
    pub fn neighbour(&self, port: PortId) -> NodeId {
        self.fabric.links.to(self.link(port))
    }

    /// Returns the bytes that a port has not sent yet, rounded up.
    #[inline(always)]
    pub fn backlog(&self, port: PortId) -> u64 {
        let link = self.link(port);
        let wait = self.fabric.links.to_transmit(link, self.now());
        if wait == Duration::ZERO {
            return 0;
        }
        self.fabric.links.bytes_left(link, self.now(), wait)
    }

    /// Returns when a unit leaves a port whose next transmission begins at `start`: earlier, if the
    /// routes learn before that the link is down.
    #[inline]
    pub fn leaves_at(&self, port: PortId, start: Time) -> Time {
        match &self.fabric.outages {
            None => start,
            Some(outages) => outages.leaves_at(self.link(port), start),
        }
    }

    /// Returns whether a link of the network can be down.
    #[inline]
    pub fn has_outages(&self) -> bool {
        self.fabric.outages.is_some()
    }

    /// Returns whether a channel of a link of the network can be down.
    pub fn has_channel_outages(&self) -> bool {
        let outages = self.fabric.outages.as_ref();
        outages.is_some_and(|outages| outages.have_channels())
    }

    /// Returns whether a data channel of a port is down now, and not its link as a whole.
    pub fn is_channel_down(&self, port: PortId, channel: u16) -> bool {
        let (link, now) = (self.link(port), self.now());
        let outages = self.fabric.outages.as_ref();
        outages.is_some_and(|outages| outages.is_channel_down((link, channel), now))
    }

    /// Returns whether the link of a port is down now.
    pub fn is_down(&self, port: PortId) -> bool {
        let outages = self.fabric.outages.as_ref();
        outages.is_some_and(|outages| outages.is_down(self.link(port), self.now()))
    }

    /// Returns whether the routes know that the link of a port is down.
    pub fn is_known_down(&self, port: PortId) -> bool {
        let outages = self.fabric.outages.as_ref();
        outages.is_some_and(|outages| outages.is_known_down(self.link(port)))
    }

    /// Returns the number of next-hop sets of the node.
    pub fn sets(&self) -> usize {
        self.fabric.routing.sets(self.node)
    }

    /// Hands a unit to a port for transmission at `from` or later; returns the start of the
    /// transmission. The caller must not use the unit afterwards, because the link may have dropped
    /// it.
    #[inline(always)]
    pub fn send(&mut self, port: PortId, unit: impl Sendable, from: Time) -> Time {
        let now = self.agenda.now();
        let link = self.link(port);
        let fabric = &mut *self.fabric;
        if fabric.links.is_watched(link) {
            return self.send_watched(port, unit.into(), (from, from));
        }
        if from > now {
            fabric.links.postpone(link, from, now);
        }
        let envelope = unit.envelope_mut(&mut fabric.units);
        envelope.behind = Behind::NOTHING;
        let (transit, tail) = fabric.links.transmit(link, envelope.bytes, from);
        let units = &mut fabric.units;
        fifo::travel(unit.into(), link, transit, tail, units, self.agenda);
        transit.start
    }

    /// Removes a header packet from the network; returns its burst.
    #[inline]
    pub fn take_header(&mut self, header: BurstHeaderId) -> BurstId {
        self.fabric.units.burst_headers.remove(header).burst
    }

    /// Iterates over the fibres ahead of a unit on its path. Of equal-cost ports the first is
    /// taken.
    pub fn fibres(&self, unit: impl Sendable) -> impl Iterator<Item = Hop> + '_ {
        let envelope = *unit.envelope(&self.fabric.units);
        let way = self.fabric.way(self.node, envelope);
        // The last link leads to a host and is no fibre.
        way.take_while(move |hop| hop.to != envelope.destination)
    }

    /// Returns the number of switches on a shortest path to a host, by the first of equal-cost ports.
    pub fn switches_to(&self, destination: NodeId) -> u32 {
        let unit = Envelope {
            label: SHORTEST,
            ..Envelope::new(FlowId(0), self.node, destination, 0)
        };
        // Each hop but the last leads to a switch.
        self.fabric.way(self.node, unit).count() as u32 - 1
    }

    /// Returns the rest of a unit's path if it leaves by `port` instead of its regular route.
    pub fn detour(&self, port: PortId, unit: impl Sendable) -> Detour {
        let destination = self.envelope(unit).destination;
        self.fabric.detour(self.node, self.link(port), destination)
    }

    /// Deflects a unit: from the next node on it follows shortest paths.
    pub fn deflect(&mut self, unit: impl Sendable) {
        unit.envelope_mut(&mut self.fabric.units).label = SHORTEST;
    }

    /// Counts that a unit takes a circuit.
    pub fn count_circuit(&mut self, unit: Unit) {
        let circuits = &mut unit.envelope_mut(&mut self.fabric.units).circuits;
        *circuits = circuits.saturating_add(1);
    }

    /// Removes a packet that has reached its destination from the network.
    #[inline]
    pub fn deliver(&mut self, packet: PacketId) -> Packet {
        self.fabric.deliver(packet, self.node, self.agenda.now())
    }

    /// Returns the paths of flows, if senders change them.
    #[inline]
    pub fn repaths(&mut self) -> Option<&mut Repaths> {
        self.fabric.repaths.as_deref_mut()
    }

    /// Returns the telemetry of the packet that has just arrived; none if its flow did not ask.
    pub fn telemetry(&self) -> &[Reading] {
        let telemetry = self.fabric.telemetry.as_ref();
        telemetry.map_or(&[], |telemetry| telemetry.arrived())
    }

    /// Returns the loss notices for this ingress about its bursts of a class for an egress. `None`
    /// if no packet of them was lost yet.
    pub fn notices(&mut self, egress: NodeId, class: u16) -> Option<&mut Notices> {
        let board = self.fabric.notices.as_mut()?;
        board.line(self.node, egress, class)
    }

    #[inline]
    fn place(&self, port: PortId) -> Place {
        Place {
            node: self.node,
            link: self.link(port),
        }
    }

    /// Returns whether an observer wants any event of these kinds.
    #[inline(always)]
    pub fn observed(&self, kinds: Interest) -> bool {
        self.fabric.observers.want(kinds)
    }

    /// Reports an event of a kind to the observers that want it. The event is made only if there are
    /// any.
    #[inline(always)]
    pub fn tell<'h>(&mut self, kind: Interest, happening: impl FnOnce() -> Happening<'h>) {
        self.fabric.tell(kind, self.agenda.now(), happening);
    }

    /// Returns the dropped packets of all flows.
    pub fn dropped(&mut self) -> &mut Dropped {
        &mut self.fabric.dropped
    }

    /// Iterates over the flows of all packets in the network, one item per packet.
    pub fn flows_under_way(&self) -> impl Iterator<Item = FlowId> + '_ {
        let packets = self.fabric.units.packets.values();
        packets.map(|packet| packet.envelope.flow)
    }

    /// Reports a new packet to observers. `again`: its data was sent before.
    #[inline]
    pub fn created(&mut self, packet: PacketId, again: bool) {
        let node = self.node;
        self.tell(Interest::CREATED, || Happening::Created {
            packet,
            node,
            again,
        });
    }

    /// Reports to observers that the departure of a burst from its ingress is decided.
    #[inline]
    pub fn departing(&mut self, bundle: &Bundle, burst: BurstId, departure: Time) {
        self.tell(Interest::DEPARTING, || Happening::Departing {
            burst,
            bundle,
            departure,
        });
    }

    /// Sets a timer of this node.
    #[inline]
    pub fn timer(&mut self, at: Time, timer_id: TimerId) {
        self.agenda.push(at, Event::timer(self.node, timer_id));
    }

    /// Sets a timer of another node. Used only for what no event causes: the starts of flows and the
    /// work of hosts at the begin of a run. A part of a network has only timers of its own nodes.
    #[inline]
    pub fn timer_at(&mut self, node: NodeId, at: Time, timer_id: TimerId) {
        let part = self.fabric.part.as_ref();
        if part.map_or(true, |part| part.owns(node)) {
            self.agenda.push(at, Event::timer(node, timer_id));
        }
    }
}
