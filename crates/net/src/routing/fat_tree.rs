//! A k-ary fat-tree (Al-Fares, Loukissas, Vahdat 2008): k pods of k/2 edge and k/2 aggregation
//! switches, (k/2)^2 cores, k^3/4 hosts.
//!
//! Order of the nodes: hosts by (pod, edge, port), then edge switches by (pod, edge), then
//! aggregation switches by (pod, aggregation), then cores by (aggregation, core). Order of the
//! ports: downward ports first, in the order of the nodes. The port of a core is the number of the
//! pod.

use super::Route;
use crate::unit::arena::prefetch;
use crate::NodeId;

/// Position of a node: the hosts below it, and the number of hosts below each port. The fields
/// replace a `match` over the layers, which the processor would mispredict: the layer of the next
/// event is random.
#[derive(Clone, Copy)]
struct Place {
    first_host: u32,
    hosts: u32,
    /// 2^48 divided by the number of hosts below a port, rounded up. Multiplication by it replaces
    /// a division and is exact up to k = 1,350 (k^5 < 2^52).
    share: u64,
}

const UNIT: u64 = 1 << 48;

/// Structured routing in a fat-tree.
pub struct FatTree {
    half: u16,
    places: Vec<Place>,
}

impl FatTree {
    /// Creates the fat-tree of `k`-port switches. `k` must be even and positive.
    pub fn new(k: u16) -> FatTree {
        assert!(k >= 2 && k % 2 == 0, "k must be even");
        let half = k / 2;
        let in_pods = || (0..k).flat_map(move |pod| (0..half).map(move |i| (pod, i)));
        let (edge, pod) = (u32::from(half), u32::from(half).pow(2));
        let all = u32::from(k) * pod;
        let below = |rank: u32, hosts: u32, by_port: u32| Place {
            first_host: rank * hosts,
            hosts,
            share: UNIT.div_ceil(by_port.into()),
        };
        let mut places = vec![below(0, all, all); all as usize];
        places.extend(in_pods().zip(0..).map(|(_, rank)| below(rank, edge, 1)));
        places.extend(in_pods().map(|(rank, _)| below(rank.into(), pod, edge)));
        places.extend((0..pod).map(|_| below(0, all, pod)));
        FatTree { half, places }
    }

    #[inline]
    pub(super) fn prefetch(&self, node: NodeId) {
        prefetch(&self.places[node.index()]);
    }

    #[inline]
    pub(super) fn route(&self, node: NodeId, destination: NodeId) -> Route {
        let place = self.places[node.index()];
        let rank = destination.0.wrapping_sub(place.first_host);
        let (set, len) = if rank < place.hosts {
            ((u64::from(rank) * place.share / UNIT) as u16, 1)
        } else {
            (self.half, self.half)
        };
        Route {
            set,
            len,
            first: u32::from(set),
        }
    }

    /// Returns the layer: 0 for hosts, 1 for edges, 2 for aggregation switches, 3 for cores.
    pub(super) fn layer(&self, node: NodeId) -> u8 {
        let half = usize::from(self.half);
        let (hosts, layer) = (2 * half.pow(3), 2 * half.pow(2));
        match node.index() {
            node if node < hosts => 0,
            node if node < hosts + layer => 1,
            node if node < hosts + 2 * layer => 2,
            _ => 3,
        }
    }

    /// Converts a route to `wavelengths` parallel links between switches: the set contains all
    /// links to the same neighbours, in the order of neighbour and wavelength.
    #[inline]
    pub(super) fn widened(&self, node: NodeId, route: Route, wavelengths: u16) -> Route {
        let half = u32::from(self.half);
        let hosts = 2 * half.pow(3);
        let edges = hosts + 2 * half.pow(2);
        // Links between hosts and edges are not multiplied. Their ports come first.
        let single = match node.0 {
            node if node < hosts => 1,
            node if node < edges => half,
            _ => 0,
        };
        if route.first < single {
            return route;
        }
        Route {
            len: route.len * wavelengths,
            first: single + (route.first - single) * u32::from(wavelengths),
            ..route
        }
    }

    pub(super) fn sets(&self, node: NodeId) -> usize {
        let half = usize::from(self.half);
        match self.layer(node) {
            0 => 1,
            3 => 2 * half,
            _ => half + 1,
        }
    }
}
