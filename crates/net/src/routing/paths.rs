//! Paths with labels: a unit that carries a label goes the way that the path of this
//! label says. The paths are given; here they are looked up.

use super::Route;
use crate::label::SHORTEST;
use crate::{Envelope, NodeId, PortId};
use std::ops::Range;

/// A path between two switches with hosts.
#[derive(Clone, Debug)]
pub struct Path {
    /// Where it begins.
    pub source: NodeId,
    /// Where it ends.
    pub destination: NodeId,
    /// At each switch before its end the ports that lead along it, in order.
    pub hops: Vec<(NodeId, Vec<PortId>)>,
}

/// All paths, by pair of switches and label.
pub struct Paths {
    /// For each host the number of its switch among those with hosts, and for such a
    /// switch its own.
    ends: Vec<u32>,
    /// How many switches have hosts.
    count: usize,
    /// The first path of each pair of them; those of a pair stand in the order of their labels.
    first_path: Vec<u32>,
    /// The first hop of each path.
    first_hop: Vec<u32>,
    hops: Vec<(NodeId, Route)>,
}

const NONE: u32 = u32::MAX;

impl Paths {
    /// `paths` are given in the order of their labels; `edges` are the switches of the
    /// hosts; `intern` finds the set of some ports of a node.
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

    /// The paths that lead where a unit goes, side by side; none where shortest paths do.
    pub(super) fn of(&self, unit: &Envelope) -> Range<u32> {
        let end = |node: NodeId| self.ends[node.index()] as usize;
        let pair = end(unit.source) * self.count + end(unit.destination);
        self.first_path[pair]..self.first_path[pair + 1]
    }

    /// The hops of each path, in the order of their numbers.
    pub(super) fn all(&self) -> impl Iterator<Item = &[(NodeId, Route)]> {
        (0..self.first_hop.len() - 1).map(|path| self.hops(path))
    }

    fn hops(&self, path: usize) -> &[(NodeId, Route)] {
        &self.hops[self.first_hop[path] as usize..self.first_hop[path + 1] as usize]
    }

    /// The next hops of a unit at a node of its path.
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
