//! Events of a queue window by window, for a part of a network: an event from another part may come
//! between two windows, before the next pending event.

use super::{Entry, Event, EventQueue, Wheel};
use crate::Time;

/// Next event of a queue in a window.
#[derive(Clone, Copy, Debug)]
pub enum Next<E> {
    /// An event in the window.
    Due(Entry<E>),
    /// No event in the window; none is pending before this time.
    Later(Time),
    /// No event is pending, or [`Wheel::prepare`] must come first.
    Unready,
}

impl<E: Event> Wheel<E> {
    /// Takes the next event of a window that ends at `last`. The slot under the cursor begins in the
    /// window, so that events which are inserted after it never move the cursor back.
    #[inline(always)]
    pub fn take_by(&mut self, last: Time) -> Next<E> {
        if let Some(begin) = self.begin_of_next_slot() {
            if begin > last {
                return Next::Later(begin);
            }
        }
        match self.take_ready() {
            None => Next::Unready,
            Some(entry) if entry.time > last => {
                self.push(entry);
                Next::Later(entry.time)
            }
            Some(entry) => Next::Due(entry),
        }
    }
}
