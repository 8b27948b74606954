//! What switches count in every run.

use lightburst_des::Time;

/// Why a unit was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The output was busy and there is no buffer.
    Contention,
    /// The output and all input ports of the buffer were busy.
    NoInputPort,
    /// The buffer had no room.
    BufferFull,
    /// The output queue had no room.
    QueueFull,
    /// The queue of a host's interface had no room.
    AccessBufferFull,
    /// Lost on a link at random.
    Random,
    /// Lost on a link because a script says so.
    Scripted,
}

impl DropReason {
    /// The number of reasons.
    pub const COUNT: usize = 7;

    /// The names, in the order of the variants.
    pub const NAMES: [&'static str; DropReason::COUNT] = [
        "contention",
        "no-input-port",
        "buffer-full",
        "queue-full",
        "access-buffer-full",
        "random",
        "scripted",
    ];
}

/// What a switch counts.
#[derive(Clone, Debug, Default)]
pub struct SwitchCounters {
    /// Units that arrived.
    pub arrived: u64,
    /// Units that were passed on.
    pub forwarded: u64,
    /// Units that went through the shared electronic buffer.
    pub buffered: u64,
    /// Units marked (ECN).
    pub marked: u64,
    /// Units dropped, by [`DropReason`].
    pub dropped: [u64; DropReason::COUNT],
    /// Bytes converted from light to electronics.
    pub oe_bytes: u64,
    /// Bytes converted from electronics to light.
    pub eo_bytes: u64,
    /// Bursts assembled, packets and bytes in them, and the time that the packets
    /// waited for their burst to close, in picoseconds.
    pub bursts: u64,
    /// See `bursts`.
    pub burst_packets: u64,
    /// See `bursts`.
    pub burst_bytes: u64,
    /// See `bursts`.
    pub assembly_wait: u128,
    /// Bytes in the shared buffer; or of all output queues together, with the
    /// maximum that of one queue.
    pub occupancy: Occupancy,
}

/// A level over time: its maximum and its integral.
#[derive(Clone, Debug, Default)]
pub struct Occupancy {
    level: u64,
    maximum: u64,
    since: Time,
    /// Byte-picoseconds.
    integral: u128,
}

impl Occupancy {
    /// The level now.
    #[inline]
    pub fn level(&self) -> u64 {
        self.level
    }

    /// The highest level so far.
    pub fn maximum(&self) -> u64 {
        self.maximum
    }

    /// The integral of the level up to `now`, in byte-picoseconds.
    pub fn integral(&self, now: Time) -> f64 {
        (self.integral + self.elapsed(now)) as f64
    }

    #[inline]
    fn elapsed(&self, now: Time) -> u128 {
        u128::from(self.level) * u128::from(now.since(self.since).0)
    }

    /// `bytes` come in.
    #[inline]
    pub fn add(&mut self, bytes: u32, now: Time) {
        self.integral += self.elapsed(now);
        self.since = now;
        self.level += u64::from(bytes);
        self.maximum = self.maximum.max(self.level);
    }

    /// A backlog of `level` bytes on one output, of which a unit just accepted
    /// adds `area` byte-picoseconds until it has left.
    #[inline]
    pub fn queue(&mut self, level: u64, area: u128) {
        self.maximum = self.maximum.max(level);
        self.integral += area;
    }

    /// `bytes` go out.
    #[inline]
    pub fn remove(&mut self, bytes: u32, now: Time) {
        self.integral += self.elapsed(now);
        self.since = now;
        self.level -= u64::from(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occupancy_is_the_area_under_the_level() {
        let mut occupancy = Occupancy::default();
        occupancy.add(100, Time(10));
        occupancy.add(50, Time(20));
        occupancy.remove(100, Time(40));
        assert_eq!(occupancy.maximum(), 150);
        assert_eq!(occupancy.level(), 50);
        assert_eq!(
            occupancy.integral(Time(50)),
            f64::from(100 * 10 + 150 * 20 + 50 * 10)
        );
    }
}
