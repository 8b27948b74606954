//! The bufferless switch: cut-through, and a unit whose output azimuth is busy is lost.

use super::{cut_through, Build};
use lightburst_des::{Agenda, Duration, Stream};
use lightburst_net::{Choice, DropReason, Effects, Event, Node, Pick, SwitchCounters, UnitId};

/// An all-optical switch.
pub struct AllOptical {
    switching_time: Duration,
    choice: Choice,
    draw: Stream,
    counters: SwitchCounters,
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
}

impl<A: Agenda<Event>> Node<A> for AllOptical {
    fn on_unit(&mut self, unit: UnitId, fx: &mut Effects<'_, A>) {
        self.counters.arrived += 1;
        let route = fx.route(unit);
        match self.choice.pick(route, unit, &mut self.draw, fx) {
            Pick::Free(port) => {
                self.counters.forwarded += 1;
                cut_through(port, unit, self.switching_time, fx);
            }
            Pick::Busy(outputs) => {
                let port = fx.port(outputs, 0);
                fx.drop(unit, port, DropReason::Contention, &mut self.counters);
            }
        }
    }

    fn on_timer(&mut self, _token: u64, _fx: &mut Effects<'_, A>) {
        unreachable!("an all-optical switch sets no timer");
    }

    fn counters(&self) -> &SwitchCounters {
        &self.counters
    }
}
