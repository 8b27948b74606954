//! Shortest-path tables with equal-cost sets, for any graph.

use super::Route;
use crate::{NodeId, PortId};
use std::collections::BTreeMap;

/// For each node and destination host, a set of ports.
pub struct Table {
    hosts: usize,
    /// Set number of (node, destination), node by node.
    set: Vec<u16>,
    /// The sets of each node.
    routes: Vec<Vec<Route>>,
}

const UNREACHED: u32 = u32::MAX;

impl Table {
    /// The table and the pool of ports that its sets refer to.
    pub(super) fn new(hosts: u32, nodes: u32, links: &[(NodeId, NodeId)]) -> (Table, Vec<PortId>) {
        let (hosts, nodes) = (hosts as usize, nodes as usize);
        let mut out = vec![Vec::new(); nodes];
        let mut into = vec![Vec::new(); nodes];
        for &(from, to) in links {
            out[from.index()].push(to);
            into[to.index()].push(from);
        }
        let mut known: Vec<BTreeMap<Vec<PortId>, u16>> = vec![BTreeMap::new(); nodes];
        let mut table = Table {
            hosts,
            set: vec![u16::MAX; nodes * hosts],
            routes: vec![Vec::new(); nodes],
        };
        let mut pool = Vec::new();
        for destination in 0..hosts {
            let distance = distances(destination, hosts, &into);
            for node in (0..nodes).filter(|&node| node != destination) {
                let ports = next_hops(destination, node, hosts, &distance, &out[node]);
                let fresh = known[node].len();
                let set = *known[node].entry(ports).or_insert_with_key(|ports| {
                    let len = u16::try_from(ports.len()).expect("fewer than 2^16 ports");
                    let set = u16::try_from(fresh).expect("fewer than 2^16 sets at a node");
                    table.routes[node].push(Route {
                        set,
                        len,
                        first: pool.len() as u32,
                    });
                    pool.extend_from_slice(ports);
                    set
                });
                table.set[node * hosts + destination] = set;
            }
        }
        (table, pool)
    }

    #[inline]
    pub(super) fn route(&self, node: NodeId, destination: NodeId) -> Route {
        let set = self.set[node.index() * self.hosts + destination.index()];
        self.routes[node.index()][usize::from(set)]
    }

    pub(super) fn sets(&self, node: NodeId) -> usize {
        self.routes[node.index()].len()
    }
}

/// Links to `destination` from every node; a path does not lead through a host.
fn distances(destination: usize, hosts: usize, into: &[Vec<NodeId>]) -> Vec<u32> {
    let mut distance = vec![UNREACHED; into.len()];
    distance[destination] = 0;
    let mut frontier = std::collections::VecDeque::from([destination]);
    while let Some(node) = frontier.pop_front() {
        if node < hosts && node != destination {
            continue;
        }
        for from in &into[node] {
            if distance[from.index()] == UNREACHED {
                distance[from.index()] = distance[node] + 1;
                frontier.push_back(from.index());
            }
        }
    }
    distance
}

fn next_hops(
    destination: usize,
    node: usize,
    hosts: usize,
    distance: &[u32],
    out: &[NodeId],
) -> Vec<PortId> {
    assert!(
        distance[node] != UNREACHED,
        "node {node} cannot reach host {destination}"
    );
    let nearer = |to: &NodeId| {
        let forwards = to.index() >= hosts || to.index() == destination;
        forwards && distance[to.index()] + 1 == distance[node]
    };
    let ports = out.iter().enumerate().filter(|(_, to)| nearer(to));
    ports.map(|(port, _)| PortId(port as u16)).collect()
}
