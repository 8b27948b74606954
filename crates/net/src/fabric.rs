//! Links, units in flight and routes: all that nodes share.

use crate::link::Link;
use crate::{Arena, LinkId, NodeId, Packet, PortId, Rate, Routing};
use lightburst_des::{Duration, Time};

/// A directed link as the plan gives it.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// Source.
    pub from: NodeId,
    /// Target.
    pub to: NodeId,
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation and header processing.
    pub delay: Duration,
    /// Whether the target acts on the tail of a unit (or on its head).
    pub whole: bool,
}

/// Links, units in flight and routes.
pub struct Fabric {
    /// The links, those of one source together.
    pub links: Vec<Link>,
    /// When each link ends the last transmission that it was given: apart from the
    /// links, because a choice among many looks at nothing else of them.
    pub(crate) free_at: Vec<Time>,
    /// The units that are somewhere in the network.
    pub units: Arena<Packet>,
    /// Next hops.
    pub routing: Routing,
    pub(crate) rates: Vec<Rate>,
    /// The first link of each node.
    first_link: Vec<u32>,
    /// Units put into the network.
    pub created: u64,
    /// Units that reached their destination.
    pub delivered: u64,
    /// Units dropped, by flow.
    pub dropped: Vec<u32>,
}

impl Fabric {
    /// `wires` must be sorted by their source; for `flows` flows.
    pub fn new(nodes: u32, wires: &[Wire], routing: Routing, flows: usize) -> Fabric {
        let mut first_link = vec![0u32; nodes as usize + 1];
        for wire in wires {
            first_link[wire.from.index() + 1] += 1;
        }
        for node in 0..nodes as usize {
            first_link[node + 1] += first_link[node];
        }
        assert!(
            wires.windows(2).all(|w| w[0].from <= w[1].from),
            "links must be sorted"
        );
        let into = input_ports(nodes, wires);
        let link = |(wire, port): (&Wire, PortId)| {
            Link::new(wire.rate, wire.delay, wire.to, port, wire.whole)
        };
        Fabric {
            links: wires.iter().zip(into).map(link).collect(),
            free_at: vec![Time::ZERO; wires.len()],
            units: Arena::with_capacity(2 * flows),
            routing,
            rates: wires.iter().map(|wire| wire.rate).collect(),
            first_link,
            created: 0,
            delivered: 0,
            dropped: vec![0; flows],
        }
    }

    /// The link at a port.
    #[inline]
    pub fn link_id(&self, node: NodeId, port: PortId) -> LinkId {
        LinkId(self.first_link[node.index()] + u32::from(port.0))
    }

    /// The rate of a link.
    #[inline]
    pub fn rate(&self, link: LinkId) -> Rate {
        self.rates[link.index()]
    }

    /// Transmissions of a unit over a link, so far.
    pub fn hops(&self) -> u64 {
        self.links.iter().map(|link| link.units).sum()
    }

    /// One shortest path, as links; the first port of each set.
    pub fn path(&self, source: NodeId, destination: NodeId) -> impl Iterator<Item = LinkId> + '_ {
        let mut node = source;
        std::iter::from_fn(move || {
            if node == destination {
                return None;
            }
            let port = self.routing.port(self.routing.route(node, destination), 0);
            let link = self.link_id(node, port);
            node = self.links[link.index()].to;
            Some(link)
        })
    }
}

/// The port at which each link arrives: its rank among those of its target.
fn input_ports(nodes: u32, wires: &[Wire]) -> Vec<PortId> {
    let mut count = vec![0u16; nodes as usize];
    let mut next = |wire: &Wire| {
        let port = PortId(count[wire.to.index()]);
        count[wire.to.index()] += 1;
        port
    };
    wires.iter().map(&mut next).collect()
}
