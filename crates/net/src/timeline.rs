//! What follows each other in time, without what is over.

use std::ops::{Deref, DerefMut};

/// So many there is room for at first.
const FEW: usize = 8;

/// A list in the order of time. What is over is forgotten where room is needed, and only there: so
/// the list is mostly not read when something is added. (A ring would forget one at a time, but
/// whether it wraps around cannot be predicted.)
#[derive(Clone, Debug)]
pub struct Timeline<T>(Vec<T>);

impl<T> Default for Timeline<T> {
    fn default() -> Timeline<T> {
        Timeline(Vec::new())
    }
}

impl<T> Timeline<T> {
    /// Adds the last one; the first of the others may be forgotten, as long as they are `over`.
    #[inline(always)]
    pub fn push(&mut self, item: T, over: impl FnMut(&T) -> bool) {
        if self.0.len() == self.0.capacity() {
            self.make_room(over);
        }
        self.0.push(item);
    }

    /// The same at the place that `place` finds for it.
    pub fn insert(
        &mut self,
        item: T,
        over: impl FnMut(&T) -> bool,
        place: impl FnOnce(&[T]) -> usize,
    ) {
        if self.0.len() == self.0.capacity() {
            self.make_room(over);
        }
        self.0.insert(place(&self.0), item);
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, mut over: impl FnMut(&T) -> bool) {
        let left = self.0.iter().position(|item| !over(item));
        self.0.drain(..left.unwrap_or(self.0.len()));
        // Half of it is free from now on, so that this is seldom done.
        let room = self.0.capacity().max(FEW) / 2;
        if self.0.capacity() - self.0.len() < room {
            self.0.reserve(2 * room);
        }
    }
}

impl<T> Deref for Timeline<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Timeline<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_over_is_forgotten_and_only_where_room_is_needed() {
        let mut list = Timeline::default();
        for item in 0..8 {
            list.push(item, |_| true);
        }
        assert_eq!(*list, [0, 1, 2, 3, 4, 5, 6, 7]);
        // 6 is not over, and so all behind it stay.
        list.push(8, |&item| item < 6 || item == 7);
        assert_eq!(*list, [6, 7, 8]);
        list.insert(5, |_| true, |items| items.partition_point(|&item| item < 5));
        assert_eq!(*list, [5, 6, 7, 8]);
        // nothing is over: it grows
        for item in 9..30 {
            list.push(item, |_| false);
        }
        assert_eq!((list.first(), list.len()), (Some(&5), 25));
    }
}
