//! Values under u32 handles; a freed place is used again before a new one is made.

use crate::UnitId;

/// An arena of units.
#[derive(Debug)]
pub struct Arena<T> {
    values: Vec<T>,
    free: Vec<UnitId>,
}

impl<T: Copy> Arena<T> {
    /// An empty arena with room for `capacity` values.
    pub fn with_capacity(capacity: usize) -> Self {
        Arena {
            values: Vec::with_capacity(capacity),
            free: Vec::with_capacity(capacity),
        }
    }

    /// Stores a value.
    #[inline]
    pub fn insert(&mut self, value: T) -> UnitId {
        if let Some(id) = self.free.pop() {
            self.values[id.index()] = value;
            return id;
        }
        let id = UnitId(u32::try_from(self.values.len()).expect("fewer than 2^32 units"));
        assert!(id != UnitId::NONE, "fewer than 2^32 - 1 units at once");
        self.values.push(value);
        id
    }

    /// Takes a value out; its handle is dead from then on.
    #[inline]
    pub fn remove(&mut self, id: UnitId) -> T {
        self.free.push(id);
        self.values[id.index()]
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

impl<T> std::ops::Index<UnitId> for Arena<T> {
    type Output = T;
    #[inline]
    fn index(&self, id: UnitId) -> &T {
        &self.values[id.index()]
    }
}

impl<T> std::ops::IndexMut<UnitId> for Arena<T> {
    #[inline]
    fn index_mut(&mut self, id: UnitId) -> &mut T {
        &mut self.values[id.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again() {
        let mut arena = Arena::with_capacity(2);
        let a = arena.insert('a');
        let b = arena.insert('b');
        assert_eq!((arena[a], arena[b], arena.len()), ('a', 'b', 2));
        assert_eq!(arena.remove(a), 'a');
        assert_eq!(arena.insert('c'), a);
        arena.remove(a);
        arena.remove(b);
        assert!(arena.is_empty());
    }
}
