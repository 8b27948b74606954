//! The hybrid switch: all-optical in general; a unit that meets a busy azimuth
//! goes through a shared electronic buffer with `ne` ports in and `ne` out.

mod buffer;

use super::{cut_through, Build};
use buffer::{Buffer, Waiting};
use lightburst_des::{Agenda, Duration, Stream, Time};
use lightburst_net::choice::any_free;
use lightburst_net::{
    Choice, DropReason, Effects, Event, Node, Pick, PortId, Route, SwitchCounters, UnitId,
};

/// A hybrid switch.
pub struct Hybrid {
    switching_time: Duration,
    re_emit_early: bool,
    choice: Choice,
    draw: Stream,
    buffer: Buffer,
    /// When each input and each output port of the buffer is free.
    inputs: Vec<Time>,
    outputs: Vec<Time>,
    /// The wake-up that counts; a timer at another time is stale.
    armed: Time,
    counters: SwitchCounters,
}

impl Hybrid {
    /// An idle switch.
    pub fn new(build: Build) -> Hybrid {
        let ports = vec![Time::ZERO; build.settings.buffer_ports];
        Hybrid {
            switching_time: build.settings.switching_time,
            re_emit_early: build.settings.re_emit_early,
            choice: build.choice,
            draw: build.draw,
            buffer: Buffer::new(build.sets, build.settings.buffer_bytes),
            inputs: ports.clone(),
            outputs: ports,
            armed: Time::NEVER,
            counters: SwitchCounters::default(),
        }
    }

    /// Takes a unit that met a busy azimuth into the buffer, if it can.
    fn buffer_or_drop<A: Agenda<Event>>(
        &mut self,
        unit: UnitId,
        route: Route,
        output: Option<PortId>,
        fx: &mut Effects<'_, A>,
    ) {
        let now = fx.now();
        let bytes = fx.unit(unit).bytes;
        let Some(input) = self.inputs.iter_mut().find(|free_at| **free_at <= now) else {
            let reason = match self.outputs.len() {
                0 => DropReason::Contention,
                _ => DropReason::NoInputPort,
            };
            return fx.drop(unit, reason, &mut self.counters);
        };
        if !self.buffer.has_room(self.counters.occupancy.level(), bytes) {
            return fx.drop(unit, DropReason::BufferFull, &mut self.counters);
        }
        let rate_of = output.unwrap_or_else(|| fx.port(route, 0));
        let received = now + self.switching_time + fx.transmission_time(rate_of, bytes);
        *input = received;
        let ready = if self.re_emit_early { now } else { received };
        self.buffer.push(Waiting {
            unit,
            route,
            output,
            ready,
            number: self.counters.buffered,
        });
        self.counters.buffered += 1;
        self.counters.oe_bytes += u64::from(bytes);
        self.counters.occupancy.add(bytes, now);
        self.arm(fx);
    }

    /// Re-emits what can be re-emitted now, first buffered first.
    fn look<A: Agenda<Event>>(&mut self, fx: &mut Effects<'_, A>) {
        let now = fx.now();
        self.armed = Time::NEVER;
        while let Some(output) = self.outputs.iter().position(|&free_at| free_at <= now) {
            let eligible = |w: &Waiting| w.ready <= now && w.ports(fx).any(|p| fx.is_free(p));
            let Some(waiting) = self.buffer.pop_first(eligible) else {
                break;
            };
            let port = waiting
                .output
                .or_else(|| any_free(waiting.route, &mut self.draw, fx));
            let port = port.expect("a set with a free member");
            let bytes = fx.unit(waiting.unit).bytes;
            let start = now + self.switching_time;
            self.outputs[output] = start + fx.transmission_time(port, bytes);
            self.counters.eo_bytes += u64::from(bytes);
            self.counters.forwarded += 1;
            self.counters.occupancy.remove(bytes, now);
            fx.send(port, waiting.unit, start);
        }
        self.arm(fx);
    }

    /// Sets the wake-up to the earliest time at which a unit may leave.
    fn arm<A: Agenda<Event>>(&mut self, fx: &mut Effects<'_, A>) {
        let possible = |w: &Waiting| {
            let azimuth = w.ports(fx).map(|port| fx.free_at(port)).min();
            w.ready.max(azimuth.expect("a set has a member"))
        };
        let Some(earliest) = self.buffer.heads().map(possible).min() else {
            return;
        };
        let output = self
            .outputs
            .iter()
            .min()
            .expect("a buffer in use has ports");
        let wake = earliest.max(*output);
        if wake < self.armed {
            self.armed = wake;
            fx.timer(wake, 0);
        }
    }
}

impl<A: Agenda<Event>> Node<A> for Hybrid {
    #[inline]
    fn on_unit(&mut self, _port: PortId, unit: UnitId, fx: &mut Effects<'_, A>) {
        self.counters.arrived += 1;
        if self.armed <= fx.now() {
            // An azimuth that is released at this instant goes to the unit that waits for it.
            self.look(fx);
        }
        let route = fx.route(unit);
        let output = match self.choice.pick(route, unit, &mut self.draw, fx) {
            Pick::Free(port) => {
                self.counters.forwarded += 1;
                return cut_through(port, unit, self.switching_time, fx);
            }
            Pick::Busy(port) => Some(port),
            Pick::AllBusy => None,
        };
        self.buffer_or_drop(unit, route, output, fx);
    }

    fn on_timer(&mut self, _token: u64, fx: &mut Effects<'_, A>) {
        if self.armed == fx.now() {
            self.look(fx);
        }
    }

    fn counters(&self) -> &SwitchCounters {
        &self.counters
    }
}
