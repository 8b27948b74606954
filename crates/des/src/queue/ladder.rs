//! A queue for many events close together in time: a ladder of two rungs of buckets, whose next
//! bucket is known before it is handled.
//!
//! A bucket is far wider than a slot of the wheel, so its events can be made ready, some groups
//! ahead of the event that is being handled, and an insertion writes behind the one before instead
//! of reading an event that has left the cache. That pays where the state that events touch fits no
//! cache; elsewhere the wheel is faster.

use super::{Entry, Event, EventQueue, Heap, Keyed, Ties};
use crate::Time;

/// Entries in a chunk: with its link it fills eight cache lines.
const CHUNK: usize = 21;
const NONE: u32 = u32::MAX;
/// Binary logarithm of the number of fine buckets in a turn, and of the number of turns on the
/// coarse rung.
const TURN: u32 = 10;
/// Number of stages in which an event is made ready.
pub const STAGES: usize = 4;
/// Events that are made ready together.
const GROUP: usize = 8;
/// Events in a bucket at which its width aims.
const WANTED: u64 = 512;
/// Narrowest and widest bucket, as binary logarithms of picoseconds. All times in one bucket must
/// have the same upper 32 bits.
const WIDTHS: std::ops::RangeInclusive<u32> = 4..=32;
/// Numbers of buckets and of events after which the density of the events is looked at.
const TUNING_BUCKETS: u64 = 64;
const TUNING_EVENTS: u64 = TUNING_BUCKETS * WANTED;

/// Some entries of a bucket.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Chunk<E> {
    entries: [Entry<E>; CHUNK],
    next: u32,
}

/// Storage of the entries of all buckets; a chunk that was read last is written first.
struct Chunks<E> {
    all: Vec<Chunk<E>>,
    free: u32,
}

impl<E: Event> Chunks<E> {
    /// Returns the number of a chunk that begins with `entry`, in front of the chunk `next`.
    fn begin(&mut self, entry: Entry<E>, next: u32) -> u32 {
        let at = self.free;
        if let Some(chunk) = self.all.get_mut(at as usize) {
            self.free = chunk.next;
            chunk.entries[0] = entry;
            chunk.next = next;
            return at;
        }
        let entries = [entry; CHUNK];
        self.all.push(Chunk { entries, next });
        self.all.len() as u32 - 1
    }
}

/// The last chunk of a bucket and the number of entries in it.
#[derive(Clone, Copy)]
struct Bucket {
    chunk: u32,
    filled: u32,
}

const EMPTY: Bucket = Bucket {
    chunk: NONE,
    filled: CHUNK as u32,
};

/// A ring of buckets.
struct Rung {
    buckets: Vec<Bucket>,
    bitmap: Vec<u64>,
}

impl Rung {
    fn new(turns: usize) -> Rung {
        let buckets = turns << TURN;
        Rung {
            buckets: vec![EMPTY; buckets],
            bitmap: vec![0; buckets / 64],
        }
    }

    #[inline(always)]
    fn push<E: Event>(&mut self, number: u64, entry: Entry<E>, chunks: &mut Chunks<E>) {
        let at = number as usize & (self.buckets.len() - 1);
        let bucket = &mut self.buckets[at];
        if (bucket.filled as usize) < CHUNK {
            chunks.all[bucket.chunk as usize].entries[bucket.filled as usize] = entry;
            bucket.filled += 1;
            return;
        }
        bucket.chunk = chunks.begin(entry, bucket.chunk);
        bucket.filled = 1;
        self.bitmap[at / 64] |= 1 << (at % 64);
    }

    /// Returns the number of the first bucket with entries among `from..to`, which is at most one
    /// turn of this ring.
    fn next(&self, from: u64, to: u64) -> Option<u64> {
        let mut number = from;
        while number < to {
            let at = number as usize & (self.buckets.len() - 1);
            let bits = self.bitmap[at / 64] >> (at % 64);
            if bits != 0 {
                let found = number + u64::from(bits.trailing_zeros());
                return (found < to).then_some(found);
            }
            number += 64 - at as u64 % 64;
        }
        None
    }

