//! A timing wheel with a bitmap of its occupied slots. The slot under the
//! cursor is kept sorted; what lies beyond one turn waits in a heap. The width
//! of a slot follows the density of the events, which never changes the order.

use super::{Entry, Event, EventQueue, Heap, Ties};

const NONE: u32 = u32::MAX;
const MIN_SLOTS: usize = 1 << 12;
/// The array of so many slots, 128 KiB, stays in the cache. Where many more would be needed, few
/// slots and more events in the heap are faster.
const CACHED_SLOTS: usize = 1 << 15;
const MAX_SLOTS: usize = 1 << 20;
/// Up to so many events are sorted by insertion.
const FEW: usize = 16;
/// Pops between two looks at the density of the events.
const TUNING_INTERVAL: u64 = 1 << 14;

#[derive(Clone, Copy)]
struct Link<E> {
    entry: Entry<E>,
    next: u32,
}

/// An adaptive timing wheel.
pub struct Wheel<E> {
    ties: Ties,
    /// The slot under the cursor, latest first.
    bottom: Vec<Entry<E>>,
    /// First node of each slot's list.
    slots: Vec<u32>,
    bitmap: Vec<u64>,
    nodes: Vec<Link<E>>,
    free: u32,
    /// Entries in the slots.
    in_slots: usize,
    far: Heap<E>,
    /// The slot of the first entry in `far`.
    far_slot: u64,
    /// A slot is `2^shift` picoseconds wide.
    shift: u32,
    /// The number, counted from time zero, of the slot in `bottom`.
    cursor: u64,
    pops: u64,
    mark: u64,
}

impl<E: Event> Wheel<E> {
    #[inline(always)]
    fn insert(&mut self, entry: Entry<E>) {
        let slot = entry.time.0 >> self.shift;
        if slot <= self.cursor {
            self.sink(entry);
        } else if slot - self.cursor < self.slots.len() as u64 {
            self.link(slot, entry);
        } else {
            self.far.push(entry);
            self.far_slot = self.far_slot.min(slot);
        }
    }

    #[inline(always)]
    fn link(&mut self, slot: u64, entry: Entry<E>) {
        let at = slot as usize & (self.slots.len() - 1);
        let node = Link {
            entry,
            next: self.slots[at],
        };
        let handle = if self.free == NONE {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        } else {
            let handle = self.free;
            self.free = self.nodes[handle as usize].next;
            self.nodes[handle as usize] = node;
            handle
        };
        self.slots[at] = handle;
        self.bitmap[at / 64] |= 1 << (at % 64);
        self.in_slots += 1;
    }

    /// The next occupied slot after the cursor, counted from time zero.
    #[inline]
    fn next_occupied(&self) -> Option<u64> {
        if self.in_slots == 0 {
            return None;
        }
        let mask = self.slots.len() - 1;
        let start = (self.cursor + 1) as usize & mask;
        let mut word = start / 64;
        let mut bits = self.bitmap[word] & (u64::MAX << (start % 64));
        // one word more than there are: the first one's low bits come last
        for _ in 0..=self.bitmap.len() {
            if bits != 0 {
                let at = word * 64 + bits.trailing_zeros() as usize;
                let ahead = at.wrapping_sub(start) & mask;
                return Some(self.cursor + 1 + ahead as u64);
            }
            word = (word + 1) & (self.bitmap.len() - 1);
            bits = self.bitmap[word];
        }
        unreachable!("entries in the slots but no bit set")
    }

    /// Takes the next event when the slot under the cursor is used up.
    #[inline]
    fn pop_next_slot(&mut self) -> Option<Entry<E>> {
        if self.pops >= TUNING_INTERVAL {
            self.tune();
            if let Some(entry) = self.bottom.pop() {
                return Some(entry);
            }
        }
        match self.next_occupied() {
            Some(slot) if slot < self.far_slot => {
                self.cursor = slot;
                self.take_slot(slot)
            }
            near => self.take_far(near),
        }
    }

    /// Puts an event in its place in the bottom, which seldom holds more than a few.
    #[inline(always)]
    fn sink(&mut self, entry: Entry<E>) {
        let ties = &self.ties;
        if self.bottom.len() > FEW {
            let later = |other: &Entry<E>| entry.precedes(other, ties);
            let at = self.bottom.partition_point(later);
            return self.bottom.insert(at, entry);
        }
        let mut at = self.bottom.len();
        self.bottom.push(entry);
        while at > 0 {
            let other = self.bottom[at - 1];
            if !other.precedes(&entry, ties) {
                break;
            }
            self.bottom[at] = other;
            at -= 1;
        }
        self.bottom[at] = entry;
    }

