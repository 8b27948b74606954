//! The bufferless switch: cut-through, and a unit whose output is busy is lost.

use super::{cut_through, Build};
use lightburst_des::{Duration, Stream};
use lightburst_net::{
    Choice, Context, DropReason, Pick, Sendable, Switch, SwitchCounters, Token, Unit,
};

/// An all-optical switch.
pub struct AllOptical {
    switching_time: Duration,
    pub(crate) choice: Choice,
    pub(crate) draw: Stream,
    pub(crate) counters: SwitchCounters,
}

impl AllOptical {
    /// An idle switch.
    pub fn new(build: Build) -> AllOptical {
        AllOptical {
            switching_time: build.settings.switching_time,
            choice: build.choice,
            draw: build.draw,
            counters: SwitchCounters::default(),
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
                ctx.drop(unit, port, DropReason::Contention, &mut self.counters);
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

    fn counters(&self) -> &SwitchCounters {
        &self.counters
    }
}
