//! Links, units in flight and routes: all that nodes share.

use crate::link::{Links, Wire};
use crate::packet::packets;
use crate::trace::{Passage, Place, What};
use crate::{
    Arena, DropReason, FlowId, Header, Labels, LinkId, Loss, NodeId, Options, Packet, PortId,
    Routing, Trace, UnitId,
};
use lightburst_des::Time;

/// Links, units in flight and routes.
pub struct Fabric {
    /// The links, those of one source together.
    pub links: Links,
    /// The units that are somewhere in the network.
    pub units: Arena<Packet>,
    /// Options of the packets that carry any, by their handle.
    options: Vec<Options>,
    /// Next hops.
    pub routing: Routing,
    /// The first link of each node.
    first_link: Vec<u32>,
    /// Units put into the network.
    pub created: u64,
    /// Units that reached their destination.
    pub delivered: u64,
    /// Units dropped, by flow.
    pub dropped: Vec<u64>,
    /// Bursts put into the network, dropped, and now in it; packets only are units above.
    pub bursts: Bursts,
    /// What gives units their labels, where paths have some.
    pub labels: Option<Box<Labels>>,
    /// What lossy links lose.
    pub loss: Option<Box<Loss>>,
    /// What is traced.
    pub trace: Option<Box<Trace>>,
    /// The packets of the unit that a lossy link looks at.
    looked_at: Vec<Packet>,
}

/// Counts of bursts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bursts {
    /// Put into the network.
    pub created: u64,
    /// Dropped.
    pub lost: u64,
    /// In the network.
    pub alive: u64,
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
        Fabric {
            links: Links::new(wires),
            units: Arena::with_capacity(2 * flows),
            options: Vec::new(),
            routing,
            first_link,
            created: 0,
            delivered: 0,
            dropped: vec![0; flows],
            bursts: Bursts::default(),
            labels: None,
            loss: None,
            trace: None,
            looked_at: Vec::new(),
        }
    }

    /// The link at a port.
    #[inline]
    pub fn link_id(&self, node: NodeId, port: PortId) -> LinkId {
        LinkId(self.first_link[node.index()] + u32::from(port.0))
    }

    /// The links that leave a node.
    pub fn outputs(&self, node: NodeId) -> impl Iterator<Item = LinkId> {
        (self.first_link[node.index()]..self.first_link[node.index() + 1]).map(LinkId)
    }

    /// Gives a packet options.
    pub(crate) fn set_options(&mut self, unit: UnitId, options: Options) {
        if unit.index() >= self.options.len() {
            self.options.resize(unit.index() + 1, Options::default());
        }
        self.options[unit.index()] = options;
        self.units[unit].header.flags |= Header::OPTIONS;
    }

    /// The options of a packet that was given some.
    pub(crate) fn options(&self, unit: UnitId) -> &Options {
        &self.options[unit.index()]
    }

    /// Gives a new unit its label.
    #[cold]
    #[inline(never)]
    pub(crate) fn label(&mut self, packet: &mut Packet) {
        if let Some(labels) = &mut self.labels {
            packet.header.label = labels.choose(packet, self.routing.labels(packet));
        }
    }

    /// Looks at a unit that is handed to a watched link; says whether the link loses it.
    /// Then the unit is gone.
    pub(crate) fn watch(&mut self, unit: UnitId, passage: Passage) -> bool {
        let Passage { place, now, .. } = passage;
        let taken = self.taken(unit, place.link, now);
        if let Some(trace) = &mut self.trace {
            let arrival = taken.map_or(passage.arrival, |_| Time::NEVER);
            trace.hop(unit, &self.units, &Passage { arrival, ..passage });
        }
        if let Some(reason) = taken {
            self.remove(unit, place, reason, now);
        }
        taken.is_some()
    }

    /// Why a link loses a unit, if it does.
    fn taken(&mut self, unit: UnitId, link: LinkId, now: Time) -> Option<DropReason> {
        let loss = self.loss.as_mut().filter(|loss| loss.is_on(link))?;
        self.looked_at.clear();
        let packets = packets(unit, &self.units);
        self.looked_at.extend(packets.map(|(_, packet)| *packet));
        loss.takes(link, &self.looked_at, now)
    }

    /// Drops a unit; a burst with all that is in it.
    #[inline]
    pub(crate) fn remove(&mut self, unit: UnitId, place: Place, reason: DropReason, now: Time) {
        if self.trace.is_some() {
            self.note_loss(unit, place, reason, now);
        }
        let packet = self.units.remove(unit);
        if !packet.is_burst() {
            self.dropped[packet.flow.index()] += 1;
            return;
        }
        self.bursts.lost += 1;
        self.bursts.alive -= 1;
        let mut at = packet.cargo;
        while at != UnitId::NONE {
            let packet = self.units.remove(at);
            self.dropped[packet.flow.index()] += 1;
            at = packet.next;
        }
    }

    /// Adds the rows of a unit that is dropped to the trace.
    #[cold]
    fn note_loss(&mut self, unit: UnitId, place: Place, reason: DropReason, now: Time) {
        let Some(trace) = &mut self.trace else {
            return;
        };
        let busy = match reason {
            DropReason::Contention | DropReason::NoInputPort | DropReason::BufferFull => true,
            DropReason::QueueFull
            | DropReason::AccessBufferFull
            | DropReason::Random
            | DropReason::Scripted => false,
        };
        let dropped = &self.units[unit];
        let burst = dropped.is_burst().then_some(dropped.header.sequence);
        let what = What::Lost {
            place,
            reason,
            burst,
            holder: trace.holder(place.link).filter(|_| busy),
        };
        if let Some(number) = burst {
            trace.lose(number, reason, place);
        }
        let packets: Vec<UnitId> = packets(unit, &self.units).map(|(at, _)| at).collect();
        for packet in packets {
            self.note(packet, what, now);
        }
    }

    /// Adds a row to the trace, if the packet's flow is traced.
    #[cold]
    pub(crate) fn note(&mut self, unit: UnitId, what: What, time: Time) {
        let packet = self.units[unit];
        let Some(trace) = self.trace.as_mut().filter(|t| t.wants(packet.flow)) else {
            return;
        };
        let given = self.options.get(unit.index()).copied();
        let options = given.filter(|_| packet.header.has_options());
        trace.packet(time, what, unit, &packet, options);
    }

    /// Transmissions of a unit over a link, so far.
    pub fn hops(&self) -> u64 {
        self.links.units().sum()
    }

    /// The first path, as links; the first port of each set.
    pub fn path(&self, source: NodeId, destination: NodeId) -> impl Iterator<Item = LinkId> + '_ {
        let unit = Packet::new(FlowId(0), source, destination, 0, Header::default());
        let mut node = source;
        std::iter::from_fn(move || {
            if node == destination {
                return None;
            }
            let port = self.routing.port(self.routing.route_of(node, &unit), 0);
            let link = self.link_id(node, port);
            node = self.links.to(link);
            Some(link)
        })
    }
}
