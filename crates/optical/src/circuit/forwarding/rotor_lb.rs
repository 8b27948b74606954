//! One hop, and two hops where circuits have time left (the essence of RotorLB, Mellette et al. 2017,
//! without its offers): a circuit serves first the units on their second hop, then the own units for
//! its rack, then own units for other racks.

use super::{Forwarding, Reach};

/// For each rack a queue with the units of the own hosts, and after these one for each rack with the
/// units that other racks have sent.
pub struct RotorLb {
    pub racks: usize,
    /// Queue of own units for another rack that has the next turn on a circuit with time left.
    pub turn: usize,
}

impl Forwarding for RotorLb {
    fn queues(&self) -> usize {
        2 * self.racks
    }

    fn queue(&self, rack: usize, relayed: bool) -> usize {
        rack + if relayed { self.racks } else { 0 }
    }

    fn reach(&self, queue: usize) -> Reach {
        match queue.checked_sub(self.racks) {
            Some(rack) => Reach::To(rack),
            None => Reach::Any,
        }
    }

    fn choose(&self, rack: usize, is_ready: &dyn Fn(usize) -> bool) -> Option<usize> {
        let others = (self.turn..self.racks).chain(0..self.turn);
        let mut queues = [self.racks + rack, rack].into_iter().chain(others);
        queues.find(|&queue| is_ready(queue))
    }

    fn served(&mut self, rack: usize, queue: usize) {
        if queue < self.racks && queue != rack {
            self.turn = (queue + 1) % self.racks;
        }
    }
}
