//! The event loop.

use crate::queue::{Entry, Event, EventQueue, Layout, Next, Ties, Wheel};
use crate::Time;

/// A simulated system: the state that its events change.
pub trait Model {
    /// Type of the events; it should be small, since events are copied.
    type Event: Event;

    /// Handles `event`, whose time is `agenda.now()`, and schedules the events that follow from
    /// it.
    fn handle(&mut self, event: Self::Event, agenda: &mut Agenda<Self::Event>);

    /// Asks the processor for memory that an event pending at `time` will need. There are [`STAGES`] stages,
    /// each some time after the one before, so that it can read what that has asked for. The event
    /// may be handled later than others that are not known yet, so this is a hint and no more.
    ///
    /// [`STAGES`]: crate::queue::STAGES
    fn prepare(&self, _event: Self::Event, _time: Time, _stage: usize) {}
}

/// Present time of the simulation and the queue of pending events.
pub struct Agenda<E: Event> {
    now: Time,
    queue: Wheel<E>,
}

impl<E: Event> Agenda<E> {
    /// Returns the present time of the simulation.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Lets the time pass up to `time`, at which something happens that is no event. No pending event
    /// may be earlier.
    pub fn pass(&mut self, time: Time) {
        assert!(time >= self.now, "time went back");
        self.now = time;
    }

    /// Returns the number of pending events.
    pub fn pending(&self) -> usize {
        self.queue.len()
    }

    /// Schedules an event at `time`, which must not lie in the past.
    #[inline(always)]
    pub fn push(&mut self, time: Time, event: E) {
        debug_assert!(time >= self.now, "an event was put into the past");
        self.queue.push(Entry { time, event });
    }
}

/// Reason why [`Simulator::run`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No event is pending.
    Drained,
    /// The next event, at this time, lies after the limit; the run can be continued.
    Later(Time),
    /// The requested number of events was handled; the run can be continued.
    Paused,
}

/// A model, its agenda, and the number of events handled so far.
pub struct Simulator<M: Model> {
    /// The simulated system.
    pub model: M,
    /// Present time and pending events.
    pub agenda: Agenda<M::Event>,
    events: u64,
}

impl<M: Model> Simulator<M> {
    /// Creates a simulation at time zero and reserves memory for `pending` events.
    pub fn new(model: M, ties: Ties, pending: usize) -> Self {
        let mut queue = Wheel::new(ties);
        queue.reserve(pending);
        let agenda = Agenda {
            now: Time::ZERO,
            queue,
        };
        Simulator {
            model,
            agenda,
            events: 0,
        }
    }

    /// Sets the queue of pending events to use, which does not affect their order. For tests.
    pub fn lay_out(&mut self, layout: Layout) {
        self.agenda.queue.lay_out(layout);
    }

    /// Returns the number of events handled so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Handles events up to and including time `limit`, at most `events` of them.
    pub fn run(&mut self, limit: Time, events: u64) -> Stop {
        let end = self.events.saturating_add(events);
        while self.events < end {
            let Some(entry) = self.agenda.queue.take_ready() else {
                if self.prepare() {
                    continue;
                }
                return Stop::Drained;
            };
            if entry.time > limit {
                self.agenda.queue.push(entry);
                return Stop::Later(entry.time);
            }
            self.handle(entry);
        }
        Stop::Paused
    }

    /// Handles the next event.
    #[inline(always)]
    fn handle(&mut self, entry: Entry<M::Event>) {
        assert!(entry.time >= self.agenda.now, "time went back");
        self.agenda.now = entry.time;
        self.events += 1;
        self.model.handle(entry.event, &mut self.agenda);
    }

    /// Makes the next events ready. Returns whether there are any.
    #[inline(always)]
    fn prepare(&mut self) -> bool {
        let model = &self.model;
        let hint = |it: Entry<_>, stage| model.prepare(it.event, it.time, stage);
        self.agenda.queue.prepare(hint)
    }

    /// Handles all events up to and including time `last`; those that are put in between two calls
    /// must lie after it. Returns a time before which no event is pending; `None` if none is.
    pub fn run_window(&mut self, last: Time) -> Option<Time> {
        loop {
            match self.agenda.queue.take_by(last) {
                Next::Due(entry) => self.handle(entry),
                Next::Later(time) => return Some(time),
                Next::Unready if self.prepare() => {}
                Next::Unready => return None,
            }
        }
    }
}
