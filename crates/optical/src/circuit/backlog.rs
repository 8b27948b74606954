//! Units that wait at a rack for circuits.

use lightburst_des::Time;
use lightburst_net::{Chain, Context, Unit};

/// Units that wait for one or several circuits, first in, first out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queue {
    chain: Chain,
    /// Bytes of the units.
    pub bytes: u64,
}

/// All queues of a rack.
#[derive(Debug)]
pub struct Backlog {
    queues: Vec<Queue>,
    /// Bytes in all queues together.
    level: u64,
    since: Time,
    /// Integral of the level in byte-picoseconds up to `since`.
    integral: u128,
    /// Largest number of bytes in a queue.
    peak: u64,
}

impl Backlog {
    /// Creates empty queues.
    pub fn new(queues: usize) -> Backlog {
        Backlog {
            queues: vec![Queue::default(); queues],
            level: 0,
            since: Time::ZERO,
            integral: 0,
            peak: 0,
        }
    }

    /// Returns the integral of the bytes in all queues, in byte-picoseconds.
    pub fn integral(&self, end: Time) -> u128 {
        self.integral + u128::from(self.level) * u128::from(end.since(self.since).0)
    }

    fn settle(&mut self, now: Time) {
        self.integral = self.integral(now);
        self.since = now;
    }

    /// Returns the largest number of bytes that waited in one queue.
    pub fn peak(&self) -> u64 {
        self.peak
    }

    /// Starts a measurement window.
    pub fn begin_window(&mut self) {
        self.peak = 0;
    }

    /// Returns the bytes in all queues together.
    pub fn level(&self) -> u64 {
        self.level
    }

    /// Returns the bytes in a queue.
    pub fn bytes(&self, queue: usize) -> u64 {
        self.queues[queue].bytes
    }

    /// Returns the first unit of a queue.
    #[inline]
    pub fn first(&self, queue: usize) -> Option<Unit> {
        self.queues[queue].chain.first()
    }

    /// Appends a unit to a queue.
    pub fn push(&mut self, queue: usize, unit: Unit, ctx: &mut Context<'_>) {
        let bytes = u64::from(ctx.envelope(unit).bytes);
        self.settle(ctx.now());
        self.level += bytes;
        let queue = &mut self.queues[queue];
        queue.bytes += bytes;
        ctx.chain(&mut queue.chain, unit);
    }

    /// Counts that the last unit of a queue waits.
    pub fn waits(&mut self, queue: usize) {
        self.peak = self.peak.max(self.queues[queue].bytes);
    }

    /// Takes the first unit out of a queue, with the time since which it has waited.
    pub fn pop(&mut self, queue: usize, ctx: &mut Context<'_>) -> Option<(Unit, Time)> {
        let of = &mut self.queues[queue];
        let (unit, since) = ctx.unchain(&mut of.chain)?;
        let bytes = u64::from(ctx.envelope(unit).bytes);
        of.bytes -= bytes;
        self.settle(ctx.now());
        self.level -= bytes;
        Some((unit, since))
    }
}
