//! The bufferless switch: cut-through, and a unit whose output is busy is lost.

use super::{cut_through, Build, SwitchSettings};
use crate::settings::duration;
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::{
    Choice, Context, Counted, Counters, DropReason, Pick, Sendable, Switch, Token, Unit,
};
use serde::Deserialize;

/// The settings of an all-optical switch.
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
}

/// The output was busy and there is no buffer.
pub const CONTENTION: &DropReason = &DropReason {
    name: "contention",
    busy: true,
};

/// What an all-optical switch counts, in units.
#[derive(Debug, Default)]
pub struct AllOpticalCounters {
    pub(crate) arrived: u64,
    pub(crate) forwarded: u64,
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

/// An all-optical switch.
pub struct AllOptical {
    switching_time: Duration,
    pub(crate) choice: Choice,
    pub(crate) draw: Stream,
    pub(crate) counters: AllOpticalCounters,
}

impl AllOptical {
    /// An idle switch.
    pub fn new(settings: &AllOpticalSettings, build: Build) -> AllOptical {
        AllOptical {
            switching_time: settings.switching_time,
            choice: build.choice,
            draw: build.draw,
            counters: AllOpticalCounters::default(),
        }
    }

    /// Sends a unit straight through the matrix, or drops it.
    #[inline(always)]
    pub(crate) fn pass(&mut self, unit: impl Sendable, ctx: &mut Context<'_>) {
        let route = ctx.route(unit);
        match self.choice.pick(route, unit, &mut self.draw, ctx) {
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

impl Switch for AllOptical {
    fn on_unit(&mut self, unit: Unit, ctx: &mut Context<'_>) {
        self.counters.arrived += 1;
        match unit {
            Unit::Packet(packet) => self.pass(packet, ctx),
            Unit::Burst(burst) => self.pass(burst, ctx),
        }
    }

    fn on_timer(&mut self, _token: Token, _ctx: &mut Context<'_>) {
        unreachable!("an all-optical switch sets no timer");
    }

    fn counted(&self, end: Time) -> Counted {
        self.counters.counted(end)
    }
}
