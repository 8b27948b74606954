//! What a pending event will probably touch. With a network that fits no cache, an event otherwise
//! spends most of its time waiting for memory; the engine knows events some time before they are
//! handled and asks for their memory in stages, each of which reads what the one before asked for.
//!
//! All of this is hints: events that are not known yet may change what an event finds.

use crate::unit::arena::{prefetch, prefetch_lines};
use crate::{Envelope, Fabric, LinkId, NodeId, PortId, Route, Sendable, Switch, Unit};
use lightburst_des::Time;

/// View of the network for the node at which an event is pending.
pub struct Ahead<'a> {
    node: NodeId,
    /// Link at port 0 of the node.
    first_link: LinkId,
    /// Time of the event.
    time: Time,
    fabric: &'a Fabric,
}

impl<'a> Ahead<'a> {
    pub(crate) fn new(
        node: NodeId,
        first_link: LinkId,
        time: Time,
        fabric: &'a Fabric,
    ) -> Ahead<'a> {
        Ahead {
            node,
            first_link,
            time,
            fabric,
        }
    }

    /// Returns the node.
    #[inline]
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Returns the envelope of a unit.
    #[inline]
    pub fn envelope(&self, unit: impl Sendable) -> &Envelope {
        unit.envelope(&self.fabric.units)
    }

    /// Returns the equal-cost next hops of a unit.
    #[inline]
    pub fn route(&self, unit: impl Sendable) -> Route {
        self.fabric.routing.route_of(self.node, self.envelope(unit))
    }

    /// Returns the `i`-th port of a route.
    #[inline]
    pub fn port(&self, route: Route, i: u32) -> PortId {
        self.fabric.routing.port(route, i)
    }

    fn link(&self, port: PortId) -> LinkId {
        LinkId(self.first_link.0 + u32::from(port.0))
    }

    /// Asks for the link of a port.
    #[inline]
    pub fn prefetch_link(&self, port: PortId) {
        self.fabric.links.prefetch(self.link(port));
    }

    /// Asks for the exits of all ports of a route, which a choice among the free ones reads.
    #[inline]
    pub fn prefetch_exits(&self, route: Route) {
        let last = self.port(route, u32::from(route.len) - 1);
        let links = &self.fabric.links;
        links.prefetch_exits(self.link(self.port(route, 0)), self.link(last));
    }

    /// Asks for the unit that is the last one on a link until a unit follows it at the time of the
    /// event.
    #[inline]
    pub fn prefetch_last(&self, port: PortId) {
        if let Some(unit) = self.fabric.links.last(self.link(port), self.time) {
            self.fabric.units.prefetch(unit);
        }
    }

    /// Returns whether the link of a port will be free at the time of the event, as far as is known.
    #[inline]
    pub fn is_free(&self, port: PortId) -> bool {
        self.fabric.links.free_at(self.link(port)) <= self.time
    }

    /// Asks for what an event at a switch needs after its unit and its site.
    #[inline]
    pub(crate) fn at_switch(&self, switch: &dyn Switch, unit: Option<Unit>, stage: usize) {
        match stage {
            1 => {
                prefetch_lines(switch, 0..SWITCH_LINES);
                self.fabric.routing.prefetch(self.node);
            }
            2 => switch.prepare(unit, Readiness::Switch, self),
            _ => switch.prepare(unit, Readiness::Link, self),
        }
    }
}

/// What is in the cache, probably, when a switch is asked what else an event will need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// The unit and the first cache lines of the switch.
    Switch,
    /// Also what the switch has asked for then.
    Link,
}

/// Cache lines of a switch that an event reads, at most.
const SWITCH_LINES: usize = 6;

impl Fabric {
    /// Prefetches the number of a node's first link.
    #[inline]
    pub(crate) fn prefetch_first_link(&self, node: NodeId) {
        prefetch(&self.first_link[node.index()]);
    }
}
