//! Explicit output queues. Units wait in chains and leave one by one, by a decision of their node
//! at each departure; a unit that waits is not on the link yet. An output without such a queue is
//! committed: the departure of a unit is decided when it is handed over.

use crate::link::Carried;
use crate::unit::units::{Behind, Units};
use crate::{Fabric, LinkId, Sendable, Unit};
use lightburst_des::{Duration, Time};

/// Linked list of units that wait, first in, first out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chain {
    ends: Option<(Unit, Unit)>,
}

impl Chain {
    /// Appends a unit that begins to wait at `now`.
    #[inline]
    pub(crate) fn push(&mut self, unit: Unit, now: Time, units: &mut Units) {
        unit.envelope_mut(units).behind = Behind {
            unit: None,
            due: now,
        };
        let first = match self.ends {
            None => unit,
            Some((first, last)) => {
                last.envelope_mut(units).behind.unit = Some(unit);
                first
            }
        };
        self.ends = Some((first, unit));
    }

    /// Removes the first unit; also returns the time since which it has waited.
    #[inline]
    pub(crate) fn pop(&mut self, units: &Units) -> Option<(Unit, Time)> {
        let (first, last) = self.ends?;
        let Behind { unit: next, due } = first.envelope(units).behind;
        self.ends = next.map(|next| (next, last));
        Some((first, due))
    }

    /// Removes the first unit that is `wanted`.
    pub(crate) fn take(
        &mut self,
        units: &mut Units,
        wanted: impl Fn(Unit, &Units) -> bool,
    ) -> Option<Unit> {
        let (first, last) = self.ends?;
        let (mut before, mut unit) = (None, first);
        while !wanted(unit, units) {
            before = Some(unit);
            unit = unit.envelope(units).behind.unit?;
        }
        let next = unit.envelope(units).behind.unit;
        self.ends = match before {
            None => next.map(|next| (next, last)),
            Some(before) => {
                before.envelope_mut(units).behind.unit = next;
                Some((first, if next.is_none() { before } else { last }))
            }
        };
        Some(unit)
    }

    /// Returns the first unit.
    #[inline]
    pub fn first(&self) -> Option<Unit> {
        self.ends.map(|(first, _)| first)
    }

    /// Returns the last unit.
    #[inline]
    pub fn last(&self) -> Option<Unit> {
        self.ends.map(|(_, last)| last)
    }

    /// Iterates over the units.
    pub(crate) fn iter<'u>(&self, units: &'u Units) -> impl Iterator<Item = Unit> + 'u {
        let next = |unit: &Unit| unit.envelope(units).behind.unit;
        std::iter::successors(self.first(), next)
    }

    /// Returns whether no unit waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ends.is_none()
    }
}

/// Units that wait in the queue of an output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waiting {
    /// Number of units.
    pub units: u32,
    /// Bytes of the units.
    pub bytes: u64,
    /// Sum of the transmission times of the units, in picoseconds.
    pub(crate) time: u128,
}

impl Waiting {
    #[inline]
    pub(crate) fn add(&mut self, bytes: u32, time: Duration) {
        self.units += 1;
        self.bytes += u64::from(bytes);
        self.time += u128::from(time.0);
    }

    #[inline]
    pub(crate) fn remove(&mut self, bytes: u32, time: Duration) {
        self.units -= 1;
        self.bytes -= u64::from(bytes);
        self.time -= u128::from(time.0);
    }
}

impl Fabric {
    /// Lets nodes queue units at their outputs.
    pub fn have_queues(&mut self) {
        self.waiting = vec![Waiting::default(); self.dropped_at.len()];
    }

    /// Returns the units in the queue of an output.
    #[inline(always)]
    pub(crate) fn waiting(&self, link: LinkId) -> Waiting {
        let waiting = self.waiting.get(link.index());
        waiting.copied().unwrap_or_default()
    }

    /// Iterates over the counters of each link at `end`, with the bytes in the queue of its output
    /// and at a fair interface included in `waiting`.
    pub fn carried(&self, end: Time) -> impl Iterator<Item = Carried> + '_ {
        let each = |(link, carried): (u32, Carried)| {
            let link = LinkId(link);
            let queued = self.waiting(link).bytes + self.waiting_at_interface(link);
            Carried {
                waiting: carried.waiting + queued,
                ..carried
            }
        };
        (0..).zip(self.links.carried(end)).map(each)
    }
}
