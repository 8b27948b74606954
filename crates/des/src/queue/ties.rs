//! The order of events at one instant. It follows from what they are, and not from what
//! happened before: two events of different nodes never need to know of each other.

use crate::{mix, Stream, Time};
use std::cmp::Ordering;

/// At one instant the first class comes before the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Something arrives.
    Arrival,
    /// A timer expires.
    Timer,
}

/// What can be scheduled. Two events of one time, class, place, subject and kind are equal.
pub trait Event: Copy {
    /// Its class.
    fn class(self) -> Class;
    /// The node that handles it.
    fn node(self) -> u32;
    /// Where it happens: the link of an arrival, the node of a timer.
    fn place(self) -> u32;
    /// What it is about, among the events of its class at its place.
    fn subject(self) -> u32;
    /// Its kind, among the events about its subject.
    fn kind(self) -> u8;
}

/// In which order the simultaneous events of different nodes come.
#[derive(Clone, Copy, Debug)]
enum Nodes {
    /// As those of one node do.
    Drawn,
    /// The node with the lower number first, which needs no hash.
    Numbered,
    /// For tests: drawn anew for each value.
    Shuffled(u64),
}

/// The order of simultaneous events: (class, rank of the place, rank of the subject, kind).
///
/// A rank is a hash of the run's seed, the time and the number of the place or subject. So
/// nobody is favoured by a low number, and the order is the same in every execution.
#[derive(Clone, Copy, Debug)]
pub struct Ties {
    salt: u64,
    nodes: Nodes,
    /// The bits of a node's number that decide between simultaneous events: all, or none.
    deciding: u32,
}

impl Ties {
    /// The order in the run with this `seed`. With a `shuffle`, which is for tests, the events
    /// of different nodes come in another order, one for each value; those of one node do not.
    pub fn new(seed: u64, shuffle: Option<u64>) -> Ties {
        Ties {
            salt: Stream::new(seed, "ties").next_u64(),
            nodes: shuffle.map_or(Nodes::Drawn, Nodes::Shuffled),
            deciding: 0,
        }
    }

    /// The same for nodes that share nothing. Then no result hangs on the order of the events of
    /// different nodes, and it is the one that is found fastest.
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

    /// Of simultaneous events the one with the lowest number comes first; between those of one number
    /// [`Ties::precedes`] decides.
    #[inline(always)]
    pub(super) fn by_node<E: Event>(&self, event: E) -> u64 {
        u64::from(event.node() & self.deciding)
    }

    /// Whether one of two events at `time` comes before the other. Most events have their instant
    /// to themselves, and run faster if what is done for the others is not among their code.
    #[cold]
    #[inline(never)]
    pub fn precedes<E: Event>(&self, time: Time, a: E, b: E) -> bool {
        self.order(time, a, b).is_lt()
    }

    /// The order of two events at `time`.
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

    /// The order of two events of one class.
    #[inline]
    fn drawn<E: Event>(&self, time: Time, a: E, b: E) -> Ordering {
        let place = |event: E| self.rank(time, event.place());
        let subject = |event: E| self.rank_at(time, event.place(), event.subject());
        let by_place = place(a).cmp(&place(b));
        by_place
            .then_with(|| subject(a).cmp(&subject(b)))
            .then_with(|| a.kind().cmp(&b.kind()))
    }

    /// The rank of a place at `time`.
    #[inline]
    pub fn rank(&self, time: Time, place: u32) -> u64 {
        rank(mix(self.salt ^ time.0), place)
    }

    /// The rank of a subject at `time`, among those of a place.
    #[inline]
    pub fn rank_at(&self, time: Time, place: u32, subject: u32) -> u64 {
        rank(self.rank(time, place), subject)
    }
}

/// Different numbers have different ranks, since [`mix`] is a bijection.
#[inline]
fn rank(salt: u64, number: u32) -> u64 {
    mix(salt ^ u64::from(number))
}
