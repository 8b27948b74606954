//! Fibre delay lines, dedicated to an output (the degenerate buffer of Callegati 2000, "Optical
//! buffers for variable length packets", section II): an output has lines of the delays D, 2D, ...,
//! kD, and a burst takes the shortest delay after which a channel is free. The header knows it
//! before the burst comes, and books line and channel together (what Gauger 2003, "Trends in optical
//! burst switching", calls PreRes).

use super::{Contention, Resolved, Resolver, ResolverSettings};
use crate::obs::channels::{Booking, Channels};
use crate::obs::outputs::{Outputs, Request};
use crate::settings::positive_duration;
use lightburst_des::{Duration, Time};
use lightburst_net::{Context, Counted, Counters, DropReason, PortId};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::num::NonZeroU16;

/// There was no delay with a line and a channel.
pub const DELAY_LINES_FULL: &DropReason = &DropReason {
    name: "delay-lines-full",
    busy: false,
};

/// Until when a burst keeps a line from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Occupied {
    /// Until its tail has gone in: bursts follow each other through the fibre.
    Entering,
    /// Until its tail has come out: a line holds one burst.
    Inside,
}

/// The delay lines of a node.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelayLineSettings {
    /// The shortest delay; the others are multiples of it.
    #[serde(rename = "granularity_ps", deserialize_with = "positive_duration")]
    pub granularity: Duration,
    /// How many delays there are.
    pub delays: NonZeroU16,
    /// How many lines of each delay an output has, each for one burst at a time; none: as many as are
    /// wanted, of which no more are ever in use than the output has channels.
    pub lines: Option<NonZeroU16>,
    /// Until when a line is in use.
    pub occupied: Occupied,
}

/// What delay lines count.
#[derive(Debug, Default)]
pub struct DelayLineCounters {
    bursts_delayed: u64,
    /// Picoseconds.
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

/// The delay lines of a node.
struct DelayLine {
    settings: DelayLineSettings,
    /// What is booked on the lines of a delay of a port, from the first burst on; nothing where
    /// there are as many as are wanted.
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

    /// From when to when a burst that comes out of a line has kept that line from others: as a
    /// channel, for setting up the way into it.
    fn kept(&self, delayed: &Request, wanted: (Time, Time)) -> (Time, Time) {
        match self.occupied {
            Occupied::Entering => wanted,
            Occupied::Inside => (wanted.0, delayed.start + delayed.time),
        }
    }
}

impl DelayLine {
    /// A line of one delay of a port that is free.
    fn line(&self, place: (PortId, u16), (start, end): (Time, Time)) -> Option<u16> {
        let Some(lines) = self.lines.get(&place) else {
            return Some(0);
        };
        lines
            .all()
            .find(|&line| lines.void(line, start, end).is_some())
    }

    /// Keeps a line.
    fn keep(&mut self, place: (PortId, u16), booking: Booking, now: Time) {
        let Some(number) = self.settings.lines else {
            return;
        };
        let line = self.line(place, (booking.start, booking.end));
        let new = || Channels::new(number.get());
        let lines = self.lines.entry(place).or_insert_with(new);
        lines.book(line.expect("a line that is free"), booking, now);
    }
}

impl Resolver for DelayLine {
    fn resolve(
        &mut self,
        burst: &Contention,
        outputs: &mut Outputs,
        ctx: &mut Context<'_>,
    ) -> Result<Resolved, Option<&'static DropReason>> {
        let wanted = outputs.booked(&burst.request);
        for number in 1..=self.settings.delays.get() {
            let request = burst.request.delayed(self.settings.delay(number));
            let (start, end) = self.settings.kept(&request, wanted);
            let has_line = |port| self.line((port, number), (start, end)).is_some();
            let Some(offer) = outputs.offer(burst.ports, &request, has_line, ctx) else {
                continue;
            };
            let booking = Booking {
                start,
                end,
                burst: request.burst,
            };
            self.keep((offer.port, number), booking, ctx.now());
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
