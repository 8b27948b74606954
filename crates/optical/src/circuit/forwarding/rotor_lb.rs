//! One hop, and two hops where circuits have time left (the essence of RotorLB, Mellette et al. 2017,
//! without its offers): a circuit serves first the units on their second hop, then the own units for
//! its rack, then own units for other racks.

use super::{Circuit, Forwarding, Reach};
use crate::circuit::occupied::Occupied;

/// For each rack a queue with the units of the own hosts, and after these one for each rack with the
/// units that other racks have sent.
pub struct RotorLb {
    racks: usize,
    /// Queues of own units, which take turns on circuits to other racks with time left.
    occupied: Occupied,
}

impl RotorLb {
    /// Creates the policy of a rack without units.
    pub fn new(racks: usize) -> RotorLb {
        RotorLb {
            racks,
            occupied: Occupied::new(racks),
        }
    }
}

impl Forwarding for RotorLb {
    fn queues(&self) -> usize {
        2 * self.racks
    }

    fn queue(&self, rack: usize, relayed: bool, _short: bool) -> usize {
        rack + if relayed { self.racks } else { 0 }
    }

    fn reach(&self, queue: usize) -> Reach {
        match queue.checked_sub(self.racks) {
            Some(rack) => Reach::To(rack),
            None => Reach::Any,
        }
    }

    fn choose(&self, circuit: Circuit, is_ready: &dyn Fn(usize) -> bool) -> Option<usize> {
        let others = self.occupied.round();
        let mut queues = [self.racks + circuit.to, circuit.to]
            .into_iter()
            .chain(others);
        queues.find(|&queue| is_ready(queue))
    }

    fn filled(&mut self, queue: usize) {
        self.occupied.add(queue);
    }

    fn emptied(&mut self, queue: usize) {
        self.occupied.remove(queue);
    }

    fn served(&mut self, rack: usize, queue: usize) {
        if queue != rack {
            self.occupied.served(queue);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_have_turns_and_the_rack_of_the_circuit_goes_first() {
        let mut policy = RotorLb::new(130);
        [0, 5, 64, 129, 130 + 7]
            .into_iter()
            .for_each(|queue| policy.filled(queue));
        let mut order = |rack: usize, but: &[usize]| {
            let ready =
                |queue: usize| [0, 5, 64, 129, 137].contains(&queue) && !but.contains(&queue);
            let queue = policy.choose(Circuit { to: rack, at: 0 }, &ready);
            queue
                .into_iter()
                .for_each(|queue| policy.served(rack, queue));
            queue
        };
        // On its second hop, then for the rack itself.
        assert_eq!(order(7, &[]), Some(137));
        assert_eq!(order(64, &[]), Some(64));
        // Others in turn.
        assert_eq!(order(7, &[137]), Some(0));
        assert_eq!(order(8, &[]), Some(5));
        assert_eq!(order(8, &[]), Some(64));
        assert_eq!(order(8, &[]), Some(129));
        assert_eq!(order(8, &[]), Some(0));
        policy.emptied(5);
        assert_eq!(
            policy.choose(Circuit { to: 8, at: 0 }, &|queue| [0, 5].contains(&queue)),
            Some(0)
        );
    }
}
