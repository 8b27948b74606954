//! Simulated time in whole picoseconds: exact sums, one order on every machine.

use std::ops::{Add, AddAssign, Mul, Sub};

/// An instant, in picoseconds from the start of the simulation (up to 213 days).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A length of time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub u64);

impl Time {
    /// The start of the simulation.
    pub const ZERO: Time = Time(0);
    /// Later than every event: "no time at all".
    pub const NEVER: Time = Time(u64::MAX);

    /// The time elapsed since `earlier`; panics in debug builds if that lies ahead.
    #[inline]
    pub fn since(self, earlier: Time) -> Duration {
        debug_assert!(
            earlier <= self,
            "time went back: {earlier:?} after {self:?}"
        );
        Duration(self.0 - earlier.0)
    }
}

impl Duration {
    /// No time.
    pub const ZERO: Duration = Duration(0);
}

impl Add<Duration> for Time {
    type Output = Time;
    #[inline]
    fn add(self, d: Duration) -> Time {
        Time(self.0 + d.0)
    }
}

impl Add for Duration {
    type Output = Duration;
    #[inline]
    fn add(self, d: Duration) -> Duration {
        Duration(self.0 + d.0)
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, d: Duration) {
        self.0 += d.0;
    }
}

impl Sub for Duration {
    type Output = Duration;
    #[inline]
    fn sub(self, d: Duration) -> Duration {
        Duration(self.0 - d.0)
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    #[inline]
    fn mul(self, n: u64) -> Duration {
        Duration(self.0 * n)
    }
}
