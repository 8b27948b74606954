//! Queues of pending events, ordered by time.
//!
//! A simulation uses the [`Wheel`]. The simpler [`Heap`], which also holds the distant events of a
//! wheel, yields exactly the same order; `docs/performance.md` compares their speed.

mod heap;
mod ladder;
mod many;
#[cfg(test)]
mod tests;
mod ties;
mod wheel;
mod window;

pub use heap::Heap;
pub use ladder::{Ladder, STAGES};
pub use many::Layout;
pub use ties::{Class, Event, Ties};
pub use wheel::Wheel;
pub use window::Next;

use crate::Time;

/// A pending event and its time.
#[derive(Clone, Copy, Debug)]
pub struct Entry<E> {
    /// Time at which the event is handled.
    pub time: Time,
    /// The event.
    pub event: E,
}

impl<E: Event> Entry<E> {
    /// Returns whether this entry is handled before `other`.
    #[inline(always)]
    fn precedes(&self, other: &Entry<E>, ties: &Ties) -> bool {
        self.time < other.time
            || self.time == other.time && ties.precedes(self.time, self.event, other.event)
    }
}

/// An event of the part of a queue that is sorted. Events are ordered by increasing key, and by
/// [`Ties`] if the keys are equal, so one integer comparison usually suffices.
#[derive(Clone, Copy)]
struct Keyed<E> {
    /// Upper half: the lower 32 bits of the time, whose upper 32 bits all events of that part share.
    /// Lower half: [`Ties::by_node`].
    key: u64,
    event: E,
}

impl<E: Event> Keyed<E> {
    #[inline(always)]
    fn new(Entry { time, event }: Entry<E>, ties: &Ties) -> Keyed<E> {
        Keyed {
            key: time.0 << 32 | ties.by_node(event),
            event,
        }
    }
}

/// A priority queue of events. Callers never push an event earlier than the last one popped.
pub trait EventQueue<E: Event> {
    /// Creates an empty queue; `ties` orders simultaneous events.
    fn new(ties: Ties) -> Self;
    /// Adds an event.
    fn push(&mut self, entry: Entry<E>);
    /// Removes and returns the next event.
    fn pop(&mut self) -> Option<Entry<E>>;
    /// Returns the number of pending events.
    fn len(&self) -> usize;
    /// Returns whether no event is pending.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Reserves memory for `additional` more events.
    fn reserve(&mut self, additional: usize);
}
