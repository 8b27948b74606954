//! Switch of a rack: store and forward, with queues for units to other racks, which wait for
//! circuits, and an output queue for each host.

use super::backlog::Backlog;
use super::demand::GRANTED;
use super::forwarding::{Circuit, Forwarding, Reach};
use super::packet::Rule;
use super::schedule::Open;
use super::{Closures, Layout, Timetable};
use crate::queue::QUEUE_FULL;
use crate::switch::CircuitCounters;
use lightburst_des::{Duration, Time};
use lightburst_net::{Context, Counted, NodeId, PortId, Switch, TimerId, Unit, PEAK};
use std::sync::Arc;

/// Kind of the timer at which a rack looks at the circuits of a switch; its subject is the number of
/// the switch.
const LOOK: u8 = 0;

/// Link to a circuit switch.
struct Uplink {
    port: PortId,
    /// Delay of the link. What leaves now is at the circuit switch this much later.
    delay: Duration,
    /// Time at which the rack looks next; a timer that expires at any other time is stale.
    armed: Time,
}

/// Switch of a rack.
pub struct Edge<T> {
    timetable: Arc<T>,
    layout: Arc<Layout>,
    rack: usize,
    /// Links to the circuit switches, in the order of these.
    uplinks: Vec<Uplink>,
    forwarding: Box<dyn Forwarding>,
    backlog: Backlog,
    /// Capacity of each queue in bytes.
    limit: u64,
    time_limit: Time,
    /// Packet network beside the circuits.
    packet: Option<PacketLink>,
    counters: CircuitCounters,
}

/// Link of a rack to the packet network, and which units it carries.
pub struct PacketLink {
    /// Units that it carries.
    pub rule: Rule,
    /// Port to the packet network.
    pub port: PortId,
    /// Capacity of its queue in bytes.
    pub limit: u64,
    /// Backlog from which on units are marked.
    pub threshold: u64,
    /// Times at which its links are known to be down.
    pub closures: Option<Arc<Closures>>,
}

impl PacketLink {
    /// Whether it carries a unit from one rack to another: one of its units, as long as it leads
    /// there.
    fn carries(&self, unit: Unit, (from, to): (usize, usize), ctx: &Context<'_>) -> bool {
        let shut = |it: &Arc<Closures>| it.packet_is_shut(from, to, ctx.now().0);
        self.rule.takes(unit, ctx) && !self.closures.as_ref().is_some_and(shut)
    }
}

/// Settings of the switch of a rack.
pub struct EdgeSettings {
    /// Capacity of each queue in bytes.
    pub limit: u64,
    /// Packet network beside the circuits.
    pub packet: Option<PacketLink>,
    /// Forwarding policy.
    pub forwarding: Box<dyn Forwarding>,
    /// End of the run.
    pub time_limit: Time,
    /// Times before the end of the run at which the counters are read.
    pub looks: [Time; 2],
}

impl<T: Timetable> Edge<T> {
    /// Creates the idle switch of the rack at a node.
    pub fn new(
        settings: EdgeSettings,
        timetable: Arc<T>,
        layout: Arc<Layout>,
        node: NodeId,
    ) -> Edge<T> {
        let rack = layout.number(node);
        let uplinks = layout.uplinks(rack).iter().map(|link| Uplink {
            port: PortId(link.port),
            delay: link.delay,
            armed: Time::NEVER,
        });
        Edge {
            uplinks: uplinks.collect(),
            rack,
            backlog: Backlog::new(settings.forwarding.queues()),
            forwarding: settings.forwarding,
            limit: settings.limit,
            packet: settings.packet,
            time_limit: settings.time_limit,
            counters: CircuitCounters::new(settings.looks),
            timetable,
            layout,
        }
    }

    /// Hands a unit to the link of its host.
    fn deliver(&mut self, unit: Unit, ctx: &mut Context<'_>) {
        let port = ctx.port(ctx.route(unit), 0);
        let behind = ctx.backlog(port) + u64::from(ctx.envelope(unit).bytes);
        if behind > self.limit {
            self.counters.queue_full += 1;
            return ctx.drop(unit, port, QUEUE_FULL);
        }
        self.send(unit, port, behind, ctx);
    }

    /// Hands a unit to the link of the packet network; tells whether it is one for it.
    #[inline(never)]
    fn handed_over(&mut self, unit: Unit, rack: usize, ctx: &mut Context<'_>) -> bool {
        let Some(packet) = &self.packet else {
            return false;
        };
        let bytes = u64::from(ctx.envelope(unit).bytes);
        if !packet.carries(unit, (self.rack, rack), ctx) {
            return false;
        }
        let (port, backlog) = (packet.port, ctx.backlog(packet.port));
        if backlog + bytes > packet.limit {
            self.counters.queue_full += 1;
            ctx.drop(unit, port, QUEUE_FULL);
            return true;
        }
        if backlog >= packet.threshold {
            if let Unit::Packet(packet) = unit {
                ctx.mark_congestion(packet);
            }
            self.counters.marked += 1;
        }
        self.counters.packet_bytes += bytes;
        self.send(unit, port, backlog + bytes, ctx);
        true
    }

