//! A timer of one endpoint (retransmission, delayed acknowledgement, pacing): a
//! deadline that moves, and at most one event in the agenda that counts.

use lightburst_des::{Agenda, Time};
use lightburst_net::{Effects, Event};

/// A timer of one endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    deadline: Time,
    /// Time of the pending event; an event at another time is stale.
    armed: Time,
}

impl Default for Timer {
    fn default() -> Self {
        Timer {
            deadline: Time::NEVER,
            armed: Time::NEVER,
        }
    }
}

impl Timer {
    /// Whether a deadline is set.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.deadline != Time::NEVER
    }

    /// Sets the deadline.
    #[inline]
    pub fn set<A: Agenda<Event>>(&mut self, deadline: Time, token: u64, fx: &mut Effects<'_, A>) {
        self.deadline = deadline;
        if self.armed > deadline {
            self.armed = deadline;
            fx.timer(deadline, token);
        }
    }

    /// Takes the deadline away; the pending event will find nothing to do.
    #[inline]
    pub fn clear(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// Whether the deadline is reached, at an event of this timer.
    #[inline]
    pub fn expired<A: Agenda<Event>>(&mut self, token: u64, fx: &mut Effects<'_, A>) -> bool {
        if self.armed != fx.now() {
            return false;
        }
        self.armed = Time::NEVER;
        // Not yet, or never: then nothing is armed.
        if self.deadline > fx.now() {
            self.set(self.deadline, token, fx);
            return false;
        }
        self.clear();
        true
    }
}