    /// Takes the first event of a slot; the others go to the bottom, which is empty.
    #[inline]
    fn take_slot(&mut self, slot: u64) -> Option<Entry<E>> {
        let mut handle = self.detach(slot);
        let first = self.unlink(&mut handle);
        if handle == NONE {
            return Some(first);
        }
        self.bottom.push(first);
        while handle != NONE && self.bottom.len() < FEW {
            let entry = self.unlink(&mut handle);
            self.sink(entry);
        }
        if handle != NONE {
            self.drain(handle);
            self.sort_bottom();
        }
        self.bottom.pop()
    }

    /// Empties a slot; its list is to be unlinked.
    #[inline]
    fn detach(&mut self, slot: u64) -> u32 {
        let at = slot as usize & (self.slots.len() - 1);
        self.bitmap[at / 64] &= !(1 << (at % 64));
        std::mem::replace(&mut self.slots[at], NONE)
    }

    /// Frees the node at the head of a list and moves the head on.
    #[inline]
    fn unlink(&mut self, head: &mut u32) -> Entry<E> {
        let node = &mut self.nodes[*head as usize];
        let next = std::mem::replace(&mut node.next, self.free);
        self.free = std::mem::replace(head, next);
        self.in_slots -= 1;
        node.entry
    }

    /// Takes the next event if the heap `far` has events of its slot.
    fn take_far(&mut self, near: Option<u64>) -> Option<Entry<E>> {
        if self.far.len() == 0 {
            return None;
        }
        self.cursor = self.far_slot;
        if near == Some(self.cursor) {
            let list = self.detach(self.cursor);
            self.drain(list);
        }
        while self.far_slot == self.cursor {
            self.bottom.extend(self.far.pop());
            self.look_far();
        }
        self.sort_bottom();
        self.bottom.pop()
    }

    /// Notes the slot of the first event beyond the turn.
    #[inline]
    fn look_far(&mut self) {
        self.far_slot = self
            .far
            .first()
            .map_or(u64::MAX, |entry| entry.time.0 >> self.shift);
    }

    #[inline]
    fn sort_bottom(&mut self) {
        let ties = &self.ties;
        self.bottom.sort_unstable_by(|a, b| b.order(a, ties));
    }

    /// Moves all events of a list to the bottom, in no order.
    fn drain(&mut self, mut handle: u32) {
        while handle != NONE {
            let entry = self.unlink(&mut handle);
            self.bottom.push(entry);
        }
    }

    /// Fits the slots to the density seen since the last look: about three
    /// events in a slot, and a turn so long that few wait in the heap, as far as the
    /// cache goes.
    fn tune(&mut self) {
        let now = self.cursor << self.shift;
        let gap = now.saturating_sub(self.mark) / self.pops;
        self.pops = 0;
        self.mark = now;
        let shift = (65 - gap.leading_zeros()).clamp(4, 40);
        let slots = (8 * self.len())
            .min(CACHED_SLOTS.max(self.len() / 4))
            .next_power_of_two()
            .clamp(MIN_SLOTS, MAX_SLOTS);
        let fits = shift.abs_diff(self.shift) <= 1
            && slots <= 2 * self.slots.len()
            && self.slots.len() <= 8 * slots;
        if fits {
            return;
        }
        let mut pending = Vec::with_capacity(self.len());
        while let Some(slot) = self.next_occupied() {
            let list = self.detach(slot);
            self.drain(list);
        }
        pending.append(&mut self.bottom);
        while let Some(entry) = self.far.pop() {
            pending.push(entry);
        }
        self.slots = vec![NONE; slots];
        self.bitmap = vec![0; slots / 64];
        self.cursor = now >> shift;
        self.shift = shift;
        self.far_slot = u64::MAX;
        for entry in pending {
            self.insert(entry);
        }
    }
}

impl<E: Event> EventQueue<E> for Wheel<E> {
    fn new(ties: Ties) -> Self {
        Wheel {
            ties,
            bottom: Vec::new(),
            slots: vec![NONE; MIN_SLOTS],
            bitmap: vec![0; MIN_SLOTS / 64],
            nodes: Vec::new(),
            free: NONE,
            in_slots: 0,
            far: Heap::new(ties),
            far_slot: u64::MAX,
            shift: 17,
            cursor: 0,
            pops: 0,
            mark: 0,
        }
    }

    #[inline(always)]
    fn push(&mut self, entry: Entry<E>) {
        self.insert(entry);
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<Entry<E>> {
        self.pops += 1;
        match self.bottom.pop() {
            Some(entry) => Some(entry),
            None => self.pop_next_slot(),
        }
    }

    fn len(&self) -> usize {
        self.bottom.len() + self.in_slots + self.far.len()
    }

    fn reserve(&mut self, additional: usize) {
        self.nodes.reserve(additional);
        self.far.reserve(additional);
        self.bottom.reserve(64);
    }
}
