//! The standard library's binary heap: the plain reference for the others.

use super::{Agenda, Entry};
use std::cmp::Ordering;

struct Reversed<E>(Entry<E>);

impl<E> PartialEq for Reversed<E> {
    fn eq(&self, other: &Self) -> bool {
        self.0.key() == other.0.key()
    }
}

impl<E> Eq for Reversed<E> {}

impl<E> PartialOrd for Reversed<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Reversed<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.key().cmp(&self.0.key())
    }
}

/// A binary heap.
pub struct BinaryHeap<E>(std::collections::BinaryHeap<Reversed<E>>);

impl<E> Default for BinaryHeap<E> {
    fn default() -> Self {
        BinaryHeap(std::collections::BinaryHeap::new())
    }
}

impl<E: Copy> Agenda<E> for BinaryHeap<E> {
    #[inline]
    fn push(&mut self, entry: Entry<E>) {
        self.0.push(Reversed(entry));
    }

    #[inline]
    fn pop(&mut self) -> Option<Entry<E>> {
        self.0.pop().map(|reversed| reversed.0)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn reserve(&mut self, additional: usize) {
        self.0.reserve(additional);
    }
}
