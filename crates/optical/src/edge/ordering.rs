//! How the bursts from one edge to another are kept in their order though they take several paths:
//! they wait where they begin, or where they end.

use crate::settings::duration;
use lightburst_des::{Duration, Time};
use lightburst_net::{Bundle, BurstId};
use serde::Deserialize;
use std::collections::{BTreeMap, VecDeque};

/// Who keeps bursts in order.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ordering {
    /// Nobody.
    #[default]
    None,
    /// The ingress: it holds a burst until its last bit does not come before that of the burst
    /// before (Komatireddy, Charbonneau and Vokkarane 2009, section 4).
    Source,
    /// The egress: it holds a burst until those before have come.
    Destination {
        /// But no longer than this.
        #[serde(rename = "hold_back_ps", deserialize_with = "duration")]
        hold_back: Duration,
    },
}

/// A burst that has not left yet.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    /// Which.
    pub burst: BurstId,
    /// What is in it.
    pub bundle: Bundle,
    /// Since when.
    pub since: Time,
}

/// The way of a burst to its egress, if nothing holds it up.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// The label of its path.
    pub label: u8,
    /// Whether it has but one port at each node.
    pub single: bool,
    /// How long after its head has left its first bit is at the egress.
    pub first_bit: Duration,
    /// How long after its head has left its last bit is there.
    pub last_bit: Duration,
}

/// The bursts for one egress at their ingress.
#[derive(Debug, Default)]
pub struct Departures {
    /// Those that are held, first in, first out.
    pub held: VecDeque<Made>,
    /// The last one that was sent.
    last: Option<Sent>,
}

/// A burst that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    label: u8,
    /// When its last bit is at the egress.
    last_bit: Time,
    /// Whether nothing kept its header, so that none overtakes it.
    at_once: bool,
}

impl Departures {
    /// A burst is sent, whose head leaves at some time, or as soon as it can.
    pub fn sent(&mut self, flight: &Flight, head: Time, at_once: bool) {
        self.last = Some(Sent {
            label: flight.label,
            last_bit: head + flight.last_bit,
            at_once,
        });
    }

    /// When the head of a burst may leave, at the earliest.
    pub fn due(&self, flight: &Flight) -> Time {
        let (after, way) = match self.last {
            None => return Time::ZERO,
            // Section 4: it does not reach the egress before the last one on the other path. Where
            // the paths meet it finds that one gone.
            Some(sent) if sent.label != flight.label => (sent.last_bit.0, flight.first_bit),
            // Of two at one instant the one comes first whose header does, if both took one way.
            Some(sent) => {
                let same = flight.single && sent.at_once;
                (sent.last_bit.0 + u64::from(!same), flight.last_bit)
            }
        };
        Time(after.saturating_sub(way.0))
    }
}

/// The bursts from one ingress at their egress.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// The number of the next one.
    next: u32,
    /// Those that are held for want of earlier ones, and since when.
    held: BTreeMap<u32, (BurstId, Time)>,
}

impl Arrivals {
    /// Whether a burst must wait for others.
    pub fn is_early(&self, sequence: u32) -> bool {
        sequence > self.next
    }

    /// A burst waits from now on.
    pub fn hold(&mut self, sequence: u32, burst: BurstId, now: Time) {
        self.held.insert(sequence, (burst, now));
    }

    /// A burst is taken apart.
    pub fn take(&mut self, sequence: u32) {
        self.next = self.next.max(sequence + 1);
    }

    /// Those are not waited for any more without which a burst waits since `since` or longer; says
    /// whether there is such a burst.
    pub fn give_up(&mut self, since: Time) -> bool {
        let mut held = self.held.iter().rev();
        let last = held.find(|(_, (_, came))| *came <= since);
        let last = last.map(|(sequence, _)| *sequence);
        self.next = self.next.max(last.unwrap_or(0));
        last.is_some()
    }

    /// The next burst that waits for nothing, and since when it was held.
    pub fn ready(&mut self) -> Option<(BurstId, Time)> {
        let first = self.held.first_entry();
        let first = first.filter(|first| *first.key() <= self.next)?;
        self.next = self.next.max(first.key() + 1);
        Some(first.remove())
    }
}
