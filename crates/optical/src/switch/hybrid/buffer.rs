//! The shared electronic buffer: one queue for each set of azimuths, first in,
//! first out.

use lightburst_des::Time;
use lightburst_net::{PortId, Route, UnitId};
use std::collections::VecDeque;

/// A unit in the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub unit: UnitId,
    /// The azimuths by which it may leave.
    pub azimuths: Route,
    /// When it may leave.
    pub ready: Time,
    /// Its number among the units that this switch has buffered.
    pub number: u64,
}

/// The place of a queue among those that hold something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head(usize);

/// The queues and which of them hold something.
pub(super) struct Buffer {
    /// First those of the sets, then those of single azimuths.
    queues: Vec<VecDeque<Waiting>>,
    sets: usize,
    occupied: Vec<usize>,
}

impl Buffer {
    pub fn new(sets: usize) -> Buffer {
        let queues = vec![VecDeque::new(); sets];
        Buffer {
            queues,
            sets,
            occupied: Vec::with_capacity(sets),
        }
    }

    /// The queue of a unit: that of its azimuth if it waits for one, else of its set.
    fn queue_of(&mut self, azimuths: Route, first: PortId) -> usize {
        if azimuths.len > 1 {
            return usize::from(azimuths.set);
        }
        let queue = self.sets + first.index();
        if queue >= self.queues.len() {
            self.queues.resize(queue + 1, VecDeque::new());
        }
        queue
    }

    /// Puts a unit at the end of its queue, of which `port` is the first azimuth;
    /// says whether it is the first there.
    pub fn push(&mut self, waiting: Waiting, port: PortId) -> bool {
        let queue = self.queue_of(waiting.azimuths, port);
        let first = self.queues[queue].is_empty();
        if first {
            self.occupied.push(queue);
        }
        self.queues[queue].push_back(waiting);
        first
    }

    /// Among the heads of the queues that may leave by `now`, the one buffered
    /// first; and the earliest time at which any of them may.
    #[inline]
    pub fn first(&self, now: Time, possible: impl Fn(&Waiting) -> Time) -> (Option<Head>, Time) {
        let mut first = None;
        let mut lowest = u64::MAX;
        let mut earliest = Time::NEVER;
        for (place, &queue) in self.occupied.iter().enumerate() {
            let head = &self.queues[queue][0];
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
        let queue = self.occupied[head.0];
        let waiting = self.queues[queue]
            .pop_front()
            .expect("an occupied queue has a head");
        if self.queues[queue].is_empty() {
            self.occupied.swap_remove(head.0);
        }
        waiting
    }
}
