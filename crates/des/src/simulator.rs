//! The run loop.

use crate::agenda::{Agenda, Class, Entry, Order, Sequence};
use crate::Time;

/// What happens at an event; everything else is the simulator's.
pub trait Model<A: Agenda<Self::Event>> {
    /// One kind of event, small and `Copy`.
    type Event: Copy;

    /// Handles `event` at the present time of the calendar.
    fn handle(&mut self, event: Self::Event, calendar: &mut Calendar<Self::Event, A>);
}

/// The present time and what is still to come.
pub struct Calendar<E: Copy, A: Agenda<E>> {
    now: Time,
    agenda: A,
    sequence: Sequence,
    event: std::marker::PhantomData<E>,
}

impl<E: Copy, A: Agenda<E>> Calendar<E, A> {
    /// The present time.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The number of events that are still to come.
    pub fn pending(&self) -> usize {
        self.agenda.len()
    }

    /// Takes the next place in the sequence of causes.
    #[inline]
    pub fn order(&mut self, class: Class) -> Order {
        self.sequence.next(class)
    }

    /// Adds an event with a place taken earlier.
    #[inline(always)]
    pub fn push(&mut self, time: Time, order: Order, event: E) {
        debug_assert!(time >= self.now, "an event was put into the past");
        self.agenda.push(Entry { time, order, event });
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

/// A model, its calendar and the number of events handled.
pub struct Simulator<M: Model<A>, A: Agenda<M::Event>> {
    /// The model.
    pub model: M,
    /// Its calendar.
    pub calendar: Calendar<M::Event, A>,
    events: u64,
}

impl<M: Model<A>, A: Agenda<M::Event>> Simulator<M, A> {
    /// A simulation at time zero, with room for `pending` events.
    pub fn new(model: M, pending: usize) -> Self {
        let mut agenda = A::default();
        agenda.reserve(pending);
        let calendar = Calendar {
            now: Time::ZERO,
            agenda,
            sequence: Sequence::default(),
            event: std::marker::PhantomData,
        };
        Simulator {
            model,
            calendar,
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
            let Some(entry) = self.calendar.agenda.pop() else {
                return Stop::Drained;
            };
            if entry.time > limit {
                self.calendar.agenda.push(entry);
                return Stop::Later(entry.time);
            }
            assert!(entry.time >= self.calendar.now, "time went back");
            self.calendar.now = entry.time;
            self.events += 1;
            self.model.handle(entry.event, &mut self.calendar);
        }
        Stop::Paused
    }
}
