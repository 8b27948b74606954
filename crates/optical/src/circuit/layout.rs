//! Racks and circuit switches of a network, and the links between them.

use lightburst_des::Duration;
use lightburst_net::{LinkId, NodeId, PortId};

/// Link of a network: source, target and delay.
pub type Link = (NodeId, NodeId, Duration);

const NO_LINK: LinkId = LinkId(u32::MAX);

/// A link from a rack to a circuit switch.
#[derive(Clone, Copy, Debug)]
pub struct Uplink {
    /// Port at the switch of the rack.
    pub port: u16,
    /// Delay of the link.
    pub delay: Duration,
}

/// Links between a circuit switch and a rack.
#[derive(Clone, Copy, Debug)]
pub struct Downlink {
    /// Link from the rack.
    pub input: LinkId,
    /// Link to the rack.
    pub output: LinkId,
    /// Port of the circuit switch to the rack.
    pub port: u16,
}

impl Uplink {
    /// A link that is not found yet.
    const NONE: Uplink = Uplink {
        port: u16::MAX,
        delay: Duration::ZERO,
    };
}

impl Downlink {
    const NONE: Downlink = Downlink {
        input: NO_LINK,
        output: NO_LINK,
        port: u16::MAX,
    };
}

impl Star {
    const NONE: Star = Star {
        port: u16::MAX,
        input: NO_LINK,
        output: NO_LINK,
    };
}

/// Links between a rack and the packet network.
#[derive(Clone, Copy, Debug)]
pub struct Star {
    /// Port at the switch of the rack.
    pub port: u16,
    /// Link from the rack.
    pub input: LinkId,
    /// Link to the rack.
    pub output: LinkId,
}

/// Racks, circuit switches, and their links. Racks are the switches with hosts and circuit switches
/// the others but the one of the packet network, each numbered in the order of the nodes.
#[derive(Debug)]
pub struct Layout {
    hosts: usize,
    /// Rack of each host.
    pub rack_of: Vec<u16>,
    /// Number of each switch among the racks, or among the circuit switches.
    number: Vec<u16>,
    /// Whether each switch is that of a rack.
    is_rack: Vec<bool>,
    /// Number of racks.
    pub racks: usize,
    /// Number of circuit switches.
    pub switches: usize,
    /// Links of each rack to the circuit switches, rack by rack.
    uplinks: Vec<Uplink>,
    /// Links of each circuit switch to the racks, switch by switch.
    downlinks: Vec<Downlink>,
    /// Switch of the packet network beside the circuits, if there is one.
    packet: Option<NodeId>,
    /// Link of each rack to this switch.
    packet_links: Vec<Star>,
}

impl Layout {
    /// Finds the racks of a network. `links` are sorted by source node, and that of host `i` is the
    /// link `i`; `packet` is the switch of the packet network.
    ///
    /// # Errors
    ///
    /// If a rack and a circuit switch do not have exactly one link in each direction, or if two racks
    /// or two circuit switches have one; or if a rack does not have one to the packet network, and
    /// back.
    pub fn new(
        (hosts, nodes): (u32, u32),
        packet: Option<NodeId>,
        links: &[Link],
    ) -> Result<Layout, String> {
        let hosts = hosts as usize;
        if links[..hosts].iter().any(|(_, to, _)| to.index() < hosts) {
            return Err("hosts that are linked with each other".to_string());
        }
        let mut is_rack = vec![false; nodes as usize - hosts];
        for (_, to, _) in &links[..hosts] {
            is_rack[to.index() - hosts] = true;
        }
        let (mut racks, mut switches) = (0, 0);
        let mut number = Vec::new();
        for (switch, &is_rack) in is_rack.iter().enumerate() {
            if packet.is_some_and(|node| node.index() == hosts + switch) {
                // The packet network has no number.
                number.push(u16::MAX);
                continue;
            }
            let count = if is_rack { &mut racks } else { &mut switches };
            number.push(*count as u16);
            *count += 1;
        }
        let mut layout = Layout {
            hosts,
            rack_of: Vec::new(),
            number,
            is_rack,
            racks,
            switches,
            uplinks: vec![Uplink::NONE; racks * switches],
            downlinks: vec![Downlink::NONE; racks * switches],
            packet,
            packet_links: vec![Star::NONE; if packet.is_some() { racks } else { 0 }],
        };
        if packet.is_some_and(|node| layout.is_rack(node)) {
            return Err("hosts at the switch of the packet network".to_string());
        }
        let rack_of = links[..hosts].iter().map(|&(_, to, _)| layout.number(to));
        layout.rack_of = rack_of.map(|rack| rack as u16).collect();
        layout.join(links)?;
        if layout.racks < 2 || layout.switches == 0 {
            return Err("fewer than two racks, or no circuit switch".to_string());
        }
        let whole = layout.uplinks.iter().all(|it| it.port != u16::MAX)
            && layout
                .downlinks
                .iter()
                .all(|it| it.input != NO_LINK && it.output != NO_LINK);
        if !whole {
            return Err("a rack without a link to a circuit switch".to_string());
        }
        match layout.is_star(links) {
            true => Ok(layout),
            false => Err("a rack without one link to the packet network, and back".to_string()),
        }
    }

