//! The edge of a burst-switched network: packets become bursts at the ingress,
//! bursts become packets at the egress, and what is for another edge passes
//! through in light.

mod ingress;

use crate::assembly::Decision;
use crate::switch::{cut_through, output, Build};
use ingress::Ingress;
use lightburst_des::{Duration, Stream};
use lightburst_net::{
    Bundle, Bytes, Choice, Context, DropReason, NodeId, Packet, Pick, Rate, Switch, SwitchCounters,
    UnitId,
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

    fn on_packet(&mut self, packet: UnitId, ctx: &mut Context<'_>) {
        let Packet {
            destination,
            bytes,
            header,
            ..
        } = *ctx.unit(packet);
        let egress = self.edge_of(destination);
        if egress == ctx.node() {
            return self.deliver(packet, ctx);
        }
        if self.ingress.goes_alone(header.payload) {
            let bundle = self.ingress.alone(packet, egress, ctx);
            return self.launch(bundle, ctx);
        }
        let queue = self.ingress.queue(egress);
        if !self.ingress.has_room(queue, bytes) {
            self.close(queue, ctx);
        }
        match self.ingress.add(queue, packet, ctx) {
            Decision::Wait => {}
            Decision::StartTimer(time) => {
                let token = self.ingress.token(queue) << 1 | ASSEMBLED;
                ctx.timer(ctx.now() + time, token);
            }
            Decision::Close => self.close(queue, ctx),
        }
    }

    /// Hands a packet to the port of the host that it is for.
    fn deliver(&mut self, packet: UnitId, ctx: &mut Context<'_>) {
        let port = ctx.port(ctx.route(packet), 0);
        let now = ctx.now();
        self.counters.forwarded += 1;
        ctx.send(port, packet, now);
    }

    fn close(&mut self, queue: usize, ctx: &mut Context<'_>) {
        let (bundle, waited) = self.ingress.close(queue, ctx.now());
        self.counters.assembly_wait += waited;
        self.launch(bundle, ctx);
    }

    /// Sends a burst off, as soon as the output is free.
    fn launch(&mut self, bundle: Bundle, ctx: &mut Context<'_>) {
        self.counters.bursts += 1;
        self.counters.burst_packets += u64::from(bundle.packets);
        self.counters.burst_bytes += u64::from(bundle.bytes);
        self.counters.eo_bytes += u64::from(bundle.bytes);
        self.counters.forwarded += 1;
        let burst = ctx.bundle(&bundle);
        let port = output(self.choice, burst, &mut self.draw, ctx);
        let departure = ctx.now().max(ctx.free_at(port));
        ctx.note_burst(&bundle, burst, departure);
        let now = ctx.now();
        ctx.send(port, burst, now);
    }

    fn on_burst(&mut self, burst: UnitId, ctx: &mut Context<'_>) {
        let unit = *ctx.unit(burst);
        if self.edge_of(unit.destination) == ctx.node() {
            // Its head is here; it is taken apart when its tail is. All fibres have one rate.
            let bytes = Bytes(u64::from(unit.bytes));
            let rate = self.fibre_rate.expect("a fibre, since a burst came");
            let end = ctx.now() + rate.transmission_time(bytes);
            return ctx.timer(end, u64::from(burst.0) << 1 | RECEIVED);
        }
        let route = ctx.route(burst);
        match self.choice.pick(route, burst, &mut self.draw, ctx) {
            Pick::Free(port) => {
                self.counters.forwarded += 1;
                cut_through(port, burst, self.switching_time, ctx);
            }
            Pick::Busy(outputs) => {
                let port = ctx.port(outputs, 0);
                ctx.drop(burst, port, DropReason::Contention, &mut self.counters);
            }
        }
    }

    /// Takes a burst apart.
    fn disassemble(&mut self, burst: UnitId, ctx: &mut Context<'_>) {
        self.counters.oe_bytes += u64::from(ctx.unit(burst).bytes);
        let mut packet = ctx.unbundle(burst);
        while packet != UnitId::NONE {
            let next = ctx.next_packet(packet);
            self.deliver(packet, ctx);
            packet = next;
        }
    }
}

impl Switch for Edge {
    fn on_unit(&mut self, unit: UnitId, ctx: &mut Context<'_>) {
        self.counters.arrived += 1;
        if ctx.unit(unit).cargo == UnitId::NONE {
            self.on_packet(unit, ctx);
        } else {
            self.on_burst(unit, ctx);
        }
    }

    fn on_timer(&mut self, token: u64, ctx: &mut Context<'_>) {
        if token & 1 == RECEIVED {
            self.disassemble(UnitId((token >> 1) as u32), ctx);
        } else if let Some(queue) = self.ingress.expired(token >> 1) {
            self.close(queue, ctx);
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
