//! Values that change at known times.

use lightburst_des::Time;

/// A value that changes at known times, in order of time; it has its first value from 0 on.
#[derive(Clone, Debug)]
pub(super) struct Steps<T>(Vec<(Time, T)>);

impl<T: Copy> Steps<T> {
    pub fn new(first: T, later: impl Iterator<Item = (Time, T)>) -> Steps<T> {
        Steps([(Time::ZERO, first)].into_iter().chain(later).collect())
    }

    /// Returns the value at a time, the instant of a change included.
    pub fn at(&self, time: Time) -> T {
        self.0[self.0.partition_point(|(from, _)| *from <= time) - 1].1
    }

    /// Iterates over all values.
    pub fn values(&self) -> impl Iterator<Item = T> + '_ {
        self.0.iter().map(|&(_, value)| value)
    }
}
