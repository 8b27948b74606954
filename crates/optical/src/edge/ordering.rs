//! Ordering of the bursts between two edges that use several paths: bursts are held at the ingress
//! or at the egress.

use crate::settings::duration;
use lightburst_des::{Duration, Time};
use lightburst_net::{Bundle, BurstId};
use serde::Deserialize;
use std::collections::{BTreeMap, VecDeque};

/// Method that keeps bursts in order.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ordering {
    /// Bursts are not kept in order.
    #[default]
    None,
    /// The ingress holds a burst so that its last bit does not arrive before that of the previous
    /// burst (Komatireddy, Charbonneau and Vokkarane 2009, section 4).
    Source,
    /// The egress holds a burst until all earlier bursts have arrived.
    Destination {
        /// Longest holding time.
        #[serde(rename = "hold_back_ps", deserialize_with = "duration")]
        hold_back: Duration,
    },
}

/// Burst that has been assembled, but not sent.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    /// Identifier of the burst.
    pub burst: BurstId,
    /// Description of its packets.
    pub bundle: Bundle,
    /// Time of assembly.
    pub since: Time,
}

/// Path and travel times of a burst to its egress, if it need not wait on the way.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// Label of its path.
    pub label: u8,
    /// Whether the path has only one port at each node.
    pub single: bool,
    /// Time from the departure of the head to the arrival of the first bit at the egress.
    pub first_bit: Duration,
    /// Time from the departure of the head to the arrival of the last bit at the egress.
    pub last_bit: Duration,
}

/// Bursts for one egress at their ingress.
#[derive(Debug, Default)]
pub struct Departures {
    /// Held bursts, in order of assembly.
    pub held: VecDeque<Made>,
    /// The last burst that was sent.
    last: Option<Sent>,
}

/// Burst that has been sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    label: u8,
    /// Arrival time of its last bit at the egress.
    last_bit: Time,
    /// Whether its header left without waiting, so that no later header overtakes it.
    at_once: bool,
}

impl Departures {
    /// Records a burst that has been sent and whose head leaves at `head`. `at_once` says whether
    /// its header left without waiting.
    pub fn sent(&mut self, flight: &Flight, head: Time, at_once: bool) {
        self.last = Some(Sent {
            label: flight.label,
            last_bit: head + flight.last_bit,
            at_once,
        });
    }

    /// Returns the earliest departure time for the head of a burst.
    pub fn due(&self, flight: &Flight) -> Time {
        let (after, way) = match self.last {
            None => return Time::ZERO,
            // Another path (section 4): the first bit must not reach the egress before the last bit
            // of the previous burst. That burst has then also left every node that both paths
            // share.
            Some(sent) if sent.label != flight.label => (sent.last_bit.0, flight.first_bit),
            // Same path: the last bits must arrive in order. Equal times are enough if both headers
            // take the same ports without waiting, because then the headers arrive in order.
            Some(sent) => {
                let same = flight.single && sent.at_once;
                (sent.last_bit.0 + u64::from(!same), flight.last_bit)
            }
        };
        Time(after.saturating_sub(way.0))
    }
}

/// Bursts from one ingress at their egress.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// Sequence number of the next burst in order.
    next: u32,
    /// Bursts that wait for earlier ones, by sequence number, with the start of their wait.
    held: BTreeMap<u32, (BurstId, Time)>,
}

impl Arrivals {
    /// Whether a burst must wait for earlier ones.
    pub fn is_early(&self, sequence: u32) -> bool {
        sequence > self.next
    }

    /// Holds a burst from `now` on.
    pub fn hold(&mut self, sequence: u32, burst: BurstId, now: Time) {
        self.held.insert(sequence, (burst, now));
    }

    /// Records that a burst is disassembled.
    pub fn take(&mut self, sequence: u32) {
        self.next = self.next.max(sequence + 1);
    }

    /// Stops waiting for all bursts that precede a burst held since `since` or longer. Returns
    /// whether there is such a burst.
    pub fn give_up(&mut self, since: Time) -> bool {
        let mut held = self.held.iter().rev();
        let last = held.find(|(_, (_, came))| *came <= since);
        let last = last.map(|(sequence, _)| *sequence);
        self.next = self.next.max(last.unwrap_or(0));
        last.is_some()
    }

    /// Removes the next burst that need not wait, with the start of its wait.
    pub fn ready(&mut self) -> Option<(BurstId, Time)> {
        let first = self.held.first_entry();
        let first = first.filter(|first| *first.key() <= self.next)?;
        self.next = self.next.max(first.key() + 1);
        Some(first.remove())
    }
}
