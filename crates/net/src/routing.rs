//! Which ports of a node lie on a shortest path to a host.

mod fat_tree;
mod table;

pub use fat_tree::FatTree;
pub use table::Table;

use crate::{NodeId, PortId};

/// The equal-cost next hops of a unit: a set of ports of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Number of the set among those of the node.
    pub set: u16,
    /// Number of ports in the set.
    pub len: u16,
    first: u32,
}

impl Route {
    /// The part of the set that is its `i`-th port alone.
    #[inline]
    pub fn only(self, i: u32) -> Route {
        Route {
            len: 1,
            first: self.first + i,
            ..self
        }
    }
}

/// Routing by shortest paths, with all equal-cost next hops.
pub struct Routing {
    ports: Vec<PortId>,
    scheme: Scheme,
}

enum Scheme {
    FatTree(FatTree),
    Table(Table),
}

impl Routing {
    /// Structured routing of a k-ary fat-tree: no table of pairs.
    pub fn fat_tree(k: u16) -> Routing {
        Routing {
            ports: (0..k).map(PortId).collect(),
            scheme: Scheme::FatTree(FatTree::new(k)),
        }
    }

    /// Shortest paths (number of links) in any graph; `links` are (from, to),
    /// sorted by `from`; the first `hosts` nodes do not forward.
    pub fn shortest_path(hosts: u32, nodes: u32, links: &[(NodeId, NodeId)]) -> Routing {
        let (table, ports) = Table::new(hosts, nodes, links);
        Routing {
            ports,
            scheme: Scheme::Table(table),
        }
    }

    /// The next hops at `node` towards `destination`.
    #[inline]
    pub fn route(&self, node: NodeId, destination: NodeId) -> Route {
        match &self.scheme {
            Scheme::FatTree(tree) => tree.route(node, destination),
            Scheme::Table(table) => table.route(node, destination),
        }
    }

    /// The `i`-th port of a set.
    #[inline]
    pub fn port(&self, route: Route, i: u32) -> PortId {
        self.ports[(route.first + i) as usize]
    }

    /// The ports of a set.
    #[inline]
    pub fn ports(&self, route: Route) -> &[PortId] {
        &self.ports[route.first as usize..][..usize::from(route.len)]
    }

    /// The layer of a node of a fat-tree, from the hosts up.
    pub fn layer(&self, node: NodeId) -> Option<u8> {
        match &self.scheme {
            Scheme::FatTree(tree) => Some(tree.layer(node)),
            Scheme::Table(_) => None,
        }
    }

    /// The number of sets of a switch.
    pub fn sets(&self, node: NodeId) -> usize {
        match &self.scheme {
            Scheme::FatTree(tree) => tree.sets(node),
            Scheme::Table(table) => table.sets(node),
        }
    }
}

#[cfg(test)]
mod tests;
