//! Labelled paths: a unit with a label follows the given path with this label.

use super::Route;
use crate::routing::label::SHORTEST;
use crate::{Envelope, NodeId, PortId};
use std::ops::Range;

/// A path between two switches with hosts.
#[derive(Clone, Debug)]
pub struct Path {
    /// First switch of the path.
    pub source: NodeId,
    /// Last switch of the path.
    pub destination: NodeId,
    /// For each switch except the last: the ports that lead along the path, in order.
    pub hops: Vec<(NodeId, Vec<PortId>)>,
}

/// All labelled paths, by pair of switches and label.
pub struct Paths {
    /// Index of a switch among those with hosts: for each host that of its switch, for each such
    /// switch its own. `NONE` for other switches.
    ends: Vec<u32>,
    /// Number of switches with hosts.
    count: usize,
    /// First path of each pair of switches. The paths of a pair are in the order of their labels.
    first_path: Vec<u32>,
    /// First hop of each path.
    first_hop: Vec<u32>,
    hops: Vec<(NodeId, Route)>,
}

const NONE: u32 = u32::MAX;

impl Paths {
    /// Creates the table. `paths` are in the order of their labels, `edges` is the switch of each
    /// host, and `intern` returns the set number of ports of a node.
    pub(super) fn new(
        nodes: usize,
        edges: &[NodeId],
        paths: &[Path],
        mut intern: impl FnMut(NodeId, &[PortId]) -> Route,
    ) -> Paths {
        let mut switches = edges.to_vec();
        switches.sort_unstable();
        switches.dedup();
        let number = |switch: &NodeId| switches.binary_search(switch).expect("a switch with hosts");
        let mut ends = vec![NONE; nodes];
        for (host, switch) in edges.iter().enumerate() {
            ends[host] = number(switch) as u32;
            ends[switch.index()] = number(switch) as u32;
        }
        let count = switches.len();
        let pair = |path: &&Path| number(&path.source) * count + number(&path.destination);
        let mut sorted: Vec<&Path> = paths.iter().collect();
        sorted.sort_by_key(pair);
        let mut first_path = vec![0; count * count + 1];
        for path in &sorted {
            first_path[pair(path) + 1] += 1;
        }
        for i in 0..count * count {
            first_path[i + 1] += first_path[i];
        }
        let (mut first_hop, mut hops) = (vec![0], Vec::new());
        for path in &sorted {
            hops.extend(
                path.hops
                    .iter()
                    .map(|(node, ports)| (*node, intern(*node, ports))),
            );
            first_hop.push(hops.len() as u32);
        }
        Paths {
            ends,
            count,
            first_path,
            first_hop,
            hops,
        }
    }

    /// Returns the numbers of the paths from a unit's source to its destination. Empty if the pair
    /// uses shortest paths.
    pub(super) fn of(&self, unit: &Envelope) -> Range<u32> {
        let end = |node: NodeId| self.ends[node.index()] as usize;
        let pair = end(unit.source) * self.count + end(unit.destination);
        self.first_path[pair]..self.first_path[pair + 1]
    }

    /// Iterates over the hops of each path, in the order of path numbers.
    pub(super) fn all(&self) -> impl Iterator<Item = &[(NodeId, Route)]> {
        (0..self.first_hop.len() - 1).map(|path| self.hops(path))
    }

    fn hops(&self, path: usize) -> &[(NodeId, Route)] {
        &self.hops[self.first_hop[path] as usize..self.first_hop[path + 1] as usize]
    }

    /// Returns the next hops of a unit at a node; `None` if the unit has no labelled path or the
    /// node is not on it.
    pub(super) fn route(&self, node: NodeId, unit: &Envelope) -> Option<Route> {
        if unit.label == SHORTEST {
            return None;
        }
        let paths = self.of(unit);
        if paths.is_empty() {
            return None;
        }
        let path = (paths.start + u32::from(unit.label)) as usize;
        let hop = self.hops(path).iter().find(|(at, _)| *at == node);
        hop.map(|(_, route)| *route)
    }
}
