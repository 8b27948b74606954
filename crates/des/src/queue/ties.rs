//! Order of simultaneous events. It depends only on the events themselves and not on the history of
//! the run, so events of different nodes can be ordered without shared state.

use crate::{mix, Stream, Time};
use std::cmp::Ordering;

/// Class of an event; of simultaneous events, arrivals are handled before timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A unit arrives at a node.
    Arrival,
    /// A timer expires.
    Timer,
}

/// An event that can be scheduled. Two events with equal time, class, place, subject and kind are
/// interchangeable.
pub trait Event: Copy {
    /// Returns the class of the event.
    fn class(self) -> Class;
    /// Returns the node that handles the event.
    fn node(self) -> u32;
    /// Returns the number of the link for an arrival, or of the node for a timer.
    fn place(self) -> u32;
    /// Returns a number that identifies the subject of the event among the events of the same class
    /// and place; for a timer of a connection, the flow.
    fn subject(self) -> u32;
    /// Returns a number that distinguishes events about the same subject.
    fn kind(self) -> u8;
}

/// Rule that orders simultaneous events of different nodes.
#[derive(Clone, Copy, Debug)]
enum Nodes {
    /// By class and random rank, like the events of one node.
    Drawn,
    /// By the number of the node, lowest first; needs no hash.
    Numbered,
    /// By a random order of the nodes that depends on the value; used in tests.
    Shuffled(u64),
}

/// Order of simultaneous events: by class, rank of the place, rank of the subject, and kind.
///
/// A rank is a hash of the run's seed, the time, and the number of the place or subject. Low
/// numbers therefore have no advantage, and every run with the same seed has the same order.
#[derive(Clone, Copy, Debug)]
pub struct Ties {
    salt: u64,
    nodes: Nodes,
    /// Mask on the number of a node: all bits if the number decides ties, none otherwise.
    deciding: u32,
}

impl Ties {
    /// Creates the order for a run with this `seed`. A `shuffle`, used in tests, permutes the
    /// events of different nodes, each value in its own way; the order of the events at one node
    /// stays the same.
    pub fn new(seed: u64, shuffle: Option<u64>) -> Ties {
        Ties {
            salt: Stream::new(seed, "ties").next_u64(),
            nodes: shuffle.map_or(Nodes::Drawn, Nodes::Shuffled),
            deciding: 0,
        }
    }

    /// Returns a faster order for nodes that share no state. No result then depends on the order of
    /// events at different nodes, so these are ordered by the number of the node.
    pub fn of_separate_nodes(self) -> Ties {
        match self.nodes {
            Nodes::Shuffled(_) => self,
            Nodes::Drawn | Nodes::Numbered => Ties {
                nodes: Nodes::Numbered,
                deciding: u32::MAX,
                ..self
            },
        }
    }

    /// Returns the number that decides first between simultaneous events, the lowest first.
    /// [`Ties::precedes`] decides between events with equal numbers.
    #[inline(always)]
    pub(super) fn by_node<E: Event>(&self, event: E) -> u64 {
        u64::from(event.node() & self.deciding)
    }

    /// Returns whether event `a` precedes event `b`, both at `time`. Ties are rare; the function is
    /// not inlined because its code would slow down the common case.
    #[cold]
    #[inline(never)]
    pub fn precedes<E: Event>(&self, time: Time, a: E, b: E) -> bool {
        self.order(time, a, b).is_lt()
    }

    /// Compares two events at `time`.
    #[inline]
    pub fn order<E: Event>(&self, time: Time, a: E, b: E) -> Ordering {
        let (of_a, of_b) = (a.node(), b.node());
        match self.nodes {
            Nodes::Numbered if of_a != of_b => of_a.cmp(&of_b),
            Nodes::Shuffled(shuffle) if of_a != of_b => {
                let salt = mix(shuffle ^ time.0);
                rank(salt, of_a).cmp(&rank(salt, of_b))
            }
            _ => a
                .class()
                .cmp(&b.class())
                .then_with(|| self.drawn(time, a, b)),
        }
    }

    /// Compares two events of the same class by random ranks, then by kind.
    #[inline]
    fn drawn<E: Event>(&self, time: Time, a: E, b: E) -> Ordering {
        let place = |event: E| self.rank(time, event.place());
        let subject = |event: E| self.rank_at(time, event.place(), event.subject());
        let by_place = place(a).cmp(&place(b));
        by_place
            .then_with(|| subject(a).cmp(&subject(b)))
            .then_with(|| a.kind().cmp(&b.kind()))
    }

    /// Returns the rank of a place at `time`.
    #[inline]
    pub fn rank(&self, time: Time, place: u32) -> u64 {
        rank(mix(self.salt ^ time.0), place)
    }

    /// Returns the rank of a subject at `time` among the subjects at `place`.
    #[inline]
    pub fn rank_at(&self, time: Time, place: u32, subject: u32) -> u64 {
        rank(self.rank(time, place), subject)
    }
}

/// Hashes `number`. Different numbers have different ranks, since [`mix`] is a bijection.
#[inline]
fn rank(salt: u64, number: u32) -> u64 {
    mix(salt ^ u64::from(number))
}