    /// Sends a unit behind those that wait for a link. `behind`: their bytes, with its own.
    fn send(&mut self, unit: Unit, port: PortId, behind: u64, ctx: &mut Context<'_>) {
        let bytes = ctx.envelope(unit).bytes;
        let (now, free_at) = (ctx.now(), ctx.free_at(port));
        if free_at > now {
            self.counters.buffered += 1;
            let time = (now, free_at.min(self.time_limit));
            self.counters.wait(bytes, time, behind);
        }
        self.counters.forwarded += 1;
        self.counters.eo_bytes += u64::from(bytes);
        ctx.send(port, unit, now);
    }

    /// Keeps a unit for another rack until a circuit is open.
    fn keep(&mut self, unit: Unit, rack: usize, ctx: &mut Context<'_>) {
        let relayed = !self.layout.is_of_host(ctx.input());
        self.counters.relayed += u64::from(relayed);
        let joined = self.timetable.joins(self.rack, rack, ctx.now().0);
        let short = self.timetable.is_short(unit, (self.rack, rack), ctx);
        let queue = self.forwarding.queue(rack, relayed && joined, short);
        let bytes = u64::from(ctx.envelope(unit).bytes);
        let waiting = self.backlog.bytes(queue);
        if waiting + bytes > self.limit {
            self.counters.queue_full += 1;
            return ctx.drop(unit, self.uplinks[0].port, QUEUE_FULL);
        }
        if self.packet.is_some() && !relayed {
            self.counters.circuit_bytes += bytes;
        }
        self.backlog.push(queue, unit, ctx);
        self.timetable.joined(self.rack, rack, bytes, ctx);
        if waiting == 0 {
            self.forwarding.filled(queue);
            // A unit behind others cannot leave before them.
            match self.forwarding.reach(queue) {
                Reach::To(rack) => self.offer_to(rack, queue, ctx),
                Reach::Any => self.offer_to_any(queue, ctx),
                Reach::Nearer => self.offer_to_nearer(queue, ctx),
            }
        }
        if self.backlog.bytes(queue) > 0 {
            self.counters.buffered += 1;
            self.backlog.waits(queue);
        }
    }

    /// Returns the time at a circuit switch of a unit that leaves as soon as its link is free.
    fn soonest(&self, switch: usize, ctx: &Context<'_>) -> u64 {
        let Uplink { port, delay, .. } = self.uplinks[switch];
        (ctx.free_at(port).max(ctx.now()) + delay).0
    }

    /// Offers the first unit of a queue to the circuits to a rack.
    fn offer_to(&mut self, rack: usize, queue: usize, ctx: &mut Context<'_>) {
        let timetable = Arc::clone(&self.timetable);
        for (switch, circuits) in timetable.circuits(self.rack, rack) {
            let Some(unit) = self.backlog.first(queue) else {
                return;
            };
            let at = self.soonest(switch, ctx);
            let time = self.transmission_time(switch, unit, ctx);
            if let Some(next) = timetable.next(switch, &circuits, at, time, ctx.now()) {
                self.look_at(switch, next, ctx);
            }
        }
    }

    /// Offers the first unit of a queue to all circuits.
    fn offer_to_any(&mut self, queue: usize, ctx: &mut Context<'_>) {
        for switch in 0..self.uplinks.len() {
            let Some(unit) = self.backlog.first(queue) else {
                return;
            };
            let at = self.soonest(switch, ctx);
            let time = self.transmission_time(switch, unit, ctx);
            let ends = (self.rack, self.rack_of(unit, ctx));
            let next = self
                .timetable
                .next_of_any(switch, ends, at, time, ctx.now());
            if let Some(next) = next {
                self.look_at(switch, next, ctx);
            }
        }
    }

    /// Offers the first unit of a queue to the circuits that lead nearer to its rack.
    fn offer_to_nearer(&mut self, queue: usize, ctx: &mut Context<'_>) {
        for switch in 0..self.uplinks.len() {
            let Some(unit) = self.backlog.first(queue) else {
                return;
            };
            let at = self.soonest(switch, ctx);
            let time = self.transmission_time(switch, unit, ctx);
            let serves = |to, open: Open| {
                let circuit = Circuit { to, at: open.start };
                open.start + time <= open.end && self.forwarding.leads_nearer(circuit, queue)
            };
            let times = (at, ctx.now());
            if let Some(next) = self.timetable.find(switch, self.rack, times, true, serves) {
                self.look_at(switch, next, ctx);
            }
        }
    }

    fn rack_of(&self, unit: Unit, ctx: &Context<'_>) -> usize {
        let host = ctx.envelope(unit).destination;
        usize::from(self.layout.rack_of[host.index()])
    }

