//! Transmission on watched links: lossy ones, and those whose units are observed or counted.

use super::Context;
use crate::link::fifo;
use crate::link::loss::Held;
use crate::link::Transit;
use crate::observe::{Passage, Place};
use crate::unit::units::Behind;
use crate::{DropReason, Fabric, LinkId, PortId, Sendable, Unit};
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
        if self.crosses(place.link) {
            return self.cross(unit, place.link, from);
        }
        if self.keep_aside(unit, place.link, from) {
            return from.max(now);
        }
        let start = self.fabric.links.free_at(place.link).max(from);
        let verdict = self.fabric.judge(unit, place.link, (now, start));
        if verdict.mark {
            self.fabric.units.mark(unit);
        }
        if let Some(hold) = verdict.hold.filter(|_| verdict.lost.is_none()) {
            self.fabric.hold(unit, (place, ready), hold);
            return start;
        }
        let begin = match verdict.stall {
            Duration::ZERO => from,
            stall => start + stall,
        };
        let lost = verdict
            .lost
            .or_else(|| self.cut_off(unit, place.link, begin));
        self.transmit(unit, place, (ready, begin), lost);
        if lost.is_none() {
            self.release(unit, place);
        }
        begin.max(start)
    }

    /// Keeps a unit aside, if it would still wait when the routes learn that its link is down.
    /// Returns whether it would.
    fn keep_aside(&mut self, unit: Unit, link: LinkId, from: Time) -> bool {
        let Fabric {
            links,
            units,
            outages,
            ..
        } = &mut *self.fabric;
        let free_at = links.free_at(link);
        let start = free_at.max(from);
        let Some(outages) = outages.as_mut().filter(|it| it.strand(link, start)) else {
            return false;
        };
        let bytes = unit.envelope(units).bytes;
        links.shift(link, start);
        let time = links.transmission_time(link, bytes);
        outages.keep(link, unit, (bytes, time), free_at);
        links.transmit(link, bytes, from);
        true
    }

    /// Returns why a link loses a unit whose transmission begins at `begin`, or when the link is
    /// free, because it is down before the unit has arrived; `None` if it is not.
    fn cut_off(&mut self, unit: Unit, link: LinkId, begin: Time) -> Option<&'static DropReason> {
        self.fabric.outages.as_ref()?;
        let Fabric { links, units, .. } = &*self.fabric;
        let start = links.free_at(link).max(begin);
        let bytes = u64::from(unit.envelope(units).bytes);
        let end = start + links.transmission_time_at(link, bytes, start) + links.delay(link);
        self.fabric.cut_off(link, start, end)
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
        let start = fabric.links.free_at(link).max(begin);
        fabric.links.shift(link, start);
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
