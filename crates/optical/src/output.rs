//! View of an output for its queue, and the counters of all queues of a switch.

use crate::queue::{dropped, QUEUE_FULL};
use lightburst_des::{Duration, Time};
use lightburst_net::{
    Chain, Context, Counted, Counters, DropReason, Ecn, FlowId, PortId, Rate, Unit, Waiting, PEAK,
};

/// Counters of the queues of a switch.
#[derive(Debug, Default)]
pub struct QueueCounters {
    /// Units that waited.
    buffered: u64,
    /// Units marked (ECN).
    marked: u64,
    /// Packets that lost their payload.
    trimmed: u64,
    /// Headers of such packets that were returned to their senders.
    returned: u64,
    /// Number of drops, by reason.
    drops: Vec<(&'static DropReason, u64)>,
    /// Bytes in all queues together.
    level: u64,
    since: Time,
    /// Integral of the level in byte-picoseconds up to `since`.
    integral: u128,
    /// Largest backlog of a single output that a unit found, with that unit.
    peak: u64,
}

impl QueueCounters {
    fn elapsed(&self, now: Time) -> u128 {
        u128::from(self.level) * u128::from(now.since(self.since).0)
    }

    #[inline]
    fn settle(&mut self, now: Time) {
        self.integral += self.elapsed(now);
        self.since = now;
    }

    #[cold]
    fn drop(&mut self, reason: &'static DropReason) {
        match self.drops.iter_mut().find(|(of, _)| *of == reason) {
            Some((_, number)) => *number += 1,
            None => self.drops.push((reason, 1)),
        }
    }

    /// Returns the bytes in all queues together.
    pub(crate) fn level(&self) -> u64 {
        self.level
    }

    /// Returns the number of drops for a reason.
    pub(crate) fn dropped_for(&self, reason: &'static DropReason) -> u64 {
        let mut drops = self.drops.iter();
        drops.find(|(of, _)| *of == reason).map_or(0, |(_, n)| *n)
    }

    /// Starts a measurement window.
    pub fn begin_window(&mut self) {
        self.peak = 0;
    }
}

impl Counters for QueueCounters {
    fn counted(&self, end: Time) -> Counted {
        let number = |reason| self.dropped_for(reason);
        Counted::default()
            .count("buffered", self.buffered)
            .count("marked", self.marked)
            .count("trimmed", self.trimmed)
            .count("returned", self.returned)
            .dropped(QUEUE_FULL, number(QUEUE_FULL))
            .and(dropped(number))
            .count(PEAK, self.peak)
            .sum("buffer_byte_ps", self.integral + self.elapsed(end))
    }
}

/// An output, as its queue sees it.
pub struct Output<'a, 'c> {
    /// Port of the output.
    pub port: PortId,
    /// Largest backlog in bytes.
    pub limit: u64,
    /// Bytes that are free in the buffer of all outputs.
    pub room: u64,
    /// Whether an arriving unit leaves at once; `None` if that follows from the state of the output.
    pub is_idle: Option<bool>,
    /// Header that found no room and now belongs to the output towards its sender.
    pub(crate) returned: Option<Unit>,
    pub(crate) ctx: &'a mut Context<'c>,
    pub(crate) counters: &'a mut QueueCounters,
}

impl<'a, 'c> Output<'a, 'c> {
    #[inline(always)]
    pub(crate) fn new(
        port: PortId,
        limit: u64,
        ctx: &'a mut Context<'c>,
        counters: &'a mut QueueCounters,
    ) -> Output<'a, 'c> {
        Output {
            port,
            limit,
            room: u64::MAX,
            is_idle: None,
            returned: None,
            ctx,
            counters,
        }
    }
}

impl Output<'_, '_> {
    /// Returns the present time.
    #[inline]
    pub fn now(&self) -> Time {
        self.ctx.now()
    }

    /// Returns the rate of the link.
    #[inline]
    pub fn rate(&self) -> Rate {
        self.ctx.rate(self.port)
    }

