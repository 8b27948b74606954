//! The only way a node acts.

use crate::{
    Bytes, DropReason, Event, Fabric, LinkId, NodeId, Packet, PortId, Rate, Route, SwitchCounters,
    UnitId,
};
use lightburst_des::{Agenda, Calendar, Class, Duration, Time};

/// What the node that handles an event can see and do.
pub struct Effects<'a, A: Agenda<Event>> {
    node: NodeId,
    /// The link at port 0 of the node.
    first_link: u32,
    fabric: &'a mut Fabric,
    calendar: &'a mut Calendar<Event, A>,
}

impl<'a, A: Agenda<Event>> Effects<'a, A> {
    pub(crate) fn new(
        node: NodeId,
        fabric: &'a mut Fabric,
        calendar: &'a mut Calendar<Event, A>,
    ) -> Self {
        let first_link = fabric.link_id(node, PortId(0)).0;
        Effects {
            node,
            first_link,
            fabric,
            calendar,
        }
    }

    #[inline]
    fn link(&self, port: PortId) -> LinkId {
        LinkId(self.first_link + u32::from(port.0))
    }

    /// The present time.
    #[inline]
    pub fn now(&self) -> Time {
        self.calendar.now()
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

    /// The equal-cost next hops of a unit.
    #[inline(always)]
    pub fn route(&self, unit: UnitId) -> Route {
        self.fabric
            .routing
            .route(self.node, self.fabric.units[unit].destination)
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
        self.fabric.free_at[self.link(port).index()]
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
        self.fabric.rate(self.link(port))
    }

    /// How long a port takes for `bytes`.
    pub fn transmission_time(&self, port: PortId, bytes: u32) -> Duration {
        self.rate(port).transmission_time(Bytes(u64::from(bytes)))
    }

    /// Puts a new unit into the network; it must then be sent.
    #[inline]
    pub fn create(&mut self, packet: Packet) -> UnitId {
        self.fabric.created += 1;
        self.fabric.units.insert(packet)
    }

    /// Hands a unit to a port, not before `from`; returns when it leaves.
    #[inline]
    pub fn send(&mut self, port: PortId, unit: UnitId, from: Time) -> Time {
        let now = self.calendar.now();
        let id = self.link(port);
        let fabric = &mut *self.fabric;
        let rates = &fabric.rates;
        let link = &mut fabric.links[id.index()];
        let free_at = &mut fabric.free_at[id.index()];
        let packet = &mut fabric.units[unit];
        let transit = link.transmit(free_at, packet.bytes, from, || rates[id.index()]);
        let order = self.calendar.order(Class::Arrival);
        packet.place.next = UnitId::NONE;
        if link.last_arrival > now {
            // It follows another unit: its arrival enters the agenda after that one's.
            packet.place.due = transit.arrival;
            packet.place.order = order;
            let tail = link.tail;
            fabric.units[tail].place.next = unit;
        } else {
            let event = Event::Arrive {
                to: link.to,
                port: link.to_port,
                unit,
            };
            self.calendar.push(transit.arrival, order, event);
        }
        link.last_arrival = transit.arrival;
        link.tail = unit;
        transit.start
    }

    /// Takes a unit that has reached its destination out of the network.
    #[inline]
    pub fn deliver(&mut self, unit: UnitId) -> Packet {
        self.fabric.delivered += 1;
        self.fabric.units.remove(unit)
    }

    /// Drops a unit.
    #[inline]
    pub fn drop(&mut self, unit: UnitId, reason: DropReason, counters: &mut SwitchCounters) {
        counters.dropped[reason as usize] += 1;
        let packet = self.fabric.units.remove(unit);
        self.fabric.dropped[packet.flow.index()] += 1;
    }

    /// Sets a timer of this node.
    #[inline]
    pub fn timer(&mut self, at: Time, token: u64) {
        self.timer_at(self.node, at, token);
    }

    /// Sets a timer of another node: only for what starts from outside, a flow.
    #[inline]
    pub fn timer_at(&mut self, node: NodeId, at: Time, token: u64) {
        let order = self.calendar.order(Class::Timer);
        self.calendar.push(at, order, Event::Timer { node, token });
    }
}
