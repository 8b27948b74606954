//! Forwarding among racks: the queues of a rack, and which of them a circuit serves. Each policy has
//! a file of its own and a line in [`REGISTRY`].

mod direct;
mod opera;
mod rotor_lb;
mod valiant;

use super::graphs::Graphs;
use std::sync::Arc;

/// Circuits that serve a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Those to one rack.
    To(usize),
    /// All.
    Any,
    /// Those to a rack that is nearer now.
    Nearer,
}

/// A circuit, as a policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct Circuit {
    /// Rack to which it leads.
    pub to: usize,
    /// Time at the circuit switch.
    pub at: u64,
}

/// The rack of a policy.
pub struct Place<'a> {
    /// Its number.
    pub rack: usize,
    /// Number of racks.
    pub racks: usize,
    /// Distances of racks over the circuits of the present, if the policy needs them.
    pub graphs: Option<&'a Arc<Graphs>>,
}

/// Forwarding policy of one rack.
pub trait Forwarding: Send {
    /// Returns the number of queues.
    fn queues(&self) -> usize;

    /// Returns the queue of a unit for another rack. `relayed`: a circuit has brought it; `short`: it
    /// does not wait for a circuit to its rack.
    fn queue(&self, rack: usize, relayed: bool, short: bool) -> usize;

    /// Returns which circuits serve a queue.
    fn reach(&self, queue: usize) -> Reach;

    /// Returns the first queue, in the order of the policy, that a circuit serves and that
    /// `is_ready`.
    fn choose(&self, circuit: Circuit, is_ready: &dyn Fn(usize) -> bool) -> Option<usize>;

    /// Whether a circuit serves a queue with the reach [`Reach::Nearer`].
    fn leads_nearer(&self, _circuit: Circuit, _queue: usize) -> bool {
        unreachable!("only a policy with such queues")
    }

    /// Whether a queue with a unit has the reach [`Reach::Nearer`].
    fn is_by_graph(&self) -> bool {
        false
    }

    /// Learns that a queue, which was empty, has a unit.
    fn filled(&mut self, _queue: usize) {}

    /// Learns that a queue has no unit left.
    fn emptied(&mut self, _queue: usize) {}

    /// Learns that a circuit to a rack has served a queue.
    fn served(&mut self, _rack: usize, _queue: usize) {}
}

/// Registry entry of a policy.
#[derive(Clone, Copy, Debug)]
pub struct ForwardingKind {
    /// Name in the scenario.
    pub name: &'static str,
    /// Whether each queue has the number of the rack to which its circuits lead.
    pub by_rack: bool,
    /// Whether it needs distances over the circuits of the present.
    pub by_distance: bool,
    /// Creates the policy of a rack.
    pub build: fn(Place<'_>) -> Box<dyn Forwarding>,
}

/// All policies. To add one, create a file and add a line here.
pub const REGISTRY: &[ForwardingKind] = &[
    ForwardingKind {
        name: "direct",
        by_rack: true,
        by_distance: false,
        build: |place| Box::new(direct::Direct { racks: place.racks }),
    },
    ForwardingKind {
        name: "valiant",
        by_rack: false,
        by_distance: false,
        build: |place| Box::new(valiant::Valiant { racks: place.racks }),
    },
    ForwardingKind {
        name: "rotor-lb",
        by_rack: false,
        by_distance: false,
        build: |place| Box::new(rotor_lb::RotorLb::new(place.racks)),
    },
    ForwardingKind {
        name: "opera",
        by_rack: false,
        by_distance: true,
        build: |place| Box::new(opera::Opera::new(place)),
    },
];
