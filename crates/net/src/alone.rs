//! Test bench for a single node: a script lets units arrive, and everything that leaves is
//! recorded.
//!
//! The node has neighbours, the ends, numbered from 0. One link leads from each end to the node,
//! and one or several lead back: the ports of the node, in the order of the ends. All times are in
//! picoseconds. There is no plan, no transport and no other switch.

mod recorder;

pub use recorder::Made;

use crate::{
    link::fifo, Bundle, Burst, BurstHeader, BurstId, Context, DropReason, Ecn, Event, EventKind,
    Fabric, FlowId, Header, Identity, LinkId, NodeId, Observers, Packet, PacketId, PortId, Rate,
    Routing, Switch, Treatment, Unit, Wire,
};
use lightburst_des::{Agenda, Duration, Model, Simulator, Stop, Ties, Time};
use recorder::{DroppedPacket, Recorder, Recording};
use std::sync::{Arc, Mutex};

/// Delay of all links. The far end acts on the head of a unit, so it records a unit this long after
/// the start of its transmission.
const DELAY: Duration = Duration(1);

/// Seed for the order of simultaneous events.
pub const SEED: u64 = 0;

/// Number of flows.
pub const FLOWS: u32 = 6;

/// Limit on the number of events; a script that reaches it does not end.
const MAX_EVENTS: u64 = 1_000_000;

/// A node with the links to its ends.
pub struct Alone {
    simulator: Simulator<Site>,
    recording: Arc<Mutex<Recording>>,
    packets: u64,
    bursts: u32,
}

/// Transmission of a unit by the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Start of the transmission.
    pub start: u64,
    /// Output port.
    pub port: u16,
    /// The unit that was sent.
    pub unit: Content,
}

/// Content of a unit, given by the numbers of its packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A packet outside a burst.
    Packet(u64),
    /// A packet with the congestion mark (ECN).
    Marked(u64),
    /// A burst: its packets and its size in bytes.
    Burst(Vec<u64>, u32),
    /// A burst header packet and the reservation that it announces.
    Header {
        /// Packets of the burst.
        packets: Vec<u64>,
        /// Data channel of the burst.
        channel: u16,
        /// Start of the transmission of the burst.
        data: u64,
    },
}

/// A dropped packet, alone or in a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Time of the drop.
    pub time: u64,
    /// Port that the packet requested; `None` if it was dropped on arrival.
    pub port: Option<u16>,
    /// Number of the packet.
    pub packet: u64,
    /// Reason of the drop.
    pub reason: &'static DropReason,
    /// Whether the unit that occupied the port is known.
    pub held: bool,
}

/// Node, links and recorded transmissions.
struct Site {
    node: NodeId,
    /// Link at port 0 of the node.
    first_link: LinkId,
    switch: Box<dyn Switch>,
    fabric: Fabric,
    left: Vec<Left>,
}

impl Alone {
    /// Creates the node with `build`, from its number and its number of next-hop sets. `ports[i]`
    /// ports lead to end `i`. All links have the same rate.
    pub fn new(
        ports: &[usize],
        rate: Rate,
        build: impl FnOnce(NodeId, usize) -> Box<dyn Switch>,
    ) -> Alone {
        let ends = ports.len() as u32;
        let node = NodeId(ends);
        let wire = |from, to| Wire {
            from,
            to,
            rate,
            delay: DELAY,
            store_and_forward: false,
            // Lets the recorder see which links are used.
            watched: true,
        };
        let into = (0..ends).map(|end| wire(NodeId(end), node));
        let out = (0..ends).zip(ports);
        let out = out.flat_map(|(end, &count)| vec![wire(node, NodeId(end)); count]);
        let wires: Vec<Wire> = into.chain(out).collect();
        let lengths: Vec<_> = wires.iter().map(|wire| (wire.from, wire.to, 1)).collect();
        let routing = Routing::shortest_path(ends, ends + 1, &lengths);
        let switch = build(node, routing.sets(node));
        let mut fabric = Fabric::new(ends + 1, &wires, routing, FLOWS as usize);
        fabric.tails = Some(Box::default());
        fabric.have_queues();
        let recording = Arc::new(Mutex::new(Recording::of_links(wires.len())));
        let recorder = Recorder::new(Arc::clone(&recording));
        fabric.observers = Observers::new(vec![Box::new(recorder)]);
        let site = Site {
            node,
            first_link: fabric.link_id(node, PortId(0)),
            switch,
            fabric,
            left: Vec::new(),
        };
        Alone {
            simulator: Simulator::new(site, Ties::new(SEED, None), 16),
            recording,
            packets: 0,
            bursts: 0,
        }
    }

    /// Lets a data packet of flow 0 arrive from end `from` with destination `to`; the node acts on
    /// it at `time`. Returns the number of the packet; packets are counted from 1. The caller must
    /// not let two units overlap on one link.
    pub fn packet(&mut self, time: u64, from: u32, to: u32, bytes: u32) -> u64 {
        let packet = self.make(from, (to, bytes), bytes);
        self.arrive(time, from, Unit::Packet(packet))
    }

