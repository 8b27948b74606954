//! A timing wheel with a bitmap of its occupied slots. The slot under the
//! cursor is kept sorted; what lies beyond one turn waits in a heap. The width
//! of a slot follows the density of the events, which never changes the order.

use super::{Entry, Event, EventQueue, Heap, Ties};
use crate::Time;

const NONE: u32 = u32::MAX;
const MIN_SLOTS: usize = 1 << 12;
/// The array of so many slots, 128 KiB, stays in the cache. Where many more would be needed, few
/// slots and more events in the heap are faster.
const CACHED_SLOTS: usize = 1 << 15;
const MAX_SLOTS: usize = 1 << 20;
/// Up to so many events are sorted by insertion.
const FEW: usize = 16;
/// The times of one slot differ in their lower halves alone.
const WIDEST: u32 = 32;
/// Pops between two looks at the density of the events.
const TUNING_INTERVAL: u64 = 1 << 14;

#[derive(Clone, Copy)]
struct Link<E> {
    entry: Entry<E>,
    next: u32,
}

/// An event of the slot under the cursor. It comes before those with larger keys; of two with one
/// key the ties decide. So one comparison of numbers is mostly enough.
#[derive(Clone, Copy)]
struct Keyed<E> {
    /// The lower half of its time, whose upper half is that of the slot; below it what decides
    /// between simultaneous events without a hash.
    key: u64,
    event: E,
}

impl<E: Event> Keyed<E> {
    #[inline(always)]
    fn new(Entry { time, event }: Entry<E>, ties: &Ties) -> Keyed<E> {
        Keyed {
            key: time.0 << 32 | ties.by_node(event),
            event,
        }
    }
}

/// An adaptive timing wheel.
pub struct Wheel<E> {
    ties: Ties,
    /// The slot under the cursor, latest first.
    bottom: Vec<Keyed<E>>,
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
    /// Pops since the last look at the density of the events, and when that was.
    pops: u64,
    mark: u64,
}

impl<E: Event> Wheel<E> {
    /// Puts an event into its slot. An entry of three words would travel in memory; an event does not.
    #[inline(always)]
    fn insert(&mut self, time: Time, event: E) {
        let slot = time.0 >> self.shift;
        if slot > self.cursor && slot - self.cursor < self.slots.len() as u64 {
            self.link(slot, time, event);
        } else if slot == self.cursor {
            self.sink(time, event);
        } else {
            self.insert_apart(slot, time, event);
        }
    }

    /// Puts an event in that lies beyond the turn, or before the slot under the cursor.
    #[inline(never)]
    fn insert_apart(&mut self, slot: u64, time: Time, event: E) {
        let entry = Entry { time, event };
        if slot > self.cursor {
            self.far.push(entry);
            self.far_slot = self.far_slot.min(slot);
        } else {
            self.turn_back(slot, entry);
        }
    }

