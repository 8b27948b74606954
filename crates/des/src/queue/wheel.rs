//! A timing wheel with a bitmap of its occupied slots. The slot under the cursor is sorted, as far
//! as its events are few; events beyond one turn of the wheel wait in a heap. The width of a slot
//! adapts to the density of the events, which does not affect their order.

use super::many::Rule;
use super::{Entry, Event, EventQueue, Heap, Keyed, Ladder, Ties};
use crate::Time;

const NONE: u32 = u32::MAX;
const MIN_SLOTS: usize = 1 << 12;
/// Largest number of slots whose array (128 KiB) stays in the cache. With many more pending events,
/// fewer slots and more events in the heap are faster.
const CACHED_SLOTS: usize = 1 << 15;
const MAX_SLOTS: usize = 1 << 20;
/// Up to this many events are sorted by insertion.
const FEW: usize = 16;
/// Up to this many events of the slot under the cursor are kept sorted. An insertion moves those that
/// come before it, so that of a hundred thousand flows that start together the later ones wait in a
/// heap.
const SORTED: usize = 256;
/// Largest shift: all times in one slot have the same upper 32 bits.
const WIDEST: u32 = 32;
/// Number of pops between two adjustments of the slots to the density of the events.
pub(super) const TUNING_INTERVAL: u64 = 1 << 14;

#[derive(Clone, Copy)]
struct Link<E> {
    entry: Entry<E>,
    next: u32,
}

/// An adaptive timing wheel.
pub struct Wheel<E> {
    pub(super) ties: Ties,
    /// Events of the slot under the cursor, latest first.
    bottom: Vec<Keyed<E>>,
    /// Further events of this slot, which come after all of `bottom`.
    late: Heap<E>,
    /// Index of the first node in each slot's linked list.
    slots: Vec<u32>,
    bitmap: Vec<u64>,
    nodes: Vec<Link<E>>,
    free: u32,
    /// Number of entries in the slots.
    in_slots: usize,
    far: Heap<E>,
    /// Number of the slot that holds the first entry of `far`; `u64::MAX` if `far` is empty.
    far_slot: u64,
    /// Binary logarithm of the width of a slot in picoseconds.
    pub(super) shift: u32,
    /// Number of the slot under the cursor, counted from time zero.
    pub(super) cursor: u64,
    /// Number of pops since the last adjustment of the slots, and the time of that adjustment.
    pub(super) pops: u64,
    pub(super) mark: u64,
    /// Holds all events while they are many and close together; the cursor is then [`ABOVE`](super::many::ABOVE).
    pub(super) ladder: Option<Box<Ladder<E>>>,
    pub(super) rule: Rule,
}

impl<E: Event> Wheel<E> {
    /// Takes the next event; `None` if there is none, or if [`Wheel::prepare`] must come first.
    #[inline(always)]
    pub fn take_ready(&mut self) -> Option<Entry<E>> {
        self.pops += 1;
        match self.pop_bottom() {
            Some(entry) => Some(entry),
            None => self.pop_next_slot(),
        }
    }

    /// Inserts an event. Time and event are separate arguments because an entry of three words
    /// would be passed in memory.
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