    /// Whether each rack has one link to the switch of the packet network and one back, if there is
    /// such a switch.
    fn is_star(&self, links: &[Link]) -> bool {
        let Some(switch) = self.packet else {
            return true;
        };
        let racks = |ends: Vec<NodeId>| {
            let mut racks = ends;
            racks.sort_unstable_by_key(|rack| rack.0);
            let all = racks.len() == self.racks;
            all && racks.windows(2).all(|pair| pair[0] != pair[1])
        };
        let to_it = links.iter().filter(|link| link.1 == switch);
        let from_it = links.iter().filter(|link| link.0 == switch);
        racks(to_it.map(|link| link.0).collect()) && racks(from_it.map(|link| link.1).collect())
    }

    fn join(&mut self, links: &[Link]) -> Result<(), String> {
        let mut port = 0;
        for (link, &(source, target, delay)) in links.iter().enumerate().skip(self.hosts) {
            let first = link == self.hosts || links[link - 1].0 != source;
            port = if first { 0 } else { port + 1 };
            if target.index() < self.hosts {
                continue;
            }
            if self.packet == Some(source) || self.packet == Some(target) {
                match (self.is_rack(source), self.is_rack(target)) {
                    (true, false) => {
                        let rack = self.number(source);
                        self.packet_links[rack].port = port;
                        self.packet_links[rack].input = LinkId(link as u32);
                    }
                    (false, true) => {
                        let rack = self.number(target);
                        self.packet_links[rack].output = LinkId(link as u32);
                    }
                    _ => return Err("a packet network with other links".to_string()),
                }
                continue;
            }
            let (from, to) = (self.number(source), self.number(target));
            let up = match (self.is_rack(source), self.is_rack(target)) {
                (true, false) => true,
                (false, true) => false,
                _ => return Err("two racks, or two circuit switches, with a link".to_string()),
            };
            let taken = if up {
                let uplink = &mut self.uplinks[from * self.switches + to];
                self.downlinks[to * self.racks + from].input = LinkId(link as u32);
                std::mem::replace(uplink, Uplink { port, delay }).port
            } else {
                let downlink = &mut self.downlinks[from * self.racks + to];
                downlink.output = LinkId(link as u32);
                std::mem::replace(&mut downlink.port, port)
            };
            if taken != u16::MAX {
                return Err("several links between a rack and a circuit switch".to_string());
            }
        }
        Ok(())
    }

    /// Whether a node is the switch of a rack.
    pub fn is_rack(&self, node: NodeId) -> bool {
        let switch = node.index().checked_sub(self.hosts);
        switch.is_some_and(|switch| self.is_rack[switch])
    }

    /// Returns the number of a switch among the racks, or among the circuit switches.
    pub fn number(&self, node: NodeId) -> usize {
        usize::from(self.number[node.index() - self.hosts])
    }

    /// Returns the node of a rack or of a circuit switch.
    pub fn node(&self, is_rack: bool, number: usize) -> NodeId {
        let mut switches = self.is_rack.iter().zip(&self.number);
        let wanted = (&is_rack, &(number as u16));
        let place = switches.position(|one| one == wanted);
        NodeId((self.hosts + place.expect("a switch")) as u32)
    }

    /// Returns the port of a rack to the packet network, if there is one.
    pub fn packet_port(&self, rack: usize) -> Option<PortId> {
        self.packet_links.get(rack).map(|link| PortId(link.port))
    }

    /// Returns the links between racks and the packet network, rack by rack, if there is one.
    pub fn packet_links(&self) -> &[Star] {
        &self.packet_links
    }

    /// Whether a link comes from a host.
    #[inline]
    pub fn is_of_host(&self, link: LinkId) -> bool {
        link.index() < self.hosts
    }

    /// Returns the links of a rack to the circuit switches, in the order of these.
    pub fn uplinks(&self, rack: usize) -> &[Uplink] {
        &self.uplinks[rack * self.switches..][..self.switches]
    }

    /// Returns the links of a circuit switch, in the order of the racks.
    pub fn downlinks(&self, switch: usize) -> &[Downlink] {
        &self.downlinks[switch * self.racks..][..self.racks]
    }
}
