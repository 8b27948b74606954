//! Chain of the units on a link. A link delivers in order, so only its first unit is a pending
//! event. Every unit holds its successor and the arrival time of the successor. The number of
//! pending events therefore grows with the number of links in use, not with the number of units in
//! flight.

use crate::link::Transit;
use crate::unit::units::{Behind, Sendable, Units};
use crate::{Event, LinkId, NodeId, Unit};
use lightburst_des::{Agenda, Time};

/// Last unit in the chain of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    /// Arrival time of the unit.
    arrival: Time,
    /// The unit; `None` before the first transmission.
    unit: Option<Unit>,
}

impl Tail {
    pub const EMPTY: Tail = Tail {
        arrival: Time::ZERO,
        unit: None,
    };

    /// Returns the last unit if it is still on the link at `time`.
    #[inline(always)]
    pub fn at(&self, time: Time) -> Option<Unit> {
        self.unit.filter(|_| self.arrival > time)
    }

    /// Appends a unit to the chain. Returns its predecessor if that is still on the link.
    #[inline(always)]
    fn follow(&mut self, unit: Unit, arrival: Time, now: Time) -> Option<Unit> {
        let ahead = self.at(now);
        *self = Tail {
            arrival,
            unit: Some(unit),
        };
        ahead
    }
}

/// Schedules the arrival of a unit that was handed to a link: as a pending event, or as successor
/// of the unit ahead. `tail` is the end of the link's chain; the unit must have no successor.
#[inline(always)]
pub(crate) fn travel(
    unit: Unit,
    link: LinkId,
    Transit { to, arrival, .. }: Transit,
    tail: &mut Tail,
    units: &mut Units,
    agenda: &mut Agenda<Event>,
) {
    let now = agenda.now();
    match tail.follow(unit, arrival, now) {
        Some(ahead) => {
            ahead.envelope_mut(units).behind = Behind {
                unit: Some(unit),
                due: arrival,
            };
        }
        None => agenda.push(arrival, Event::arrival(to, link, unit)),
    }
}

/// Handles the arrival of a unit: schedules the arrival of its successor on the link.
#[inline(always)]
pub(crate) fn arrived(
    unit: impl Sendable,
    (link, to): (LinkId, NodeId),
    units: &Units,
    agenda: &mut Agenda<Event>,
) {
    let Behind { unit, due } = unit.envelope(units).behind;
    if let Some(unit) = unit {
        units.prefetch(unit);
        agenda.push(due, Event::arrival(to, link, unit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PacketId;

    #[test]
    fn a_unit_follows_those_that_are_still_on_the_link() {
        let mut tail = Tail::EMPTY;
        let unit = |number| Unit::Packet(PacketId(number));
        let mut follow = |number, arrival, now| tail.follow(unit(number), Time(arrival), Time(now));
        assert_eq!(follow(1, 50, 0), None);
        assert_eq!(follow(2, 60, 10), Some(unit(1)));
        // The second unit arrives at this instant.
        assert_eq!(follow(3, 110, 60), None);
    }
}
