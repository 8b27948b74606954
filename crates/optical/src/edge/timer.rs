//! Timers of an edge.

use lightburst_net::TimerId;

/// Timer of an edge and its core. The numbers belong to the model: they order the timers of an edge
/// that expire at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EdgeTimer {
    /// Link: the tail of a burst has arrived over it.
    Tail = 0,
    /// First queue of a line: the assembly time of its burst is over.
    Assembly = 1,
    /// Port: a header whose burst was delayed at the ingress is due. The core handles this timer.
    Header = 2,
    /// Line: the first of its held bursts may be sent.
    Release = 3,
    /// Ingress and class: a burst from there has reached its longest holding time.
    HoldBack = 4,
    /// Flow: its next burst enters here. The network handles this timer.
    Entry = TimerId::ENTRY,
    /// Another queue of a line: as [`EdgeTimer::Assembly`].
    AssemblyOfOthers = 6,
}

impl EdgeTimer {
    /// All timers, in the order of their numbers.
    const ALL: [EdgeTimer; 7] = [
        EdgeTimer::Tail,
        EdgeTimer::Assembly,
        EdgeTimer::Header,
        EdgeTimer::Release,
        EdgeTimer::HoldBack,
        EdgeTimer::Entry,
        EdgeTimer::AssemblyOfOthers,
    ];

    /// Returns the timer with this identifier; panics if an edge has no such timer.
    #[inline]
    pub fn of(timer_id: TimerId) -> EdgeTimer {
        EdgeTimer::ALL[usize::from(timer_id.kind)]
    }

    /// Returns the identifier of this timer for a subject.
    #[inline]
    pub fn id(self, subject: u32) -> TimerId {
        TimerId {
            kind: self as u8,
            subject,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_timer_is_found_by_its_number() {
        for timer in EdgeTimer::ALL {
            assert_eq!(EdgeTimer::of(timer.id(7)), timer);
        }
    }
}
