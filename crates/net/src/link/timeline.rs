//! Lists in order of time that discard items that are over.

use std::ops::{Deref, DerefMut};

/// Initial capacity.
const FEW: usize = 8;

/// A list in order of time. Items that are over are discarded only when capacity is exhausted, so
/// that most insertions do not read the list. (A ring buffer would discard them one by one, but the
/// branch for its wrap-around is mispredicted often.)
#[derive(Clone, Debug)]
pub struct Timeline<T>(Vec<T>);

impl<T> Default for Timeline<T> {
    fn default() -> Timeline<T> {
        Timeline(Vec::new())
    }
}

impl<T> Timeline<T> {
    /// Appends an item. If capacity is exhausted, leading items that are `over` are discarded
    /// first.
    #[inline(always)]
    pub fn push(&mut self, item: T, over: impl FnMut(&T) -> bool) {
        if self.0.len() == self.0.capacity() {
            self.make_room(over);
        }
        self.0.push(item);
    }

    /// Inserts an item at the index that `place` returns. Discards items like [`Timeline::push`].
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
        // Half of the capacity is free afterwards, so that this function is seldom called.
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
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        /// Each step advances the clock and adds an item that is over at a later time. A list of
        /// all items is the model.
        #[test]
        fn a_list_lacks_only_items_that_are_over(steps in vec((0..4u64, 0..30u64), 0..100)) {
            let mut list = Timeline::default();
            let mut all: Vec<u64> = Vec::new();
            let (mut now, mut most) = (0, 0);
            for (passed, ahead) in steps {
                now += passed;
                let item = now + ahead;
                let over = |&item: &u64| item < now;
                if list.last().map_or(true, |&last| last <= item) {
                    list.push(item, over);
                } else {
                    list.insert(item, over, |items| items.partition_point(|&other| other <= item));
                }
                all.insert(all.partition_point(|&other| other <= item), item);
                let (discarded, kept) = all.split_at(all.len() - list.len());
                prop_assert_eq!(&*list, kept);
                prop_assert!(discarded.iter().all(over));
                most = most.max(all.iter().filter(|item| !over(item)).count());
                prop_assert!(list.len() <= FEW.max(4 * most), "{} items", list.len());
            }
        }
    }

    #[test]
    fn only_what_is_over_is_forgotten_and_only_where_room_is_needed() {
        let mut list = Timeline::default();
        for item in 0..8 {
            list.push(item, |_| true);
        }
        assert_eq!(*list, [0, 1, 2, 3, 4, 5, 6, 7]);
        // Item 6 is not over, so all items behind it are kept.
        list.push(8, |&item| item < 6 || item == 7);
        assert_eq!(*list, [6, 7, 8]);
        list.insert(5, |_| true, |items| items.partition_point(|&item| item < 5));
        assert_eq!(*list, [5, 6, 7, 8]);
        // No item is over, so the list grows.
        for item in 9..30 {
            list.push(item, |_| false);
        }
        assert_eq!((list.first(), list.len()), (Some(&5), 25));
    }
}
