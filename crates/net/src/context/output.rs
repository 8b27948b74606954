//! Explicit output queues of a switch.

use super::Context;
use crate::link::queue::{Chain, Waiting};
use crate::{PortId, Reading, Unit};
use lightburst_des::{Duration, Time};

impl Context<'_> {
    /// Returns the units in the queue of a port.
    #[inline]
    pub fn waiting(&self, port: PortId) -> Waiting {
        self.fabric.waiting(self.link(port))
    }

    /// Returns whether the link of a port is free now, and no unit waits in its queue. At the end of a
    /// transmission the link is free before the next unit leaves the queue.
    #[inline]
    pub fn is_idle(&self, port: PortId) -> bool {
        self.is_free(port) && self.waiting(port).units == 0 && !self.is_pausing(port)
    }

    /// Returns the bytes that a port and its queue have not sent yet, rounded up: the same number as
    /// [`Context::backlog`] of a port to which the waiting units were handed.
    #[inline]
    pub fn queued(&self, port: PortId) -> u64 {
        let link = self.link(port);
        if self.fabric.links.varies(link) {
            return self.backlog(port) + self.waiting(port).bytes;
        }
        match self.queued_time(port, self.now()) {
            Duration::ZERO => 0,
            time => self.rate(port).bytes_in(time).0,
        }
    }

    /// Returns the transmission time, after `at`, of all units that a port and its queue hold now.
    #[inline]
    pub fn queued_time(&self, port: PortId, at: Time) -> Duration {
        let link = self.link(port);
        let rest = self.fabric.links.to_transmit(link, at);
        let Waiting { bytes, time, .. } = self.fabric.waiting(link);
        let time = match self.fabric.links.varies(link) {
            false => time,
            true => {
                let links = &self.fabric.links;
                u128::from(links.transmission_time_at(link, bytes, at).0)
            }
        };
        let time = u128::from(rest.0) + time;
        Duration(u64::try_from(time).unwrap_or(u64::MAX))
    }

    /// Returns the transmission time of a unit that waits for a port. 0 if the rate of the link
    /// changes: then the sum of the times follows from that of the bytes.
    #[inline]
    fn queue_time(&self, port: PortId, bytes: u32) -> Duration {
        match self.fabric.links.varies(self.link(port)) {
            false => self.transmission_time(port, bytes),
            true => Duration::ZERO,
        }
    }

    /// Appends a unit to a chain of a port's queue.
    #[inline]
    pub fn queue(&mut self, port: PortId, chain: &mut Chain, unit: Unit) {
        let bytes = self.envelope(unit).bytes;
        let time = self.queue_time(port, bytes);
        let (link, now) = (self.link(port), self.now());
        let fabric = &mut *self.fabric;
        fabric.waiting[link.index()].add(bytes, time);
        chain.push(unit, now, &mut fabric.units);
    }

    /// Takes the first unit out of a chain of a port's queue; also returns the time since which it
    /// has waited.
    #[inline]
    pub fn unqueue(&mut self, port: PortId, chain: &mut Chain) -> Option<(Unit, Time)> {
        let (unit, since) = chain.pop(&self.fabric.units)?;
        let bytes = self.envelope(unit).bytes;
        let time = self.queue_time(port, bytes);
        let link = self.link(port);
        self.fabric.waiting[link.index()].remove(bytes, time);
        Some((unit, since))
    }

    /// Takes the last unit out of a chain of a port's queue.
    pub fn unqueue_last(&mut self, port: PortId, chain: &mut Chain) -> Option<Unit> {
        let last = chain.last()?;
        chain.take(&mut self.fabric.units, |unit, _| unit == last);
        let bytes = self.envelope(last).bytes;
        let time = self.queue_time(port, bytes);
        let link = self.link(port);
        self.fabric.waiting[link.index()].remove(bytes, time);
        Some(last)
    }

    /// Returns the time since which the first unit of a chain has waited.
    pub fn since(&self, chain: &Chain) -> Option<Time> {
        let first = chain.first()?;
        Some(self.envelope(first).behind.due)
    }

    /// Appends a unit to a chain that belongs to no port.
    #[inline]
    pub fn chain(&mut self, chain: &mut Chain, unit: Unit) {
        let now = self.now();
        chain.push(unit, now, &mut self.fabric.units);
    }

    /// Takes the first unit out of a chain that belongs to no port; also returns the time since which
    /// it has waited.
    #[inline]
    pub fn unchain(&mut self, chain: &mut Chain) -> Option<(Unit, Time)> {
        chain.pop(&self.fabric.units)
    }

    /// Hands a unit to a port whose link is free, after a wait in its queue from `since` on.
    #[inline]
    pub fn send_queued(&mut self, port: PortId, unit: Unit, since: Time) {
        let (link, now) = (self.link(port), self.now());
        if self.fabric.telemetry.is_some() {
            self.read_output(port, unit);
        }
        if self.fabric.links.is_watched(link) {
            self.send_watched(port, unit, (since, now));
            return;
        }
        self.send(port, unit, now);
    }

    /// Adds a reading of a port to the telemetry of a packet that leaves its queue.
    #[cold]
    fn read_output(&mut self, port: PortId, unit: Unit) {
        let Unit::Packet(packet) = unit else {
            unreachable!("only packets are among switches with telemetry");
        };
        let (link, at) = (self.link(port), self.now());
        let output = Reading {
            link,
            at,
            queue: self.waiting(port).bytes,
            sent: 0,
            rate: self.fabric.links.rate_at(link, at),
        };
        let bytes = self.envelope(unit).bytes;
        if let Some(telemetry) = &mut self.fabric.telemetry {
            telemetry.pass(packet, bytes, &output);
        }
    }
}
