//! The edge of a burst-switched network: packets become bursts at the ingress,
//! bursts become packets at the egress, and what is for another edge passes
//! through in light.

mod ingress;

use crate::assembly::{Assembly, Decision};
use ingress::Ingress;
use lightburst_des::Time;
use lightburst_net::{
    Bundle, BurstId, Context, Counted, Counters, Envelope, LinkId, NodeId, Packet, PacketId,
    Switch, Token, Unit,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The timer of a link: the tail of a burst that came over it is here.
const TAIL: u8 = 0;
/// The timer of a queue: the time of the burst that is assembled in it is over.
const ASSEMBLY: u8 = 1;

/// What an edge hands its bursts to, and what lets those of others pass. Its timers have other kinds
/// than those of the edge.
pub trait Core: Switch {
    /// Sends off a burst that was made here, the `nth`.
    fn launch(&mut self, bundle: &Bundle, nth: u32, ctx: &mut Context<'_>);

    /// A burst for this node comes, or its header: says when its tail will be here, unless it is lost
    /// now.
    fn receive(&mut self, unit: Unit, ctx: &mut Context<'_>) -> Option<(BurstId, Time)>;
}

/// What an edge is made from, beside its core.
pub struct EdgeSettings<'a> {
    /// How it makes bursts.
    pub assembly: &'a Assembly,
    /// Whether packets without payload wait to be assembled.
    pub acknowledgements: bool,
    /// The edge of each host.
    pub edges: Arc<[NodeId]>,
    /// The class of each flow; empty where bursts are all alike.
    pub classes: Arc<[u16]>,
}

/// What an edge counts, beside its core.
#[derive(Debug, Default)]
pub struct EdgeCounters {
    /// Packets that came from hosts, and that were handed to hosts.
    arrived: u64,
    forwarded: u64,
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
            .count("arrived", self.arrived)
            .count("forwarded", self.forwarded)
            .count("bursts", self.bursts)
            .count("burst_packets", self.burst_packets)
            .count("burst_bytes", self.burst_bytes)
            .sum("assembly_wait_ps", self.assembly_wait as f64)
            .count("oe_bytes", self.oe_bytes)
            .count("eo_bytes", self.eo_bytes)
    }
}

/// An edge node.
pub struct Edge<C> {
    ingress: Ingress,
    /// The bursts that are coming in, by the link over which they come: those whose tails come first
    /// are in front.
    receiving: BTreeMap<LinkId, VecDeque<(Time, BurstId)>>,
    /// The edge of each host.
    edges: Arc<[NodeId]>,
    /// The class of each flow.
    classes: Arc<[u16]>,
    core: C,
    counters: EdgeCounters,
}

impl<C: Core> Edge<C> {
    /// An edge with nothing in it.
    pub fn new(settings: EdgeSettings<'_>, core: C) -> Edge<C> {
        Edge {
            ingress: Ingress::new(&settings),
            receiving: BTreeMap::new(),
            edges: settings.edges,
            classes: settings.classes,
            core,
            counters: EdgeCounters::default(),
        }
    }

    fn edge_of(&self, host: NodeId) -> NodeId {
        self.edges[host.index()]
    }

    fn on_packet(&mut self, packet: PacketId, ctx: &mut Context<'_>) {
        self.counters.arrived += 1;
        let Packet { envelope, header } = *ctx.packet(packet);
        let Envelope {
            flow,
            destination,
            bytes,
            ..
        } = envelope;
        let egress = self.edge_of(destination);
        if egress == ctx.node() {
            return self.deliver(packet, ctx);
        }
        let class = self.classes.get(flow.index()).copied().unwrap_or(0);
        let queue = self.ingress.queue(egress, class);
        if self.ingress.goes_alone(header.payload) {
            let bundle = self.ingress.alone(queue, packet, ctx);
            return self.launch(&bundle, ctx);
        }
        if !self.ingress.has_room(queue, bytes) {
            self.close(queue, ctx);
        }
        match self.ingress.add(queue, packet, ctx) {
            Decision::Wait => {}
            Decision::StartTimer(time) => {
                let token = Token {
                    kind: ASSEMBLY,
                    subject: self.ingress.subject(queue),
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
        self.counters.forwarded += 1;
        ctx.send(port, packet, now);
    }

    fn close(&mut self, queue: usize, ctx: &mut Context<'_>) {
        let (bundle, waited) = self.ingress.close(queue, ctx.now());
        self.counters.assembly_wait += waited;
        self.launch(&bundle, ctx);
    }

    fn launch(&mut self, bundle: &Bundle, ctx: &mut Context<'_>) {
        self.counters.bursts += 1;
        self.counters.burst_packets += u64::from(bundle.packets);
        self.counters.burst_bytes += u64::from(bundle.bytes);
        self.counters.eo_bytes += u64::from(bundle.bytes);
        self.core.launch(bundle, self.counters.bursts as u32, ctx);
    }

    /// A burst for this node is taken apart when its tail is here.
    fn receive(&mut self, unit: Unit, ctx: &mut Context<'_>) {
        let Some((burst, tail)) = self.core.receive(unit, ctx) else {
            return;
        };
        let here = self.receiving.entry(ctx.input()).or_default();
        let at = here.partition_point(|(other, _)| *other <= tail);
        here.insert(at, (tail, burst));
        let LinkId(subject) = ctx.input();
        let token = Token {
            kind: TAIL,
            subject,
        };
        ctx.timer(tail, token);
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

impl<C: Core> Switch for Edge<C> {
    fn on_unit(&mut self, unit: Unit, ctx: &mut Context<'_>) {
        if let Unit::Packet(packet) = unit {
            return self.on_packet(packet, ctx);
        }
        if self.edge_of(ctx.envelope(unit).destination) == ctx.node() {
            return self.receive(unit, ctx);
        }
        self.core.on_unit(unit, ctx);
    }

    fn on_timer(&mut self, token: Token, ctx: &mut Context<'_>) {
        match token.kind {
            TAIL => {
                let bursts = self.receiving.get_mut(&LinkId(token.subject));
                let bursts = bursts.expect("a link over which bursts come");
                let (_, burst) = bursts.pop_front().expect("a burst that is coming in");
                if let Some(&(_, next)) = bursts.front() {
                    ctx.prefetch(next, bursts.get(1).map(|&(_, later)| later));
                }
                self.disassemble(burst, ctx);
            }
            ASSEMBLY => {
                let queue = self.ingress.queue_of(token.subject);
                if self.ingress.expired(queue, ctx.now()) {
                    self.close(queue, ctx);
                }
            }
            _ => self.core.on_timer(token, ctx),
        }
    }

    fn counted(&self, end: Time) -> Counted {
        self.core.counted(end).and(self.counters.counted(end))
    }

    /// The packets whose bursts are not closed.
    fn held(&self, _queued: u64) -> u64 {
        self.ingress.held()
    }
}
