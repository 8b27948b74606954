//! Hybrid switch: all-optical, but a unit whose output is busy passes through a shared electronic
//! buffer with `ne` input and `ne` output ports.

mod buffer;

use super::{cut_through, Build, SwitchSettings, CONTENTION, QUEUE_FLUSHED};
use crate::settings::duration;
use buffer::{Buffer, Waiting};
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::routing::choice::any_free;
use lightburst_net::unit::arena::prefetch_lines;
use lightburst_net::{
    Ahead, Choice, Context, Counted, Counters, DropReason, Occupancy, Pick, PortId, Readiness,
    Route, Sendable, Switch, TimerId, Unit,
};
use serde::Deserialize;

/// Settings of a hybrid switch.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HybridSettings {
    /// Time to set up a connection through the optical matrix.
    #[serde(rename = "switching_time_ps", deserialize_with = "duration")]
    pub switching_time: Duration,
    /// Number of input ports, and of output ports, of the shared electronic buffer (ne).
    pub buffer_ports: u16,
    /// Capacity of the shared buffer in bytes; `None`: unlimited.
    pub buffer_bytes: Option<u64>,
    /// Earliest time at which a buffered unit may leave.
    pub re_emission: ReEmission,
}

/// Rule for the earliest departure of buffered units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReEmission {
    /// When it has been received completely.
    AfterReception,
    /// Immediately, while it is still being received.
    CutThrough,
}

impl SwitchSettings for HybridSettings {
    fn build(&self, build: Build) -> Box<dyn Switch> {
        Box::new(Hybrid::new(self, build))
    }

    fn switching_time(&self) -> Duration {
        self.switching_time
    }

    fn runs_in_parts(&self) -> bool {
        true
    }

    fn takes_outages(&self) -> bool {
        true
    }
}

/// The output and all input ports of the buffer were busy.
pub const NO_INPUT_PORT: &DropReason = &DropReason {
    name: "no-input-port",
    busy: true,
};

/// The buffer had no room.
pub const BUFFER_FULL: &DropReason = &DropReason {
    name: "buffer-full",
    busy: true,
};

/// Counters of a hybrid switch.
#[derive(Debug, Default)]
pub struct HybridCounters {
    arrived: u64,
    forwarded: u64,
    /// Units that passed through the buffer.
    buffered: u64,
    contention: u64,
    no_input_port: u64,
    buffer_full: u64,
    queue_flushed: u64,
    /// Bytes converted from optical to electronic, and from electronic to optical.
    oe_bytes: u64,
    eo_bytes: u64,
    /// Bytes in the buffer.
    occupancy: Occupancy,
}

impl Counters for HybridCounters {
    fn counted(&self, end: Time) -> Counted {
        Counted::default()
            .count("arrived", self.arrived)
            .count("forwarded", self.forwarded)
            .count("buffered", self.buffered)
            .dropped(CONTENTION, self.contention)
            .dropped(NO_INPUT_PORT, self.no_input_port)
            .dropped(BUFFER_FULL, self.buffer_full)
            .dropped(QUEUE_FLUSHED, self.queue_flushed)
            .count("oe_bytes", self.oe_bytes)
            .count("eo_bytes", self.eo_bytes)
            .and(self.occupancy.counted(end, 0))
    }
}

/// The only timer of the switch: a buffered unit may leave.
const WAKE: TimerId = TimerId {
    kind: 0,
    subject: 0,
};

/// Hybrid switch. The fields used for every unit come first, close together in memory.
#[repr(C, align(64))]
pub struct Hybrid {
    /// Time of the current wake-up; a timer that expires at any other time is stale.
    armed: Time,
    switching_time: Duration,
    choice: Choice,
    draw: Stream,
    counters: HybridCounters,
    buffer: Buffer,
    /// Time when each input port, and each output port, of the buffer becomes free.
    inputs: Vec<Time>,
    outputs: Vec<Time>,
    /// Capacity of the buffer in bytes.
    capacity: u64,
    re_emit_early: bool,
    /// Buffered units while the routes change; with the first output of those whose links are all
    /// down.
    unrouted: Vec<(Waiting, Option<PortId>)>,
}