    /// Lets a data packet of any flow arrive, with the congestion window of its sender.
    pub fn packet_of(
        &mut self,
        (flow, window): (u32, u16),
        time: u64,
        from: u32,
        to: u32,
        bytes: u32,
    ) -> u64 {
        let packet = self.make(from, (to, bytes), bytes);
        let it = &mut self.simulator.model.fabric.units.packets[packet];
        it.envelope.flow = FlowId(flow);
        it.header.window = window;
        self.arrive(time, from, Unit::Packet(packet))
    }

    /// Lets a data packet of flow 0 arrive whose transport is capable of ECN.
    pub fn capable(&mut self, time: u64, from: u32, to: u32, bytes: u32) -> u64 {
        self.ecn_of((0, Ecn::Classic), time, from, to, bytes)
    }

    /// Lets a data packet of any flow arrive whose transport reacts to marks in such a way.
    pub fn ecn_of(
        &mut self,
        (flow, ecn): (u32, Ecn),
        time: u64,
        from: u32,
        to: u32,
        bytes: u32,
    ) -> u64 {
        let packet = self.make(from, (to, bytes), bytes);
        let it = &mut self.simulator.model.fabric.units.packets[packet];
        it.envelope.flow = FlowId(flow);
        it.envelope.treatment = Treatment::new(ecn, false);
        self.arrive(time, from, Unit::Packet(packet))
    }

    /// Lets a data packet of flow 0 arrive whose transport repairs a trimmed packet.
    pub fn trimmable(&mut self, time: u64, from: u32, to: u32, bytes: u32) -> u64 {
        let packet = self.make(from, (to, bytes), bytes);
        let units = &mut self.simulator.model.fabric.units;
        units.packets[packet].envelope.treatment = Treatment::new(Ecn::NotCapable, true);
        self.arrive(time, from, Unit::Packet(packet))
    }

    /// Lets a packet of flow 0 without data arrive.
    pub fn acknowledgement(&mut self, time: u64, from: u32, to: u32, bytes: u32) -> u64 {
        let packet = self.make(from, (to, bytes), 0);
        self.arrive(time, from, Unit::Packet(packet))
    }

    /// Lets a burst arrive from end `from`: its head reaches the node at `time`. Each packet is
    /// given by its destination and its bytes. Returns the number of the last packet.
    pub fn burst(&mut self, time: u64, from: u32, packets: &[(u32, u32)]) -> u64 {
        let burst = self.bundle(time, from, packets);
        self.arrive(time, from, Unit::Burst(burst))
    }

    /// Lets the header of a burst arrive; the burst follows on `channel` at `data`.
    pub fn header(
        &mut self,
        time: u64,
        from: u32,
        packets: &[(u32, u32)],
        (channel, data): (u16, u64),
    ) -> u64 {
        let burst = self.bundle(time, from, packets);
        let units = &mut self.simulator.model.fabric.units;
        let Burst {
            envelope, identity, ..
        } = units.bursts[burst];
        let header = units.burst_headers.insert(BurstHeader {
            envelope,
            identity,
            burst,
            data_at: Time(data),
            channel,
            hops: 1,
        });
        self.arrive(time, from, Unit::BurstHeader(header))
    }

    fn bundle(&mut self, time: u64, from: u32, packets: &[(u32, u32)]) -> BurstId {
        let handles: Vec<PacketId> = packets
            .iter()
            .map(|&packet| self.make(from, packet, packet.1))
            .collect();
        let units = &mut self.simulator.model.fabric.units;
        for pair in handles.windows(2) {
            units.packets[pair[0]].envelope.behind.unit = Some(Unit::Packet(pair[1]));
        }
        self.bursts += 1;
        let identity = Identity {
            at: Time(time),
            node: from,
            nth: self.bursts,
        };
        let bundle = Bundle {
            first: handles[0],
            packets: packets.len() as u32,
            bytes: packets.iter().map(|(_, bytes)| bytes).sum(),
            destination: NodeId(packets[0].0),
            egress: NodeId(packets[0].0),
            class: 0,
            sequence: self.bursts - 1,
            opened: Time(time),
        };
        let burst = Burst::new(&bundle, NodeId(from), identity);
        units.bursts.insert(burst)
    }

    fn make(&mut self, from: u32, (to, bytes): (u32, u32), payload: u32) -> PacketId {
        self.packets += 1;
        let header = Header {
            sequence: self.packets,
            payload,
            ..Header::default()
        };
        let (source, fabric) = (NodeId(from), &mut self.simulator.model.fabric);
        let packet = Packet::new(FlowId(0), source, NodeId(to), bytes, header);
        fabric.units.packets.insert(packet)
    }

    fn arrive(&mut self, time: u64, from: u32, unit: Unit) -> u64 {
        let (to, link) = (self.simulator.model.node, LinkId(from));
        let event = Event::arrival(to, link, unit);
        self.simulator.agenda.push(Time(time), event);
        self.packets
    }

