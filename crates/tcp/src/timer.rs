//! A timer of one endpoint (retransmission, delayed acknowledgement, pacing): a
//! deadline that moves, and at most one event that is pending and counts.

use crate::segment::Endpoint;
use lightburst_des::Time;

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
    pub fn set(&mut self, deadline: Time, kind: u8, end: &mut Endpoint<'_, '_>) {
        self.deadline = deadline;
        if self.armed > deadline {
            self.armed = deadline;
            end.timer(deadline, kind);
        }
    }

    /// Takes the deadline away; the pending event will find nothing to do.
    #[inline]
    pub fn clear(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// Whether the deadline is reached, at an event of this timer.
    #[inline]
    pub fn expired(&mut self, kind: u8, end: &mut Endpoint<'_, '_>) -> bool {
        if self.armed != end.now() {
            return false;
        }
        self.armed = Time::NEVER;
        // Not yet, or never: then nothing is armed.
        if self.deadline > end.now() {
            self.set(self.deadline, kind, end);
            return false;
        }
        self.clear();
        true
    }
}