    /// Inserts an event that lies beyond one turn of the wheel, or before the slot under the
    /// cursor.
    #[inline(never)]
    fn insert_apart(&mut self, slot: u64, time: Time, event: E) {
        let entry = Entry { time, event };
        if let Some(ladder) = &mut self.ladder {
            ladder.insert(entry);
        } else if slot > self.cursor {
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

    /// Returns the number of the next occupied slot after the cursor, counted from time zero.
    #[inline]
    fn next_occupied(&self) -> Option<u64> {
        if self.in_slots == 0 {
            return None;
        }
        let mask = self.slots.len() - 1;
        let start = (self.cursor + 1) as usize & mask;
        let mut word = start / 64;
        let mut bits = self.bitmap[word] & (u64::MAX << (start % 64));
        // One iteration more than there are words: the low bits of the first word are checked last.
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

    /// Returns the begin of the next slot with events; `None` if the slot under the cursor has some,
    /// if none has, or if the events are in the ladder.
    #[inline]
    pub(super) fn begin_of_next_slot(&self) -> Option<Time> {
        if !self.bottom.is_empty() || self.late.len() > 0 || self.ladder.is_some() {
            return None;
        }
        let near = self.next_occupied().unwrap_or(u64::MAX);
        let slot = near.min(self.far_slot);
        (slot < u64::MAX).then(|| Time(slot << self.shift))
    }

    /// Takes the next event after the slot under the cursor has become empty.
    #[inline]
    fn pop_next_slot(&mut self) -> Option<Entry<E>> {
        if self.late.len() > 0 {
            return self.take_late();
        }
        if self.pops >= TUNING_INTERVAL {
            if let Some(ladder) = &mut self.ladder {
                return ladder.take_ready();
            }
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

    /// Inserts an event into the sorted slot under the cursor.
    #[inline(never)]
    fn sink(&mut self, time: Time, event: E) {
        let it = Keyed::new(Entry { time, event }, &self.ties);
        if self.late.len() > 0 || self.bottom.len() >= SORTED {
            return self.sink_among_many(it);
        }
        if self.bottom.len() <= FEW {
            return self.place(it);
        }
        self.put_in_order(it);
    }

    /// Inserts an event into `bottom` by a binary search.
    fn put_in_order(&mut self, it: Keyed<E>) {
        let at = self
            .bottom
            .partition_point(|other| self.precedes(&it, other));
        self.bottom.insert(at, it);
    }

    /// Inserts an event into the slot under the cursor, which has many.
    #[cold]
    #[inline(never)]
    fn sink_among_many(&mut self, it: Keyed<E>) {
        if self.bottom.len() >= SORTED {
            let mut bottom = std::mem::take(&mut self.bottom);
            let later = bottom.len() - SORTED / 2;
            for one in bottom.drain(..later) {
                self.late.push(self.entry(&one));
            }
            self.bottom = bottom;
        }
        match self.bottom.first() {
            Some(latest) if self.precedes(&it, latest) => self.put_in_order(it),
            _ => self.late.push(self.entry(&it)),
        }
    }

    /// Takes the next event when all of `bottom` are gone and the slot under the cursor has more.
    #[cold]
    #[inline(never)]
    fn take_late(&mut self) -> Option<Entry<E>> {
        for _ in 0..SORTED / 2 {
            let next = self.late.pop();
            self.bottom
                .extend(next.map(|entry| Keyed::new(entry, &self.ties)));
        }
        self.bottom.reverse();
        self.pop_bottom()
    }

    /// Inserts an event into the sorted slot under the cursor by a linear search from the end.
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

    /// Returns the time of an event in the slot under the cursor; the slot supplies the upper 32
    /// bits.
    #[inline(always)]
    fn time(&self, it: &Keyed<E>) -> Time {
        Time((self.cursor << self.shift) >> 32 << 32 | it.key >> 32)
    }

    #[inline(always)]
    fn precedes(&self, one: &Keyed<E>, other: &Keyed<E>) -> bool {
        one.key < other.key
            || one.key == other.key && self.ties.precedes(self.time(one), one.event, other.event)
    }

    /// Takes the next event from the slot under the cursor.
    #[inline(always)]
    fn pop_bottom(&mut self) -> Option<Entry<E>> {
        let it = self.bottom.pop()?;
        Some(self.entry(&it))
    }

    #[inline(always)]
    fn entry(&self, it: &Keyed<E>) -> Entry<E> {
        Entry {
            time: self.time(it),
            event: it.event,
        }
    }

    /// Inserts an event that lies before the slot under the cursor; no event of that slot has been
    /// popped. Moves the cursor back and reinserts all events.
    #[cold]
    #[inline(never)]
    fn turn_back(&mut self, slot: u64, entry: Entry<E>) {
        let mut pending = self.take_all();
        pending.push(entry);
        self.cursor = slot;
        self.put_all(pending);
    }

    /// Takes the first event of a slot and moves the others to `bottom`, which is empty.
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

    /// Marks a slot as empty and returns the head of its list.
    #[inline]
    fn detach(&mut self, slot: u64) -> u32 {
        let at = slot as usize & (self.slots.len() - 1);
        self.bitmap[at / 64] &= !(1 << (at % 64));
        std::mem::replace(&mut self.slots[at], NONE)
    }

    /// Returns a list of `number` nodes, from `head` to `last`, to the free list.
    #[inline(always)]
    fn release(&mut self, head: u32, last: u32, number: usize) {
        self.nodes[last as usize].next = self.free;
        self.free = head;
        self.in_slots -= number;
    }

    /// Takes the next event when the first slot with events has some in the heap `far`.
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

    /// Updates `far_slot`, the slot of the first event in the heap.
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

    /// Moves all events of a list to `bottom`, unsorted.
    fn drain(&mut self, head: u32) {
        let (ties, mut bottom) = (self.ties, std::mem::take(&mut self.bottom));
        self.empty(head, |entry| bottom.push(Keyed::new(entry, &ties)));
        self.bottom = bottom;
    }

    /// Passes each event of a list to `each` and frees the nodes.
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

    /// Adapts the slots to the density of events since the last call: about six events per slot,
    /// and a turn long enough that few events wait in the heap, as far as the cache permits.
    fn tune(&mut self) {
        let now = self.cursor << self.shift;
        let gap = now.saturating_sub(self.mark) / self.pops;
        self.pops = 0;
        self.mark = now;
        if self.rule.is_for_ladder(self.len(), gap) {
            return self.climb(Time(now), gap);
        }
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

    /// Removes and returns all events, unsorted.
    pub(super) fn take_all(&mut self) -> Vec<Entry<E>> {
        let mut pending = Vec::with_capacity(self.len());
        while let Some(slot) = self.next_occupied() {
            let head = self.detach(slot);
            self.empty(head, |entry| pending.push(entry));
        }
        while let Some(entry) = self.pop_bottom() {
            pending.push(entry);
        }
        for heap in [&mut self.late, &mut self.far] {
            while let Some(entry) = heap.pop() {
                pending.push(entry);
            }
        }
        self.far_slot = u64::MAX;
        pending
    }

    /// Inserts all events of a list.
    pub(super) fn put_all(&mut self, pending: Vec<Entry<E>>) {
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
            late: Heap::new(ties),
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
            ladder: None,
            rule: Rule::default(),
        }
    }

    #[inline(always)]
    fn push(&mut self, entry: Entry<E>) {
        self.insert(entry.time, entry.event);
    }

    fn pop(&mut self) -> Option<Entry<E>> {
        loop {
            let next = self.take_ready();
            if next.is_some() || !self.prepare(|_, _| ()) {
                return next;
            }
        }
    }

    fn len(&self) -> usize {
        let above = self.ladder.as_ref().map_or(0, |ladder| ladder.len());
        self.bottom.len() + self.late.len() + self.in_slots + self.far.len() + above
    }

    fn reserve(&mut self, additional: usize) {
        self.nodes.reserve(additional);
        self.far.reserve(additional);
        self.bottom.reserve(64);
    }
}
