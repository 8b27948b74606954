//! The fabric: links, units in the network, routing, and everything else that nodes share.

pub mod ahead;
pub mod part;
mod ways;

pub use ways::{Detour, Hop};

use crate::link::loss::{Held, Verdict};
use crate::link::outages::LINK_DOWN;
use crate::link::queue::Waiting;
use crate::link::{Links, Wire};
use crate::observe::{
    CutOff, Happening, Holder, Interest, Observers, Passage, PathSwitch, Piece, Place,
};
use crate::routing::balance::Fibre;
use crate::{
    Balance, BalanceSettings, Bundle, BurstCount, BurstHeaderId, BurstId, Copies, Cut, DropReason,
    Dropped, Envelope, FlowId, Header, Interfaces, Labels, LinkId, LossyLinks, NodeId, NoticeBoard,
    Options, Outages, Packet, PacketId, Part, Pauses, PortId, Protection, Repaths, Routing, Tails,
    Telemetry, Unit, Units,
};
use lightburst_des::Time;
use std::collections::VecDeque;

/// Circumstances of a drop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Why {
    /// Reason of the drop.
    pub reason: &'static DropReason,
    /// Unit that occupied the link, if it is not the unit last handed to the link.
    pub holder: Option<Holder>,
    /// Time at which the transmission would have started, if it does not follow from the unit.
    pub start: Option<Time>,
}

/// Links, units in the network and routing.
pub struct Fabric {
    /// Links, sorted by source node.
    pub links: Links,
    /// Units in the network.
    pub units: Units,
    /// Options of packets, indexed by packet handle. Valid if the packet has [`Header::OPTIONS`].
    pub(crate) options: Vec<Options>,
    /// Next hops of all nodes.
    pub routing: Routing,
    /// First link of each node, and the number of links at the end.
    first_link: Vec<u32>,
    /// Number of packets put into the network.
    pub created: u64,
    /// Number of packets that reached their destination.
    pub delivered: u64,
    /// Packets that left a burst at an edge without a host, delivered within the same event.
    pub(crate) ended: VecDeque<PacketId>,
    /// Dropped packets of each flow.
    pub dropped: Dropped,
    /// Units dropped at each link: at the output that they requested, or late at their input.
    pub dropped_at: Vec<u64>,
    /// Numbers of bursts, by class.
    pub bursts: Vec<BurstCount>,
    /// Choice of labels, if the scenario has labelled paths.
    pub labels: Option<Box<Labels>>,
    /// Selection of the working or the backup path, if paths are protected.
    pub protection: Option<Box<Protection>>,
    /// Copies of packets, if these travel on both paths.
    pub copies: Option<Box<Copies>>,
    /// Choice of the labels of bursts by load, if configured. All fibres are watched then.
    pub balance: Option<Box<Balance>>,
    /// Losses on links, if any link is lossy.
    pub loss: Option<Box<LossyLinks>>,
    /// Outages of links, if there are any.
    pub outages: Option<Box<Outages>>,
    /// Tails cut off from bursts, if any node cuts tails.
    pub tails: Option<Box<Tails>>,
    /// Loss notices for ingress nodes, if any of them uses notices.
    pub notices: Option<Box<NoticeBoard>>,
    /// Fair interfaces of hosts, if configured.
    pub interfaces: Option<Box<Interfaces>>,
    /// Flow control of all links, if any switch asks for pauses.
    pub pauses: Option<Box<Pauses>>,
    /// Paths of flows, if senders change them.
    pub repaths: Option<Box<Repaths>>,
    /// Telemetry in packets, if any flow asks for it.
    pub telemetry: Option<Box<Telemetry>>,
    /// This part of a network that is run in parts; `None` if it is whole.
    pub part: Option<Box<Part>>,
    /// Units in the queue of each output. Empty if no node queues units at its outputs.
    pub(crate) waiting: Vec<Waiting>,
    /// Observers of the network. They have no effect on it.
    pub observers: Observers,
}