    /// Runs the script, with the timers that the node sets, to the end.
    pub fn run(&mut self) {
        self.run_until(u64::MAX);
    }

    /// Runs the events until `time`. Transmissions that start at `time` or later are not recorded
    /// yet.
    pub fn run_until(&mut self, time: u64) {
        let stop = self.simulator.run(Time(time), MAX_EVENTS);
        assert_ne!(stop, Stop::Paused, "the node goes on for ever");
    }

    /// Returns the node, for its counters and its buffers.
    pub fn node(&self) -> &dyn Switch {
        &*self.simulator.model.switch
    }

    /// Returns the transmissions by the node, sorted by start and port.
    pub fn left(&self) -> Vec<Left> {
        let mut left = self.simulator.model.left.clone();
        left.sort_by_key(|left| (left.start, left.port));
        left
    }

    /// Returns the dropped packets, in order of time.
    pub fn dropped(&self) -> Vec<Dropped> {
        let site = &self.simulator.model;
        let losses = &self.recording.lock().expect("a recording").losses;
        losses.iter().map(|loss| site.dropped(loss)).collect()
    }

    /// Returns the bursts that left the node as their ingress, in order of creation.
    pub fn made(&self) -> Vec<Made> {
        let mut made = self.recording.lock().expect("a recording").made.clone();
        made.sort_by_key(|burst| burst.identity.at);
        made
    }

    /// Returns the number of packets that were neither sent nor dropped.
    pub fn inside(&self) -> usize {
        self.simulator.model.fabric.units.packets.len()
    }
}

impl Left {
    /// Creates the expected transmission of a packet.
    pub fn packet(start: u64, port: u16, number: u64) -> Left {
        let unit = Content::Packet(number);
        Left { start, port, unit }
    }

    /// Creates the expected transmission of a marked packet.
    pub fn marked(start: u64, port: u16, number: u64) -> Left {
        let unit = Content::Marked(number);
        Left { start, port, unit }
    }

    /// Creates the expected transmission of a header: channel and start of its burst, and the
    /// numbers of its packets.
    pub fn header(start: u64, port: u16, (channel, data): (u16, u64), numbers: &[u64]) -> Left {
        let packets = numbers.to_vec();
        let unit = Content::Header {
            packets,
            channel,
            data,
        };
        Left { start, port, unit }
    }

    /// Creates the expected transmission of a burst: numbers of its packets and its size.
    pub fn burst(start: u64, port: u16, numbers: &[u64], bytes: u32) -> Left {
        let unit = Content::Burst(numbers.to_vec(), bytes);
        Left { start, port, unit }
    }
}

impl Site {
    fn port(&self, link: LinkId) -> u16 {
        (link.0 - self.first_link.0) as u16
    }

    fn dropped(&self, loss: &DroppedPacket) -> Dropped {
        let link = loss.place.link;
        Dropped {
            time: loss.time.0,
            port: (link >= self.first_link).then(|| self.port(link)),
            packet: loss.packet,
            reason: loss.reason,
            held: loss.held,
        }
    }

    /// Records a unit whose head has reached a far end.
    fn record(&mut self, unit: Unit, link: LinkId, now: Time) {
        let units = &mut self.fabric.units;
        let packets: Vec<_> = units
            .packets_of(unit)
            .map(|(at, packet)| (at, packet.header))
            .collect();
        for &(packet, _) in &packets {
            units.packets.remove(packet);
        }
        let header = packets[0].1;
        let unit = match unit {
            Unit::Packet(_) if header.flags & Header::MARKED != 0 => {
                Content::Marked(header.sequence)
            }
            Unit::Packet(_) => Content::Packet(header.sequence),
            Unit::Burst(burst) => Content::Burst(
                packets.iter().map(|(_, header)| header.sequence).collect(),
                units.bursts.remove(burst).envelope.bytes,
            ),
            Unit::BurstHeader(header) => {
                let it = units.burst_headers.remove(header);
                units.bursts.remove(it.burst);
                Content::Header {
                    packets: packets.iter().map(|(_, header)| header.sequence).collect(),
                    channel: it.channel,
                    data: it.data_at.0 - DELAY.0,
                }
            }
        };
        self.left.push(Left {
            start: now.0 - DELAY.0,
            port: self.port(link),
            unit,
        });
    }
}

impl Model for Site {
    type Event = Event;

    fn handle(&mut self, event: Event, agenda: &mut Agenda<Event>) {
        let (node, first) = (self.node, self.first_link);
        match event.unpack() {
            EventKind::Arrival { to, link, unit } => {
                fifo::arrived(unit, (link, to), &self.fabric.units, agenda);
                if to != node {
                    return self.record(unit, link, agenda.now());
                }
                let ctx = &mut Context::new(node, first, link, &mut self.fabric, agenda);
                self.switch.on_unit(unit, ctx);
            }
            EventKind::Timer { timer_id, .. } => {
                let none = LinkId::NONE;
                let ctx = &mut Context::new(node, first, none, &mut self.fabric, agenda);
                self.switch.on_timer(timer_id, ctx);
            }
        }
    }
}
