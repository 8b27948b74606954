//! Simulated time in whole picoseconds: exact sums, one order on every machine. Sums end at
//! [`Time::NEVER`], which no run comes to; they never wrap.

use std::ops::{Add, AddAssign, Mul, Sub};

/// No time that is given is longer, in picoseconds: the sum of four of them is on the clock.
pub const LONGEST_PS: u64 = 4_000_000_000_000_000_000;

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

    /// The nearest whole number of picoseconds, a half rounded up, as `f64::round` has it
    /// (a call into the mathematics library on most processors); at most `u64::MAX`.
    #[inline]
    pub fn nearest(picoseconds: f64) -> Duration {
        let whole = picoseconds as u64;
        Duration(whole.saturating_add(u64::from(picoseconds - whole as f64 >= 0.5)))
    }
}

/// The sum, up to the end of the clock. A branch that is never taken costs less than a
/// saturating addition.
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
    // Hidden from the compiler, which would otherwise make an addition without a branch of it.
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
