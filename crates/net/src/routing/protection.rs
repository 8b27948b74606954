//! Protection of paths: each pair of edges has a working path, with label 0, and a backup path
//! without a common link, with label 1. Which of them is selected at a time is known before the run.

use crate::{Envelope, Fabric, LinkId, NodeId, Unit};
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

    /// Returns the label of the path that is selected for a unit at `now`.
    pub(crate) fn selected(&self, unit: &Envelope, now: Time) -> u8 {
        let edge = |node: NodeId| self.edges.get(node.index()).copied().unwrap_or(node);
        let pair = (edge(unit.source), edge(unit.destination));
        let turns = self.turns.get(&pair).map_or(&[][..], Vec::as_slice);
        let passed = turns.partition_point(|&(time, _)| time <= now);
        passed.checked_sub(1).map_or(0, |last| turns[last].1)
    }

    /// Returns the number of hosts. The first links are those of the hosts.
    pub(crate) fn hosts(&self) -> usize {
        self.edges.len()
    }
}

impl Fabric {
    /// Sets the label of a packet that comes to its ingress over the link of its host.
    #[cold]
    pub(crate) fn protect(&mut self, unit: Unit, link: LinkId, now: Time) {
        let Some(protection) = &self.protection else {
            return;
        };
        if let (Unit::Packet(packet), true) = (unit, link.index() < protection.hosts()) {
            let envelope = &mut self.units.packets[packet].envelope;
            envelope.label = protection.selected(envelope, now);
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
