//! Pending events, the earliest first.
//!
//! A simulation runs on the [`Wheel`]. The plain [`Heap`] gives the same order to the bit;
//! `docs/performance.md` has the speed of both.

mod heap;
#[cfg(test)]
mod tests;
mod ties;
mod wheel;

pub use heap::Heap;
pub use ties::{Class, Event, Ties};
pub use wheel::Wheel;

use crate::Time;

/// One pending event.
#[derive(Clone, Copy, Debug)]
pub struct Entry<E> {
    /// When it happens.
    pub time: Time,
    /// What happens.
    pub event: E,
}

impl<E: Event> Entry<E> {
    /// Whether it comes before another one.
    #[inline(always)]
    fn precedes(&self, other: &Entry<E>, ties: &Ties) -> bool {
        self.time < other.time
            || self.time == other.time && ties.precedes(self.time, self.event, other.event)
    }
}

/// A priority queue of events. No event is pushed that lies before the time of the last one
/// popped.
pub trait EventQueue<E: Event> {
    /// An empty queue.
    fn new(ties: Ties) -> Self;
    /// Adds an event.
    fn push(&mut self, entry: Entry<E>);
    /// Takes the next event out.
    fn pop(&mut self) -> Option<Entry<E>>;
    /// The number of pending events.
    fn len(&self) -> usize;
    /// Whether nothing is pending.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Makes room for this many pending events.
    fn reserve(&mut self, additional: usize);
}
