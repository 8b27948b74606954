//! The shared electronic buffer: one queue for each set of azimuths, first in,
//! first out.

use lightburst_des::{Agenda, Time};
use lightburst_net::{Effects, Event, PortId, Route, UnitId};
use std::collections::VecDeque;

/// A unit in the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub unit: UnitId,
    /// Its next hops.
    pub route: Route,
    /// The one of them that it waits for; none: for any.
    pub output: Option<PortId>,
    /// When it may leave.
    pub ready: Time,
    /// Its number among the units that this switch has buffered.
    pub number: u64,
}

impl Waiting {
    /// The azimuths by which it may leave.
    pub fn ports<'a, A: Agenda<Event>>(
        &self,
        fx: &'a Effects<'_, A>,
    ) -> impl Iterator<Item = PortId> + 'a {
        let any = if self.output.is_none() {
            fx.ports(self.route)
        } else {
            &[]
        };
        self.output.into_iter().chain(any.iter().copied())
    }
}

/// The queues and which of them hold something.
pub(super) struct Buffer {
    /// First those of the sets, then those of single ports.
    queues: Vec<VecDeque<Waiting>>,
    sets: usize,
    occupied: Vec<usize>,
    capacity: u64,
}

impl Buffer {
    pub fn new(sets: usize, capacity: Option<u64>) -> Buffer {
        Buffer {
            queues: vec![VecDeque::new(); sets],
            sets,
            occupied: Vec::with_capacity(sets),
            capacity: capacity.unwrap_or(u64::MAX),
        }
    }

    #[inline]
    pub fn has_room(&self, level: u64, bytes: u32) -> bool {
        level + u64::from(bytes) <= self.capacity
    }

    /// The queue of a unit: that of its port if it waits for one, else of its set.
    fn queue_of(&mut self, waiting: &Waiting) -> usize {
        let Some(port) = waiting.output else {
            return usize::from(waiting.route.set);
        };
        let queue = self.sets + port.index();
        if queue >= self.queues.len() {
            self.queues.resize(queue + 1, VecDeque::new());
        }
        queue
    }

    pub fn push(&mut self, waiting: Waiting) {
        let queue = self.queue_of(&waiting);
        if self.queues[queue].is_empty() {
            self.occupied.push(queue);
        }
        self.queues[queue].push_back(waiting);
    }

    /// The first unit of each queue that holds one.
    #[inline]
    pub fn heads(&self) -> impl Iterator<Item = &Waiting> {
        self.occupied.iter().map(|&queue| &self.queues[queue][0])
    }

    /// Takes out, among the heads that are eligible, the one buffered first.
    #[inline]
    pub fn pop_first(&mut self, eligible: impl Fn(&Waiting) -> bool) -> Option<Waiting> {
        let heads = self.heads().enumerate().filter(|(_, head)| eligible(head));
        let (at, _) = heads.min_by_key(|(_, head)| head.number)?;
        let queue = self.occupied[at];
        let first = self.queues[queue].pop_front();
        if self.queues[queue].is_empty() {
            self.occupied.swap_remove(at);
        }
        first
    }
}
