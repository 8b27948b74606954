//! Routing: the output ports of a node that lie on a shortest path to a host, or on a given path.

pub mod balance;
pub mod choice;
pub mod label;
pub mod protection;
pub mod repath;

mod fat_tree;
mod paths;
mod table;

pub use fat_tree::FatTree;
pub use paths::{Path, Paths};
pub use table::Table;

use table::Around;

use crate::{Envelope, LinkId, NodeId, PortId};
use std::ops::Range;

/// Equal-cost next hops of a unit: a set of ports of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Number of the set among those of the node.
    pub set: u16,
    /// Number of ports in the set.
    pub len: u16,
    first: u32,
}

impl Route {
    /// Returns a route that contains only the `i`-th port.
    #[inline]
    pub fn only(self, i: u32) -> Route {
        Route {
            len: 1,
            first: self.first + i,
            ..self
        }
    }
}

/// Routing by shortest paths with all equal-cost next hops, and by labelled paths.
pub struct Routing {
    ports: Vec<PortId>,
    scheme: Scheme,
}

/// Source of routes. The tag is one byte because it is read at every hop.
#[repr(u8)]
enum Scheme {
    FatTree(FatTree),
    /// A fat-tree with this number of parallel links between adjacent switches.
    WideFatTree(FatTree, u16),
    /// Tables, and the labelled paths if there are any.
    Table(Table, Option<Box<Paths>>),
}

impl Routing {
    /// Creates structured routing for a k-ary fat-tree with `wavelengths` parallel links between
    /// adjacent switches. It needs no table of node pairs.
    pub fn fat_tree(k: u16, wavelengths: u16) -> Routing {
        let tree = FatTree::new(k);
        Routing {
            ports: (0..k * wavelengths).map(PortId).collect(),
            scheme: match wavelengths {
                1 => Scheme::FatTree(tree),
                _ => Scheme::WideFatTree(tree, wavelengths),
            },
        }
    }

    /// Creates shortest-path routing for any graph. `links` are (from, to, length), sorted by
    /// `from`. The first `hosts` nodes are hosts and do not forward.
    pub fn shortest_path(hosts: u32, nodes: u32, links: &[(NodeId, NodeId, u64)]) -> Routing {
        let (table, ports) = Table::new(hosts, nodes, links, None);
        Routing {
            ports,
            scheme: Scheme::Table(table, None),
        }
    }

    /// Creates shortest-path routing over the links that are not `down`. Where no path is left, the
    /// next hops are those of `all_up`, the routing over all links.
    pub fn around(
        hosts: u32,
        nodes: u32,
        links: &[(NodeId, NodeId, u64)],
        down: &[bool],
        all_up: &Routing,
    ) -> Routing {
        let otherwise = |node, destination| {
            let route = all_up.route(node, destination);
            all_up.ports(route).to_vec()
        };
        let around = Around {
            down,
            otherwise: &otherwise,
        };
        let (table, ports) = Table::new(hosts, nodes, links, Some(around));
        Routing {
            ports,
            scheme: Scheme::Table(table, None),
        }
    }

    /// Adds labelled paths between switches, in the order of their labels. `edges` is the switch of
    /// each host.
    pub fn add_paths(&mut self, nodes: u32, edges: &[NodeId], paths: &[Path]) {
        let Scheme::Table(table, labelled) = &mut self.scheme else {
            unreachable!("only tables have paths");
        };
        let pool = &mut self.ports;
        let intern = |node, ports: &[PortId]| table.intern(node, ports, pool);
        *labelled = Some(Box::new(Paths::new(nodes as usize, edges, paths, intern)));
    }

    /// Returns the labelled paths, if there are any.
    fn paths(&self) -> Option<&Paths> {
        match &self.scheme {
            Scheme::Table(_, paths) => paths.as_deref(),
            _ => None,
        }
    }

    /// Returns the number of labelled paths of a unit; 0 if it has only shortest paths.
    pub fn labels(&self, unit: &Envelope) -> u32 {
        self.numbers(unit).len() as u32
    }

    /// Returns the numbers of a unit's labelled paths, in the order of their labels.
    pub(crate) fn numbers(&self, unit: &Envelope) -> Range<u32> {
        self.paths().map_or(0..0, |paths| paths.of(unit))
    }

    /// Iterates over the hops of each labelled path, in the order of path numbers.
    pub(crate) fn hops(&self) -> impl Iterator<Item = &[(NodeId, Route)]> {
        self.paths().into_iter().flat_map(Paths::all)
    }

    /// Returns the next hops at `node` on shortest paths to `destination`.
    #[inline(always)]
    pub fn route(&self, node: NodeId, destination: NodeId) -> Route {
        match &self.scheme {
            Scheme::FatTree(tree) => tree.route(node, destination),
            Scheme::WideFatTree(tree, wavelengths) => {
                tree.widened(node, tree.route(node, destination), *wavelengths)
            }
            Scheme::Table(table, _) => table.route(node, destination),
        }
    }

    /// Prefetches what [`Routing::route_of`] reads first at `node`, where that is known.
    #[inline]
    pub(crate) fn prefetch(&self, node: NodeId) {
        if let Scheme::FatTree(tree) = &self.scheme {
            tree.prefetch(node);
        }
    }

    /// Returns the next hops of a unit at `node`: on its labelled path, otherwise on shortest
    /// paths.
    #[inline(always)]
    pub fn route_of(&self, node: NodeId, unit: &Envelope) -> Route {
        if let Scheme::FatTree(tree) = &self.scheme {
            return tree.route(node, unit.destination);
        }
        self.looked_up(node, unit)
    }

    #[inline(never)]
    fn looked_up(&self, node: NodeId, unit: &Envelope) -> Route {
        let labelled = self.paths().and_then(|paths| paths.route(node, unit));
        labelled.unwrap_or_else(|| self.route(node, unit.destination))
    }

    /// Returns the `i`-th port of a route.
    #[inline]
    pub fn port(&self, route: Route, i: u32) -> PortId {
        self.ports[(route.first + i) as usize]
    }

    /// Returns the ports of a route.
    #[inline]
    pub fn ports(&self, route: Route) -> &[PortId] {
        &self.ports[route.first as usize..][..usize::from(route.len)]
    }

    /// Returns the length of a link in the routing metric.
    pub fn length(&self, link: LinkId) -> u64 {
        match &self.scheme {
            Scheme::Table(table, _) => table.length(link),
            Scheme::FatTree(_) | Scheme::WideFatTree(..) => 1,
        }
    }

    /// Returns the layer of a node in a fat-tree: 0 for hosts to 3 for cores; `None` for other
    /// topologies.
    pub fn layer(&self, node: NodeId) -> Option<u8> {
        match &self.scheme {
            Scheme::FatTree(tree) | Scheme::WideFatTree(tree, _) => Some(tree.layer(node)),
            Scheme::Table(..) => None,
        }
    }

    /// Returns the number of next-hop sets of a node.
    pub fn sets(&self, node: NodeId) -> usize {
        match &self.scheme {
            Scheme::FatTree(tree) | Scheme::WideFatTree(tree, _) => tree.sets(node),
            Scheme::Table(table, _) => table.sets(node),
        }
    }
}

#[cfg(test)]
mod tests;
