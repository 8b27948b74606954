//! What a node sees of the network, and the only way it acts on it.

use crate::trace::{Passage, Place, What};
use crate::{
    Bundle, DropReason, Event, Fabric, FlowId, LinkId, NodeId, Options, Packet, PortId, Rate,
    Route, SwitchCounters, Trace, UnitId,
};
use lightburst_des::{Class, Duration, Scheduler, Time};

/// What the node that handles an event can see and do.
pub struct Context<'a> {
    node: NodeId,
    /// The link at port 0 of the node.
    first_link: LinkId,
    fabric: &'a mut Fabric,
    scheduler: &'a mut Scheduler<Event>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        node: NodeId,
        first_link: LinkId,
        fabric: &'a mut Fabric,
        scheduler: &'a mut Scheduler<Event>,
    ) -> Self {
        Context {
            node,
            first_link,
            fabric,
            scheduler,
        }
    }

    #[inline]
    fn link(&self, port: PortId) -> LinkId {
        LinkId(self.first_link.0 + u32::from(port.0))
    }

    /// The present time.
    #[inline]
    pub fn now(&self) -> Time {
        self.scheduler.now()
    }

    /// The node that handles the event.
    #[inline]
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// A unit that is here.
    #[inline]
    pub fn unit(&self, unit: UnitId) -> &Packet {
        &self.fabric.units[unit]
    }

    /// A unit that is here, to be changed.
    #[inline]
    pub fn unit_mut(&mut self, unit: UnitId) -> &mut Packet {
        &mut self.fabric.units[unit]
    }

    /// The options of a packet that carries some.
    #[inline]
    pub fn options(&self, unit: UnitId) -> &Options {
        self.fabric.options(unit)
    }

    /// Gives a packet options.
    #[inline]
    pub fn set_options(&mut self, unit: UnitId, options: Options) {
        self.fabric.set_options(unit, options);
    }

    /// The equal-cost next hops of a unit.
    #[inline(always)]
    pub fn route(&self, unit: UnitId) -> Route {
        self.fabric
            .routing
            .route_of(self.node, &self.fabric.units[unit])
    }

    /// The `i`-th port of a set.
    #[inline]
    pub fn port(&self, route: Route, i: u32) -> PortId {
        self.fabric.routing.port(route, i)
    }

    /// The ports of a set.
    #[inline]
    pub fn ports(&self, route: Route) -> &[PortId] {
        self.fabric.routing.ports(route)
    }

    /// When a port ends the last transmission that it was given.
    #[inline(always)]
    pub fn free_at(&self, port: PortId) -> Time {
        self.fabric.links.free_at(self.link(port))
    }

    /// When the first port of a set ends the last transmission that it was given.
    #[inline]
    pub fn earliest_free(&self, route: Route) -> Time {
        let times = self.ports(route).iter().map(|&port| self.free_at(port));
        times.min().expect("a set has a member")
    }

    /// Whether a port is free now.
    #[inline]
    pub fn is_free(&self, port: PortId) -> bool {
        self.free_at(port) <= self.now()
    }

    /// The rate of a port.
    #[inline]
    pub fn rate(&self, port: PortId) -> Rate {
        self.fabric.links.rate(self.link(port))
    }

    /// How long a port takes for `bytes`.
    #[inline]
    pub fn transmission_time(&self, port: PortId, bytes: u32) -> Duration {
        self.fabric.links.transmission_time(self.link(port), bytes)
    }

    /// Puts a new unit into the network; it must then be sent.
    #[inline]
    pub fn create(&mut self, mut packet: Packet) -> UnitId {
        self.fabric.created += 1;
        if self.fabric.labels.is_some() {
            self.fabric.label(&mut packet);
        }
        self.fabric.units.insert(packet)
    }

    /// Puts packets into a burst; it must then be sent.
    pub fn bundle(&mut self, bundle: &Bundle) -> UnitId {
        let number = self.fabric.bursts.created;
        self.fabric.bursts.created += 1;
        self.fabric.bursts.alive += 1;
        let mut burst = Packet::burst(bundle, self.node, number);
        self.fabric.label(&mut burst);
        self.fabric.units.insert(burst)
    }

    /// Takes a burst apart; returns the first of its packets.
    pub fn unbundle(&mut self, burst: UnitId) -> UnitId {
        self.fabric.bursts.alive -= 1;
        if let Some(trace) = &mut self.fabric.trace {
            for (packet, _) in crate::packet::packets(burst, &self.fabric.units) {
                trace.unbundle(packet, self.scheduler.now());
            }
        }
        self.fabric.units.remove(burst).cargo
    }

    /// The packet behind this one in a burst.
    #[inline]
    pub fn next_packet(&self, packet: UnitId) -> UnitId {
        self.fabric.units[packet].next
    }

    /// Puts a packet behind the last one of a burst.
    #[inline]
    pub fn append(&mut self, last: UnitId, packet: UnitId) {
        self.fabric.units[packet].next = UnitId::NONE;
        if last != UnitId::NONE {
            self.fabric.units[last].next = packet;
        }
    }

    /// The node that a port leads to.
    #[inline]
    pub fn neighbour(&self, port: PortId) -> NodeId {
        self.fabric.links.to(self.link(port))
    }

    /// Bytes that a port has still to send, rounded up.
    #[inline]
    pub fn backlog(&self, port: PortId) -> u64 {
        let wait = self.free_at(port).0.saturating_sub(self.now().0);
        if wait == 0 {
            return 0;
        }
        self.rate(port).bytes_in(Duration(wait)).0
    }

    /// Hands a unit to a port, not before `from`; returns when it leaves.
    #[inline(always)]
    pub fn send(&mut self, port: PortId, unit: UnitId, from: Time) -> Time {
        let now = self.scheduler.now();
        let place = self.place(port);
        let link = place.link;
        let fabric = &mut *self.fabric;
        if from > now {
            fabric.links.postpone(link, from);
        }
        let transit = fabric.links.transmit(link, fabric.units[unit].bytes, from);
        if transit.watched {
            let passage = Passage {
                place,
                now,
                ready: from,
                start: transit.start,
                arrival: transit.arrival,
            };
            if fabric.watch(unit, passage) {
                return transit.start;
            }
        }
        let order = self.scheduler.order(Class::Arrival);
        let packet = &mut fabric.units[unit];
        packet.next = UnitId::NONE;
        if let Some(ahead) = fabric.links.follow(link, unit, transit.arrival, now) {
            // Its arrival is scheduled after that of the unit before it.
            packet.due = transit.arrival;
            packet.order = order;
            fabric.units[ahead].next = unit;
        } else {
            let event = Event::Arrive {
                to: transit.to,
                unit,
            };
            self.scheduler.push(transit.arrival, order, event);
        }
        transit.start
    }

    /// Takes a unit that has reached its destination out of the network.
    #[inline]
    pub fn deliver(&mut self, unit: UnitId) -> Packet {
        self.fabric.delivered += 1;
        self.note(unit, What::Arrived(self.node), self.now());
        self.fabric.units.remove(unit)
    }

    /// Drops a unit that wanted this port.
    #[inline]
    pub fn drop(
        &mut self,
        unit: UnitId,
        port: PortId,
        reason: DropReason,
        counters: &mut SwitchCounters,
    ) {
        counters.dropped[reason as usize] += 1;
        self.lose(unit, port, reason);
    }

    /// Drops a unit that wanted this port, where no switch counts it.
    #[inline]
    pub fn lose(&mut self, unit: UnitId, port: PortId, reason: DropReason) {
        let place = self.place(port);
        self.fabric
            .remove(unit, place, reason, self.scheduler.now());
    }

    /// Notes that the transmission of a packet begins on a host's interface.
    #[inline]
    pub fn note_sent(&mut self, unit: UnitId, port: PortId, begin: Time) {
        self.note(unit, What::Sent(self.place(port)), begin);
    }

    #[inline]
    fn place(&self, port: PortId) -> Place {
        Place {
            node: self.node,
            link: self.link(port),
        }
    }

    /// The trace, if the flow is traced.
    #[inline]
    pub fn trace(&mut self, flow: FlowId) -> Option<&mut Trace> {
        let trace = self.fabric.trace.as_deref_mut()?;
        trace.wants(flow).then_some(trace)
    }

    /// Marks a new packet for the trace, if there is one.
    #[inline]
    pub fn mark(&mut self, unit: UnitId, again: bool) {
        if let Some(trace) = &mut self.fabric.trace {
            trace.mark(unit, self.fabric.created, again, self.scheduler.now());
        }
    }

    /// Notes what happens to a packet, if its flow is traced.
    #[inline]
    fn note(&mut self, unit: UnitId, what: What, time: Time) {
        if self.fabric.trace.is_some() {
            self.fabric.note(unit, what, time);
        }
    }

    /// Notes that a burst leaves, if there is a trace and it carries a traced flow.
    pub fn note_burst(&mut self, bundle: &Bundle, burst: UnitId, departure: Time) {
        let number = self.fabric.units[burst].header.sequence;
        let Some(trace) = &mut self.fabric.trace else {
            return;
        };
        let (mut wanted, mut data, mut at) = (false, false, bundle.first);
        while at != UnitId::NONE {
            let packet = &self.fabric.units[at];
            wanted |= trace.wants(packet.flow);
            data |= packet.header.payload > 0;
            at = packet.next;
        }
        if wanted {
            trace.bursts.push(crate::trace::Burst {
                number,
                opened: bundle.opened,
                departure,
                node: self.node,
                packets: bundle.packets,
                bytes: bundle.bytes,
                data,
                lost: None,
            });
        }
    }

    /// Sets a timer of this node.
    #[inline]
    pub fn timer(&mut self, at: Time, token: u64) {
        self.timer_at(self.node, at, token);
    }

    /// Sets a timer of another node: only for what starts from outside, a flow.
    #[inline]
    pub fn timer_at(&mut self, node: NodeId, at: Time, token: u64) {
        let order = self.scheduler.order(Class::Timer);
        self.scheduler.push(at, order, Event::Timer { node, token });
    }
}
