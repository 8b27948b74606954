//! Electronic store-and-forward switch with output queues, the baseline: every bit is converted to
//! electronics and back.

mod pfc;
mod queued;
mod shared;

use super::{output, Build, SwitchSettings};
use crate::queue::{self, DisciplineSettings, QUEUE_FULL};
use lightburst_des::{Stream, Time};
use lightburst_net::link::pause::Bounds;
use lightburst_net::{
    Ahead, Choice, Context, Counted, Counters, DropReason, Occupancy, PortId, Readiness, Sendable,
    Switch, TimerId, Unit,
};
use pfc::Pfc;
pub use pfc::HEADROOM_FULL;
use queued::Queued;
use serde::Deserialize;
use shared::SharedBuffer;
use std::sync::Arc;

/// Settings of an electronic switch.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElectronicSettings {
    /// Capacity of an output queue in bytes; `None`: unlimited.
    pub queue_bytes: Option<u64>,
    /// Backlog in bytes from which on units are marked (ECN); `None`: never.
    pub ecn_threshold_bytes: Option<u64>,
    /// Discipline of the output queues; `None`: drop-tail, where nothing is decided at a departure.
    #[serde(default, deserialize_with = "queue::discipline")]
    pub queue: Option<Arc<dyn DisciplineSettings>>,
    /// Buffer that the explicit queues of a switch share; `None`: each has its own.
    #[serde(default)]
    pub shared_buffer: Option<SharedBuffer>,
    /// Whether the backlog behind a departing unit decides on its mark, at explicit queues.
    #[serde(default)]
    pub marks_at_departure: bool,
    /// Priority flow control; `None`: the switch asks for no pauses.
    #[serde(default)]
    pub pfc: Option<Pfc>,
}

impl SwitchSettings for ElectronicSettings {
    fn build(&self, build: Build) -> Box<dyn Switch> {
        match &self.queue {
            None => Box::new(Electronic::new(self, build)),
            Some(discipline) => Box::new(Queued::new(self, &**discipline, build)),
        }
    }

    fn stores_and_forwards(&self, _from_host: bool) -> bool {
        true
    }

    /// Explicit queues keep their units until these are transmitted.
    fn gives_back(&self) -> bool {
        self.queue.is_none()
    }

    fn runs_in_parts(&self) -> bool {
        true
    }

    fn takes_outages(&self) -> bool {
        true
    }

    fn queues_at_outputs(&self) -> bool {
        self.queue.is_some()
    }

    fn pauses(&self) -> Option<Bounds> {
        self.pfc.map(|pfc| pfc.bounds())
    }

    fn lines_of_groups(&self) -> Option<Arc<[u16]>> {
        self.queue.as_ref()?.lines()
    }
}

/// The unit waited for a link when the routes learned that the link is down.
pub const QUEUE_FLUSHED: &DropReason = &DropReason {
    name: "queue-flushed",
    busy: false,
};

/// Counters of an electronic switch.
#[derive(Debug, Default)]
pub struct ElectronicCounters {
    arrived: u64,
    forwarded: u64,
    /// Units that waited in an output queue.
    buffered: u64,
    /// Units marked (ECN).
    marked: u64,
    queue_full: u64,
    queue_flushed: u64,
    /// Bytes converted from optical to electronic, and from electronic to optical.
    oe_bytes: u64,
    eo_bytes: u64,
    /// Bytes in all output queues together; its maximum is that of a single queue.
    occupancy: Occupancy,
    /// For each time at which the counters are read early: the part of the occupancy integral that
    /// lies after it.
    ahead: [(Time, u128); 2],
}

impl Counters for ElectronicCounters {
    fn counted(&self, end: Time) -> Counted {
        Counted::default()
            .count("arrived", self.arrived)
            .count("forwarded", self.forwarded)
            .count("buffered", self.buffered)
            .count("marked", self.marked)
            .count("trimmed", 0)
            .count("returned", 0)
            .dropped(QUEUE_FULL, self.queue_full)
            .dropped(QUEUE_FLUSHED, self.queue_flushed)
            .dropped(HEADROOM_FULL, 0)
            .and(queue::dropped(|_| 0))
            .count("oe_bytes", self.oe_bytes)
            .count("eo_bytes", self.eo_bytes)
            .and(self.occupancy.counted(end, self.ahead_of(end)))
    }
}

impl ElectronicCounters {
    fn ahead_of(&self, end: Time) -> u128 {
        let known = self.ahead.iter().find(|(look, _)| *look == end);
        known.map_or(0, |(_, area)| *area)
    }