impl Hybrid {
    /// Creates an idle switch.
    pub fn new(settings: &HybridSettings, build: Build) -> Hybrid {
        let ports = vec![Time::ZERO; usize::from(settings.buffer_ports)];
        Hybrid {
            switching_time: settings.switching_time,
            re_emit_early: settings.re_emission == ReEmission::CutThrough,
            capacity: settings.buffer_bytes.unwrap_or(u64::MAX),
            choice: build.choice,
            draw: build.draw,
            buffer: Buffer::new(build.sets),
            inputs: ports.clone(),
            outputs: ports,
            armed: Time::NEVER,
            counters: HybridCounters::default(),
            unrouted: Vec::new(),
        }
    }

    /// Forwards a unit, or puts it into the buffer if its output is busy.
    #[inline(always)]
    fn take(&mut self, unit: impl Sendable, ctx: &mut Context<'_>) {
        self.counters.arrived += 1;
        if self.armed <= ctx.now() {
            // An output that becomes free now belongs to the unit that waits for it.
            self.look(ctx);
        }
        let route = ctx.route(unit);
        match self.choice.pick::<false>(route, unit, &mut self.draw, ctx) {
            Pick::Free(port) => {
                self.counters.forwarded += 1;
                cut_through(port, unit, self.switching_time, ctx);
            }
            Pick::Busy(next_hops) => self.buffer_or_drop(unit, next_hops, ctx),
        }
    }

    /// Buffers a unit whose next hops are busy, or drops it.
    fn buffer_or_drop(&mut self, unit: impl Sendable, next_hops: Route, ctx: &mut Context<'_>) {
        let now = ctx.now();
        let bytes = ctx.envelope(unit).bytes;
        let port = ctx.port(next_hops, 0);
        let Some(input) = self.inputs.iter_mut().find(|free_at| **free_at <= now) else {
            if self.inputs.is_empty() {
                self.counters.contention += 1;
                return ctx.drop(unit, port, CONTENTION);
            }
            self.counters.no_input_port += 1;
            return ctx.drop(unit, port, NO_INPUT_PORT);
        };
        if self.counters.occupancy.level() + u64::from(bytes) > self.capacity {
            self.counters.buffer_full += 1;
            return ctx.drop(unit, port, BUFFER_FULL);
        }
        let received = now + self.switching_time + ctx.transmission_time(port, bytes);
        *input = received;
        let ready = if self.re_emit_early { now } else { received };
        let waiting = Waiting {
            unit: unit.into(),
            next_hops,
            ready,
            number: self.counters.buffered,
        };
        self.counters.buffered += 1;
        self.counters.oe_bytes += u64::from(bytes);
        self.counters.occupancy.add(bytes, now);
        if self.buffer.push(waiting, port) {
            // The unit is the first of its queue. The units buffered before cannot leave earlier
            // than the wake-up already set for them.
            self.wake_for(possible(&waiting, ctx), ctx);
        }
    }

    /// Re-emits all buffered units that can leave now, in the order of buffering.
    fn look(&mut self, ctx: &mut Context<'_>) {
        let now = ctx.now();
        self.armed = Time::NEVER;
        loop {
            let output = self.outputs.iter().position(|&free_at| free_at <= now);
            let (first, earliest) = self.buffer.first(now, |waiting| possible(waiting, ctx));
            match (first, output) {
                (Some(head), Some(output)) => {
                    let waiting = self.buffer.take(head);
                    self.re_emit(waiting, output, ctx);
                }
                _ if earliest == Time::NEVER => return,
                _ => return self.wake_for(earliest, ctx),
            }
        }
    }

    /// Sends a buffered unit through an output port of the buffer.
    fn re_emit(&mut self, waiting: Waiting, output: usize, ctx: &mut Context<'_>) {
        let now = ctx.now();
        let port =
            any_free::<false>(waiting.next_hops, &mut self.draw, ctx).expect("a free output");
        let bytes = ctx.envelope(waiting.unit).bytes;
        self.counters.eo_bytes += u64::from(bytes);
        self.counters.forwarded += 1;
        self.counters.occupancy.remove(bytes, now);
        let time = ctx.transmission_time(port, bytes);
        let start = ctx.send(port, waiting.unit, now + self.switching_time);
        self.outputs[output] = start + time;
    }

