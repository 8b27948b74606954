//! The shared electronic buffer: one queue for each set of next hops, first in, first out.

use lightburst_des::Time;
use lightburst_net::arena::Handle;
use lightburst_net::{Arena, PortId, Route, Unit};

/// A unit in the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub unit: Unit,
    /// The outputs by which it may leave.
    pub next_hops: Route,
    /// When it may leave.
    pub ready: Time,
    /// Its number among the units that this switch has buffered.
    pub number: u64,
}

/// The place of a queue among those that hold something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head(usize);

/// A queue that holds something. Most hold one unit, and only the first one is
/// looked at: it stands here, with those of the other queues.
struct Occupied {
    queue: usize,
    first: Waiting,
    /// The places of the second and the last unit; none if there is only one.
    others: Option<(Place, Place)>,
}

/// The place of a unit that is not the first of its queue.
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

/// A unit that is not the first of its queue, and the place of the next one.
#[derive(Clone, Copy)]
struct Behind {
    waiting: Waiting,
    next: Option<Place>,
}

/// The queues that hold something.
pub(super) struct Buffer {
    /// The queues of sets of several outputs are numbered by their set, below this; behind them
    /// come those of single outputs, by their port.
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

    /// The queue of a unit: that of its output if it waits for one, otherwise that of its set.
    fn queue_of(&self, next_hops: Route, first: PortId) -> usize {
        if next_hops.len > 1 {
            usize::from(next_hops.set)
        } else {
            self.sets + first.index()
        }
    }

    /// Puts a unit at the end of its queue; `port` is the first output by which it may leave.
    /// Says whether it is the first in the queue.
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

    /// Among the heads of the queues that may leave by `now`, the one buffered
    /// first; and the earliest time at which any of them may.
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

    /// Takes out the head of a queue.
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
