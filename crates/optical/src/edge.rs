//! The edge of a burst-switched network: packets become bursts at the ingress,
//! bursts become packets at the egress, and what is for another edge passes
//! through in light.

mod ingress;

use crate::assembly::Decision;
use crate::switch::{output, AllOptical, Build, BurstSettings};
use ingress::Ingress;
use lightburst_des::Time;
use lightburst_net::{
    Bundle, BurstId, Bytes, Context, Counted, Counters, Envelope, LinkId, NodeId, Packet, PacketId,
    Rate, Switch, Token, Unit,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The timer of a link: the tail of the burst that came over it is here.
const TAIL: u8 = 0;
/// The timer of an egress: the time of the burst that is assembled for it is over.
const ASSEMBLY: u8 = 1;

/// What an edge counts, beside its light.
#[derive(Debug, Default)]
pub struct EdgeCounters {
    /// Bursts assembled, and the packets and bytes in them.
    bursts: u64,
    burst_packets: u64,
    burst_bytes: u64,
    /// How long the packets waited for their bursts to close, in picoseconds.
    assembly_wait: u128,
    /// Bytes converted from light to electronics, and back.
    oe_bytes: u64,
    eo_bytes: u64,
}

impl Counters for EdgeCounters {
    fn counted(&self, _end: Time) -> Counted {
        Counted::default()
            .count("bursts", self.bursts)
            .count("burst_packets", self.burst_packets)
            .count("burst_bytes", self.burst_bytes)
            .sum("assembly_wait_ps", self.assembly_wait as f64)
            .count("oe_bytes", self.oe_bytes)
            .count("eo_bytes", self.eo_bytes)
    }
}

/// An edge node.
pub struct Edge {
    ingress: Ingress,
    /// The bursts for this edge whose heads came, by the link over which they come.
    receiving: BTreeMap<LinkId, VecDeque<BurstId>>,
    /// The edge of each host.
    edges: Arc<[NodeId]>,
    /// None: there is one edge, and no burst.
    fibre_rate: Option<Rate>,
    /// What lets bursts for other edges pass; it counts what arrives at the node, and what leaves.
    light: AllOptical,
    counters: EdgeCounters,
}

impl Edge {
    /// An edge with nothing in it.
    pub fn new(settings: &BurstSettings, build: Build) -> Edge {
        Edge {
            ingress: Ingress::new(settings, &build.edges),
            receiving: BTreeMap::new(),
            edges: Arc::clone(&build.edges),
            fibre_rate: build.fibre_rate,
            light: AllOptical::new(&settings.light(), build),
            counters: EdgeCounters::default(),
        }
    }

    fn edge_of(&self, host: NodeId) -> NodeId {
        self.edges[host.index()]
    }

    fn on_packet(&mut self, packet: PacketId, ctx: &mut Context<'_>) {
        let Packet { envelope, header } = *ctx.packet(packet);
        let Envelope {
            destination, bytes, ..
        } = envelope;
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
                let token = Token {
                    kind: ASSEMBLY,
                    subject: egress.0,
                };
                ctx.timer(self.ingress.close_after(time, queue, ctx.now()), token);
            }
            Decision::Close => self.close(queue, ctx),
        }
    }

    /// Hands a packet to the port of the host that it is for.
    fn deliver(&mut self, packet: PacketId, ctx: &mut Context<'_>) {
        let port = ctx.port(ctx.route(packet), 0);
        let now = ctx.now();
        self.light.counters.forwarded += 1;
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
        self.light.counters.forwarded += 1;
        let burst = ctx.bundle(&bundle, self.counters.bursts as u32);
        let port = output(self.light.choice, burst, &mut self.light.draw, ctx);
        let departure = ctx.now().max(ctx.free_at(port));
        ctx.note_burst(&bundle, burst, departure);
        let now = ctx.now();
        ctx.send(port, burst, now);
    }

    fn on_burst(&mut self, burst: BurstId, ctx: &mut Context<'_>) {
        let unit = *ctx.envelope(burst);
        if self.edge_of(unit.destination) == ctx.node() {
            // Its head is here; it is taken apart when its tail is. All fibres have one rate.
            let bytes = Bytes(u64::from(unit.bytes));
            let rate = self.fibre_rate.expect("a fibre, since a burst came");
            let end = ctx.now() + rate.transmission_time(bytes);
            let LinkId(subject) = ctx.input();
            let here = self.receiving.entry(ctx.input()).or_default();
            here.push_back(burst);
            let token = Token {
                kind: TAIL,
                subject,
            };
            return ctx.timer(end, token);
        }
        self.light.pass(burst, ctx);
    }

    /// Takes a burst apart.
    fn disassemble(&mut self, burst: BurstId, ctx: &mut Context<'_>) {
        self.counters.oe_bytes += u64::from(ctx.envelope(burst).bytes);
        let mut next = Some(ctx.unbundle(burst));
        while let Some(packet) = next {
            next = ctx.next_packet(packet);
            self.deliver(packet, ctx);
        }
    }
}

impl Switch for Edge {
    fn on_unit(&mut self, unit: Unit, ctx: &mut Context<'_>) {
        self.light.counters.arrived += 1;
        match unit {
            Unit::Packet(packet) => self.on_packet(packet, ctx),
            Unit::Burst(burst) => self.on_burst(burst, ctx),
        }
    }

    fn on_timer(&mut self, Token { kind, subject }: Token, ctx: &mut Context<'_>) {
        if kind == TAIL {
            let bursts = self.receiving.get_mut(&LinkId(subject));
            let first = bursts.and_then(VecDeque::pop_front);
            self.disassemble(first.expect("a burst whose head came"), ctx);
            return;
        }
        let queue = self.ingress.queue(NodeId(subject));
        if self.ingress.expired(queue, ctx.now()) {
            self.close(queue, ctx);
        }
    }

    fn counted(&self, end: Time) -> Counted {
        self.light.counted(end).and(self.counters.counted(end))
    }

    /// The packets whose bursts are not closed.
    fn held(&self, _queued: u64) -> u64 {
        self.ingress.held()
    }
}
