//! A k-ary fat-tree (Al-Fares, Loukissas, Vahdat 2008): k pods of k/2 edge and
//! k/2 aggregation switches, (k/2)^2 cores, k^3/4 hosts.
//!
//! Nodes: hosts by (pod, edge, port), then edge switches by (pod, edge), then
//! aggregation switches by (pod, aggregation), then cores by (aggregation,
//! core). Ports: downwards first, in the order of the nodes; a core's port is
//! the pod.

use super::Route;
use crate::NodeId;

/// A host's number among the ports below an edge switch, an aggregation switch
/// and a core; and on its own link.
type Address = [u16; 4];

const EDGE: u8 = 0;
const AGGREGATION: u8 = 1;
const CORE: u8 = 2;
const HOST: u8 = 3;

/// Where a node stands: which hosts lie below it, and which part of their
/// address says by which port. (Fields in place of a `match` over the levels:
/// which level an event is at cannot be predicted.)
#[derive(Clone, Copy)]
struct Place {
    first_host: u32,
    hosts: u32,
    level: u8,
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
        let in_pods = || (0..k).flat_map(move |pod| (0..half).map(move |i| (pod, i)));
        let addresses: Vec<Address> = in_pods()
            .flat_map(|(pod, edge)| (0..half).map(move |port| [port, edge, pod, 0]))
            .collect();
        let all = addresses.len() as u32;
        let below = |level, hosts, rank: u32| Place {
            first_host: rank * hosts,
            hosts,
            level,
        };
        let (edge, pod) = (u32::from(half), u32::from(half).pow(2));
        let mut places = vec![below(HOST, all, 0); addresses.len()];
        places.extend(in_pods().zip(0..).map(|(_, rank)| below(EDGE, edge, rank)));
        places.extend(in_pods().map(|(rank, _)| below(AGGREGATION, pod, rank.into())));
        places.extend((0..pod).map(|_| below(CORE, all, 0)));
        FatTree {
            half,
            addresses,
            places,
        }
    }

    #[inline]
    pub(super) fn route(&self, node: NodeId, destination: NodeId) -> Route {
        let place = self.places[node.index()];
        let down = self.addresses[destination.index()][usize::from(place.level)];
        let is_below = destination.0.wrapping_sub(place.first_host) < place.hosts;
        let (set, len) = if is_below {
            (down, 1)
        } else {
            (self.half, self.half)
        };
        Route {
            set,
            len,
            first: u32::from(set),
        }
    }

    pub(super) fn sets(&self, node: NodeId) -> usize {
        match self.places[node.index()].level {
            HOST => 1,
            CORE => 2 * usize::from(self.half),
            _ => usize::from(self.half) + 1,
        }
    }
}
