//! A k-ary fat-tree (Al-Fares, Loukissas, Vahdat 2008): k pods of k/2 edge and
//! k/2 aggregation switches, (k/2)^2 cores, k^3/4 hosts.
//!
//! Nodes: hosts by (pod, edge, port), then edge switches by (pod, edge), then
//! aggregation switches by (pod, aggregation), then cores by (aggregation,
//! core). Ports: downwards first, in the order of the nodes; a core's port is
//! the pod.

use super::Route;
use crate::NodeId;

#[derive(Clone, Copy)]
struct Address {
    pod: u16,
    edge: u16,
    port: u16,
}

#[derive(Clone, Copy)]
enum Place {
    Host,
    Edge { pod: u16, index: u16 },
    Aggregation { pod: u16 },
    Core,
}

/// Structured routing.
pub struct FatTree {
    half: u16,
    addresses: Vec<Address>,
    places: Vec<Place>,
}

impl FatTree {
    /// The fat-tree of `k`-port switches; `k` must be even and positive.
    pub fn new(k: u16) -> FatTree {
        assert!(k >= 2 && k % 2 == 0, "k must be even");
        let half = k / 2;
        let in_pods = |k: u16| (0..k).flat_map(move |pod| (0..half).map(move |i| (pod, i)));
        let addresses: Vec<Address> = in_pods(k)
            .flat_map(|(pod, edge)| (0..half).map(move |port| Address { pod, edge, port }))
            .collect();
        let mut places = vec![Place::Host; addresses.len()];
        places.extend(in_pods(k).map(|(pod, index)| Place::Edge { pod, index }));
        places.extend(in_pods(k).map(|(pod, _)| Place::Aggregation { pod }));
        places.extend((0..u32::from(half).pow(2)).map(|_| Place::Core));
        FatTree {
            half,
            addresses,
            places,
        }
    }

    #[inline]
    fn down(port: u16) -> Route {
        Route {
            set: port,
            len: 1,
            first: u32::from(port),
        }
    }

    #[inline]
    fn up(&self) -> Route {
        Route {
            set: self.half,
            len: self.half,
            first: u32::from(self.half),
        }
    }

    #[inline]
    pub(super) fn route(&self, node: NodeId, destination: NodeId) -> Route {
        let to = self.addresses[destination.index()];
        match self.places[node.index()] {
            Place::Edge { pod, index } if to.pod == pod && to.edge == index => Self::down(to.port),
            Place::Aggregation { pod } if to.pod == pod => Self::down(to.edge),
            Place::Edge { .. } | Place::Aggregation { .. } => self.up(),
            Place::Core => Self::down(to.pod),
            Place::Host => Self::down(0),
        }
    }

    pub(super) fn sets(&self, node: NodeId) -> usize {
        match self.places[node.index()] {
            Place::Host => 1,
            Place::Edge { .. } | Place::Aggregation { .. } => usize::from(self.half) + 1,
            Place::Core => 2 * usize::from(self.half),
        }
    }
}
