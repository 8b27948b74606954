//! The run loop.

use crate::queue::{Entry, Event, EventQueue, Ties, Wheel};
use crate::Time;

/// What happens at an event; everything else is the simulator's.
pub trait Model {
    /// One kind of event, small and `Copy`.
    type Event: Event;

    /// Handles `event` at the present time of the scheduler.
    fn handle(&mut self, event: Self::Event, scheduler: &mut Scheduler<Self::Event>);
}

/// The present time and what is still to come.
pub struct Scheduler<E: Event> {
    now: Time,
    queue: Wheel<E>,
}

impl<E: Event> Scheduler<E> {
    /// The present time.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The number of events that are still to come.
    pub fn pending(&self) -> usize {
        self.queue.len()
    }

    /// Adds an event.
    #[inline(always)]
    pub fn push(&mut self, time: Time, event: E) {
        debug_assert!(time >= self.now, "an event was put into the past");
        self.queue.push(Entry { time, event });
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Nothing is pending.
    Drained,
    /// The next event lies after the limit, at this time; the run can go on.
    Later(Time),
    /// The number of events asked for was handled; the run can go on.
    Paused,
}

/// A model, its scheduler and the number of events handled.
pub struct Simulator<M: Model> {
    /// The model.
    pub model: M,
    /// Its scheduler.
    pub scheduler: Scheduler<M::Event>,
    events: u64,
}

impl<M: Model> Simulator<M> {
    /// A simulation at time zero, with room for `pending` events.
    pub fn new(model: M, ties: Ties, pending: usize) -> Self {
        let mut queue = Wheel::new(ties);
        queue.reserve(pending);
        let scheduler = Scheduler {
            now: Time::ZERO,
            queue,
        };
        Simulator {
            model,
            scheduler,
            events: 0,
        }
    }

    /// The number of events handled.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Handles at most `events` events that lie not after `limit`.
    pub fn run(&mut self, limit: Time, events: u64) -> Stop {
        let end = self.events.saturating_add(events);
        while self.events < end {
            let Some(entry) = self.scheduler.queue.pop() else {
                return Stop::Drained;
            };
            if entry.time > limit {
                self.scheduler.queue.push(entry);
                return Stop::Later(entry.time);
            }
            assert!(entry.time >= self.scheduler.now, "time went back");
            self.scheduler.now = entry.time;
            self.events += 1;
            self.model.handle(entry.event, &mut self.scheduler);
        }
        Stop::Paused
    }
}
