//! Bufferless cut-through switch: a unit whose output is busy is lost.

use super::{cut_through, output, Build, SwitchSettings};
use crate::edge::Core;
use crate::settings::duration;
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::{
    Ahead, Bundle, BurstId, Bytes, Choice, Context, Counted, Counters, DropReason, Pick, Rate,
    Readiness, Sendable, Switch, TimerId, Unit,
};
use serde::Deserialize;

/// Settings of an all-optical switch.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllOpticalSettings {
    /// Time to set up a connection through the optical matrix.
    #[serde(rename = "switching_time_ps", deserialize_with = "duration")]
    pub switching_time: Duration,
}

impl SwitchSettings for AllOpticalSettings {
    fn build(&self, build: Build) -> Box<dyn Switch> {
        Box::new(AllOptical::new(self, build))
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

/// The output was busy, and there is no buffer.
pub const CONTENTION: &DropReason = &DropReason {
    name: "contention",
    busy: true,
};

/// Counters of an all-optical switch, in units.
#[derive(Debug, Default)]
pub struct AllOpticalCounters {
    arrived: u64,
    forwarded: u64,
    contention: u64,
}

impl Counters for AllOpticalCounters {
    fn counted(&self, _end: Time) -> Counted {
        Counted::default()
            .count("arrived", self.arrived)
            .count("forwarded", self.forwarded)
            .dropped(CONTENTION, self.contention)
    }
}

/// All-optical switch.
pub struct AllOptical {
    switching_time: Duration,
    choice: Choice,
    draw: Stream,
    /// At a node with hosts, rate of the fibres on which bursts arrive.
    fibre_rate: Option<Rate>,
    counters: AllOpticalCounters,
}

impl AllOptical {
    /// Creates an idle switch.
    pub fn new(settings: &AllOpticalSettings, build: Build) -> AllOptical {
        AllOptical {
            switching_time: settings.switching_time,
            choice: build.choice,
            draw: build.draw,
            fibre_rate: build.fibre_rate,
            counters: AllOpticalCounters::default(),
        }
    }

    /// Sends a unit through the matrix, or drops it if its output is busy.
    #[inline(always)]
    fn take(&mut self, unit: impl Sendable, ctx: &mut Context<'_>) {
        self.counters.arrived += 1;
        let route = ctx.route(unit);
        match self.choice.pick::<false>(route, unit, &mut self.draw, ctx) {
            Pick::Free(port) => {
                self.counters.forwarded += 1;
                cut_through(port, unit, self.switching_time, ctx);
            }
            Pick::Busy(outputs) => {
                let port = ctx.port(outputs, 0);
                self.counters.contention += 1;
                ctx.drop(unit, port, CONTENTION);
            }
        }
    }
}

impl Core for AllOptical {
    fn offset(&self, _burst: BurstId, _ctx: &Context<'_>) -> Duration {
        Duration::ZERO
    }

    /// Sends a burst as soon as the output is free.
    fn launch(&mut self, burst: BurstId, bundle: &Bundle, ctx: &mut Context<'_>) -> Option<Time> {
        self.counters.forwarded += 1;
        let port = output::<false>(&mut self.choice, burst, &mut self.draw, ctx);
        let departure = ctx.now().max(ctx.free_at(port));
        ctx.departing(bundle, burst, departure);
        let now = ctx.now();
        Some(ctx.send(port, burst, now))
    }

    fn receive(&mut self, unit: Unit, ctx: &mut Context<'_>) -> Option<(BurstId, Time)> {
        let Unit::Burst(burst) = unit else {
            unreachable!("what comes over a fibre is a burst");
        };
        self.counters.arrived += 1;
        // The head has arrived. All fibres have the same rate.
        let bytes = Bytes(u64::from(ctx.envelope(burst).bytes));
        let rate = self.fibre_rate.expect("a fibre, since a burst came");
        Some((burst, ctx.now() + rate.transmission_time(bytes)))
    }
}

impl Switch for AllOptical {
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
        unreachable!("an all-optical switch sets no timer");
    }

    fn counted(&self, end: Time) -> Counted {
        self.counters.counted(end)
    }
}
