//! Counters of nodes. They are always on; every kind of node names its own counters and drop
//! reasons.

use lightburst_des::Time;

/// Reason of a drop, defined by the component that drops units.
#[derive(Debug, PartialEq, Eq)]
pub struct DropReason {
    /// Name of the reason.
    pub name: &'static str,
    /// Whether the requested link was busy. The trace then names the unit that occupied it.
    pub busy: bool,
}

/// Counters of a kind of node.
pub trait Counters: Default {
    /// Returns the counters up to `end`.
    fn counted(&self, end: Time) -> Counted;
}

/// Counters of a node with their column names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    /// Counts and amounts.
    pub counts: Vec<(&'static str, u64)>,
    /// Sums that may exceed 64 bits.
    pub sums: Vec<(&'static str, u128)>,
    /// Number of dropped units, by reason.
    pub drops: Vec<(&'static DropReason, u64)>,
}

impl Counted {
    /// Adds a count.
    pub fn count(mut self, name: &'static str, value: u64) -> Counted {
        self.counts.push((name, value));
        self
    }

    /// Adds a sum.
    pub fn sum(mut self, name: &'static str, value: u128) -> Counted {
        self.sums.push((name, value));
        self
    }

    /// Adds the number of units dropped for a reason.
    pub fn dropped(mut self, reason: &'static DropReason, units: u64) -> Counted {
        self.drops.push((reason, units));
        self
    }

    /// Adds the counters of a part of the node.
    pub fn and(mut self, part: Counted) -> Counted {
        self.counts.extend(part.counts);
        self.sums.extend(part.sums);
        self.drops.extend(part.drops);
        self
    }
}

/// Name of the maximum buffer occupancy, the only count that is a maximum and not a sum.
pub const PEAK: &str = "buffer_max_bytes";

/// Buffer occupancy over time: its maximum and its integral.
#[derive(Clone, Debug, Default)]
pub struct Occupancy {
    level: u64,
    maximum: u64,
    since: Time,
    /// Integral in byte-picoseconds up to `since`.
    integral: u128,
}

impl Occupancy {
    /// Returns the present level in bytes.
    #[inline]
    pub fn level(&self) -> u64 {
        self.level
    }

    /// Returns the maximum in the present window.
    pub fn maximum(&self) -> u64 {
        self.maximum
    }

    /// Starts a window: the maximum counts from the present level.
    pub fn begin_window(&mut self) {
        self.maximum = self.level;
    }

    /// Returns the counters of the buffer at `end`. `ahead` is the part of the integral, in
    /// byte-picoseconds, that was added in advance for the time after `end`.
    pub fn counted(&self, end: Time, ahead: u128) -> Counted {
        let area = self.integral + self.elapsed(end) - ahead;
        Counted::default()
            .count(PEAK, self.maximum)
            .sum("buffer_byte_ps", area)
    }

    #[inline]
    fn elapsed(&self, now: Time) -> u128 {
        u128::from(self.level) * u128::from(now.since(self.since).0)
    }

    /// Adds `bytes` to the level.
    #[inline]
    pub fn add(&mut self, bytes: u32, now: Time) {
        self.integral += self.elapsed(now);
        self.since = now;
        self.level += u64::from(bytes);
        self.maximum = self.maximum.max(self.level);
    }

    /// Counts a unit accepted by an output queue: `level` is the backlog of the output in bytes,
    /// and `area` the integral of the unit, in byte-picoseconds, until it has left.
    #[inline]
    pub fn queue(&mut self, level: u64, area: u128) {
        self.maximum = self.maximum.max(level);
        self.integral += area;
    }

    /// Removes `bytes` from the level.
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
        let area = 100 * 10 + 150 * 20 + 50 * 10;
        let counted = |occupancy: &Occupancy| {
            let counted = occupancy.counted(Time(50), 0);
            (counted.counts[0].1, counted.sums[0].1)
        };
        assert_eq!(counted(&occupancy), (150, area));
        // A window starts with the present level.
        occupancy.begin_window();
        occupancy.add(30, Time(50));
        assert_eq!(counted(&occupancy), (80, area));
    }
}
