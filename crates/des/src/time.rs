//! Simulated time in whole picoseconds, so that sums are exact and identical on every machine. Sums
//! saturate at [`Time::NEVER`], which no run reaches.

use std::ops::{Add, AddAssign, Mul, Sub};

/// Longest time that a scenario may specify, in picoseconds. The sum of four such times does not
/// overflow.
pub const LONGEST_PS: u64 = 4_000_000_000_000_000_000;

/// An instant, in picoseconds since the start of the simulation (up to 213 days).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A length of time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub u64);

impl Time {
    /// The start of the simulation.
    pub const ZERO: Time = Time(0);
    /// Later than every event; stands for "no time".
    pub const NEVER: Time = Time(u64::MAX);

    /// Returns the time elapsed since `earlier`; panics in debug builds if `earlier` lies ahead.
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
    /// A length of zero.
    pub const ZERO: Duration = Duration(0);

    /// Rounds to the nearest picosecond, halves upwards; saturates at `u64::MAX`. The result equals
    /// that of `f64::round`, which is a call into the mathematics library on most processors.
    #[inline]
    pub fn nearest(picoseconds: f64) -> Duration {
        if picoseconds.abs() < 9e18 {
            // Conversions of signed numbers are one instruction each.
            let whole = (picoseconds as i64).max(0);
            return Duration(whole as u64 + u64::from(picoseconds - whole as f64 >= 0.5));
        }
        let whole = picoseconds as u64;
        Duration(whole.saturating_add(u64::from(picoseconds - whole as f64 >= 0.5)))
    }
}

/// Adds with saturation. A branch that is never taken is cheaper than `saturating_add`.
#[inline(always)]
fn sum(a: u64, b: u64) -> u64 {
    match a.checked_add(b) {
        Some(sum) => sum,
        None => the_end(),
    }
}

#[cold]
#[inline(never)]
fn the_end() -> u64 {
    // `black_box` keeps the compiler from replacing the branch by a saturating addition.
    std::hint::black_box(u64::MAX)
}

impl Add<Duration> for Time {
    type Output = Time;
    #[inline]
    fn add(self, d: Duration) -> Time {
        Time(sum(self.0, d.0))
    }
}

impl Add for Duration {
    type Output = Duration;
    #[inline]
    fn add(self, d: Duration) -> Duration {
        Duration(sum(self.0, d.0))
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, d: Duration) {
        self.0 = sum(self.0, d.0);
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
        Duration(self.0.saturating_mul(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_end_where_no_run_comes_to() {
        let long = Duration(u64::MAX - 1);
        assert_eq!(Time(1) + long, Time::NEVER);
        assert_eq!(Time(2) + long, Time::NEVER);
        assert_eq!(long + long, Duration(u64::MAX));
        assert_eq!(long * 2, Duration(u64::MAX));
        let mut sum = long;
        sum += long;
        assert_eq!(sum, Duration(u64::MAX));
    }

    #[test]
    fn the_nearest_picosecond_is_that_of_round() {
        let halves = (0..=60).map(|k| 2f64.powi(k) + 0.5);
        let next = |x: f64, step: i64| f64::from_bits((x.to_bits() as i64 + step) as u64);
        let near = |x| [next(x, -1), x, next(x, 1), x - 0.5, x + 0.5];
        let near = halves.chain([0.5]).flat_map(near);
        for x in near.chain([0.0, 0.1, 1e30]) {
            assert_eq!(Duration::nearest(x), Duration(x.round() as u64), "{x:e}");
        }
    }
}
