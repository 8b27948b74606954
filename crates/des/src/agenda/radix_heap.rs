//! A monotone radix heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990): an entry lies
//! in the bucket of the highest bit in which its key differs from the last key
//! popped. Keys are (time, order), so that ties need no order of their own.

use super::{Agenda, Entry};

const BUCKETS: usize = 129;

/// A radix heap over 128-bit keys.
pub struct RadixHeap<E> {
    buckets: Vec<Vec<Entry<E>>>,
    /// Bit `b` is set when bucket `b + 1` is not empty.
    occupied: u128,
    last: u128,
    len: usize,
}

impl<E> Default for RadixHeap<E> {
    fn default() -> Self {
        RadixHeap {
            buckets: (0..BUCKETS).map(|_| Vec::new()).collect(),
            occupied: 0,
            last: 0,
            len: 0,
        }
    }
}

impl<E: Copy> RadixHeap<E> {
    #[inline]
    fn insert(&mut self, entry: Entry<E>) {
        let key = entry.key();
        debug_assert!(
            key >= self.last,
            "a key was pushed before the last one popped"
        );
        let bucket = 128 - (key ^ self.last).leading_zeros() as usize;
        if bucket > 0 {
            self.occupied |= 1 << (bucket - 1);
        }
        self.buckets[bucket].push(entry);
    }
}

impl<E: Copy> Agenda<E> for RadixHeap<E> {
    #[inline]
    fn push(&mut self, entry: Entry<E>) {
        self.len += 1;
        self.insert(entry);
    }

    #[inline]
    fn pop(&mut self) -> Option<Entry<E>> {
        if self.len == 0 {
            return None;
        }
        self.len -= 1;
        if let Some(entry) = self.buckets[0].pop() {
            return Some(entry);
        }
        let bucket = self.occupied.trailing_zeros() as usize + 1;
        self.occupied &= !(1 << (bucket - 1));
        let mut entries = std::mem::take(&mut self.buckets[bucket]);
        let (at, earliest) = entries
            .iter()
            .map(Entry::key)
            .enumerate()
            .min_by_key(|&(_, key)| key)
            .expect("an occupied bucket has an entry");
        self.last = earliest;
        let first = entries.swap_remove(at);
        for entry in entries.drain(..) {
            self.insert(entry);
        }
        self.buckets[bucket] = entries;
        Some(first)
    }

    fn len(&self) -> usize {
        self.len
    }

    fn reserve(&mut self, additional: usize) {
        for bucket in &mut self.buckets {
            bucket.reserve(additional.min(64));
        }
    }
}
