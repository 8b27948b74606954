//! Transmission on watched links: lossy ones, and those whose units are observed or counted.

use super::Context;
use crate::link::fifo::{self, Behind};
use crate::link::loss::Held;
use crate::link::Transit;
use crate::observe::{Passage, Place};
use crate::{DropReason, Fabric, PortId, Sendable, Unit};
use lightburst_des::{Duration, Time};

impl Context<'_> {
    /// Hands a unit to a watched port, as [`Context::send`], after a wait in its queue from `ready`
    /// on, if there was one; its link may lose, mark or hold the unit, or stall.
    #[inline(never)]
    pub(super) fn send_watched(
        &mut self,
        port: PortId,
        unit: Unit,
        (ready, from): (Time, Time),
    ) -> Time {
        let (place, now) = (self.place(port), self.agenda.now());
        let verdict = self.fabric.judge(unit, place.link, now);
        if verdict.mark {
            self.fabric.units.mark(unit);
        }
        let start = self.fabric.links.free_at(place.link).max(from);
        if let Some(hold) = verdict.hold.filter(|_| verdict.lost.is_none()) {
            self.fabric.hold(unit, (place, ready), hold);
            return start;
        }
        let begin = match verdict.stall {
            Duration::ZERO => from,
            stall => start + stall,
        };
        self.transmit(unit, place, (ready, begin), verdict.lost);
        if verdict.lost.is_none() {
            self.release(unit, place);
        }
        begin.max(start)
    }

    /// Transmits a unit on a watched link at `begin` or later. The node has permitted the
    /// transmission from `ready` on.
    fn transmit(
        &mut self,
        unit: Unit,
        place: Place,
        (ready, begin): (Time, Time),
        lost: Option<&'static DropReason>,
    ) {
        let (link, now) = (place.link, self.agenda.now());
        let fabric = &mut *self.fabric;
        fabric.links.postpone(link, begin, now);
        let envelope = unit.envelope_mut(&mut fabric.units);
        envelope.behind = Behind::NOTHING;
        let bytes = envelope.bytes;
        let (transit, _) = fabric.links.transmit(link, bytes, begin);
        let passage = Passage {
            place,
            now,
            ready,
            channel: 0,
            start: transit.start,
            end: transit.start + fabric.links.transmission_time(link, bytes),
            arrival: transit.arrival,
        };
        self.travel_watched(unit, transit, passage, lost);
    }

    /// Transmits the held units that follow a unit on its link, and those that follow these.
    fn release(&mut self, unit: Unit, place: Place) {
        let mut released = self.fabric.released_by(unit, place.link);
        let mut next = 0;
        while let Some(&Held { unit, ready, .. }) = released.get(next) {
            // The wait for later units is none for the link.
            let ready = ready.max(self.now());
            self.transmit(unit, place, (ready, ready), None);
            released.extend(self.fabric.released_by(unit, place.link));
            next += 1;
        }
    }

    /// Completes the hand-over of a unit to a watched link, which drops it for the reason `lost`.
    pub(super) fn travel_watched(
        &mut self,
        unit: Unit,
        transit: Transit,
        passage: Passage,
        lost: Option<&'static DropReason>,
    ) {
        let link = passage.place.link;
        self.fabric.watch(unit, passage, lost);
        if lost.is_none() {
            let Fabric { links, units, .. } = &mut *self.fabric;
            let tail = links.tail_mut(link);
            fifo::travel(unit, link, transit, tail, units, self.agenda);
        }
    }
}
