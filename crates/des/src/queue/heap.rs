//! A heap with four children per entry: it has half the levels of a binary heap, and the four
//! children share one or two cache lines.

use super::{Entry, Event, EventQueue, Ties};

const ARITY: usize = 4;

/// A 4-ary heap.
pub struct Heap<E> {
    entries: Vec<Entry<E>>,
    ties: Ties,
}

impl<E: Event> Heap<E> {
    /// Returns the next entry without removing it.
    #[inline]
    pub fn first(&self) -> Option<&Entry<E>> {
        self.entries.first()
    }

    /// Moves `entry` from the hole at index `i` towards the root until its parent is earlier.
    #[inline]
    fn sift_up(&mut self, mut i: usize, entry: Entry<E>) {
        while i > 0 {
            let parent = (i - 1) / ARITY;
            if !entry.precedes(&self.entries[parent], &self.ties) {
                break;
            }
            self.entries[i] = self.entries[parent];
            i = parent;
        }
        self.entries[i] = entry;
    }

    /// Returns the index of the earliest child of the entry at `i`, or `None` for a leaf.
    #[inline]
    fn earliest_child(&self, i: usize) -> Option<usize> {
        let first = ARITY * i + 1;
        let children = self.entries.get(first..)?;
        let children = &children[..children.len().min(ARITY)];
        let mut best = 0;
        children.first()?;
        for (j, child) in children.iter().enumerate().skip(1) {
            if child.precedes(&children[best], &self.ties) {
                best = j;
            }
        }
        Some(first + best)
    }
}

impl<E: Event> EventQueue<E> for Heap<E> {
    fn new(ties: Ties) -> Self {
        Heap {
            entries: Vec::new(),
            ties,
        }
    }

    #[inline]
    fn push(&mut self, entry: Entry<E>) {
        let hole = self.entries.len();
        self.entries.push(entry);
        self.sift_up(hole, entry);
    }

    #[inline]
    fn pop(&mut self) -> Option<Entry<E>> {
        let last = self.entries.pop()?;
        let Some(&first) = self.entries.first() else {
            return Some(last);
        };
        let mut hole = 0;
        while let Some(child) = self.earliest_child(hole) {
            if !self.entries[child].precedes(&last, &self.ties) {
                break;
            }
            self.entries[hole] = self.entries[child];
            hole = child;
        }
        self.entries[hole] = last;
        Some(first)
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn reserve(&mut self, additional: usize) {
        self.entries.reserve(additional);
    }
}