    /// Returns the size of a unit in bytes.
    #[inline]
    pub fn bytes(&self, unit: Unit) -> u32 {
        self.ctx.envelope(unit).bytes
    }

    /// Returns the flow of a packet, or a hash of the ingress and the egress of a burst.
    #[inline]
    pub fn flow(&self, unit: Unit) -> u32 {
        self.ctx.envelope(unit).flow.0
    }

    /// Returns the units that wait.
    #[inline]
    pub fn waiting(&self) -> Waiting {
        self.ctx.waiting(self.port)
    }

    /// Returns the bytes that wait, and those that the link has not sent yet.
    #[inline]
    pub fn backlog(&self) -> u64 {
        self.ctx.queued(self.port)
    }

    /// Returns the time that the link will need, from `at` on, for all that it has not sent then. `at`
    /// is now, or since the last unit was queued or taken out.
    pub fn delay_at(&self, at: Time) -> Duration {
        self.ctx.queued_time(self.port, at)
    }

    /// Returns the flow of a packet, or of the first packet of a burst.
    #[inline]
    pub fn flow_of_first(&self, unit: Unit) -> FlowId {
        match unit {
            Unit::Burst(burst) => self.ctx.first_of(burst).envelope.flow,
            _ => self.ctx.envelope(unit).flow,
        }
    }

    /// Returns whether a unit fits behind `backlog` bytes.
    #[inline]
    pub fn fits(&self, unit: Unit, backlog: u64) -> bool {
        let bytes = u64::from(self.bytes(unit));
        backlog + bytes <= self.limit && bytes <= self.room
    }

    /// Returns whether a unit does not fit behind all that the output has not sent yet.
    #[inline]
    pub fn lacks_room(&self, unit: Unit) -> bool {
        !self.fits(unit, self.backlog())
    }

    /// Returns whether a unit fits behind `backlog` bytes; drops it otherwise.
    #[inline]
    pub fn admit(&mut self, unit: Unit, backlog: u64) -> bool {
        let fits = self.fits(unit, backlog);
        if !fits {
            self.drop(unit, QUEUE_FULL);
        }
        fits
    }

    /// Appends a unit to a chain of the queue, behind `backlog` bytes.
    #[inline]
    pub fn push(&mut self, chain: &mut Chain, unit: Unit, backlog: u64) {
        if !self.is_idle.unwrap_or_else(|| self.ctx.is_idle(self.port)) {
            self.counters.buffered += 1;
            let bytes = u64::from(self.bytes(unit));
            self.counters.peak = self.counters.peak.max(backlog + bytes);
        }
        self.push_again(chain, unit);
    }

    /// Appends a unit that waited to another chain of the queue.
    #[inline]
    pub fn push_again(&mut self, chain: &mut Chain, unit: Unit) {
        self.counters.settle(self.ctx.now());
        self.counters.level += u64::from(self.bytes(unit));
        self.ctx.queue(self.port, chain, unit);
    }

    /// Takes the first unit out of a chain of the queue; also returns the time since which it has
    /// waited.
    #[inline]
    pub fn pop(&mut self, chain: &mut Chain) -> Option<(Unit, Time)> {
        let (unit, since) = self.ctx.unqueue(self.port, chain)?;
        self.counters.settle(self.ctx.now());
        self.counters.level -= u64::from(self.bytes(unit));
        Some((unit, since))
    }

    /// Takes the last unit out of a chain of the queue.
    pub fn pop_last(&mut self, chain: &mut Chain) -> Option<Unit> {
        let unit = self.ctx.unqueue_last(self.port, chain)?;
        self.counters.settle(self.ctx.now());
        self.counters.level -= u64::from(self.bytes(unit));
        Some(unit)
    }

    /// Returns whether a unit is a packet without data.
    #[inline]
    pub fn is_control(&self, unit: Unit) -> bool {
        matches!(unit, Unit::Packet(packet) if self.ctx.packet(packet).header.payload == 0)
    }

