//! Priority flow control at a switch, and at the other ends of its links.

use super::Context;
use crate::link::outages::Outages;
use crate::link::pause::{Lane, Pauses};
use crate::{Event, Fabric, LinkId, Links, PacketId, PortId, TimerId, Unit};
use lightburst_des::Agenda;

impl Context<'_> {
    /// Returns whether a class of a port pauses.
    #[inline]
    pub fn is_paused(&self, port: PortId, class: u16) -> bool {
        let link = self.link(port);
        let pauses = self.fabric.pauses.as_ref();
        pauses.is_some_and(|pauses| pauses.is_paused(Lane { link, class }))
    }

    /// Returns whether any class of a port pauses.
    #[inline(always)]
    pub(crate) fn is_pausing(&self, port: PortId) -> bool {
        match &self.fabric.pauses {
            None => false,
            Some(pauses) => pauses.is_pausing(self.link(port)),
        }
    }

    /// Returns whether all classes of a port pause.
    pub fn are_all_paused(&self, port: PortId) -> bool {
        let link = self.link(port);
        let pauses = self.fabric.pauses.as_ref();
        pauses.is_some_and(|pauses| pauses.are_all_paused(link))
    }

    /// Returns whether links of the network are paused.
    #[inline]
    pub fn has_pauses(&self) -> bool {
        self.fabric.pauses.is_some()
    }

    /// Counts a unit that has just arrived, and that will leave by `port`, among those that came over
    /// its link. Returns whether there is room for it.
    pub fn take_in(&mut self, unit: Unit, port: PortId) -> bool {
        let (input, to) = (self.input, self.link(port));
        let at = Place::of(unit, self);
        let lane = at.lane(input);
        at.pauses.enter(at.packet, lane, to, at.bytes)
    }

    /// Discounts a unit that leaves the switch; if few enough are left, the other end of their link
    /// goes on.
    pub fn let_go(&mut self, unit: Unit) {
        let at = Place::of(unit, self);
        let now = at.agenda.now();
        if let Some(lane) = at.pauses.leave(at.packet, at.class, at.bytes, now) {
            let links = (at.links, at.outages);
            at.pauses.send_frame(lane, false, links, at.agenda);
        }
    }

    /// Notes that a unit of this switch will leave by another port.
    pub fn turn_to(&mut self, unit: Unit, port: PortId) {
        let to = self.link(port);
        let at = Place::of(unit, self);
        at.pauses.turn(at.packet, to);
    }

    /// Lets the other end of the link, over which a unit of a class has just arrived, pause if there
    /// are too many.
    pub fn ask_for_pause(&mut self, class: u16) {
        let lane = Lane {
            link: self.input,
            class,
        };
        let Fabric {
            pauses,
            links,
            outages,
            ..
        } = &mut *self.fabric;
        let pauses = pauses.as_mut().expect("flow control");
        if pauses.must_ask(lane, self.agenda.now()) {
            let links = (links, outages.as_deref());
            pauses.send_frame(lane, true, links, self.agenda);
        }
    }

    /// Returns the class of a unit.
    pub fn pause_class(&mut self, unit: Unit) -> u16 {
        Place::of(unit, self).class
    }

    /// Acts on a pause frame: returns the port and the class, and whether it pauses.
    pub fn take_pause_frame(&mut self, timer_id: TimerId) -> (PortId, u16, bool) {
        let now = self.now();
        let pauses = self.fabric.pauses.as_mut().expect("flow control");
        let lane = pauses.lane(timer_id.subject);
        let paused = timer_id.kind == TimerId::PAUSE;
        pauses.set(lane, paused, now);
        if paused {
            if let Some(time) = pauses.next_break(lane.link, now) {
                let kind = TimerId::RESUME;
                let subject = timer_id.subject;
                self.timer(time, TimerId { kind, subject });
            }
        }
        let port = PortId((lane.link.0 - self.first_link.0) as u16);
        (port, lane.class, paused)
    }
}

/// A packet in a switch with flow control.
struct Place<'p> {
    packet: PacketId,
    class: u16,
    bytes: u32,
    pauses: &'p mut Pauses,
    links: &'p mut Links,
    outages: Option<&'p Outages>,
    agenda: &'p mut Agenda<Event>,
}

impl<'p> Place<'p> {
    fn of(unit: Unit, ctx: &'p mut Context<'_>) -> Place<'p> {
        let Unit::Packet(packet) = unit else {
            unreachable!("only packets are among switches with flow control");
        };
        let Fabric {
            pauses,
            links,
            units,
            outages,
            ..
        } = &mut *ctx.fabric;
        let pauses = pauses.as_deref_mut().expect("flow control");
        let envelope = &units.packets[packet].envelope;
        Place {
            packet,
            class: pauses.classes.of(envelope.flow),
            bytes: envelope.bytes,
            pauses,
            links,
            outages: outages.as_deref(),
            agenda: ctx.agenda,
        }
    }

    fn lane(&self, link: LinkId) -> Lane {
        Lane {
            link,
            class: self.class,
        }
    }
}
