//! Two hops (Valiant 1982, as Sirius has it): a unit takes whatever circuit is open, and waits at the
//! rack where that one leads for a circuit to its own rack. It has one hop if that rack is its own.

use super::{Circuit, Forwarding, Reach};

/// A queue for each rack with the units that other racks have sent, and behind them one queue with
/// the units of the own hosts.
pub struct Valiant {
    pub racks: usize,
}

impl Forwarding for Valiant {
    fn queues(&self) -> usize {
        self.racks + 1
    }

    fn queue(&self, rack: usize, relayed: bool, _short: bool) -> usize {
        if relayed {
            rack
        } else {
            self.racks
        }
    }

    fn reach(&self, queue: usize) -> Reach {
        match queue == self.racks {
            true => Reach::Any,
            false => Reach::To(queue),
        }
    }

    fn choose(&self, circuit: Circuit, is_ready: &dyn Fn(usize) -> bool) -> Option<usize> {
        // Units on their second hop go first, so that the network empties.
        let mut queues = [circuit.to, self.racks].into_iter();
        queues.find(|&queue| is_ready(queue))
    }
}
