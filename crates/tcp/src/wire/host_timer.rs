//! Timers of a host.

use lightburst_net::{FlowId, TimerId};

/// Timer of a host. The numbers belong to the model: they order the timers of a flow that expire at
/// the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum HostTimer {
    /// Start of a flow.
    Start = 0,
    /// Sender: retransmission timer, or the departure of the next datagram.
    Sender = 1,
    /// Receiver: retransmission timer of SYN+ACK and FIN+ACK.
    Receiver = 2,
    /// Sender: pacing permits the next segment.
    Pacing = 3,
    /// Receiver: a delayed acknowledgement is due.
    Delay = 4,
    /// Fair interface: the next segment may be sent. The network handles this timer.
    Departure = TimerId::DEPARTURE.kind,
    /// Sender: the application writes the next part of its data.
    Write = 6,
    /// A join begins whose processor was busy. Its subject is the join, as of the two below.
    JoinBegin = 7,
    /// A join hands its flows to its interface.
    HandOver = 8,
    /// A join ends.
    JoinEnd = 9,
    /// The pull queue of a host may send its next pull. Its subject is 0.
    Pull = 10,
    /// A receive has taken a message: a send of this host may end. Its subject is the join that
    /// waits for it.
    Taken = 11,
}

impl HostTimer {
    /// All timers, in the order of their numbers.
    const ALL: [HostTimer; 12] = [
        HostTimer::Start,
        HostTimer::Sender,
        HostTimer::Receiver,
        HostTimer::Pacing,
        HostTimer::Delay,
        HostTimer::Departure,
        HostTimer::Write,
        HostTimer::JoinBegin,
        HostTimer::HandOver,
        HostTimer::JoinEnd,
        HostTimer::Pull,
        HostTimer::Taken,
    ];

    /// Returns the timer with this identifier; panics if a host has no such timer.
    #[inline]
    pub fn of(timer_id: TimerId) -> HostTimer {
        HostTimer::ALL[usize::from(timer_id.kind)]
    }

    /// Returns the identifier of this timer of a flow.
    #[inline]
    pub fn id(self, flow: FlowId) -> TimerId {
        TimerId {
            kind: self as u8,
            subject: flow.0,
        }
    }

    /// Returns the identifier of this timer of a join.
    #[inline]
    pub fn of_join(self, join: u32) -> TimerId {
        TimerId {
            kind: self as u8,
            subject: join,
        }
    }
}

/// Returns the flow of a timer.
#[inline]
pub fn flow(timer_id: TimerId) -> FlowId {
    FlowId(timer_id.subject)
}

/// The timer of a host's pull queue.
pub const PULL: TimerId = TimerId {
    kind: HostTimer::Pull as u8,
    subject: 0,
};

/// Returns whether a timer is one of a join or of a pull queue, and not of a flow.
#[inline]
pub fn is_of_no_flow(timer_id: TimerId) -> bool {
    timer_id.kind >= HostTimer::JoinBegin as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_timer_is_found_by_its_number() {
        for timer in HostTimer::ALL {
            assert_eq!(HostTimer::of(timer.id(FlowId(7))), timer);
        }
    }
}
