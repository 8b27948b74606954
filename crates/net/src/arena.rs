//! Values under u32 handles; a freed place is used again before a new one is made.

/// A handle of an arena.
pub trait Handle: Copy {
    /// The handle of a place.
    fn of(place: u32) -> Self;
    /// The place as an index.
    fn place(self) -> usize;
}

/// Tells the processor that a value will be wanted soon.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    // SAFETY: a prefetch neither reads nor writes; the address is that of a value.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        let first: *const T = value;
        let first = first.cast::<i8>();
        _mm_prefetch::<_MM_HINT_T0>(first);
        // A packet is one line of the cache.
        if std::mem::size_of::<T>() > 64 {
            _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(std::mem::size_of::<T>() - 1));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// An arena of values of one type under handles of their own.
#[derive(Debug)]
pub struct Arena<H, T> {
    values: Vec<T>,
    free: Vec<H>,
}

impl<H: Handle, T: Copy> Arena<H, T> {
    /// An empty arena with room for `capacity` values.
    pub fn with_capacity(capacity: usize) -> Self {
        Arena {
            values: Vec::with_capacity(capacity),
            free: Vec::with_capacity(capacity),
        }
    }

    /// Stores a value.
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

    /// Takes a value out; its handle is dead from then on.
    #[inline]
    pub fn remove(&mut self, handle: H) -> T {
        self.free.push(handle);
        self.values[handle.place()]
    }

    /// Tells the processor that a value will be wanted soon.
    #[inline(always)]
    pub fn prefetch(&self, handle: H) {
        prefetch(&self.values[handle.place()]);
    }

    /// The values stored.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        let mut stored = vec![true; self.values.len()];
        for handle in &self.free {
            stored[handle.place()] = false;
        }
        let values = self.values.iter().zip(stored);
        values.filter_map(|(value, stored)| stored.then_some(value))
    }

    /// The number of values stored.
    pub fn len(&self) -> usize {
        self.values.len() - self.free.len()
    }

    /// Whether nothing is stored.
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
