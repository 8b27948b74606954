//! When circuits are open: by a schedule that is known for all times, or by demand.

use super::schedule::{Open, Schedule};
use lightburst_des::Time;
use lightburst_net::{Context, NodeId, Unit};

/// Circuits over time, as racks and circuit switches see them. Times `at` are those at a circuit
/// switch in picoseconds, `now` is the present.
pub trait Timetable: Send + Sync + 'static {
    /// The circuits of one switch from a rack to another.
    type Circuits<'a>;

    /// Returns the rack to which the circuit of a rack leads at a time; `None` if none is open.
    fn open(&self, switch: usize, rack: usize, at: u64, now: Time) -> Option<(usize, Open)>;

    /// Returns the start of the first opening, from `at` on, that is wanted, or an earlier time at
    /// which to look again; `times` are `at` and the present. `by_graph`: whether an opening may become
    /// wanted where another graph begins.
    fn find(
        &self,
        switch: usize,
        rack: usize,
        times: (u64, Time),
        by_graph: bool,
        is_wanted: impl Fn(usize, Open) -> bool,
    ) -> Option<u64>;

    /// Iterates over the switches that may join a rack with another.
    fn circuits(
        &self,
        from: usize,
        to: usize,
    ) -> impl Iterator<Item = (usize, Self::Circuits<'_>)> + '_;

    /// Returns the first time, from `at` on, at which one of the circuits is open for `time` longer.
    fn next(
        &self,
        switch: usize,
        circuits: &Self::Circuits<'_>,
        at: u64,
        time: u64,
        now: Time,
    ) -> Option<u64>;

    /// Returns the first time, from `at` on, at which any circuit of a switch is open for `time`
    /// longer that takes a unit nearer: from the first of these racks to any that joins the second.
    fn next_of_any(
        &self,
        _switch: usize,
        _ends: (usize, usize),
        _at: u64,
        _time: u64,
        _now: Time,
    ) -> Option<u64> {
        unreachable!("no queue that any circuit serves")
    }

    /// Whether any circuit leads from a rack to another, at some time.
    #[inline(always)]
    fn joins(&self, _from: usize, _to: usize, _at: u64) -> bool {
        true
    }

    /// Whether a unit that is to go from one rack to another does not wait for a circuit between
    /// them.
    #[inline(always)]
    fn is_short(&self, _unit: Unit, _ends: (usize, usize), _ctx: &Context<'_>) -> bool {
        false
    }

    /// Learns that a unit takes a circuit.
    #[inline(always)]
    fn takes(&self, _unit: Unit, _ctx: &mut Context<'_>) {}

    /// Learns that bytes for a rack wait at another.
    #[inline(always)]
    fn joined(&self, _from: usize, _to: usize, _bytes: u64, _ctx: &mut Context<'_>) {}

    /// Learns that bytes for a rack have left another.
    #[inline(always)]
    fn left(&self, _from: usize, _to: usize, _bytes: u64, _now: Time) {}

    /// Looks at what waits, at a timer of the first circuit switch.
    fn look(&self, _node: NodeId, _ctx: &mut Context<'_>) {
        unreachable!("a schedule sets no timer");
    }
}

impl Timetable for Schedule {
    type Circuits<'a> = &'a [(u16, u16)];

    #[inline]
    fn open(&self, switch: usize, rack: usize, at: u64, _now: Time) -> Option<(usize, Open)> {
        Schedule::open(self, switch, rack, at)
    }

    #[inline]
    fn find(
        &self,
        switch: usize,
        rack: usize,
        (at, _): (u64, Time),
        _by_graph: bool,
        is_wanted: impl Fn(usize, Open) -> bool,
    ) -> Option<u64> {
        let mut slots = self.slots(switch, rack, at);
        let found = slots.find(|&(peer, open)| is_wanted(peer, open));
        found.map(|(_, open)| open.start)
    }

    #[inline]
    fn circuits(
        &self,
        from: usize,
        to: usize,
    ) -> impl Iterator<Item = (usize, Self::Circuits<'_>)> + '_ {
        let mut circuits = Schedule::circuits(self, from, to);
        std::iter::from_fn(move || {
            let &(switch, _) = circuits.first()?;
            let of_switch = circuits.partition_point(|&(other, _)| other <= switch);
            let (first, rest) = circuits.split_at(of_switch);
            circuits = rest;
            Some((usize::from(switch), first))
        })
    }

    #[inline]
    fn next(
        &self,
        switch: usize,
        circuits: &Self::Circuits<'_>,
        at: u64,
        time: u64,
        _now: Time,
    ) -> Option<u64> {
        let next = |&(_, position)| Schedule::next(self, switch, u64::from(position), at, time);
        circuits.iter().map(next).min()
    }

    #[inline]
    fn next_of_any(
        &self,
        switch: usize,
        _ends: (usize, usize),
        at: u64,
        time: u64,
        _now: Time,
    ) -> Option<u64> {
        Some(Schedule::next_of_any(self, switch, at, time))
    }
}
