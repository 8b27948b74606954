//! Pending events, ordered by (time, class, sequence).
//!
//! A simulation runs on the [`Wheel`]. The plain [`Heap`] gives the same order to the bit;
//! `docs/performance.md` has the speed of both.

mod heap;
#[cfg(test)]
mod tests;
mod wheel;

pub use heap::Heap;
pub use wheel::Wheel;

use crate::Time;

/// At one instant the first class comes before the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Something arrives.
    Arrival,
    /// A timer expires.
    Timer,
}

/// Where an event stands among those of the same instant: its class, then its
/// place in the sequence in which events were caused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Order(u64);

impl Order {
    const TIMER: u64 = 1 << 63;

    fn new(class: Class, sequence: u64) -> Order {
        debug_assert!(sequence < Order::TIMER);
        match class {
            Class::Arrival => Order(sequence),
            Class::Timer => Order(sequence | Order::TIMER),
        }
    }
}

/// Hands out the places in the sequence of causes.
#[derive(Clone, Debug, Default)]
pub struct Sequence(u64);

impl Sequence {
    /// The next place, for an event of `class`.
    #[inline]
    pub fn next(&mut self, class: Class) -> Order {
        self.0 += 1;
        Order::new(class, self.0)
    }
}

/// One pending event.
#[derive(Clone, Copy, Debug)]
pub struct Entry<E> {
    /// When it happens.
    pub time: Time,
    /// Its place among the events of that instant.
    pub order: Order,
    /// What happens.
    pub event: E,
}

impl<E> Entry<E> {
    /// Time and order as one number.
    #[inline]
    fn key(&self) -> u128 {
        (u128::from(self.time.0) << 64) | u128::from(self.order.0)
    }
}

/// A priority queue of events. Keys are unique; no key is pushed that lies
/// before the last one popped.
pub trait EventQueue<E: Copy>: Default {
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