    /// Passes each entry of a bucket to `each` and empties it.
    fn take<E: Event>(
        &mut self,
        number: u64,
        chunks: &mut Chunks<E>,
        mut each: impl FnMut(Entry<E>, &mut Chunks<E>),
    ) {
        let at = number as usize & (self.buckets.len() - 1);
        let Bucket {
            mut chunk,
            mut filled,
        } = std::mem::replace(&mut self.buckets[at], EMPTY);
        self.bitmap[at / 64] &= !(1 << (at % 64));
        while chunk != NONE {
            let Chunk { entries, next } = chunks.all[chunk as usize];
            chunks.all[chunk as usize].next = chunks.free;
            chunks.free = chunk;
            for &entry in &entries[..filled as usize] {
                each(entry, chunks);
            }
            (chunk, filled) = (next, CHUNK as u32);
        }
    }
}

/// How close together the events are.
#[derive(Clone, Copy, Debug)]
pub struct Density {
    /// Mean time in picoseconds between two events.
    pub gap: u64,
    /// Share of the events that came into the bucket that was being handled.
    pub late: f64,
}

/// A queue of buckets that are made ready ahead.
pub struct Ladder<E> {
    ties: Ties,
    /// Events of the present bucket, in their order; those before `at` are handled, those before
    /// `ready` were made ready.
    bottom: Vec<Keyed<E>>,
    at: usize,
    ready: usize,
    /// Upper 32 bits of the times in the present bucket.
    upper: u64,
    /// Events that came into the present bucket, or before it, after it was opened.
    late: Heap<E>,
    /// Buckets of this turn and the next one.
    fine: Rung,
    /// Turns after those.
    coarse: Rung,
    chunks: Chunks<E>,
    /// Events beyond the coarse rung.
    far: Heap<E>,
    /// Number of the present bucket, counted from time zero, and its turn.
    cursor: u64,
    turn: u64,
    /// Binary logarithm of the width of a bucket in picoseconds.
    shift: u32,
    len: usize,
    /// Buckets opened, and events in them, since the last look at the density, and the bucket of that
    /// look.
    opened: u64,
    found: u64,
    mark: u64,
    /// Events that came late since then.
    belated: u64,
}

impl<E: Event> Ladder<E> {
    /// Creates an empty ladder for times from `now` on, with buckets for events that follow each
    /// other after `gap` picoseconds.
    pub fn at(ties: Ties, now: Time, gap: u64) -> Ladder<E> {
        let shift = width(gap);
        let cursor = now.0 >> shift;
        Ladder {
            ties,
            bottom: Vec::new(),
            at: 0,
            ready: 0,
            upper: now.0 >> 32 << 32,
            late: Heap::new(ties),
            fine: Rung::new(2),
            coarse: Rung::new(1),
            chunks: Chunks {
                all: Vec::new(),
                free: NONE,
            },
            far: Heap::new(ties),
            cursor,
            turn: cursor >> TURN,
            shift,
            len: 0,
            opened: 0,
            found: 0,
            mark: cursor,
            belated: 0,
        }
    }

    /// Adds an event.
    #[inline]
    pub fn insert(&mut self, entry: Entry<E>) {
        self.len += 1;
        let bucket = entry.time.0 >> self.shift;
        let turn = bucket >> TURN;
        if bucket <= self.cursor {
            self.belated += 1;
            self.late.push(entry);
        } else if turn <= self.turn + 1 {
            self.fine.push(bucket, entry, &mut self.chunks);
        } else if turn < self.turn + (1 << TURN) {
            self.coarse.push(turn, entry, &mut self.chunks);
        } else {
            self.far.push(entry);
        }
    }

    #[inline(always)]
    fn time(&self, it: &Keyed<E>) -> Time {
        Time(self.upper | it.key >> 32)
    }

