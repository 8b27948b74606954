//! The edge of a burst-switched network: packets become bursts at the ingress,
//! bursts become packets at the egress, and what is for another edge passes
//! through in light.

mod ingress;

use crate::assembly::Decision;
use crate::switch::{cut_through, output, Build};
use ingress::Ingress;
use lightburst_des::{Agenda, Duration, Stream};
use lightburst_net::{
    Bundle, Bytes, Choice, DropReason, Effects, Event, Node, NodeId, Packet, Pick, Rate,
    SwitchCounters, UnitId,
};
use std::sync::Arc;

/// A token's lowest bit: a burst is fully received, or an assembly timer expires.
const RECEIVED: u64 = 0;
const ASSEMBLED: u64 = 1;

/// An edge node.
pub struct Edge {
    ingress: Ingress,
    /// The edge of each host.
    edges: Arc<[NodeId]>,
    /// None: there is one edge, and no burst.
    fibre_rate: Option<Rate>,
    switching_time: Duration,
    choice: Choice,
    draw: Stream,
    counters: SwitchCounters,
}

impl Edge {
    /// An edge with nothing in it.
    pub fn new(build: Build) -> Edge {
        let assembly = build.settings.assembly.expect("a rule for bursts");
        Edge {
            ingress: Ingress::new(assembly, &build.edges),
            edges: build.edges,
            fibre_rate: build.fibre_rate,
            switching_time: build.settings.switching_time,
            choice: build.choice,
            draw: build.draw,
            counters: SwitchCounters::default(),
        }
    }

    fn edge_of(&self, host: NodeId) -> NodeId {
        self.edges[host.index()]
    }

    fn on_packet<A: Agenda<Event>>(&mut self, packet: UnitId, fx: &mut Effects<'_, A>) {
        let Packet {
            destination,
            bytes,
            header,
            ..
        } = *fx.unit(packet);
        let egress = self.edge_of(destination);
        if egress == fx.node() {
            return self.deliver(packet, fx);
        }
        if self.ingress.goes_alone(header.payload) {
            let bundle = self.ingress.alone(packet, egress, fx);
            return self.launch(bundle, fx);
        }
        let queue = self.ingress.queue(egress);
        if !self.ingress.has_room(queue, bytes) {
            self.close(queue, fx);
        }
        match self.ingress.add(queue, packet, fx) {
            Decision::Wait => {}
            Decision::StartTimer(time) => {
                let token = self.ingress.token(queue) << 1 | ASSEMBLED;
                fx.timer(fx.now() + time, token);
            }
            Decision::Close => self.close(queue, fx),
        }
    }

    /// Hands a packet to the port of the host that it is for.
    fn deliver<A: Agenda<Event>>(&mut self, packet: UnitId, fx: &mut Effects<'_, A>) {
        let port = fx.port(fx.route(packet), 0);
        let now = fx.now();
        self.counters.forwarded += 1;
        fx.send(port, packet, now);
    }

    fn close<A: Agenda<Event>>(&mut self, queue: usize, fx: &mut Effects<'_, A>) {
        let (bundle, waited) = self.ingress.close(queue, fx.now());
        self.counters.assembly_wait += waited;
        self.launch(bundle, fx);
    }

    /// Sends a burst off, as soon as the output is free.
    fn launch<A: Agenda<Event>>(&mut self, bundle: Bundle, fx: &mut Effects<'_, A>) {
        self.counters.bursts += 1;
        self.counters.burst_packets += u64::from(bundle.packets);
        self.counters.burst_bytes += u64::from(bundle.bytes);
        self.counters.eo_bytes += u64::from(bundle.bytes);
        self.counters.forwarded += 1;
        let burst = fx.bundle(&bundle);
        let port = output(self.choice, burst, &mut self.draw, fx);
        let departure = fx.now().max(fx.free_at(port));
        fx.note_burst(&bundle, burst, departure);
        let now = fx.now();
        fx.send(port, burst, now);
    }

    fn on_burst<A: Agenda<Event>>(&mut self, burst: UnitId, fx: &mut Effects<'_, A>) {
        let unit = *fx.unit(burst);
        if self.edge_of(unit.destination) == fx.node() {
            // Its head is here; it is taken apart when its tail is. All fibres have one rate.
            let bytes = Bytes(u64::from(unit.bytes));
            let rate = self.fibre_rate.expect("a fibre, since a burst came");
            let end = fx.now() + rate.transmission_time(bytes);
            return fx.timer(end, u64::from(burst.0) << 1 | RECEIVED);
        }
        let route = fx.route(burst);
        match self.choice.pick(route, burst, &mut self.draw, fx) {
            Pick::Free(port) => {
                self.counters.forwarded += 1;
                cut_through(port, burst, self.switching_time, fx);
            }
            Pick::Busy(outputs) => {
                let port = fx.port(outputs, 0);
                fx.drop(burst, port, DropReason::Contention, &mut self.counters);
            }
        }
    }

    /// Takes a burst apart.
    fn disassemble<A: Agenda<Event>>(&mut self, burst: UnitId, fx: &mut Effects<'_, A>) {
        self.counters.oe_bytes += u64::from(fx.unit(burst).bytes);
        let mut packet = fx.unbundle(burst);
        while packet != UnitId::NONE {
            let next = fx.next_packet(packet);
            self.deliver(packet, fx);
            packet = next;
        }
    }
}

impl<A: Agenda<Event>> Node<A> for Edge {
    fn on_unit(&mut self, unit: UnitId, fx: &mut Effects<'_, A>) {
        self.counters.arrived += 1;
        if fx.unit(unit).cargo == UnitId::NONE {
            self.on_packet(unit, fx);
        } else {
            self.on_burst(unit, fx);
        }
    }

    fn on_timer(&mut self, token: u64, fx: &mut Effects<'_, A>) {
        if token & 1 == RECEIVED {
            self.disassemble(UnitId((token >> 1) as u32), fx);
        } else if let Some(queue) = self.ingress.expired(token >> 1) {
            self.close(queue, fx);
        }
    }

    fn counters(&self) -> &SwitchCounters {
        &self.counters
    }

    /// The packets whose bursts are not closed.
    fn held(&self, _queued: u64) -> u64 {
        self.ingress.held()
    }
}
