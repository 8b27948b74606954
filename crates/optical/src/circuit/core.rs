//! Circuit switch: light passes from the port of a rack to that of the rack with which the matching
//! of the slot joins it. The switch sees no packets and makes no decision.

use super::{Layout, Timetable};
use crate::switch::CircuitCounters;
use lightburst_des::Time;
use lightburst_net::{Context, Counted, Counters, LinkId, NodeId, PortId, Switch, TimerId, Unit};
use std::sync::Arc;

/// Circuit switch.
pub struct Core<T> {
    timetable: Arc<T>,
    number: usize,
    /// Link from each rack, in the order of their numbers.
    inputs: Vec<LinkId>,
    /// Port to each rack.
    ports: Vec<PortId>,
    counters: CircuitCounters,
}

impl<T: Timetable> Core<T> {
    /// Creates the circuit switch at a node.
    pub fn new(timetable: Arc<T>, layout: &Layout, node: NodeId) -> Core<T> {
        let number = layout.number(node);
        let links = layout.downlinks(number).iter();
        Core {
            timetable,
            number,
            inputs: links.clone().map(|link| link.input).collect(),
            ports: links.map(|link| PortId(link.port)).collect(),
            counters: CircuitCounters::default(),
        }
    }
}

impl<T: Timetable> Switch for Core<T> {
    fn on_unit(&mut self, unit: Unit, ctx: &mut Context<'_>) {
        self.counters.arrived += 1;
        self.counters.forwarded += 1;
        // Links are sorted by their source, and so by the number of the rack.
        let rack = self.inputs.binary_search(&ctx.input());
        let rack = rack.expect("a link from a rack");
        let now = ctx.now();
        let open = self.timetable.open(self.number, rack, now.0, now);
        let (peer, _) = open.expect("light outside of guard times");
        let port = self.ports[peer];
        debug_assert!(ctx.is_free(port), "a matching joins each rack with one");
        ctx.send(port, unit, now);
    }

    fn on_timer(&mut self, _timer_id: TimerId, ctx: &mut Context<'_>) {
        self.timetable.look(ctx.node(), ctx);
    }

    fn counted(&self, end: Time) -> Counted {
        self.counters.counted(end)
    }
}
