//! Hosts and switches on one fabric, as a model for the engine.

use crate::{Effects, Fabric, Hosts, Node, NodeId, PortId, UnitId};
use lightburst_des::{Agenda, Calendar, Model};

/// What happens.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A unit arrives at a node.
    Arrive {
        /// The node.
        to: NodeId,
        /// Its input port.
        port: PortId,
        /// The unit.
        unit: UnitId,
    },
    /// A timer expires.
    Timer {
        /// The node that set it.
        node: NodeId,
        /// The node's own mark.
        token: u64,
    },
}

const _: () = assert!(std::mem::size_of::<Event>() <= 16);

/// A network: nodes `0..hosts` are hosts, the others switches.
pub struct Network<H, A: Agenda<Event>> {
    /// Links, units and routes.
    pub fabric: Fabric,
    /// The hosts.
    pub hosts: H,
    /// The switches.
    pub switches: Vec<Box<dyn Node<A>>>,
    host_count: u32,
}

impl<H: Hosts, A: Agenda<Event>> Network<H, A> {
    /// A network of `host_count` hosts and the given switches.
    pub fn new(fabric: Fabric, hosts: H, switches: Vec<Box<dyn Node<A>>>, host_count: u32) -> Self {
        Network {
            fabric,
            hosts,
            switches,
            host_count,
        }
    }

    /// Sets the first timer of the hosts.
    pub fn start(&mut self, calendar: &mut Calendar<Event, A>) {
        self.hosts
            .start(&mut Effects::new(NodeId(0), &mut self.fabric, calendar));
    }
}

impl<H: Hosts, A: Agenda<Event>> Model<A> for Network<H, A> {
    type Event = Event;

    #[inline]
    fn handle(&mut self, event: Event, calendar: &mut Calendar<Event, A>) {
        match event {
            Event::Arrive { to, port, unit } => {
                let next = self.fabric.units[unit].place.next;
                if next != UnitId::NONE {
                    let place = self.fabric.units[next].place;
                    calendar.push(
                        place.due,
                        place.order,
                        Event::Arrive {
                            to,
                            port,
                            unit: next,
                        },
                    );
                }
                if to.0 < self.host_count {
                    self.hosts
                        .on_unit(unit, &mut Effects::new(to, &mut self.fabric, calendar));
                } else {
                    let switch = &mut self.switches[(to.0 - self.host_count) as usize];
                    let mut fx = Effects::new(to, &mut self.fabric, calendar);
                    switch.on_unit(port, unit, &mut fx);
                }
            }
            Event::Timer { node, token } => {
                if node.0 < self.host_count {
                    self.hosts
                        .on_timer(token, &mut Effects::new(node, &mut self.fabric, calendar));
                } else {
                    let switch = &mut self.switches[(node.0 - self.host_count) as usize];
                    switch.on_timer(token, &mut Effects::new(node, &mut self.fabric, calendar));
                }
            }
        }
    }
}
