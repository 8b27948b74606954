//! Forwarding among racks: the queues of a rack, and which of them a circuit serves. Each policy has
//! a file of its own and a line in [`REGISTRY`].

mod direct;
mod rotor_lb;
mod valiant;

/// Circuits that serve a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Those to one rack.
    To(usize),
    /// All.
    Any,
}

/// Forwarding policy of one rack.
pub trait Forwarding: Send {
    /// Returns the number of queues.
    fn queues(&self) -> usize;

    /// Returns the queue of a unit for another rack. `relayed`: a circuit has brought it.
    fn queue(&self, rack: usize, relayed: bool) -> usize;

    /// Returns which circuits serve a queue.
    fn reach(&self, queue: usize) -> Reach;

    /// Returns the first queue, in the order of the policy, that a circuit to a rack serves and that
    /// `is_ready`.
    fn choose(&self, rack: usize, is_ready: &dyn Fn(usize) -> bool) -> Option<usize>;

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
    /// Creates the policy of a rack, of so many racks.
    pub build: fn(usize) -> Box<dyn Forwarding>,
}

/// All policies. To add one, create a file and add a line here.
pub const REGISTRY: &[ForwardingKind] = &[
    ForwardingKind {
        name: "direct",
        by_rack: true,
        build: |racks| Box::new(direct::Direct { racks }),
    },
    ForwardingKind {
        name: "valiant",
        by_rack: false,
        build: |racks| Box::new(valiant::Valiant { racks }),
    },
    ForwardingKind {
        name: "rotor-lb",
        by_rack: false,
        build: |racks| Box::new(rotor_lb::RotorLb::new(racks)),
    },
];