    /// Returns whether the payload of a unit may be cut off.
    #[inline]
    pub fn is_trimmable(&self, unit: Unit) -> bool {
        self.ctx.envelope(unit).treatment.is_trimmable()
    }

    /// Cuts the payload off a packet that is in no chain; at most `bytes` of it remain.
    pub fn trim(&mut self, unit: Unit, bytes: u32) {
        if let Unit::Packet(packet) = unit {
            self.ctx.trim(packet, self.port, bytes);
        }
        self.counters.trimmed += 1;
    }

    /// Returns a header that is in no chain to the sender of its packet, if it is one of a trimmed packet
    /// and has not returned before; drops any other unit. At most one header returns in an event.
    #[cold]
    pub fn return_to_sender(&mut self, unit: Unit) {
        match unit {
            Unit::Packet(packet) if self.ctx.envelope(unit).treatment.is_trimmed() => {
                self.ctx.return_to_sender(packet, self.port);
                self.counters.returned += 1;
                self.returned = Some(unit);
            }
            _ => self.drop(unit, QUEUE_FULL),
        }
    }

    /// Returns whether links of the network are paused.
    #[inline]
    pub fn has_pauses(&self) -> bool {
        self.ctx.has_pauses()
    }

    /// Returns whether units of a class may be sent: it does not pause.
    #[inline]
    pub fn is_open(&self, class: usize) -> bool {
        !self.ctx.has_pauses() || !self.ctx.is_paused(self.port, class as u16)
    }

    /// Takes all units out of a chain of the queue.
    pub fn pop_all(&mut self, chain: &mut Chain) -> Vec<Unit> {
        std::iter::from_fn(|| self.pop(chain).map(|(unit, _)| unit)).collect()
    }

    /// Drops a unit that is in no chain.
    pub fn drop(&mut self, unit: Unit, reason: &'static DropReason) {
        if self.ctx.has_pauses() {
            self.ctx.let_go(unit);
        }
        self.refuse(unit, reason);
    }

    /// Drops a unit that was not counted among those that came over its link.
    pub(crate) fn refuse(&mut self, unit: Unit, reason: &'static DropReason) {
        self.counters.drop(reason);
        self.ctx.drop(unit, self.port, reason);
    }

    /// Drops a unit that waited, to make room for another one.
    #[cold]
    pub fn drop_for_room(&mut self, unit: Unit) {
        self.room = self.room.saturating_add(u64::from(self.bytes(unit)));
        self.drop(unit, QUEUE_FULL);
    }

    /// Returns the time at which the link has sent all that was handed to it.
    #[inline]
    pub fn free_at(&self) -> Time {
        self.ctx.free_at(self.port)
    }

    /// Returns how the transport of a packet reacts to marks; a burst is not marked.
    #[inline]
    pub fn ecn(&self, unit: Unit) -> Ecn {
        match unit {
            Unit::Packet(_) => self.ctx.envelope(unit).treatment.ecn(),
            _ => Ecn::NotCapable,
        }
    }

    /// Returns the time since which the first unit of a chain has waited.
    pub fn since(&self, chain: &Chain) -> Option<Time> {
        self.ctx.since(chain)
    }

    /// Returns whether a unit is a packet of a transport capable of ECN.
    #[inline]
    pub fn is_capable(&self, unit: Unit) -> bool {
        self.ecn(unit) != Ecn::NotCapable
    }

    /// Marks a unit if its transport is capable of ECN; returns whether it is.
    pub fn mark_capable(&mut self, unit: Unit) -> bool {
        let is_capable = self.is_capable(unit);
        if is_capable {
            self.mark(unit);
        }
        is_capable
    }

    /// Marks a unit if its transport is capable of ECN. Any other packet and a burst are only counted.
    pub fn mark(&mut self, unit: Unit) {
        if let Unit::Packet(packet) = unit {
            self.ctx.mark_congestion(packet);
        }
        self.counters.marked += 1;
    }
}