    /// Takes the next event, if it was made ready.
    #[inline]
    pub fn take_ready(&mut self) -> Option<Entry<E>> {
        if self.late.len() > 0 {
            return self.next_of_both();
        }
        let it = self.bottom[..self.ready].get(self.at)?;
        let (time, event) = (self.time(it), it.event);
        self.at += 1;
        self.len -= 1;
        Some(Entry { time, event })
    }

    /// Takes the next event when there are late ones.
    #[inline(never)]
    fn next_of_both(&mut self) -> Option<Entry<E>> {
        if let Some(it) = self.bottom.get(self.at) {
            let entry = Entry {
                time: self.time(it),
                event: it.event,
            };
            let late = self.late.first().expect("a late event");
            if !late.precedes(&entry, &self.ties) {
                if self.at == self.ready {
                    return None;
                }
                self.at += 1;
                self.len -= 1;
                return Some(entry);
            }
        }
        self.len -= 1;
        self.late.pop()
    }

    /// Makes the next events ready: passes them to `hint` with the number of the stage. Returns
    /// whether there are any.
    pub fn prepare(&mut self, mut hint: impl FnMut(Entry<E>, usize)) -> bool {
        let mut first = 0;
        if self.at == self.bottom.len() {
            if self.late.len() > 0 {
                return true;
            }
            if !self.open_next() {
                return false;
            }
        } else {
            first = self.ready / GROUP;
        }
        let all = self.bottom.len();
        let group = |number: usize| (GROUP * number).min(all);
        for stage in 0..STAGES {
            // The last stage of the next group has all the time of the present one.
            let last = first + STAGES - stage + 1;
            let begin = if first == 0 { 0 } else { last - 1 };
            for it in &self.bottom[group(begin)..group(last)] {
                let (time, event) = (self.time(it), it.event);
                hint(Entry { time, event }, stage);
            }
        }
        self.ready = group(first + 1);
        true
    }

    /// Opens the next bucket that has events; returns whether there is one.
    fn open_next(&mut self) -> bool {
        self.bottom.clear();
        (self.at, self.ready) = (0, 0);
        loop {
            let end = (self.turn + 2) << TURN;
            if let Some(bucket) = self.fine.next(self.cursor + 1, end) {
                self.cursor = bucket;
                if bucket >> TURN > self.turn {
                    self.turn += 1;
                    self.fill();
                }
                self.open(bucket);
                return true;
            }
            let coarse = self.coarse.next(self.turn + 2, self.turn + (1 << TURN));
            let far = self.far.first().map(|it| it.time.0 >> self.shift >> TURN);
            let Some(turn) = coarse.into_iter().chain(far).min() else {
                return false;
            };
            // All buckets before this turn are empty.
            self.turn = turn;
            self.cursor = (turn << TURN) - 1;
            self.spread(turn);
            self.fill();
        }
    }

    /// Moves the events of the next turn to its fine buckets, and those that are no longer far to
    /// the coarse ones.
    fn fill(&mut self) {
        self.spread(self.turn + 1);
        let end = self.turn + (1 << TURN);
        while let Some(first) = self.far.first() {
            if first.time.0 >> self.shift >> TURN >= end {
                break;
            }
            let entry = self.far.pop().expect("the first event");
            self.len -= 1;
            self.insert(entry);
        }
    }

    /// Moves the events of a turn to its fine buckets.
    fn spread(&mut self, turn: u64) {
        let Ladder {
            fine,
            coarse,
            chunks,
            shift,
            ..
        } = self;
        coarse.take(turn, chunks, |entry, chunks| {
            fine.push(entry.time.0 >> *shift, entry, chunks);
        });
    }

