//! Protection of paths: each pair of edges has a working path, with label 0, and a backup path
//! without a common link, with label 1. Which of them is selected at a time is known before the run.

use crate::observe::Place;
use crate::{Envelope, Fabric, LinkId, NodeId, PacketId, Unit};
use lightburst_des::Time;
use std::collections::BTreeMap;

/// Paths that are selected, by pair of edges.
pub struct Protection {
    /// Switch of each host.
    edges: Vec<NodeId>,
    /// From each time on, the label of the selected path; label 0 before. In order of time.
    turns: BTreeMap<(NodeId, NodeId), Vec<(Time, u8)>>,
}

impl Protection {
    /// Creates the selection. `edges` is the switch of each host, `turns` has the pair of edges, the
    /// time and the label selected from then on; in order of time for each pair.
    pub fn new(
        edges: Vec<NodeId>,
        turns: impl Iterator<Item = ((NodeId, NodeId), Time, u8)>,
    ) -> Protection {
        let mut by_pair: BTreeMap<_, Vec<(Time, u8)>> = BTreeMap::new();
        for (pair, time, label) in turns {
            by_pair.entry(pair).or_default().push((time, label));
        }
        Protection {
            edges,
            turns: by_pair,
        }
    }

    /// Returns the switch of a host, and a switch itself.
    fn edge(&self, node: NodeId) -> NodeId {
        self.edges.get(node.index()).copied().unwrap_or(node)
    }

    /// Returns the label of the path that is selected for a unit at `now`.
    pub(crate) fn selected(&self, unit: &Envelope, now: Time) -> u8 {
        let pair = (self.edge(unit.source), self.edge(unit.destination));
        let turns = self.turns.get(&pair).map_or(&[][..], Vec::as_slice);
        let passed = turns.partition_point(|&(time, _)| time <= now);
        passed.checked_sub(1).map_or(0, |last| turns[last].1)
    }
}

/// What becomes of a unit that arrives at a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The switch takes it.
    Goes,
    /// The switch takes it, and then this copy of it.
    Twice(PacketId),
    /// It was a copy, and has ended.
    Ends,
}

impl Fabric {
    /// Selects the path of a packet that comes to its ingress from its host, or one of its copies
    /// that come to its egress, at the end `to` of a link.
    #[cold]
    pub(crate) fn protect(&mut self, unit: Unit, link: LinkId, to: NodeId, now: Time) -> Arrival {
        let (Some(protection), Unit::Packet(packet)) = (&self.protection, unit) else {
            return Arrival::Goes;
        };
        let envelope = &self.units.packets[packet].envelope;
        let selected = protection.selected(envelope, now);
        // The first links are those of the hosts.
        let from_host = link.index() < protection.edges.len();
        if self.copies.is_none() {
            if from_host {
                self.units.packets[packet].envelope.label = selected;
            }
            return Arrival::Goes;
        }
        if self.routing.labels(envelope) < 2 {
            return Arrival::Goes;
        }
        if from_host {
            return Arrival::Twice(self.copy(packet, 1, now));
        }
        if protection.edge(envelope.destination) != to {
            return Arrival::Goes;
        }
        let (is_selected, place) = (envelope.label == selected, Place { node: to, link });
        match self.select(packet, place, is_selected, now) {
            true => Arrival::Goes,
            false => Arrival::Ends,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FlowId;

    #[test]
    fn a_turn_counts_from_its_time_on_and_for_its_pair_alone() {
        let edges = vec![NodeId(3), NodeId(4), NodeId(3)];
        let pair = (NodeId(3), NodeId(4));
        let turns = [(pair, Time(10), 1), (pair, Time(20), 0)];
        let protection = Protection::new(edges, turns.into_iter());
        let label = |source, destination, now| {
            let unit = Envelope::new(FlowId(0), NodeId(source), NodeId(destination), 64);
            protection.selected(&unit, Time(now))
        };
        assert_eq!([9, 10, 19, 20].map(|now| label(0, 1, now)), [0, 1, 1, 0]);
        // Another host at the same edge, a burst of the edge itself, and the way back.
        assert_eq!(
            [label(2, 1, 10), label(3, 1, 10), label(1, 0, 10)],
            [1, 1, 0]
        );
    }
}