impl Fabric {
    /// Creates a fabric for `flows` flows. `wires` must be sorted by source node.
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
            units: Units::with_capacity(2 * flows),
            options: Vec::new(),
            routing,
            first_link,
            created: 0,
            delivered: 0,
            ended: VecDeque::new(),
            dropped: Dropped::new(flows),
            dropped_at: vec![0; wires.len()],
            bursts: vec![BurstCount::default()],
            labels: None,
            protection: None,
            copies: None,
            balance: None,
            loss: None,
            outages: None,
            tails: None,
            notices: None,
            interfaces: None,
            pauses: None,
            repaths: None,
            telemetry: None,
            part: None,
            waiting: Vec::new(),
            observers: Observers::default(),
        }
    }

    /// Returns the link at a port.
    #[inline]
    pub fn link_id(&self, node: NodeId, port: PortId) -> LinkId {
        LinkId(self.first_link[node.index()] + u32::from(port.0))
    }

    /// Iterates over the output links of a node.
    pub fn outputs(&self, node: NodeId) -> impl Iterator<Item = LinkId> {
        (self.first_link[node.index()]..self.first_link[node.index() + 1]).map(LinkId)
    }

    /// Returns whether an output link of a node can have several units to send that left an explicit
    /// queue: a script, an outage or a change may hold them back. Any other link has one at most.
    pub fn holds_back(&self, node: NodeId) -> bool {
        // Of a part only the links that cross to another one are watched.
        let whole = self.part.is_none();
        whole && self.outputs(node).any(|link| self.links.is_watched(link))
    }

    /// Attaches options to a packet.
    pub(crate) fn set_options(&mut self, packet: PacketId, options: Options) {
        if packet.index() >= self.options.len() {
            self.options.resize(packet.index() + 1, Options::default());
        }
        self.options[packet.index()] = options;
        self.units.packets[packet].header.flags |= Header::OPTIONS;
    }

    /// Returns the options of a packet. The packet must carry some.
    pub(crate) fn options(&self, packet: PacketId) -> &Options {
        &self.options[packet.index()]
    }

    /// Sets the label of a new unit.
    #[cold]
    #[inline(never)]
    pub(crate) fn label(&mut self, unit: &mut Envelope) {
        if let Some(labels) = &mut self.labels {
            unit.label = labels.choose(unit, self.routing.labels(unit));
        }
    }

    /// Sets the label and the path of a new packet, and begins its telemetry.
    #[cold]
    pub(crate) fn enter(&mut self, packet: PacketId) {
        let Packet { envelope, header } = self.units.packets[packet];
        if self.labels.is_some() {
            let mut envelope = envelope;
            self.label(&mut envelope);
            self.units.packets[packet].envelope = envelope;
        }
        if let Some(repaths) = &mut self.repaths {
            self.units.packets[packet].envelope.path = repaths.number(&envelope, &header);
        }
        if let Some(telemetry) = &mut self.telemetry {
            telemetry.begin(packet, envelope.flow, header.payload > 0);
        }
    }

    /// Sets the label of a new burst. Returns whether the load moved it to another path than that
    /// of its predecessor.
    #[inline]
    pub(crate) fn label_burst(&mut self, unit: &mut Envelope, bundle: &Bundle, now: Time) -> bool {
        let are_labelled =
            self.balance.is_some() || self.labels.is_some() || self.protection.is_some();
        are_labelled && self.choose_label(unit, bundle, now)
    }

    #[cold]
    fn choose_label(&mut self, unit: &mut Envelope, bundle: &Bundle, now: Time) -> bool {
        if let Some(protection) = &self.protection {
            unit.label = protection.selected(unit, now);
            return false;
        }
        let Some(balance) = &mut self.balance else {
            match &self.labels {
                Some(labels) if labels.are_of_subflows() => {
                    let choices = self.routing.labels(unit).max(1);
                    unit.label = (u32::from(bundle.class) % choices) as u8;
                }
                _ => self.label(unit),
            }
            return false;
        };
        let (label, before) = balance.choose(self.routing.numbers(unit), now);
        unit.label = label;
        if label != before {
            let switch = PathSwitch {
                time: now,
                ingress: unit.source,
                egress: bundle.egress,
                before,
                label,
            };
            let switched = || Happening::PathSwitched(switch);
            self.tell(Interest::PATH_SWITCHED, now, switched);
        }
        label != before
    }

    /// Turns on load balancing. `channels` returns the number of data channels of a link.
    pub fn balance(&mut self, settings: BalanceSettings, channels: impl Fn(LinkId) -> u16) {
        let fibre = |&(node, route): &(NodeId, crate::Route)| {
            let ports = self.routing.ports(route).iter();
            let links: Vec<LinkId> = ports.map(|&port| self.link_id(node, port)).collect();
            Fibre {
                rate: self.links.rate(links[0]),
                channels: links.iter().map(|&link| u32::from(channels(link))).sum(),
                links,
            }
        };
        let paths = self.routing.hops();
        let paths = paths.map(|hops| hops.iter().map(fibre).collect()).collect();
        let links = self.links.units().len();
        self.balance = Some(Box::new(Balance::new(settings, paths, links)));
    }

    /// Adds a burst, or the burst of a header, to the load of a link: when it is handed to the
    /// link, or dropped after it requested the link.
    #[inline]
    pub(crate) fn offer(&mut self, unit: Unit, link: LinkId, now: Time) {
        if self.balance.is_some() {
            self.offer_burst(unit, link, now);
        }
    }

    #[cold]
    fn offer_burst(&mut self, unit: Unit, link: LinkId, now: Time) {
        let Some(burst) = self.units.burst_of(unit) else {
            return;
        };
        let bytes = self.units.bursts[burst].envelope.bytes;
        let time = self.links.transmission_time(link, bytes);
        let balance = self.balance.as_mut().expect("a balance");
        balance.offer(link, time, now);
    }

    /// Processes a unit that is handed to a watched link: adds it to the load, reports it to
    /// observers, and drops it if the link loses it, for the reason `lost`; its handle is invalid
    /// then.
    pub(crate) fn watch(
        &mut self,
        unit: Unit,
        passage: Passage,
        lost: Option<&'static DropReason>,
    ) {
        let Passage { place, now, .. } = passage;
        self.offer(unit, place.link, now);
        let passage = Passage {
            arrival: lost.map_or(passage.arrival, |_| Time::NEVER),
            ..passage
        };
        let transmitted = || Happening::Transmitted { unit, passage };
        self.tell(Interest::TRANSMITTED, now, transmitted);
        if let Some(reason) = lost {
            let why = Why {
                reason,
                holder: None,
                start: Some(passage.start),
            };
            self.remove(unit, place, why, now);
        }
    }

    /// Returns the treatment of a unit, which is handed over now and whose transmission begins at
    /// `start`, by a link that may be lossy.
    pub(crate) fn judge(
        &mut self,
        unit: Unit,
        link: LinkId,
        (now, start): (Time, Time),
    ) -> Verdict {
        let Some(loss) = self.loss.as_mut().filter(|loss| loss.is_on(link)) else {
            return Verdict::default();
        };
        let packets = self.units.packets_of(unit).map(|(_, packet)| packet);
        loss.judge(link, packets, (now, start))
    }

    /// Returns why a link that may be down loses a unit between the `start` of its transmission and
    /// its arrival at `end`; `None` if it does not.
    pub(crate) fn cut_off(
        &mut self,
        link: LinkId,
        start: Time,
        end: Time,
    ) -> Option<&'static DropReason> {
        let outages = self.outages.as_mut()?;
        if !outages.cut(link, start, end) {
            return None;
        }
        outages.lost[link.index()] += 1;
        Some(LINK_DOWN)
    }

    /// Keeps a unit beside its lossy link until `later` later ones of a flow were handed to it.
    pub(crate) fn hold(
        &mut self,
        unit: Unit,
        (place, ready): (Place, Time),
        (flow, later): (FlowId, u64),
    ) {
        let packets = self.units.packets_of(unit).map(|(_, packet)| packet);
        let of_flow = packets.filter(|packet| packet.envelope.flow == flow);
        let sequence = of_flow.map(|packet| packet.header.sequence).max();
        let held = Held {
            unit,
            place,
            ready,
            flow,
            sequence: sequence.expect("a packet of the flow"),
            left: later,
        };
        self.loss.as_mut().expect("a lossy link").hold(held);
    }

    /// Returns the held units that follow a unit on its link.
    pub(crate) fn released_by(&mut self, unit: Unit, link: LinkId) -> Vec<Held> {
        let Some(loss) = self.loss.as_mut() else {
            return Vec::new();
        };
        let packets = self.units.packets_of(unit).map(|(_, packet)| packet);
        loss.pass(link, packets)
    }

    /// Drops a unit, a burst with all its packets.
    #[inline]
    pub(crate) fn remove(&mut self, unit: Unit, place: Place, why: Why, now: Time) {
        if self.copies.is_some() && self.lose_copy(unit, place, &why) {
            return;
        }
        let Why {
            reason,
            holder,
            start,
        } = why;
        let dropped = || Happening::Dropped {
            unit,
            place,
            reason,
            holder,
            start,
        };
        self.tell(Interest::DROPPED, now, dropped);
        match unit {
            Unit::Packet(packet) => {
                self.remove_packet(packet, now);
            }
            Unit::Burst(burst) => self.remove_burst(burst, now),
            Unit::BurstHeader(header) => {
                let burst = self.units.burst_headers.remove(header).burst;
                self.remove_burst(burst, now);
            }
        }
    }

    fn remove_burst(&mut self, id: BurstId, now: Time) {
        self.give_notice(id, 0..usize::MAX, now);
        let burst = self.units.bursts.remove(id);
        self.forget_cuts(id);
        self.bursts[usize::from(burst.class)].lost += 1;
        let mut next = Some(burst.first);
        while let Some(packet) = next {
            next = self.remove_packet(packet, now);
        }
    }

    /// Drops a packet; returns its successor in the burst.
    pub(crate) fn remove_packet(&mut self, packet: PacketId, now: Time) -> Option<PacketId> {
        let packet = self.units.packets.remove(packet);
        self.dropped.count(packet.envelope.flow);
        self.lose(&packet, now);
        packet.behind()
    }

    /// Drops the first packets of a header's burst. The remaining ones arrive at `rest`, if the
    /// burst is on its way.
    pub(crate) fn cut(
        &mut self,
        header: BurstHeaderId,
        place: Place,
        cut: &Cut,
        rest: Option<Time>,
        now: Time,
    ) {
        let burst = self.units.burst_headers[header].burst;
        let piece = Piece {
            time: now,
            noted: place.node,
            place,
            start: cut.start,
            burst: self.units.bursts[burst].identity,
            packets: cut.packets,
            bytes: cut.bytes,
            by: cut.by,
        };
        let packets = 0..cut.packets as usize;
        let part = CutOff::Head { rest };
        self.tell(Interest::CUT, now, || Happening::Cut {
            burst,
            packets: packets.clone(),
            piece,
            part,
        });
        self.give_notice(burst, packets, now);
        for _ in 0..cut.packets {
            let first = self.units.bursts[burst].first;
            let next = self.remove_packet(first, now);
            self.units.bursts[burst].first = next.expect("a packet that is left");
        }
        self.units.bursts[burst].envelope.bytes -= cut.bytes;
        self.units.burst_headers[header].envelope.bytes -= cut.bytes;
    }

    /// Removes a packet that has reached its host.
    #[inline]
    pub(crate) fn deliver(&mut self, packet: PacketId, host: NodeId, now: Time) -> Packet {
        self.delivered += 1;
        let delivered = || Happening::Delivered { packet, host };
        self.tell(Interest::DELIVERED, now, delivered);
        if self.telemetry.is_some() || self.repaths.is_some() {
            self.note_arrival(packet);
        }
        self.units.packets.remove(packet)
    }

    /// Keeps the telemetry and the path of a packet that arrives for its answer.
    #[cold]
    fn note_arrival(&mut self, packet: PacketId) {
        if let Some(telemetry) = &mut self.telemetry {
            telemetry.arrive(packet);
        }
        if let Some(repaths) = &mut self.repaths {
            repaths.arrive(&self.units.packets[packet].envelope);
        }
    }

    /// Returns the number of transmissions so far, summed over all links.
    pub fn hops(&self) -> u64 {
        self.links.units().sum()
    }
}