    /// Sets the wake-up for a unit that may leave at `time`, or when an output port of the buffer
    /// is free if that is later.
    fn wake_for(&mut self, time: Time, ctx: &mut Context<'_>) {
        let output = self.outputs.iter().copied().fold(Time::NEVER, Time::min);
        let wake = time.max(output);
        if wake < self.armed {
            self.armed = wake;
            ctx.timer(wake, WAKE);
        }
    }
}

/// Returns the time when a unit is ready and one of its outputs is free. An output port of the
/// buffer must also be free before the unit can leave.
#[inline]
fn possible(waiting: &Waiting, ctx: &Context<'_>) -> Time {
    waiting.ready.max(ctx.earliest_free(waiting.next_hops))
}

impl Switch for Hybrid {
    #[inline]
    fn on_unit(&mut self, unit: Unit, ctx: &mut Context<'_>) {
        match unit {
            Unit::Packet(packet) => self.take(packet, ctx),
            Unit::Burst(burst) => self.take(burst, ctx),
            Unit::BurstHeader(_) => unreachable!("headers stay among nodes that send them"),
        }
    }

    fn prepare(&self, unit: Option<Unit>, readiness: Readiness, ahead: &Ahead<'_>) {
        match unit {
            Some(unit) => self.choice.prepare(unit, &self.draw, readiness, ahead),
            None if readiness == Readiness::Link => self.buffer.prepare(ahead),
            None => {}
        }
        if readiness == Readiness::Switch {
            prefetch_lines(&*self.inputs, 0..1);
            prefetch_lines(&*self.outputs, 0..1);
            self.buffer.prefetch();
        }
    }

    fn on_timer(&mut self, _timer_id: TimerId, ctx: &mut Context<'_>) {
        if self.armed == ctx.now() {
            self.look(ctx);
        }
    }

    fn before_change(&mut self, ctx: &mut Context<'_>) {
        let lost = |waiting: &Waiting| {
            let ports = ctx.ports(waiting.next_hops);
            let all_down = ports.iter().all(|&port| ctx.is_known_down(port));
            all_down.then(|| ports[0])
        };
        let units = self.buffer.take_all().into_iter();
        self.unrouted = units.map(|waiting| (waiting, lost(&waiting))).collect();
    }

    fn after_change(&mut self, reroute: bool, ctx: &mut Context<'_>) {
        self.buffer = Buffer::new(ctx.sets());
        for (waiting, lost) in std::mem::take(&mut self.unrouted) {
            let unit = waiting.unit;
            if let Some(port) = lost.filter(|_| !reroute) {
                self.counters.queue_flushed += 1;
                let bytes = ctx.envelope(unit).bytes;
                self.counters.occupancy.remove(bytes, ctx.now());
                ctx.drop(unit, port, QUEUE_FLUSHED);
                continue;
            }
            let mut next_hops = ctx.route(unit);
            if !self.choice.is_free() {
                next_hops = next_hops.only(self.choice.member::<false>(
                    next_hops,
                    unit,
                    &mut self.draw,
                    ctx,
                ));
            }
            let port = ctx.port(next_hops, 0);
            self.buffer.push(
                Waiting {
                    next_hops,
                    ..waiting
                },
                port,
            );
        }
        let (_, earliest) = self
            .buffer
            .first(ctx.now(), |waiting| possible(waiting, ctx));
        if earliest < Time::NEVER {
            // A unit may leave at once by an output that was free before.
            self.wake_for(earliest.max(ctx.now()), ctx);
        }
    }

    fn counted(&self, end: Time) -> Counted {
        self.counters.counted(end)
    }

    fn begin_window(&mut self) {
        self.counters.occupancy.begin_window();
    }

    fn held(&self, _queued: u64) -> u64 {
        self.counters.occupancy.level()
    }
}
