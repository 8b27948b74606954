//! The node contract: an input comes in, effects go out.

use crate::{Effects, Event, SwitchCounters, UnitId};
use lightburst_des::Agenda;

/// A switch.
pub trait Node<A: Agenda<Event>>: Send {
    /// A unit arrives: its head at a cut-through node, its tail at the others.
    fn on_unit(&mut self, unit: UnitId, fx: &mut Effects<'_, A>);

    /// A timer of this node expires.
    fn on_timer(&mut self, token: u64, fx: &mut Effects<'_, A>);

    /// What it has counted.
    fn counters(&self) -> &SwitchCounters;

    /// Bytes that it keeps, of which it has given `queued` to its outputs already.
    fn held(&self, _queued: u64) -> u64 {
        self.counters().occupancy.level()
    }
}

/// The hosts: one component, because the two ends of a flow share its table.
pub trait Hosts {
    /// Sets the first timer.
    fn start<A: Agenda<Event>>(&mut self, fx: &mut Effects<'_, A>);

    /// A unit arrives at the host `fx.node()`.
    fn on_unit<A: Agenda<Event>>(&mut self, unit: UnitId, fx: &mut Effects<'_, A>);

    /// A timer of the host `fx.node()` expires.
    fn on_timer<A: Agenda<Event>>(&mut self, token: u64, fx: &mut Effects<'_, A>);
}
