//! Shared electronic buffer: one first-in, first-out queue for each set of next hops.

use lightburst_des::Time;
use lightburst_net::unit::arena::{prefetch_lines, Handle};
use lightburst_net::{Ahead, Arena, PortId, Route, Unit};

/// Unit in the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub unit: Unit,
    /// Outputs by which the unit may leave.
    pub next_hops: Route,
    /// Time from which on the unit may leave, if an output is free.
    pub ready: Time,
    /// Consecutive number of the unit among all units buffered by this switch.
    pub number: u64,
}

/// Index of a queue in `Buffer::occupied`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head(usize);

/// Non-empty queue. Most queues hold one unit, and only the first unit is examined: it is stored
/// here, next to those of the other queues.
struct Occupied {
    queue: usize,
    first: Waiting,
    /// Second and last unit; `None` if there is only one unit.
    others: Option<(Place, Place)>,
}

/// Handle of a unit that is not the first of its queue.
#[derive(Clone, Copy)]
struct Place(u32);

impl Handle for Place {
    fn of(place: u32) -> Place {
        Place(place)
    }

    fn place(self) -> usize {
        self.0 as usize
    }
}

/// Unit that is not the first of its queue, linked to the next one.
#[derive(Clone, Copy)]
struct Behind {
    waiting: Waiting,
    next: Option<Place>,
}

/// All non-empty queues.
pub(super) struct Buffer {
    /// Number of sets of several outputs. The queues of these sets have lower numbers, by set; the
    /// queues of single outputs follow, by port.
    sets: usize,
    occupied: Vec<Occupied>,
    behind: Arena<Place, Behind>,
}

impl Buffer {
    pub fn new(sets: usize) -> Buffer {
        Buffer {
            sets,
            occupied: Vec::with_capacity(sets),
            behind: Arena::with_capacity(sets),
        }
    }

    /// Prefetches the first queues.
    #[inline]
    pub fn prefetch(&self) {
        prefetch_lines(&*self.occupied, 0..3);
    }

    /// Asks for the exits that a look at the first queues reads.
    pub fn prepare(&self, ahead: &Ahead<'_>) {
        for occupied in self.occupied.iter().take(2) {
            ahead.prefetch_exits(occupied.first.next_hops);
        }
    }

    /// Removes all units; returns them in the order of buffering.
    pub fn take_all(&mut self) -> Vec<Waiting> {
        let mut units = Vec::new();
        while !self.occupied.is_empty() {
            units.push(self.take(Head(0)));
        }
        units.sort_unstable_by_key(|waiting| waiting.number);
        units
    }

    /// Returns the queue of a unit: that of its set of outputs, or that of its output if there is
    /// only one.
    fn queue_of(&self, next_hops: Route, first: PortId) -> usize {
        if next_hops.len > 1 {
            usize::from(next_hops.set)
        } else {
            self.sets + first.index()
        }
    }

    /// Appends a unit to its queue; `port` is the first output by which it may leave. Returns
    /// whether it is the first of the queue.
    pub fn push(&mut self, waiting: Waiting, port: PortId) -> bool {
        let queue = self.queue_of(waiting.next_hops, port);
        let mut occupied = self.occupied.iter_mut();
        let Some(ahead) = occupied.find(|ahead| ahead.queue == queue) else {
            self.occupied.push(Occupied {
                queue,
                first: waiting,
                others: None,
            });
            return true;
        };
        let next = None;
        let place = self.behind.insert(Behind { waiting, next });
        let second = match ahead.others {
            None => place,
            Some((second, last)) => {
                self.behind[last].next = Some(place);
                second
            }
        };
        ahead.others = Some((second, place));
        false
    }

    /// Returns the head buffered first among those that may leave by `now`, and the earliest time
    /// at which any head may leave.
    #[inline]
    pub fn first(&self, now: Time, possible: impl Fn(&Waiting) -> Time) -> (Option<Head>, Time) {
        let mut first = None;
        let mut lowest = u64::MAX;
        let mut earliest = Time::NEVER;
        for (place, Occupied { first: head, .. }) in self.occupied.iter().enumerate() {
            let time = possible(head);
            earliest = earliest.min(time);
            if time <= now && head.number < lowest {
                lowest = head.number;
                first = Some(Head(place));
            }
        }
        (first, earliest)
    }

    /// Removes the head of a queue.
    #[inline]
    pub fn take(&mut self, head: Head) -> Waiting {
        let occupied = &mut self.occupied[head.0];
        let Some((second, last)) = occupied.others else {
            return self.occupied.swap_remove(head.0).first;
        };
        let Behind { waiting, next } = self.behind.remove(second);
        occupied.others = next.map(|next| (next, last));
        std::mem::replace(&mut occupied.first, waiting)
    }
}
