//! One hop: a unit waits for a circuit to its own rack.

use super::{Circuit, Forwarding, Reach};

/// A queue for each rack.
pub struct Direct {
    pub racks: usize,
}

impl Forwarding for Direct {
    fn queues(&self) -> usize {
        self.racks
    }

    fn queue(&self, rack: usize, _relayed: bool, _short: bool) -> usize {
        rack
    }

    fn reach(&self, queue: usize) -> Reach {
        Reach::To(queue)
    }

    fn choose(&self, circuit: Circuit, is_ready: &dyn Fn(usize) -> bool) -> Option<usize> {
        is_ready(circuit.to).then_some(circuit.to)
    }
}
