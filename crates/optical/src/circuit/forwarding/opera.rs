//! Short flows over the graph of the present circuits, hop by hop (Mellette et al.: Expanding across
//! time to deliver bandwidth efficiency and low latency. NSDI 2020); all others wait for a circuit to
//! their rack.

use super::{Circuit, Forwarding, Place, Reach};
use crate::circuit::graphs::Graphs;
use crate::circuit::occupied::Occupied;
use std::sync::Arc;

/// For each rack a queue with the units of short flows, and after these one for each rack with the
/// others.
pub struct Opera {
    racks: usize,
    rack: usize,
    graphs: Arc<Graphs>,
    /// Queues of short flows, which take turns.
    occupied: Occupied,
}

impl Opera {
    /// Creates the policy of a rack without units.
    pub fn new(place: Place<'_>) -> Opera {
        Opera {
            racks: place.racks,
            rack: place.rack,
            graphs: Arc::clone(place.graphs.expect("graphs")),
            occupied: Occupied::new(place.racks),
        }
    }
}

impl Forwarding for Opera {
    fn queues(&self) -> usize {
        2 * self.racks
    }

    fn queue(&self, rack: usize, _relayed: bool, short: bool) -> usize {
        rack + if short { 0 } else { self.racks }
    }

    fn reach(&self, queue: usize) -> Reach {
        match queue.checked_sub(self.racks) {
            Some(rack) => Reach::To(rack),
            None => Reach::Nearer,
        }
    }

    fn choose(&self, circuit: Circuit, is_ready: &dyn Fn(usize) -> bool) -> Option<usize> {
        let graph = self.graphs.at(circuit.at);
        let is_nearer = |queue: &usize| graph.is_nearer(*queue, circuit.to, self.rack);
        let short = self.occupied.round().filter(is_nearer);
        let mut queues = short.chain([self.racks + circuit.to]);
        queues.find(|&queue| is_ready(queue))
    }

    fn leads_nearer(&self, circuit: Circuit, queue: usize) -> bool {
        let graph = self.graphs.at(circuit.at);
        graph.is_nearer(queue, circuit.to, self.rack)
    }

    fn is_by_graph(&self) -> bool {
        !self.occupied.is_empty()
    }

    fn filled(&mut self, queue: usize) {
        self.occupied.add(queue);
    }

    fn emptied(&mut self, queue: usize) {
        self.occupied.remove(queue);
    }

    fn served(&mut self, _rack: usize, queue: usize) {
        self.occupied.served(queue);
    }
}
