//! A schedule among links that go down: circuits that lead nowhere are left out as soon as the racks
//! know of it.

use super::closures::Closures;
use super::graphs::Expander;
use super::schedule::{Open, Schedule};
use super::timetable::Timetable;
use lightburst_des::Time;
use lightburst_net::{Context, Unit};
use std::sync::Arc;

/// Timetable whose circuits are known for all times.
pub trait Planned: Timetable {
    /// Returns the matchings of all slots.
    fn schedule(&self) -> &Schedule;

    /// Returns the next time after `at` at which an open circuit begins to serve other queues.
    fn serves_others(&self, _at: u64) -> u64 {
        u64::MAX
    }

    /// Whether a unit has to wait for a circuit to its own rack, however long that takes.
    fn must_wait(&self, _unit: Unit, _ctx: &Context<'_>) -> bool {
        false
    }
}

impl Planned for Schedule {
    fn schedule(&self) -> &Schedule {
        self
    }
}

impl Planned for Expander {
    fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    fn serves_others(&self, at: u64) -> u64 {
        self.graphs.next(at)
    }

    fn must_wait(&self, unit: Unit, ctx: &Context<'_>) -> bool {
        self.is_far(unit, ctx)
    }
}

/// A timetable and the times in which its circuits lead nowhere.
pub struct Interrupted<T> {
    /// Circuits with all links up.
    pub planned: T,
    /// Links that are known to be down.
    pub closures: Arc<Closures>,
}

impl<T: Planned> Timetable for Interrupted<T> {
    /// The racks that they join.
    type Circuits<'a> = (usize, usize);

    fn open(&self, switch: usize, rack: usize, at: u64, _now: Time) -> Option<(usize, Open)> {
        let (peer, Open { start, end }) = self.planned.schedule().open(switch, rack, at)?;
        if self.closures.reopens(switch, rack, peer, at).is_some() {
            return None;
        }
        let end = end.min(self.closures.closes(switch, rack, peer, at));
        Some((peer, Open { start, end }))
    }

    fn find(
        &self,
        switch: usize,
        rack: usize,
        (at, _): (u64, Time),
        by_graph: bool,
        is_wanted: impl Fn(usize, Open) -> bool,
    ) -> Option<u64> {
        let in_slot = |(peer, slot): (usize, Open)| {
            let mut start = slot.start;
            while start < slot.end {
                if let Some(opens) = self.closures.reopens(switch, rack, peer, start) {
                    start = opens;
                    continue;
                }
                let end = slot
                    .end
                    .min(self.closures.closes(switch, rack, peer, start));
                if is_wanted(peer, Open { start, end }) {
                    return Some(start);
                }
                // Afterwards it serves other queues, or other racks are joined with that of a unit.
                let next_change = self.closures.next_change(start).unwrap_or(u64::MAX);
                let others = match by_graph {
                    true => self.planned.serves_others(start),
                    false => u64::MAX,
                };
                start = others.min(next_change).min(end);
            }
            None
        };
        let mut slots = self.planned.schedule().slots(switch, rack, at);
        // What no circuit of a turn serves may have one after the next change.
        slots
            .find_map(in_slot)
            .or_else(|| self.closures.next_change(at))
    }

    fn circuits(
        &self,
        from: usize,
        to: usize,
    ) -> impl Iterator<Item = (usize, Self::Circuits<'_>)> + '_ {
        let circuits = Timetable::circuits(self.planned.schedule(), from, to);
        circuits.map(move |(switch, _)| (switch, (from, to)))
    }

    fn next(
        &self,
        switch: usize,
        &(from, to): &Self::Circuits<'_>,
        at: u64,
        time: u64,
        now: Time,
    ) -> Option<u64> {
        let fits = |peer, open: Open| peer == to && open.start + time <= open.end;
        self.find(switch, from, (at, now), false, fits)
    }

    fn next_of_any(
        &self,
        switch: usize,
        (from, to): (usize, usize),
        at: u64,
        time: u64,
        now: Time,
    ) -> Option<u64> {
        let serves = |peer, open: Open| {
            open.start + time <= open.end && (peer == to || self.joins(peer, to, open.start))
        };
        self.find(switch, from, (at, now), false, serves)
    }

    fn joins(&self, from: usize, to: usize, at: u64) -> bool {
        let mut circuits = Timetable::circuits(self.planned.schedule(), from, to);
        circuits.any(|(switch, _)| self.closures.reopens(switch, from, to, at).is_none())
    }

    /// A unit for a rack to which no circuit leads does not wait for one.
    fn is_short(&self, unit: Unit, (from, to): (usize, usize), ctx: &Context<'_>) -> bool {
        self.planned.is_short(unit, (from, to), ctx)
            || !self.planned.must_wait(unit, ctx) && !self.joins(from, to, ctx.now().0)
    }

    fn takes(&self, unit: Unit, ctx: &mut Context<'_>) {
        self.planned.takes(unit, ctx);
    }
}
