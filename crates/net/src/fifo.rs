//! A link delivers in order, so only the first unit on it is a pending event. The ones behind it
//! form a chain: each knows the next one and when that arrives. What is pending grows with the
//! links in use, and not with the units in flight.

use crate::link::Transit;
use crate::units::{Sendable, Units};
use crate::{Event, LinkId, NodeId, Unit};
use lightburst_des::{Scheduler, Time};

/// What is behind a unit: on a link, or for a packet in a burst, the packet after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Behind {
    pub unit: Option<Unit>,
    /// When that one arrives, on a link.
    pub due: Time,
}

impl Behind {
    pub const NOTHING: Behind = Behind {
        unit: None,
        due: Time::ZERO,
    };
}

/// The end of the chain of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    /// Arrival of the last unit that was given to the link.
    arrival: Time,
    /// That unit.
    unit: Option<Unit>,
}

impl Tail {
    pub const EMPTY: Tail = Tail {
        arrival: Time::ZERO,
        unit: None,
    };

    /// A unit will be the last to arrive; returns the one that is still on the link before it.
    #[inline(always)]
    fn follow(&mut self, unit: Unit, arrival: Time, now: Time) -> Option<Unit> {
        let ahead = self.unit.filter(|_| self.arrival > now);
        *self = Tail {
            arrival,
            unit: Some(unit),
        };
        ahead
    }
}

/// A unit that was handed to a link, and has nothing behind it, will arrive at its end; `tail` is
/// that of the link.
#[inline(always)]
pub(crate) fn travel(
    unit: Unit,
    link: LinkId,
    Transit { to, arrival, .. }: Transit,
    tail: &mut Tail,
    units: &mut Units,
    scheduler: &mut Scheduler<Event>,
) {
    let now = scheduler.now();
    match tail.follow(unit, arrival, now) {
        Some(ahead) => {
            ahead.envelope_mut(units).behind = Behind {
                unit: Some(unit),
                due: arrival,
            };
        }
        None => scheduler.push(arrival, Event::arrival(to, link, unit)),
    }
}

/// A unit arrives: the one behind it is the first on the link.
#[inline(always)]
pub(crate) fn arrived(
    unit: impl Sendable,
    (link, to): (LinkId, NodeId),
    units: &Units,
    scheduler: &mut Scheduler<Event>,
) {
    let Behind { unit, due } = unit.envelope(units).behind;
    if let Some(unit) = unit {
        units.prefetch(unit);
        scheduler.push(due, Event::arrival(to, link, unit));
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
        // the second arrives at this instant
        assert_eq!(follow(3, 110, 60), None);
    }
}