    #[inline(always)]
    fn link(&mut self, slot: u64, time: Time, event: E) {
        let at = slot as usize & (self.slots.len() - 1);
        let head = &mut self.slots[at];
        let node = Link {
            entry: Entry { time, event },
            next: *head,
        };
        *head = self.free;
        if let Some(free) = self.nodes.get_mut(self.free as usize) {
            self.free = free.next;
            *free = node;
        } else {
            *head = self.nodes.len() as u32;
            self.nodes.push(node);
        }
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
            if let Some(entry) = self.pop_bottom() {
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

    /// Puts an event of the slot under the cursor in its place in the bottom.
    #[inline(never)]
    fn sink(&mut self, time: Time, event: E) {
        let it = Keyed::new(Entry { time, event }, &self.ties);
        if self.bottom.len() <= FEW {
            return self.place(it);
        }
        let at = self
            .bottom
            .partition_point(|other| self.precedes(&it, other));
        self.bottom.insert(at, it);
    }

    /// The same among few.
    #[inline(always)]
    fn place(&mut self, it: Keyed<E>) {
        let mut at = self.bottom.len();
        self.bottom.push(it);
        while at > 0 {
            let other = self.bottom[at - 1];
            if !self.precedes(&other, &it) {
                break;
            }
            self.bottom[at] = other;
            at -= 1;
        }
        self.bottom[at] = it;
    }

    /// When an event of the slot under the cursor happens: the upper half is that of the slot.
    #[inline(always)]
    fn time(&self, it: &Keyed<E>) -> Time {
        Time((self.cursor << self.shift) >> 32 << 32 | it.key >> 32)
    }

    #[inline(always)]
    fn precedes(&self, one: &Keyed<E>, other: &Keyed<E>) -> bool {
        one.key < other.key
            || one.key == other.key && self.ties.precedes(self.time(one), one.event, other.event)
    }

    /// Takes the next event of the slot under the cursor.
    #[inline(always)]
    fn pop_bottom(&mut self) -> Option<Entry<E>> {
        let it = self.bottom.pop()?;
        Some(Entry {
            time: self.time(&it),
            event: it.event,
        })
    }

    /// Puts in an event that lies before the slot under the cursor, of which nothing was taken.
    #[cold]
    #[inline(never)]
    fn turn_back(&mut self, slot: u64, entry: Entry<E>) {
        let mut pending = self.take_all();
        pending.push(entry);
        self.cursor = slot;
        self.put_all(pending);
    }

    /// Takes the first event of a slot; the others go to the bottom, which is empty.
    #[inline]
    fn take_slot(&mut self, slot: u64) -> Option<Entry<E>> {
        let head = self.detach(slot);
        let Link { entry, mut next } = self.nodes[head as usize];
        if next == NONE {
            self.release(head, head, 1);
            return Some(entry);
        }
        let mut last = head;
        self.bottom.push(Keyed::new(entry, &self.ties));
        while next != NONE && self.bottom.len() < FEW {
            last = next;
            let Link { entry, next: after } = self.nodes[last as usize];
            next = after;
            self.place(Keyed::new(entry, &self.ties));
        }
        self.release(head, last, self.bottom.len());
        if next != NONE {
            self.drain(next);
            self.sort_bottom();
        }
        self.pop_bottom()
    }

    /// Empties a slot; its list is to be unlinked.
    #[inline]
    fn detach(&mut self, slot: u64) -> u32 {
        let at = slot as usize & (self.slots.len() - 1);
        self.bitmap[at / 64] &= !(1 << (at % 64));
        std::mem::replace(&mut self.slots[at], NONE)
    }

    /// Frees so many nodes, from the head of a list to the last of them.
    #[inline(always)]
    fn release(&mut self, head: u32, last: u32, number: usize) {
        self.nodes[last as usize].next = self.free;
        self.free = head;
        self.in_slots -= number;
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
            let next = self.far.pop();
            self.bottom
                .extend(next.map(|entry| Keyed::new(entry, &self.ties)));
            self.look_far();
        }
        self.sort_bottom();
        self.pop_bottom()
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
        let mut bottom = std::mem::take(&mut self.bottom);
        bottom.sort_unstable_by(|a, b| {
            let by_key = b.key.cmp(&a.key);
            by_key.then_with(|| self.ties.order(self.time(a), b.event, a.event))
        });
        self.bottom = bottom;
    }

    /// Moves all events of a list to the bottom, in no order.
    fn drain(&mut self, head: u32) {
        let (ties, mut bottom) = (self.ties, std::mem::take(&mut self.bottom));
        self.empty(head, |entry| bottom.push(Keyed::new(entry, &ties)));
        self.bottom = bottom;
    }

    /// Takes all events out of a list, and frees its nodes.
    fn empty(&mut self, head: u32, mut each: impl FnMut(Entry<E>)) {
        let (mut last, mut next, mut number) = (head, head, 0);
        while next != NONE {
            last = next;
            let node = &self.nodes[last as usize];
            next = node.next;
            each(node.entry);
            number += 1;
        }
        self.release(head, last, number);
    }

    /// Fits the slots to the density seen since the last look: about six
    /// events in a slot, and a turn so long that few wait in the heap, as far as the
    /// cache goes.
    fn tune(&mut self) {
        let now = self.cursor << self.shift;
        let gap = now.saturating_sub(self.mark) / self.pops;
        self.pops = 0;
        self.mark = now;
        let shift = (66 - gap.leading_zeros()).clamp(4, WIDEST);
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
        let pending = self.take_all();
        self.slots = vec![NONE; slots];
        self.bitmap = vec![0; slots / 64];
        self.cursor = now >> shift;
        self.shift = shift;
        self.put_all(pending);
    }

    /// Takes all events out, in no order.
    fn take_all(&mut self) -> Vec<Entry<E>> {
        let mut pending = Vec::with_capacity(self.len());
        while let Some(slot) = self.next_occupied() {
            let head = self.detach(slot);
            self.empty(head, |entry| pending.push(entry));
        }
        while let Some(entry) = self.pop_bottom() {
            pending.push(entry);
        }
        while let Some(entry) = self.far.pop() {
            pending.push(entry);
        }
        self.far_slot = u64::MAX;
        pending
    }

    /// Puts events in again.
    fn put_all(&mut self, pending: Vec<Entry<E>>) {
        for entry in pending {
            self.insert(entry.time, entry.event);
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
        self.insert(entry.time, entry.event);
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<Entry<E>> {
        self.pops += 1;
        match self.pop_bottom() {
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
