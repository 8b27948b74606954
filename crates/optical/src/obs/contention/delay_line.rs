//! Fibre delay lines dedicated to an output (the degenerate buffer of Callegati 2000, "Optical
//! buffers for variable length packets", section II). An output has lines with the delays D, 2D,
//! ..., kD, and a burst takes the shortest delay after which a channel is free. The header finds it
//! before the burst arrives and reserves line and channel together (PreRes in Gauger 2003, "Trends
//! in optical burst switching").

use super::{Contention, Resolved, Resolver, ResolverSettings};
use crate::obs::channels::{Channels, Reservation};
use crate::obs::outputs::{Outputs, Request};
use crate::settings::positive_duration;
use lightburst_des::{Duration, Time};
use lightburst_net::{Context, Counted, Counters, DropReason, PortId};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::num::NonZeroU16;

/// No delay had both a free line and a free channel.
pub const DELAY_LINES_FULL: &DropReason = &DropReason {
    name: "delay-lines-full",
    busy: false,
};

/// End of the time during which a burst occupies a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Occupied {
    /// Until the tail has entered the line: several bursts can follow each other in the fibre.
    Entering,
    /// Until the tail has left the line: it holds one burst at a time.
    Inside,
}

/// Settings of the delay lines of a node.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelayLineSettings {
    /// Shortest delay D; the other delays are multiples of it.
    #[serde(rename = "granularity_ps", deserialize_with = "positive_duration")]
    pub granularity: Duration,
    /// Number of different delays k.
    pub delays: NonZeroU16,
    /// Number of lines per output and delay, each for one burst at a time. `None`: no limit; there
    /// are never more in use than channels at the output.
    pub lines: Option<NonZeroU16>,
    /// Rule for the occupation of a line.
    pub occupied: Occupied,
}

/// Counters of delay lines.
#[derive(Debug, Default)]
pub struct DelayLineCounters {
    bursts_delayed: u64,
    /// Total delay in picoseconds.
    time: u128,
    full: u64,
}

impl Counters for DelayLineCounters {
    fn counted(&self, _end: Time) -> Counted {
        Counted::default()
            .count("bursts_delayed", self.bursts_delayed)
            .sum("delay_line_ps", self.time)
            .dropped(DELAY_LINES_FULL, self.full)
    }
}

/// Delay lines of a node.
struct DelayLine {
    settings: DelayLineSettings,
    /// Reservations of the lines by port and number of the delay, from the first burst on. Empty if
    /// the number of lines is not limited.
    lines: BTreeMap<(PortId, u16), Channels>,
    counters: DelayLineCounters,
}

impl ResolverSettings for DelayLineSettings {
    fn build(&self) -> Box<dyn Resolver> {
        Box::new(DelayLine {
            settings: self.clone(),
            lines: BTreeMap::new(),
            counters: DelayLineCounters::default(),
        })
    }
}

impl DelayLineSettings {
    fn delay(&self, number: u16) -> Duration {
        self.granularity * u64::from(number)
    }

    /// Returns the time during which a delayed burst occupies its line. Like the reservation of a
    /// channel it includes the set-up of the path into the line.
    fn kept(&self, delayed: &Request, wanted: (Time, Time)) -> (Time, Time) {
        match self.occupied {
            Occupied::Entering => wanted,
            Occupied::Inside => (wanted.0, delayed.start + delayed.time),
        }
    }
}

impl DelayLine {
    /// Returns a line of a port and delay that is free at the given time.
    fn line(&self, place: (PortId, u16), (start, end): (Time, Time)) -> Option<u16> {
        let Some(lines) = self.lines.get(&place) else {
            return Some(0);
        };
        lines
            .all()
            .find(|&line| lines.void(line, start, end).is_some())
    }

    /// Reserves a line; does nothing if the number of lines is not limited.
    fn keep(&mut self, place: (PortId, u16), reservation: Reservation, now: Time) {
        let Some(number) = self.settings.lines else {
            return;
        };
        let line = self.line(place, (reservation.start, reservation.end));
        let new = || Channels::new(number.get());
        let lines = self.lines.entry(place).or_insert_with(new);
        lines.reserve(line.expect("a line that is free"), reservation, now);
    }
}

impl Resolver for DelayLine {
    fn resolve(
        &mut self,
        burst: &Contention,
        outputs: &mut Outputs,
        ctx: &mut Context<'_>,
    ) -> Result<Resolved, Option<&'static DropReason>> {
        let wanted = outputs.reserved(&burst.request);
        for number in 1..=self.settings.delays.get() {
            let request = burst.request.delayed(self.settings.delay(number));
            let (start, end) = self.settings.kept(&request, wanted);
            let has_line = |port| self.line((port, number), (start, end)).is_some();
            let Some(offer) = outputs.offer(burst.ports, &request, has_line, ctx) else {
                continue;
            };
            let reservation = Reservation {
                start,
                end,
                burst: request.burst,
            };
            self.keep((offer.port, number), reservation, ctx.now());
            self.counters.bursts_delayed += 1;
            self.counters.time += u128::from(request.delayed.0);
            return Ok(Resolved::whole(offer, request));
        }
        Err(Some(DELAY_LINES_FULL))
    }

    fn lost(&mut self, _reason: &'static DropReason) {
        self.counters.full += 1;
    }

    fn counted(&self, end: Time) -> Counted {
        self.counters.counted(end)
    }
}
