//! Storage of values under 32-bit handles. Slots of removed values are reused first.

use std::ops::Range;

/// Handle of a value in an arena.
pub trait Handle: Copy {
    /// Creates the handle of a slot.
    fn of(place: u32) -> Self;
    /// Returns the slot as an index.
    fn place(self) -> usize;
}

/// Prefetches a value into the cache.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    // SAFETY: a prefetch neither reads nor writes, and the address is that of a live value.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        let first: *const T = value;
        let first = first.cast::<i8>();
        _mm_prefetch::<_MM_HINT_T0>(first);
        // A packet fills one cache line; a larger value ends in another line.
        if std::mem::size_of::<T>() > 64 {
            _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(std::mem::size_of::<T>() - 1));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Prefetches some cache lines of a value, as far as it has them.
#[inline]
pub fn prefetch_lines<T: ?Sized>(value: &T, lines: Range<usize>) {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        let first: *const T = value;
        let first = first.cast::<i8>();
        for at in lines.map(|line| 64 * line) {
            if at < std::mem::size_of_val(value) {
                // SAFETY: a prefetch neither reads nor writes, and the address is in a live value.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(at)) };
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (value, lines);
}

/// Storage of values of one type, addressed by their own type of handle.
#[derive(Debug)]
pub struct Arena<H, T> {
    values: Vec<T>,
    free: Vec<H>,
}

impl<H: Handle, T: Copy> Arena<H, T> {
    /// Creates an empty arena with capacity for `capacity` values.
    pub fn with_capacity(capacity: usize) -> Self {
        Arena {
            values: Vec::with_capacity(capacity),
            free: Vec::with_capacity(capacity),
        }
    }

    /// Stores a value and returns its handle.
    #[inline]
    pub fn insert(&mut self, value: T) -> H {
        if let Some(handle) = self.free.pop() {
            self.values[handle.place()] = value;
            return handle;
        }
        let place = u32::try_from(self.values.len()).expect("at most 2^32 values at once");
        self.values.push(value);
        H::of(place)
    }

    /// Removes a value. Its handle is invalid from then on.
    #[inline]
    pub fn remove(&mut self, handle: H) -> T {
        self.free.push(handle);
        self.values[handle.place()]
    }

    /// Prefetches a value into the cache.
    #[inline(always)]
    pub fn prefetch(&self, handle: H) {
        prefetch(&self.values[handle.place()]);
    }

    /// Iterates over the stored values.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        let mut stored = vec![true; self.values.len()];
        for handle in &self.free {
            stored[handle.place()] = false;
        }
        let values = self.values.iter().zip(stored);
        values.filter_map(|(value, stored)| stored.then_some(value))
    }

    /// Returns the number of stored values.
    pub fn len(&self) -> usize {
        self.values.len() - self.free.len()
    }

    /// Returns whether the arena is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<H: Handle, T> std::ops::Index<H> for Arena<H, T> {
    type Output = T;
    #[inline]
    fn index(&self, handle: H) -> &T {
        &self.values[handle.place()]
    }
}

impl<H: Handle, T> std::ops::IndexMut<H> for Arena<H, T> {
    #[inline]
    fn index_mut(&mut self, handle: H) -> &mut T {
        &mut self.values[handle.place()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PacketId;
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;
    use proptest::sample::Index;
    use std::collections::BTreeMap;

    proptest! {
        /// Each step stores a value or removes one of those stored.
        #[test]
        fn an_arena_is_a_map_with_as_few_slots_as_possible(
            steps in vec(option::of(any::<Index>()), 0..100),
        ) {
            let mut arena: Arena<PacketId, usize> = Arena::with_capacity(0);
            let mut map: BTreeMap<PacketId, usize> = BTreeMap::new();
            let mut most = 0;
            for (value, removed) in steps.into_iter().enumerate() {
                match removed.filter(|_| !map.is_empty()) {
                    Some(index) => {
                        let handle = *index.get(&map.keys().copied().collect::<Vec<_>>());
                        prop_assert_eq!(map.remove(&handle), Some(arena.remove(handle)));
                    }
                    None => {
                        let handle = arena.insert(value);
                        prop_assert_eq!(map.insert(handle, value), None);
                        most = most.max(map.len());
                        prop_assert!(handle.index() < most);
                    }
                }
                prop_assert_eq!(arena.len(), map.len());
                prop_assert!(map.iter().all(|(&handle, value)| arena[handle] == *value));
                prop_assert!(arena.values().eq(map.values()));
            }
        }
    }

    #[test]
    fn places_are_used_again() {
        let mut arena: Arena<PacketId, char> = Arena::with_capacity(2);
        let a = arena.insert('a');
        let b = arena.insert('b');
        assert_eq!((arena[a], arena[b], arena.len()), ('a', 'b', 2));
        assert_eq!(arena.remove(a), 'a');
        assert_eq!(arena.values().collect::<String>(), "b");
        assert_eq!(arena.insert('c'), a);
        arena.remove(a);
        arena.remove(b);
        assert!(arena.is_empty());
    }
}