    /// Sorts the events of a bucket.
    fn open(&mut self, bucket: u64) {
        let (ties, mut bottom) = (self.ties, std::mem::take(&mut self.bottom));
        self.fine.take(bucket, &mut self.chunks, |entry, _| {
            bottom.push(Keyed::new(entry, &ties));
        });
        self.upper = bucket << self.shift >> 32 << 32;
        bottom.sort_unstable_by_key(|it| it.key);
        let mut first = 0;
        while let Some(Keyed { key, .. }) = bottom.get(first).copied() {
            let rest = &mut bottom[first..];
            let of_one_key = rest.iter().take_while(|it| it.key == key).count();
            if of_one_key > 1 {
                let time = self.time(&rest[0]);
                let order = |a: &Keyed<E>, b: &Keyed<E>| self.ties.order(time, a.event, b.event);
                rest[..of_one_key].sort_unstable_by(order);
            }
            first += of_one_key;
        }
        self.opened += 1;
        self.found += bottom.len() as u64;
        self.bottom = bottom;
    }

    /// Returns the time up to which the buckets are over.
    pub fn reached(&self) -> Time {
        Time(self.cursor << self.shift)
    }

    /// Looks at the density of the events once in a while, when no bucket is open: adapts the width
    /// of the buckets to it. Returns what it has seen, if the width was right.
    pub fn look(&mut self) -> Option<Density> {
        let over = self.at == self.bottom.len() && self.late.len() == 0;
        let events = self.found + self.belated;
        if !over || self.opened < TUNING_BUCKETS && events < TUNING_EVENTS {
            return None;
        }
        let late = self.belated as f64 / events.max(1) as f64;
        let gap = ((self.cursor + 1 - self.mark) << self.shift) / events.max(1);
        let before = self.shift;
        self.tune(gap);
        (self.shift == before).then_some(Density { gap, late })
    }

    /// Adapts the width of the buckets to events that follow each other after `gap` picoseconds. No
    /// bucket is open.
    fn tune(&mut self, gap: u64) {
        let shift = width(gap);
        (self.opened, self.found, self.belated) = (0, 0, 0);
        self.mark = self.cursor + 1;
        if shift.abs_diff(self.shift) <= 1 {
            return;
        }
        let now = (self.cursor + 1) << self.shift;
        let pending = self.take_all();
        self.shift = shift;
        // The present bucket is the one before the next event could be.
        self.cursor = (now >> shift).saturating_sub(1);
        self.mark = self.cursor + 1;
        self.turn = self.cursor >> TURN;
        for entry in pending {
            self.insert(entry);
        }
    }

    /// Removes and returns all events, unsorted.
    pub fn take_all(&mut self) -> Vec<Entry<E>> {
        let mut pending = Vec::with_capacity(self.len);
        for at in self.at..self.bottom.len() {
            let it = &self.bottom[at];
            let (time, event) = (self.time(it), it.event);
            pending.push(Entry { time, event });
        }
        self.bottom.clear();
        (self.at, self.ready) = (0, 0);
        for rung in [&mut self.fine, &mut self.coarse] {
            for number in 0..rung.buckets.len() as u64 {
                rung.take(number, &mut self.chunks, |entry, _| pending.push(entry));
            }
        }
        for heap in [&mut self.late, &mut self.far] {
            pending.extend(std::iter::from_fn(|| heap.pop()));
        }
        self.len = 0;
        pending
    }
}

/// Returns the binary logarithm of the width of a bucket for events that follow each other after
/// `gap` picoseconds.
fn width(gap: u64) -> u32 {
    let wanted = gap.max(1).saturating_mul(WANTED);
    wanted.ilog2().clamp(*WIDTHS.start(), *WIDTHS.end())
}

impl<E: Event> EventQueue<E> for Ladder<E> {
    fn new(ties: Ties) -> Self {
        Ladder::at(ties, Time::ZERO, 1)
    }

    fn push(&mut self, entry: Entry<E>) {
        self.insert(entry);
    }

    fn pop(&mut self) -> Option<Entry<E>> {
        loop {
            if let Some(entry) = self.take_ready() {
                return Some(entry);
            }
            if !self.prepare(|_, _| ()) {
                return None;
            }
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn reserve(&mut self, _additional: usize) {}
}
