//! Ways through the network, by the first of equal-cost ports.

use crate::routing::label::SHORTEST;
use crate::{Envelope, Fabric, FlowId, LinkId, NodeId};
use lightburst_des::Duration;

/// Rest of a path that leaves a node by a certain port and follows shortest paths from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detour {
    /// Length in the metric of the routing.
    pub length: u64,
    /// Number of links between switches. Of equal-cost ports the first is taken.
    pub fibres: u32,
    /// Whether the path returns to the node.
    pub loops: bool,
}

/// One hop of a path.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// Link of the hop.
    pub link: LinkId,
    /// Node at the far end.
    pub to: NodeId,
    /// Delay of the link.
    pub delay: Duration,
    /// Whether the far end stores and forwards.
    pub stored: bool,
    /// Number of equal-cost ports at this hop, including the one taken.
    pub ports: u16,
}

impl Fabric {
    /// Iterates over the links of a path. Of equal-cost ports the first is taken.
    pub fn path(&self, source: NodeId, destination: NodeId) -> impl Iterator<Item = LinkId> + '_ {
        let unit = Envelope::new(FlowId(0), source, destination, 0);
        self.way(source, unit).map(|hop| hop.link)
    }

    /// Returns the rest of a path from a node to a host that starts with `link`.
    pub fn detour(&self, from: NodeId, link: LinkId, destination: NodeId) -> Detour {
        let next = self.links.to(link);
        let unit = Envelope {
            label: SHORTEST,
            ..Envelope::new(FlowId(0), next, destination, 0)
        };
        let mut detour = Detour {
            length: self.routing.length(link),
            fibres: 0,
            loops: false,
        };
        for hop in self.way(next, unit) {
            detour.loops |= hop.to == from;
            detour.length += self.routing.length(hop.link);
            // `link` is a fibre without a hop here, and the last hop leads to the host and is no
            // fibre: the number of hops is that of the fibres.
            detour.fibres += 1;
        }
        detour
    }

    /// Iterates over the hops of a unit's path from a node on, by the first of equal-cost ports.
    pub fn way(&self, mut node: NodeId, unit: Envelope) -> impl Iterator<Item = Hop> + '_ {
        std::iter::from_fn(move || {
            if node == unit.destination {
                return None;
            }
            let route = self.routing.route_of(node, &unit);
            let link = self.link_id(node, self.routing.port(route, 0));
            node = self.links.to(link);
            Some(Hop {
                link,
                to: node,
                delay: self.links.delay(link),
                stored: self.links.store_and_forward(link),
                ports: route.len,
            })
        })
    }
}
