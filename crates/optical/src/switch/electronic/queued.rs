//! Electronic switch whose outputs have explicit queues: a discipline decides at each departure.

use super::shared::SharedBuffer;
use super::{ElectronicSettings, HEADROOM_FULL, QUEUE_FLUSHED};
use crate::output::{Output, QueueCounters};
use crate::queue::{Discipline, DisciplineSettings, Port};
use crate::switch::{output, Build};
use lightburst_des::{Stream, Time};
use lightburst_net::{
    Choice, Context, Counted, Counters, LinkId, PortId, Sendable, Switch, TimerId, Unit,
};
use std::sync::Arc;

/// Kind of the timer of a port's next departure; its subject is the port.
const DEPARTURE: u8 = 0;

/// The timer of the next departure is running.
const ARMED: u8 = 1;
/// All classes pause.
const PAUSED: u8 = 2;

/// Queue of a port.
struct Queue {
    discipline: Box<dyn Discipline>,
    /// Why no unit may leave now; 0 if one may.
    closed: u8,
}

/// Electronic switch with explicit queues.
pub struct Queued {
    limit: u64,
    shared: Option<SharedBuffer>,
    /// Whether links are paused.
    pauses: bool,
    choice: Choice,
    draw: Stream,
    queues: Vec<Queue>,
    /// Whether a link can have several units to send that left its queue.
    holds_back: bool,
    /// Bytes of the largest unit so far that left a queue.
    largest: u64,
    arrived: u64,
    forwarded: u64,
    oe_bytes: u64,
    eo_bytes: u64,
    counters: QueueCounters,
}

impl Queued {
    /// Creates an idle switch whose outputs have the discipline of these settings.
    pub fn new(
        settings: &ElectronicSettings,
        discipline: &dyn DisciplineSettings,
        build: Build,
    ) -> Queued {
        let threshold_if = |applies: bool| {
            let threshold = settings.ecn_threshold_bytes.filter(|_| applies);
            threshold.unwrap_or(u64::MAX)
        };
        let queue = |link| {
            let port = Port {
                link: LinkId(link),
                seed: build.seed,
                ecn_threshold_bytes: threshold_if(!settings.marks_at_departure),
                departure_threshold_bytes: threshold_if(settings.marks_at_departure),
                groups: Arc::clone(&build.groups),
            };
            Queue {
                discipline: discipline.build(&port),
                closed: 0,
            }
        };
        Queued {
            limit: settings.queue_bytes.unwrap_or(u64::MAX),
            shared: settings.shared_buffer,
            pauses: build.pauses,
            choice: build.choice,
            draw: build.draw,
            queues: build.outputs.map(queue).collect(),
            holds_back: build.holds_back || build.pauses,
            largest: 0,
            arrived: 0,
            forwarded: 0,
            oe_bytes: 0,
            eo_bytes: 0,
            counters: QueueCounters::default(),
        }
    }

    #[inline(always)]
    fn take(&mut self, unit: impl Sendable, ctx: &mut Context<'_>) {
        self.arrived += 1;
        self.oe_bytes += u64::from(ctx.envelope(unit).bytes);
        self.queue::<true>(unit, ctx);
    }

    /// Queues a unit that `ARRIVES`, or that is in the switch already.
    #[inline(always)]
    fn queue<const ARRIVES: bool>(&mut self, unit: impl Sendable, ctx: &mut Context<'_>) {
        let port = output::<true>(&mut self.choice, unit, &mut self.draw, ctx);
        let counted = match self.pauses {
            false => None,
            true => match self.count(unit.into(), port, ARRIVES, ctx) {
                None => return,
                counted => counted,
            },
        };
        let (limit, room) = match self.shared {
            None => (self.limit, u64::MAX),
            Some(shared) => self.bounds(shared, unit.into(), port, ctx),
        };
        let queue = &mut self.queues[usize::from(port.0)];
        let output = &mut Output::new(port, limit, ctx, &mut self.counters);
        output.room = room;
        output.is_idle = counted.map(|(_, is_idle)| is_idle);
        queue.discipline.enqueue(unit.into(), output);
        let returned = output.returned;
        self.serve(port, ctx);
        if let Some(header) = returned {
            self.reroute(header, ctx);
        }
        if let Some((class, _)) = counted.filter(|_| ARRIVES) {
            ctx.ask_for_pause(class);
        }
    }

    /// Counts a unit that `arrives` among those that came over its link, and returns its class and
    /// whether it will leave at once; or drops it.
    #[cold]
    fn count(
        &mut self,
        unit: Unit,
        port: PortId,
        arrives: bool,
        ctx: &mut Context<'_>,
    ) -> Option<(u16, bool)> {
        let class = ctx.pause_class(unit);
        if !arrives {
            ctx.turn_to(unit, port);
        } else if !ctx.take_in(unit, port) {
            let output = &mut Output::new(port, self.limit, ctx, &mut self.counters);
            output.refuse(unit, HEADROOM_FULL);
            return None;
        }
        let queue = &self.queues[usize::from(port.0)];
        let is_idle = queue.closed == 0 && ctx.is_free(port) && !ctx.is_paused(port, class);
        Some((class, is_idle))
    }

