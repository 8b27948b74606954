//! Shortest-path tables with equal-cost sets, for any graph.

use super::Route;
use crate::{LinkId, NodeId, PortId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Set of ports for each node and destination host.
pub struct Table {
    hosts: usize,
    /// Set number of (node, destination), sorted by node.
    set: Vec<u16>,
    /// Sets of each node.
    routes: Vec<Vec<Route>>,
    /// Length of each link.
    lengths: Vec<u64>,
}

const UNREACHED: u64 = u64::MAX;

/// Links to avoid, and the next hops where no path is left.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    /// Whether each link is down.
    pub down: &'a [bool],
    /// Returns the ports of a node from which a destination cannot be reached.
    pub otherwise: &'a dyn Fn(NodeId, NodeId) -> Vec<PortId>,
}

impl Table {
    /// Computes the table, and the pool of ports to which its sets refer.
    pub(super) fn new(
        hosts: u32,
        nodes: u32,
        links: &[(NodeId, NodeId, u64)],
        around: Option<Around<'_>>,
    ) -> (Table, Vec<PortId>) {
        let (hosts, nodes) = (hosts as usize, nodes as usize);
        let mut out = vec![Vec::new(); nodes];
        let mut into = vec![Vec::new(); nodes];
        for (link, &(from, to, length)) in links.iter().enumerate() {
            let down = around.is_some_and(|around| around.down[link]);
            let length = if down { UNREACHED } else { length };
            out[from.index()].push((to, length));
            if !down {
                into[to.index()].push((from, length));
            }
        }
        let mut known: Vec<BTreeMap<Vec<PortId>, u16>> = vec![BTreeMap::new(); nodes];
        let mut table = Table {
            hosts,
            set: vec![u16::MAX; nodes * hosts],
            routes: vec![Vec::new(); nodes],
            lengths: links.iter().map(|&(_, _, length)| length).collect(),
        };
        let mut pool = Vec::new();
        for destination in 0..hosts {
            let distance = distances(destination, hosts, &into);
            for node in (0..nodes).filter(|&node| node != destination) {
                let ports = match around {
                    Some(Around { otherwise, .. }) if distance[node] == UNREACHED => {
                        otherwise(NodeId(node as u32), NodeId(destination as u32))
                    }
                    _ => next_hops(destination, node, hosts, &distance, &out[node]),
                };
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

    /// Returns the set of these ports at a node; creates it if the node does not have it.
    pub(super) fn intern(
        &mut self,
        node: NodeId,
        ports: &[PortId],
        pool: &mut Vec<PortId>,
    ) -> Route {
        let routes = &mut self.routes[node.index()];
        let of = |route: &Route| &pool[route.first as usize..][..usize::from(route.len)];
        if let Some(known) = routes.iter().find(|route| of(route) == ports) {
            return *known;
        }
        let route = Route {
            set: u16::try_from(routes.len()).expect("fewer than 2^16 sets at a node"),
            len: u16::try_from(ports.len()).expect("fewer than 2^16 ports"),
            first: pool.len() as u32,
        };
        pool.extend_from_slice(ports);
        routes.push(route);
        route
    }

    #[inline]
    pub(super) fn route(&self, node: NodeId, destination: NodeId) -> Route {
        let set = self.set[node.index() * self.hosts + destination.index()];
        self.routes[node.index()][usize::from(set)]
    }

    pub(super) fn length(&self, link: LinkId) -> u64 {
        self.lengths[link.index()]
    }

    pub(super) fn sets(&self, node: NodeId) -> usize {
        self.routes[node.index()].len()
    }
}

/// Computes the distance to `destination` from every node (Dijkstra 1959). Paths do not lead
/// through hosts.
fn distances(destination: usize, hosts: usize, into: &[Vec<(NodeId, u64)>]) -> Vec<u64> {
    let mut distance = vec![UNREACHED; into.len()];
    distance[destination] = 0;
    let mut frontier = BinaryHeap::from([Reverse((0, destination))]);
    while let Some(Reverse((far, node))) = frontier.pop() {
        if far > distance[node] || (node < hosts && node != destination) {
            continue;
        }
        for &(from, length) in &into[node] {
            if far + length < distance[from.index()] {
                distance[from.index()] = far + length;
                frontier.push(Reverse((far + length, from.index())));
            }
        }
    }
    distance
}

fn next_hops(
    destination: usize,
    node: usize,
    hosts: usize,
    distance: &[u64],
    out: &[(NodeId, u64)],
) -> Vec<PortId> {
    assert!(
        distance[node] != UNREACHED,
        "node {node} cannot reach host {destination}"
    );
    let nearer = |(to, length): &(NodeId, u64)| {
        let forwards = to.index() >= hosts || to.index() == destination;
        forwards && distance[to.index()].checked_add(*length) == Some(distance[node])
    };
    let ports = out.iter().enumerate().filter(|(_, link)| nearer(link));
    ports.map(|(port, _)| PortId(port as u16)).collect()
}
