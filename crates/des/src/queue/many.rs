//! Change of a wheel to a ladder, and back: when the pending events are many, and as long as the
//! ladder knows most of them in advance.

use super::ladder::Density;
use super::wheel::TUNING_INTERVAL;
use super::{Entry, Event, EventQueue, Ladder, Wheel};
use crate::Time;

/// Position of the cursor while the events are in the ladder: every slot lies before it, so that an
/// insertion finds out without a test of its own.
pub const ABOVE: u64 = u64::MAX;
/// Number of pending events from which on the ladder is tried. Each stands for an active link or an
/// open flow, so that many touch more memory than a cache holds; and the wheel is faster for a state
/// that a cache does hold. `docs/performance.md` has the measurements.
const MANY: usize = 1 << 18;
/// Mean time in picoseconds between two events up to which an eighth of that is enough: so close
/// together are only events of networks with tens of thousands of busy hosts.
const DENSE: u64 = 4;
/// Largest share of events that may come into the bucket that is being handled. They are not made
/// ready, so the ladder has no gain where they are frequent.
const MOST_LATE: f64 = 0.25;
/// Looks at the density between a try that failed and the next one, at first; then twice as many
/// after each.
const PAUSE: u32 = 16;

/// Queue that a run uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// The wheel, or the ladder while that is faster.
    #[default]
    Measured,
    /// Always the wheel.
    Wheel,
    /// Always the ladder.
    Ladder,
}

/// When the ladder is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    layout: Layout,
    /// Number of pending events from which on the ladder is tried.
    pub many: usize,
    /// Number of looks at the density until the next try.
    wait: u32,
    /// Number of looks after the next try that fails.
    pause: u32,
}

impl Default for Rule {
    fn default() -> Rule {
        Rule {
            layout: Layout::Measured,
            many: MANY,
            wait: 0,
            pause: PAUSE,
        }
    }
}

impl Rule {
    /// Returns whether the ladder is to be tried with this number of pending events, which follow
    /// each other after `gap` picoseconds.
    pub fn is_for_ladder(&mut self, pending: usize, gap: u64) -> bool {
        if self.layout == Layout::Wheel || !self.are_many(pending, gap) {
            return false;
        }
        self.wait = self.wait.saturating_sub(1);
        self.wait == 0
    }

    fn are_many(&self, pending: usize, gap: u64) -> bool {
        pending >= self.many || gap <= DENSE && pending >= self.many / 8
    }

    /// Returns whether the ladder is to be left, which has this number of pending events.
    fn is_for_wheel(&mut self, pending: usize, Density { gap, late }: Density) -> bool {
        if self.layout == Layout::Ladder {
            return false;
        }
        if late > MOST_LATE {
            self.wait = self.pause;
            self.pause = self.pause.saturating_mul(2);
            return true;
        }
        // Half as many as for a change to the ladder, and twice as far apart.
        !self.are_many(2 * pending, gap / 2)
    }
}

impl<E: Event> Wheel<E> {
    /// Sets the queue to use. For tests: the order is the same in each.
    pub fn lay_out(&mut self, layout: Layout) {
        self.rule.layout = layout;
        if layout == Layout::Ladder {
            self.climb(Time::ZERO, 1);
        }
    }

    /// Moves all events to a ladder; `gap` is the mean time between two events.
    #[cold]
    pub(super) fn climb(&mut self, now: Time, gap: u64) {
        let mut ladder = Ladder::at(self.ties, now, gap);
        for entry in self.take_all() {
            ladder.insert(entry);
        }
        self.ladder = Some(Box::new(ladder));
        (self.cursor, self.pops) = (ABOVE, TUNING_INTERVAL);
    }

    /// Moves all events back to the wheel.
    #[cold]
    fn descend(&mut self, mut ladder: Ladder<E>) {
        let now = ladder.reached().0;
        (self.cursor, self.pops, self.mark) = (now >> self.shift, 0, now);
        self.put_all(ladder.take_all());
    }

    /// Makes the next events ready if the queue can: passes them to `hint`, with the number of the
    /// stage. Returns whether there are any.
    #[inline(never)]
    pub fn prepare(&mut self, hint: impl FnMut(Entry<E>, usize)) -> bool {
        let Some(ladder) = &mut self.ladder else {
            return false;
        };
        if let Some(density) = ladder.look() {
            if self.rule.is_for_wheel(ladder.len(), density) {
                let ladder = self.ladder.take();
                self.descend(*ladder.expect("a ladder"));
                return self.len() > 0;
            }
        }
        self.ladder
            .as_mut()
            .is_some_and(|ladder| ladder.prepare(hint))
    }
}