    /// Acts on a pause frame.
    #[cold]
    fn pause(&mut self, timer_id: TimerId, ctx: &mut Context<'_>) {
        let (port, ..) = ctx.take_pause_frame(timer_id);
        let closed = &mut self.queues[usize::from(port.0)].closed;
        let all = ctx.are_all_paused(port);
        *closed = (*closed & !PAUSED) | if all { PAUSED } else { 0 };
        self.serve_again(port, ctx);
    }

    /// As `serve`, apart from the code of every departure.
    #[cold]
    #[inline(never)]
    fn serve_again(&mut self, port: PortId, ctx: &mut Context<'_>) {
        self.serve(port, ctx);
    }

    /// Returns the largest backlog of an output, and the free bytes of the shared buffer, or a lower
    /// bound of both that has room for the unit all the same.
    fn bounds(
        &self,
        shared: SharedBuffer,
        unit: Unit,
        port: PortId,
        ctx: &Context<'_>,
    ) -> (u64, u64) {
        let at_most = |(limit, room): (u64, u64)| (limit.min(self.limit), room);
        if !self.holds_back {
            // Without a look at all links: each has at most one unit that left its queue.
            let links = self.queues.len() as u64;
            let (limit, room) = shared.bounds(self.counters.level() + links * self.largest);
            let bytes = u64::from(ctx.envelope(unit).bytes);
            if ctx.waiting(port).bytes + self.largest + bytes <= limit && bytes <= room {
                return at_most((limit, room));
            }
        }
        let ports = (0..self.queues.len()).map(|port| PortId(port as u16));
        at_most(shared.bounds(ports.map(|port| ctx.queued(port)).sum()))
    }

    /// Queues a unit that is in the switch again, after an outage or on its return to its sender: rare,
    /// and so apart from the code of every arrival.
    #[cold]
    fn reroute(&mut self, unit: Unit, ctx: &mut Context<'_>) {
        self.queue::<false>(unit, ctx);
    }

    /// Sends units while the link of a port is free, and sets the timer of the next departure.
    #[inline]
    fn serve(&mut self, port: PortId, ctx: &mut Context<'_>) {
        let queue = &mut self.queues[usize::from(port.0)];
        // A script can keep a unit beside the link, which is then still free.
        while queue.closed == 0 && ctx.waiting(port).units > 0 {
            let free_at = ctx.free_at(port);
            if free_at > ctx.now() {
                queue.closed |= ARMED;
                let subject = u32::from(port.0);
                let kind = DEPARTURE;
                return ctx.timer(free_at, TimerId { kind, subject });
            }
            let output = &mut Output::new(port, self.limit, ctx, &mut self.counters);
            let Some((unit, since)) = queue.discipline.dequeue(output) else {
                // All were dropped, or pause.
                return;
            };
            let bytes = u64::from(ctx.envelope(unit).bytes);
            self.forwarded += 1;
            self.eo_bytes += bytes;
            self.largest = self.largest.max(bytes);
            if self.pauses {
                ctx.let_go(unit);
            }
            ctx.send_queued(port, unit, since);
        }
    }
}

impl Switch for Queued {
    #[inline]
    fn on_unit(&mut self, unit: Unit, ctx: &mut Context<'_>) {
        match unit {
            Unit::Packet(packet) => self.take(packet, ctx),
            Unit::Burst(burst) => self.take(burst, ctx),
            Unit::BurstHeader(_) => unreachable!("headers stay among nodes that send them"),
        }
    }

    fn on_timer(&mut self, timer_id: TimerId, ctx: &mut Context<'_>) {
        if timer_id.kind != DEPARTURE {
            return self.pause(timer_id, ctx);
        }
        let port = PortId(timer_id.subject as u16);
        self.queues[usize::from(port.0)].closed &= !ARMED;
        self.serve(port, ctx);
    }

    fn on_down(&mut self, port: PortId, ctx: &mut Context<'_>) -> Vec<Unit> {
        let queue = &mut self.queues[usize::from(port.0)];
        let output = &mut Output::new(port, self.limit, ctx, &mut self.counters);
        queue.discipline.flush(output)
    }

    fn on_stranded(&mut self, unit: Unit, port: PortId, reroute: bool, ctx: &mut Context<'_>) {
        if reroute {
            return self.reroute(unit, ctx);
        }
        let output = &mut Output::new(port, self.limit, ctx, &mut self.counters);
        output.drop(unit, QUEUE_FLUSHED);
    }

    fn counted(&self, end: Time) -> Counted {
        Counted::default()
            .count("arrived", self.arrived)
            .count("forwarded", self.forwarded)
            .count("oe_bytes", self.oe_bytes)
            .count("eo_bytes", self.eo_bytes)
            .dropped(QUEUE_FLUSHED, self.counters.dropped_for(QUEUE_FLUSHED))
            .dropped(HEADROOM_FULL, self.counters.dropped_for(HEADROOM_FULL))
            .and(self.counters.counted(end))
    }

    fn begin_window(&mut self) {
        self.counters.begin_window();
    }

    /// All bytes in the switch are in its output queues.
    fn held(&self, queued: u64) -> u64 {
        queued
    }
}
