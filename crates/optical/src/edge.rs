//! Edge of a burst-switched network: the ingress assembles packets into bursts, the egress
//! disassembles them, and bursts for other edges pass through optically.

mod ingress;
mod ordering;
mod receiving;
mod timer;

pub use ordering::Ordering;
pub use timer::EdgeTimer;

use crate::assembly::Assembly;
use crate::switch::Build;
use ingress::Ingress;
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::{
    Bundle, BurstId, Bytes, Context, Counted, Counters, Envelope, FlowId, LinkId, NodeId, PacketId,
    Rate, Switch, TimerId, Unit,
};
use ordering::{Arrivals, Flight, Made};
use receiving::Receiving;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Core of an edge node: sends its bursts and forwards those of other edges. Its only timer is
/// [`EdgeTimer::Header`].
pub trait Core: Switch {
    /// Returns the shortest time from the launch of a burst to the departure of its head.
    fn offset(&self, burst: BurstId, ctx: &Context<'_>) -> Duration;

    /// Launches a burst assembled here. Returns the departure time of its head, or `None` if the
    /// burst is lost at once.
    fn launch(&mut self, burst: BurstId, bundle: &Bundle, ctx: &mut Context<'_>) -> Option<Time>;

    /// Accepts a burst that ends at this node, or its header. Returns the burst and the arrival
    /// time of its tail, or `None` if the burst is lost at once.
    fn receive(&mut self, unit: Unit, ctx: &mut Context<'_>) -> Option<(BurstId, Time)>;
}

/// Settings of an edge besides those of its core.
pub struct EdgeSettings<'a> {
    /// Burst assembly; `None` if no host sends packets.
    pub assembly: Option<&'a Assembly>,
    /// Whether packets without payload are assembled too; otherwise each becomes a burst at once.
    pub acknowledgements: bool,
    /// Method that keeps bursts in order.
    pub ordering: Ordering,
}

/// Properties of the network that an edge needs.
pub struct Around {
    /// Edge of each host.
    edges: Arc<[NodeId]>,
    /// Class of each flow; empty if there is only one class.
    classes: Arc<[u16]>,
    /// Time each node adds to the transit of a burst.
    switching_times: Arc<[Duration]>,
    fibre_rate: Option<Rate>,
    /// Random stream of the assembly policy.
    draw: Stream,
}

impl Around {
    /// Takes the properties from the data of a switch under construction.
    pub fn of(build: &Build) -> Around {
        Around {
            edges: build.edges.clone(),
            classes: build.classes.clone(),
            switching_times: build.switching_times.clone(),
            fibre_rate: build.fibre_rate,
            draw: build.assembly.clone(),
        }
    }
}

/// Counters of an edge besides those of its core.
#[derive(Debug, Default)]
pub struct EdgeCounters {
    /// Packets received from hosts (`arrived`) and delivered to hosts (`forwarded`).
    arrived: u64,
    forwarded: u64,
    /// Bursts assembled, and the packets and bytes in them.
    bursts: u64,
    burst_packets: u64,
    burst_bytes: u64,
    /// Total time packets waited for their bursts to be closed, in picoseconds.
    assembly_wait: u128,
    /// Bytes converted from optical to electronic, and from electronic to optical.
    oe_bytes: u64,
    eo_bytes: u64,
    /// Bursts that the load balancing moved to another path than that of the previous burst.
    path_switches: u64,
    /// Bursts held to preserve their order, and their total holding time in picoseconds.
    bursts_held: u64,
    held: u128,
    /// Number of times the egress stopped waiting for earlier bursts.
    hold_back_timeouts: u64,
}

impl Counters for EdgeCounters {
    fn counted(&self, _end: Time) -> Counted {
        Counted::default()
            .count("arrived", self.arrived)
            .count("forwarded", self.forwarded)
            .count("bursts", self.bursts)
            .count("burst_packets", self.burst_packets)
            .count("burst_bytes", self.burst_bytes)
            .sum("assembly_wait_ps", self.assembly_wait)
            .count("oe_bytes", self.oe_bytes)
            .count("eo_bytes", self.eo_bytes)
            .count("path_switches", self.path_switches)
            .count("bursts_held", self.bursts_held)
            .count("hold_back_timeouts", self.hold_back_timeouts)
            .sum("held_ps", self.held)
    }
}

/// Edge node with the core `C`.
pub struct Edge<C> {
    ingress: Ingress,
    receiving: Receiving,
    ordering: Ordering,
    /// Arrival state of bursts by ingress and class, encoded as timer subject. Used only if the
    /// egress keeps bursts in order.
    arrivals: BTreeMap<u32, Arrivals>,
    /// Total size of all held bursts, in bytes.
    held_bytes: u64,
    around: Around,
    core: C,
    counters: EdgeCounters,
}

impl<C: Core> Edge<C> {
    /// Creates an edge without packets or bursts.
    pub fn new(settings: &EdgeSettings<'_>, around: Around, core: C) -> Edge<C> {
        Edge {
            ingress: Ingress::new(settings, &around),
            receiving: Receiving::default(),
            ordering: settings.ordering,
            arrivals: BTreeMap::new(),
            held_bytes: 0,
            around,
            core,
            counters: EdgeCounters::default(),
        }
    }

    fn edge_of(&self, host: NodeId) -> NodeId {
        self.around.edges[host.index()]
    }

    /// Returns the index of the line for an egress and the class of a flow.
    fn line(&self, egress: NodeId, flow: FlowId) -> usize {
        let class = self.around.classes.get(flow.index()).copied().unwrap_or(0);
        self.ingress.line(egress, class)
    }

    fn on_packet(&mut self, packet: PacketId, ctx: &mut Context<'_>) {
        self.counters.arrived += 1;
        let Envelope {
            flow, destination, ..
        } = *ctx.envelope(packet);
        let egress = self.edge_of(destination);
        if egress == ctx.node() {
            return self.deliver(packet, ctx);
        }
        let line = self.line(egress, flow);
        let timer = self.ingress.accept(line, packet, ctx);
        self.launch_closed(ctx);
        if let Some((closes, timer_id)) = timer {
            ctx.timer(closes, timer_id);
        }
    }

    /// Sends a packet to its destination host.
    fn deliver(&mut self, packet: PacketId, ctx: &mut Context<'_>) {
        let port = ctx.port(ctx.route(packet), 0);
        let now = ctx.now();
        self.counters.forwarded += 1;
        ctx.send(port, packet, now);
    }

    /// Launches the bursts that the ingress has closed.
    #[inline]
    fn launch_closed(&mut self, ctx: &mut Context<'_>) {
        while let Some(closed) = self.ingress.next_closed() {
            self.counters.assembly_wait += closed.waited;
            self.launch(&closed.bundle, ctx);
        }
    }

    fn launch(&mut self, bundle: &Bundle, ctx: &mut Context<'_>) {
        self.counters.bursts += 1;
        self.counters.burst_packets += u64::from(bundle.packets);
        self.counters.burst_bytes += u64::from(bundle.bytes);
        self.counters.eo_bytes += u64::from(bundle.bytes);
        let (burst, switched) = ctx.bundle(bundle, self.counters.bursts as u32);
        self.counters.path_switches += u64::from(switched);
        match self.ordering {
            Ordering::Source => self.send_in_order(burst, bundle, ctx),
            Ordering::None | Ordering::Destination { .. } => {
                self.core.launch(burst, bundle, ctx);
            }
        }
    }

    /// Holds a burst until it cannot overtake the previous one, then sends it.
    fn send_in_order(&mut self, burst: BurstId, bundle: &Bundle, ctx: &mut Context<'_>) {
        let made = Made {
            burst,
            bundle: *bundle,
            since: ctx.now(),
        };
        let line = self.ingress.line(bundle.egress, bundle.class);
        let departures = self.ingress.departures(line);
        departures.held.push_back(made);
        self.held_bytes += u64::from(bundle.bytes);
        if departures.held.len() == 1 {
            self.release(line, ctx);
        }
    }

    /// Sends all due bursts of a line and sets a timer for the next one.
    fn release(&mut self, line: usize, ctx: &mut Context<'_>) {
        while let Some(&made) = self.ingress.departures(line).held.front() {
            let flight = self.flight(&made, ctx);
            let offset = self.core.offset(made.burst, ctx);
            let departures = self.ingress.departures(line);
            let due = departures.due(&flight);
            if due > ctx.now() + offset {
                let timer_id = EdgeTimer::Release.id(self.ingress.subject(line));
                return ctx.timer(Time(due.0 - offset.0), timer_id);
            }
            departures.held.pop_front();
            self.let_go(made.bundle.bytes, made.since, ctx.now());
            // The next burst is ordered behind the last one that was sent. A burst lost here does
            // not count, even if it was the first on another path.
            if let Some(head) = self.core.launch(made.burst, &made.bundle, ctx) {
                let at_once = head == ctx.now() + offset;
                let departures = self.ingress.departures(line);
                departures.sent(&flight, head, at_once);
            }
        }
    }

    fn flight(&self, made: &Made, ctx: &Context<'_>) -> Flight {
        let rate = self
            .around
            .fibre_rate
            .expect("a fibre, since a burst leaves");
        let time = rate.transmission_time(Bytes(u64::from(made.bundle.bytes)));
        let mut flight = Flight {
            label: ctx.envelope(made.burst).label,
            single: true,
            first_bit: Duration::ZERO,
            last_bit: time,
        };
        for hop in ctx.fibres(made.burst) {
            let stored = if hop.stored { time } else { Duration::ZERO };
            let passed = match hop.to == made.bundle.egress {
                true => Duration::ZERO,
                false => self.around.switching_times[hop.to.index()],
            };
            flight.single &= hop.ports == 1;
            let passes = hop.delay + stored + passed;
            flight.first_bit += passes;
            flight.last_bit += passes;
        }
        flight
    }

    /// Subtracts a burst from the held bytes and counts the time it was held since `since`.
    fn let_go(&mut self, bytes: u32, since: Time, now: Time) {
        self.held_bytes -= u64::from(bytes);
        self.counters.bursts_held += u64::from(since < now);
        self.counters.held += u128::from(now.since(since).0);
    }

    /// Accepts a burst for this node; it is disassembled when its tail arrives.
    fn receive(&mut self, unit: Unit, ctx: &mut Context<'_>) {
        let Some((burst, tail)) = self.core.receive(unit, ctx) else {
            return;
        };
        self.receiving.add(ctx.input(), tail, burst);
        let LinkId(subject) = ctx.input();
        let timer_id = EdgeTimer::Tail.id(subject);
        ctx.timer(tail, timer_id);
    }

    /// Handles the arrival of a burst's tail: disassembles the burst unless it must wait for
    /// earlier ones.
    fn come(&mut self, burst: BurstId, ctx: &mut Context<'_>) {
        ctx.tail_came(burst);
        let Ordering::Destination { hold_back } = self.ordering else {
            return self.disassemble(burst, ctx);
        };
        let it = ctx.burst(burst);
        let sequence = it.sequence;
        // The line of the reverse direction identifies the ingress and the class.
        let line = self.ingress.line(it.envelope.source, it.class);
        let subject = self.ingress.subject(line);
        let arrivals = self.arrivals.entry(subject).or_default();
        if arrivals.is_early(sequence) {
            self.held_bytes += u64::from(it.envelope.bytes);
            arrivals.hold(sequence, burst, ctx.now());
            let timer_id = EdgeTimer::HoldBack.id(subject);
            return ctx.timer(ctx.now() + hold_back, timer_id);
        }
        arrivals.take(sequence);
        self.disassemble(burst, ctx);
        self.take_held(subject, ctx);
    }

    /// Stops waiting for all bursts that precede a burst held for the longest allowed time.
    fn give_up(&mut self, subject: u32, ctx: &mut Context<'_>) {
        let Ordering::Destination { hold_back } = self.ordering else {
            unreachable!("only an egress that orders bursts holds them back");
        };
        let since = Time(ctx.now().0 - hold_back.0);
        let arrivals = self.arrivals.get_mut(&subject).expect("arrivals");
        if arrivals.give_up(since) {
            self.counters.hold_back_timeouts += 1;
            self.take_held(subject, ctx);
        }
    }

    /// Disassembles the held bursts that need not wait any longer.
    fn take_held(&mut self, subject: u32, ctx: &mut Context<'_>) {
        let ready = |edge: &mut Self| edge.arrivals.get_mut(&subject)?.ready();
        while let Some((burst, since)) = ready(self) {
            let bytes = ctx.envelope(burst).bytes;
            self.let_go(bytes, since, ctx.now());
            self.disassemble(burst, ctx);
        }
    }

    /// Disassembles a burst and delivers its packets.
    fn disassemble(&mut self, burst: BurstId, ctx: &mut Context<'_>) {
        self.counters.oe_bytes += u64::from(ctx.envelope(burst).bytes);
        let first = ctx.unbundle(burst);
        let no_host = ctx.envelope(first).source.index() >= self.around.edges.len();
        let mut next = Some(first);
        while let Some(packet) = next {
            next = ctx.next_packet(packet);
            if no_host {
                ctx.end(packet);
            } else {
                self.deliver(packet, ctx);
            }
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

    fn on_entry(&mut self, packet: PacketId, ctx: &mut Context<'_>) {
        let Envelope {
            flow, destination, ..
        } = *ctx.envelope(packet);
        let line = self.line(self.edge_of(destination), flow);
        let bundle = self.ingress.linked(line, packet, ctx);
        self.launch(&bundle, ctx);
    }

    fn on_timer(&mut self, timer_id: TimerId, ctx: &mut Context<'_>) {
        match EdgeTimer::of(timer_id) {
            EdgeTimer::Tail => {
                let (burst, [next, later]) = self.receiving.take(LinkId(timer_id.subject));
                if let Some(next) = next {
                    ctx.prefetch(next, later);
                }
                self.come(burst, ctx);
            }
            EdgeTimer::Release => self.release(self.ingress.line_of(timer_id.subject), ctx),
            EdgeTimer::HoldBack => self.give_up(timer_id.subject, ctx),
            EdgeTimer::Assembly => {
                self.ingress.expire(timer_id.subject, ctx.now());
                self.launch_closed(ctx);
            }
            EdgeTimer::AssemblyOfOthers => {
                self.ingress.expire_other(timer_id.subject, ctx.now());
                self.launch_closed(ctx);
            }
            EdgeTimer::Header => self.core.on_timer(timer_id, ctx),
            EdgeTimer::Entry => unreachable!("the network handles entries"),
        }
    }

    fn counted(&self, end: Time) -> Counted {
        self.core.counted(end).and(self.counters.counted(end))
    }

    /// Bytes of the packets in open queues and of all held bursts.
    fn held(&self, _queued: u64) -> u64 {
        self.ingress.held() + self.held_bytes
    }
}
