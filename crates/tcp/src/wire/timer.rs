//! A timer of one endpoint (retransmission, delayed acknowledgement, pacing) whose deadline can be
//! moved. At most one pending event of the queue is valid.

use crate::wire::host_timer::HostTimer;
use crate::wire::segment::Endpoint;
use lightburst_des::Time;

/// A timer with a movable deadline.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    deadline: Time,
    /// Time of the valid pending event; events at other times are stale. [`Time::NEVER`] if there
    /// is none.
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
    /// Returns whether a deadline is set.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.deadline != Time::NEVER
    }

    /// Sets the deadline. A new event is scheduled only if the pending one would be too late.
    #[inline]
    pub fn set(&mut self, deadline: Time, kind: HostTimer, end: &mut Endpoint<'_, '_>) {
        self.deadline = deadline;
        if self.armed > deadline {
            self.armed = deadline;
            end.timer(deadline, kind);
        }
    }

    /// Removes the deadline; the pending event will have no effect.
    #[inline]
    pub fn clear(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// Handles an event of this timer; returns whether the deadline is reached.
    #[inline]
    pub fn expired(&mut self, kind: HostTimer, end: &mut Endpoint<'_, '_>) -> bool {
        if self.armed != end.now() {
            return false;
        }
        self.armed = Time::NEVER;
        // The deadline was moved or removed. If it was moved, the timer is armed again.
        if self.deadline > end.now() {
            self.set(self.deadline, kind, end);
            return false;
        }
        self.clear();
        true
    }
}