    /// Counts `bytes` that wait from `now` to `end` in a queue whose backlog, including them, is
    /// `backlog` bytes.
    #[inline]
    fn wait(&mut self, bytes: u32, (now, end): (Time, Time), backlog: u64) {
        let area = |from: Time| u128::from(bytes) * u128::from(end.since(from).0);
        self.occupancy.queue(backlog, area(now));
        for (look, ahead) in &mut self.ahead {
            if *look < end && now < *look {
                *ahead += area(*look);
            }
        }
    }
}

/// Electronic switch.
pub struct Electronic {
    queue_bytes: u64,
    ecn_threshold_bytes: u64,
    time_limit: Time,
    choice: Choice,
    draw: Stream,
    counters: ElectronicCounters,
}

impl Electronic {
    /// Creates an idle switch.
    pub fn new(settings: &ElectronicSettings, build: Build) -> Electronic {
        Electronic {
            queue_bytes: settings.queue_bytes.unwrap_or(u64::MAX),
            ecn_threshold_bytes: settings.ecn_threshold_bytes.unwrap_or(u64::MAX),
            time_limit: build.time_limit,
            choice: build.choice,
            draw: build.draw,
            counters: ElectronicCounters {
                ahead: build.looks.map(|look| (look, 0)),
                ..ElectronicCounters::default()
            },
        }
    }

    /// Puts a unit into the queue of its output, or drops it.
    #[inline(always)]
    fn take(&mut self, unit: impl Sendable, ctx: &mut Context<'_>) {
        self.counters.arrived += 1;
        self.counters.oe_bytes += u64::from(ctx.envelope(unit).bytes);
        self.queue(unit, ctx);
    }

    #[inline(always)]
    fn queue(&mut self, unit: impl Sendable, ctx: &mut Context<'_>) {
        let bytes = ctx.envelope(unit).bytes;
        let port = output::<false>(&mut self.choice, unit, &mut self.draw, ctx);
        let now = ctx.now();
        let free_at = ctx.free_at(port);
        let backlog = ctx.backlog(port);
        if backlog + u64::from(bytes) > self.queue_bytes {
            self.counters.queue_full += 1;
            return ctx.drop(unit, port, QUEUE_FULL);
        }
        if backlog >= self.ecn_threshold_bytes {
            if let Unit::Packet(packet) = unit.into() {
                ctx.mark_congestion(packet);
            }
            self.counters.marked += 1;
        }
        if free_at > now {
            // The whole unit waits; it no longer counts once its transmission has started.
            self.counters.buffered += 1;
            let leaves_at = ctx.leaves_at(port, free_at);
            let time = (now, leaves_at.min(self.time_limit));
            self.counters.wait(bytes, time, backlog + u64::from(bytes));
        }
        self.counters.eo_bytes += u64::from(bytes);
        self.counters.forwarded += 1;
        ctx.send(port, unit, now);
    }

    /// Queues a unit again, after an outage: rare, and so apart from the code of every arrival.
    #[cold]
    fn reroute(&mut self, unit: Unit, ctx: &mut Context<'_>) {
        self.queue(unit, ctx);
    }
}

impl Switch for Electronic {
    #[inline]
    fn on_unit(&mut self, unit: Unit, ctx: &mut Context<'_>) {
        match unit {
            Unit::Packet(packet) => self.take(packet, ctx),
            Unit::Burst(burst) => self.take(burst, ctx),
            Unit::BurstHeader(_) => unreachable!("headers stay among nodes that send them"),
        }
    }

    fn prepare(&self, unit: Option<Unit>, readiness: Readiness, ahead: &Ahead<'_>) {
        if let Some(unit) = unit {
            self.choice.prepare(unit, &self.draw, readiness, ahead);
        }
    }

    fn on_timer(&mut self, _timer_id: TimerId, _ctx: &mut Context<'_>) {
        unreachable!("an electronic switch sets no timer");
    }

    fn on_stranded(&mut self, unit: Unit, port: PortId, reroute: bool, ctx: &mut Context<'_>) {
        self.counters.forwarded -= 1;
        self.counters.eo_bytes -= u64::from(ctx.envelope(unit).bytes);
        if reroute {
            return self.reroute(unit, ctx);
        }
        self.counters.queue_flushed += 1;
        ctx.drop(unit, port, QUEUE_FLUSHED);
    }

    fn counted(&self, end: Time) -> Counted {
        self.counters.counted(end)
    }

    fn begin_window(&mut self) {
        self.counters.occupancy.begin_window();
    }

    /// All bytes in the switch are in its output queues.
    fn held(&self, queued: u64) -> u64 {
        queued
    }
}