    /// Whether circuits lead from a rack to that of a unit.
    #[inline]
    fn leads_on(&self, from: usize, unit: Unit, at: u64, ctx: &Context<'_>) -> bool {
        let rack = self.rack_of(unit, ctx);
        rack == from || self.timetable.joins(from, rack, at)
    }

    fn transmission_time(&self, switch: usize, unit: Unit, ctx: &Context<'_>) -> u64 {
        let bytes = ctx.envelope(unit).bytes;
        ctx.transmission_time(self.uplinks[switch].port, bytes).0
    }

    /// Looks at the circuits of a switch at a time, which is that at the switch: now, or by a timer
    /// if none expires before.
    fn look_at(&mut self, switch: usize, at: u64, ctx: &mut Context<'_>) {
        let uplink = &mut self.uplinks[switch];
        let time = Time(at - uplink.delay.0);
        if time == ctx.now() {
            self.serve(switch, ctx);
        } else if time < uplink.armed {
            uplink.armed = time;
            let subject = switch as u32;
            ctx.timer(
                time,
                TimerId {
                    kind: LOOK,
                    subject,
                },
            );
        }
    }

    /// Returns the queue that a circuit to a rack serves, if it is open from `start` to `end`, times at
    /// the switch: the first whose first unit fits.
    fn ready(
        &self,
        switch: usize,
        rack: usize,
        (start, end): (u64, u64),
        ctx: &Context<'_>,
    ) -> Option<usize> {
        let circuit = Circuit {
            to: rack,
            at: start,
        };
        self.forwarding.choose(circuit, &|queue| {
            let unit = self.backlog.first(queue);
            unit.is_some_and(|unit| {
                start + self.transmission_time(switch, unit, ctx) <= end
                    && (self.leads_on(rack, unit, start, ctx)
                        || self.forwarding.reach(queue) != Reach::Any)
            })
        })
    }

    /// Sends a unit over the circuit of a switch if one is ready, and finds the time of the next.
    fn serve(&mut self, switch: usize, ctx: &mut Context<'_>) {
        let Uplink { port, delay, .. } = self.uplinks[switch];
        let at = (ctx.now() + delay).0;
        if ctx.is_free(port) {
            if let Some((rack, open)) = self.timetable.open(switch, self.rack, at, ctx.now()) {
                if let Some(queue) = self.ready(switch, rack, (at, open.end), ctx) {
                    self.forwarding.served(rack, queue);
                    let waited = self.backlog.pop(queue, ctx);
                    let (unit, since) = waited.expect("a unit that waits");
                    if self.backlog.bytes(queue) == 0 {
                        self.forwarding.emptied(queue);
                    }
                    self.counters.forwarded += 1;
                    let bytes = u64::from(ctx.envelope(unit).bytes);
                    self.counters.eo_bytes += bytes;
                    self.timetable.left(self.rack, rack, bytes, ctx.now());
                    self.timetable.takes(unit, ctx);
                    ctx.send_queued(port, unit, since);
                }
            }
        }
        if self.backlog.level() == 0 {
            return;
        }
        let at = self.soonest(switch, ctx);
        let is_ready = |rack, open: Open| {
            let times = (open.start, open.end);
            self.ready(switch, rack, times, ctx).is_some()
        };
        let times = (at, ctx.now());
        let by_graph = self.forwarding.is_by_graph();
        let next = self
            .timetable
            .find(switch, self.rack, times, by_graph, is_ready);
        if let Some(next) = next {
            self.look_at(switch, next, ctx);
        }
    }
}

impl<T: Timetable> Switch for Edge<T> {
    fn on_unit(&mut self, unit: Unit, ctx: &mut Context<'_>) {
        let envelope = ctx.envelope(unit);
        let (host, bytes) = (envelope.destination, envelope.bytes);
        self.counters.arrived += 1;
        self.counters.oe_bytes += u64::from(bytes);
        match usize::from(self.layout.rack_of[host.index()]) {
            rack if rack == self.rack => self.deliver(unit, ctx),
            rack if self.packet.is_none() || !self.handed_over(unit, rack, ctx) => {
                self.keep(unit, rack, ctx);
            }
            _ => {}
        }
    }

    fn on_timer(&mut self, timer_id: TimerId, ctx: &mut Context<'_>) {
        let switch = timer_id.subject as usize;
        if timer_id.kind == GRANTED {
            return self.serve(switch, ctx);
        }
        let uplink = &mut self.uplinks[switch];
        if uplink.armed == ctx.now() {
            uplink.armed = Time::NEVER;
            self.serve(switch, ctx);
        }
    }

    fn counted(&self, end: Time) -> Counted {
        let peak = self.backlog.peak().max(self.counters.peak());
        self.counters.units().count(PEAK, peak).sum(
            "buffer_byte_ps",
            self.counters.area(end) + self.backlog.integral(end),
        )
    }

    fn begin_window(&mut self) {
        self.counters.begin_window();
        self.backlog.begin_window();
    }

    /// The bytes that wait for circuits, and those at the outputs.
    fn held(&self, queued: u64) -> u64 {
        self.backlog.level() + queued
    }
}
