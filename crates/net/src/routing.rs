//! Which ports of a node lie on a shortest path to a host, or on a path that is given.

mod fat_tree;
mod paths;
mod table;

pub use fat_tree::FatTree;
pub use paths::{Path, Paths};
pub use table::Table;

use crate::{Envelope, LinkId, NodeId, PortId};
use std::ops::Range;

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

/// How routes are found. The tag is one byte, because it is looked at for every hop.
#[repr(u8)]
enum Scheme {
    FatTree(FatTree),
    /// With so many parallel links between any two switches.
    WideFatTree(FatTree, u16),
    /// Tables, and the paths that labels stand for.
    Table(Table, Option<Box<Paths>>),
}

impl Routing {
    /// Structured routing of a k-ary fat-tree with `wavelengths` parallel links between
    /// its switches: no table of pairs.
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

    /// Shortest paths in any graph; `links` are (from, to, length), sorted by `from`; the
    /// first `hosts` nodes do not forward.
    pub fn shortest_path(hosts: u32, nodes: u32, links: &[(NodeId, NodeId, u64)]) -> Routing {
        let (table, ports) = Table::new(hosts, nodes, links);
        Routing {
            ports,
            scheme: Scheme::Table(table, None),
        }
    }

    /// Adds paths for pairs of switches, in the order of their labels; `edges` are the
    /// switches of the hosts.
    pub fn add_paths(&mut self, nodes: u32, edges: &[NodeId], paths: &[Path]) {
        let Scheme::Table(table, labelled) = &mut self.scheme else {
            unreachable!("only tables have paths");
        };
        let pool = &mut self.ports;
        let intern = |node, ports: &[PortId]| table.intern(node, ports, pool);
        *labelled = Some(Box::new(Paths::new(nodes as usize, edges, paths, intern)));
    }

    /// The paths that labels stand for, if there are any.
    fn paths(&self) -> Option<&Paths> {
        match &self.scheme {
            Scheme::Table(_, paths) => paths.as_deref(),
            _ => None,
        }
    }

    /// How many paths a unit can have, by its label; 0 where it has none but shortest ones.
    pub fn labels(&self, unit: &Envelope) -> u32 {
        self.numbers(unit).len() as u32
    }

    /// The numbers of these paths, in the order of their labels.
    pub(crate) fn numbers(&self, unit: &Envelope) -> Range<u32> {
        self.paths().map_or(0..0, |paths| paths.of(unit))
    }

    /// The hops of all paths that labels stand for, in the order of their numbers.
    pub(crate) fn hops(&self) -> impl Iterator<Item = &[(NodeId, Route)]> {
        self.paths().into_iter().flat_map(Paths::all)
    }

    /// The next hops at `node` on shortest paths to `destination`.
    #[inline]
    pub fn route(&self, node: NodeId, destination: NodeId) -> Route {
        match &self.scheme {
            Scheme::FatTree(tree) => tree.route(node, destination),
            Scheme::WideFatTree(tree, wavelengths) => {
                tree.widened(node, tree.route(node, destination), *wavelengths)
            }
            Scheme::Table(table, _) => table.route(node, destination),
        }
    }

    /// The next hops of a unit at `node`: those of its path, on shortest paths where it has none.
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

    /// What a link adds to the length of a path.
    pub fn length(&self, link: LinkId) -> u64 {
        match &self.scheme {
            Scheme::Table(table, _) => table.length(link),
            Scheme::FatTree(_) | Scheme::WideFatTree(..) => 1,
        }
    }

    /// The layer of a node of a fat-tree, from the hosts up.
    pub fn layer(&self, node: NodeId) -> Option<u8> {
        match &self.scheme {
            Scheme::FatTree(tree) | Scheme::WideFatTree(tree, _) => Some(tree.layer(node)),
            Scheme::Table(..) => None,
        }
    }

    /// The number of sets of a switch.
    pub fn sets(&self, node: NodeId) -> usize {
        match &self.scheme {
            Scheme::FatTree(tree) | Scheme::WideFatTree(tree, _) => tree.sets(node),
            Scheme::Table(table, _) => table.sets(node),
        }
    }
}

#[cfg(test)]
mod tests;
