//! Updates of a controller at regular times. They cost no event: those up to an arrival or a departure
//! are made up for then, because the delay at each time between two of these is known afterwards.

use lightburst_des::{Duration, Time};

/// Times of the updates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Updates {
    interval: Duration,
    /// Time of the next update, a multiple of the interval.
    next: Time,
}

impl Updates {
    /// Creates the times of a run, of which the first is one interval after its begin.
    pub fn new(interval: Duration) -> Updates {
        Updates {
            interval,
            next: Time::ZERO + interval,
        }
    }

    /// Returns whether an update is due.
    #[inline(always)]
    pub fn are_due(&self, now: Time) -> bool {
        self.next <= now
    }

    /// Makes up for the updates up to `now`. `delay_at` returns the delay of the queue at a time,
    /// `update` returns whether anything changed.
    pub fn make_up(
        &mut self,
        now: Time,
        delay_at: impl Fn(Time) -> Duration,
        mut update: impl FnMut(Duration) -> bool,
    ) {
        while self.next <= now {
            let delay = delay_at(self.next);
            let has_changed = update(delay);
            self.next = self.next + self.interval;
            if delay == Duration::ZERO && !has_changed && self.next <= now {
                // Updates of an empty queue that change nothing change nothing later either.
                let missed = now.since(self.next).0 / self.interval.0 + 1;
                self.next = self.next + Duration(missed * self.interval.0);
            }
        }
    }
}

/// Returns `to - from` in seconds.
pub(crate) fn seconds(to: Duration, from: Duration) -> f64 {
    (to.0 as f64 - from.0 as f64) / 1e12
}
