//! What nodes count, always. Each kind of node names its counts and its reasons for losses itself.

use lightburst_des::Time;

/// Why a unit was dropped; told by what drops it.
#[derive(Debug, PartialEq, Eq)]
pub struct DropReason {
    /// The name.
    pub name: &'static str,
    /// Whether the link that it wanted was in use: then a trace says by what.
    pub busy: bool,
}

/// What a kind of switch counts: a field for each count, and its name.
pub trait Counters: Default {
    /// The counts up to `end`.
    fn counted(&self, end: Time) -> Counted;
}

/// Counts with their names, which are those of columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    /// How many, how much: whole numbers.
    pub counts: Vec<(&'static str, u64)>,
    /// Sums that may be beyond 64 bits.
    pub sums: Vec<(&'static str, u128)>,
    /// Units that were dropped, by reason.
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

    /// Adds the units that were dropped for a reason.
    pub fn dropped(mut self, reason: &'static DropReason, units: u64) -> Counted {
        self.drops.push((reason, units));
        self
    }

    /// Adds what a part of the node counts.
    pub fn and(mut self, part: Counted) -> Counted {
        self.counts.extend(part.counts);
        self.sums.extend(part.sums);
        self.drops.extend(part.drops);
        self
    }
}

/// The name of the highest level: the one count that is no sum.
pub const PEAK: &str = "buffer_max_bytes";

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

    /// The highest level is from now on that of what comes.
    pub fn begin_window(&mut self) {
        self.maximum = self.level;
    }

    /// What a buffer counts of its level; `ahead` byte-picoseconds are of the time behind `end`.
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
        let area = 100 * 10 + 150 * 20 + 50 * 10;
        let counted = |occupancy: &Occupancy| {
            let counted = occupancy.counted(Time(50), 0);
            (counted.counts[0].1, counted.sums[0].1)
        };
        assert_eq!(counted(&occupancy), (150, area));
        // A window begins with what is there.
        occupancy.begin_window();
        occupancy.add(30, Time(50));
        assert_eq!(counted(&occupancy), (80, area));
    }
}
