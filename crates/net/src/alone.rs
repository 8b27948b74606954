//! One node alone, for tests of nodes: units come to it by a script, and what leaves is recorded.
//!
//! The node has far ends, numbered from 0. One link leads from each of them to the node, and one or
//! several lead back: the ports of the node, in the order of the ends. All times are in
//! picoseconds. There is no plan, no transport and no other switch.

use crate::trace::{self, What};
use crate::{
    fifo, Birth, Bundle, Burst, BurstHeader, BurstId, Context, DropReason, Event, EventKind,
    Fabric, FlowId, Header, LinkId, NodeId, Packet, PacketId, PortId, Rate, Routing, Switch, Trace,
    Unit, Wire,
};
use lightburst_des::{Duration, Model, Scheduler, Simulator, Stop, Ties, Time};

/// What leaves is recorded so much later at the far end, where the head of a unit counts.
const DELAY: Duration = Duration(1);

/// The seed of the order of simultaneous events.
pub const SEED: u64 = 0;

/// Packets are of so many flows, all of them traced.
pub const FLOWS: u32 = 6;

/// No script has so many events.
const MAX_EVENTS: u64 = 1_000_000;

/// A node alone.
pub struct Alone {
    simulator: Simulator<Site>,
    packets: u64,
    bursts: u32,
}

/// A unit that left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// When its transmission starts.
    pub start: u64,
    /// The port.
    pub port: u16,
    /// What it is.
    pub unit: Content,
}

/// A unit, by the numbers of its packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A packet by itself.
    Packet(u64),
    /// A packet that is marked (ECN).
    Marked(u64),
    /// A burst: its packets, and its size in bytes.
    Burst(Vec<u64>, u32),
    /// The header of a burst: the packets in that, and where and when it follows.
    Header {
        /// The packets.
        packets: Vec<u64>,
        /// The channel.
        channel: u16,
        /// When the transmission of the burst begins.
        data: u64,
    },
}

/// A packet that was dropped, alone or in a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// When.
    pub time: u64,
    /// The port that it wanted; none if it was lost as it came.
    pub port: Option<u16>,
    /// The number of the packet.
    pub packet: u64,
    /// Why.
    pub reason: &'static DropReason,
    /// Whether the trace tells what had used the port.
    pub held: bool,
}

/// The node, its links and what left.
struct Site {
    node: NodeId,
    /// The link at port 0 of the node.
    first_link: LinkId,
    switch: Box<dyn Switch>,
    fabric: Fabric,
    left: Vec<Left>,
}

impl Alone {
    /// The node that `build` makes, given its number and the number of its sets of next hops.
    /// `ports[i]` ports of it lead to the end `i`; all links have one rate.
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
            // The trace notes what uses a link.
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
        // Only the trace says why a packet was dropped.
        let flows: Vec<u32> = (0..FLOWS).collect();
        fabric.trace = Some(Box::new(Trace::new(flows.len(), wires.len(), &flows)));
        let site = Site {
            node,
            first_link: fabric.link_id(node, PortId(0)),
            switch,
            fabric,
            left: Vec::new(),
        };
        Alone {
            simulator: Simulator::new(site, Ties::new(SEED, None), 16),
            packets: 0,
            bursts: 0,
        }
    }

    /// A packet of data of flow 0 for the end `to` comes from the end `from`: the node acts on it at `time`.
    /// Returns its number: packets are counted from 1. Over one link, one unit comes at a time.
    pub fn packet(&mut self, time: u64, from: u32, to: u32, bytes: u32) -> u64 {
        let packet = self.make(time, from, (to, bytes), bytes);
        self.arrive(time, from, Unit::Packet(packet))
    }

    /// The same for a packet of any flow, with the congestion window of its sender.
    pub fn packet_of(
        &mut self,
        (flow, window): (u32, u16),
        time: u64,
        from: u32,
        to: u32,
        bytes: u32,
    ) -> u64 {
        let packet = self.make(time, from, (to, bytes), bytes);
        let it = &mut self.simulator.model.fabric.units.packets[packet];
        it.envelope.flow = FlowId(flow);
        it.header.window = window;
        self.arrive(time, from, Unit::Packet(packet))
    }

    /// A packet of flow 0 that carries no data.
    pub fn acknowledgement(&mut self, time: u64, from: u32, to: u32, bytes: u32) -> u64 {
        let packet = self.make(time, from, (to, bytes), 0);
        self.arrive(time, from, Unit::Packet(packet))
    }

    /// A burst of packets, each given by its end and its bytes, comes from the end `from`: its head
    /// is at the node at `time`. Returns the number of the last of its packets.
    pub fn burst(&mut self, time: u64, from: u32, packets: &[(u32, u32)]) -> u64 {
        let burst = self.bundle(time, from, packets);
        self.arrive(time, from, Unit::Burst(burst))
    }

    /// The same for the header of a burst, which follows over a channel at `data`.
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
            envelope, birth, ..
        } = units.bursts[burst];
        let header = units.headers.insert(BurstHeader {
            envelope,
            birth,
            burst,
            data_at: Time(data),
            channel,
            hops: 1,
        });
        self.arrive(time, from, Unit::Header(header))
    }

    fn bundle(&mut self, time: u64, from: u32, packets: &[(u32, u32)]) -> BurstId {
        let handles: Vec<PacketId> = packets
            .iter()
            .map(|&packet| self.make(time, from, packet, packet.1))
            .collect();
        let units = &mut self.simulator.model.fabric.units;
        for pair in handles.windows(2) {
            units.packets[pair[0]].envelope.behind.unit = Some(Unit::Packet(pair[1]));
        }
        self.bursts += 1;
        let birth = Birth {
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
        let burst = Burst::new(&bundle, NodeId(from), birth);
        units.bursts.insert(burst)
    }

    fn make(&mut self, time: u64, from: u32, (to, bytes): (u32, u32), payload: u32) -> PacketId {
        self.packets += 1;
        let header = Header {
            sequence: self.packets,
            payload,
            ..Header::default()
        };
        let (source, fabric) = (NodeId(from), &mut self.simulator.model.fabric);
        let packet = Packet::new(FlowId(0), source, NodeId(to), bytes, header);
        let packet = fabric.units.packets.insert(packet);
        let trace = fabric.trace.as_mut().expect("a trace");
        trace.mark(packet, source, false, Time(time));
        packet
    }

    fn arrive(&mut self, time: u64, from: u32, unit: Unit) -> u64 {
        let (to, link) = (self.simulator.model.node, LinkId(from));
        let event = Event::arrival(to, link, unit);
        self.simulator.scheduler.push(Time(time), event);
        self.packets
    }

    /// Runs the script, and the timers that the node sets, to the end.
    pub fn run(&mut self) {
        self.run_until(u64::MAX);
    }

    /// Runs what happens until `time`; a transmission that starts then or later is not recorded yet.
    pub fn run_until(&mut self, time: u64) {
        let stop = self.simulator.run(Time(time), MAX_EVENTS);
        assert_ne!(stop, Stop::Paused, "the node goes on for ever");
    }

    /// The node, for what it counts and holds.
    pub fn node(&self) -> &dyn Switch {
        &*self.simulator.model.switch
    }

    /// What left, in the order of starts and ports.
    pub fn left(&self) -> Vec<Left> {
        let mut left = self.simulator.model.left.clone();
        left.sort_by_key(|left| (left.start, left.port));
        left
    }

    /// What was dropped, in the order of time.
    pub fn dropped(&self) -> Vec<Dropped> {
        let site = &self.simulator.model;
        let rows = &site.fabric.trace.as_ref().expect("a trace").packets;
        rows.iter().filter_map(|row| site.dropped(row)).collect()
    }

    /// The rows of the trace about bursts that the node made, in the order in which they were made.
    pub fn made(&self) -> &[trace::Burst] {
        &self
            .simulator
            .model
            .fabric
            .trace
            .as_ref()
            .expect("a trace")
            .bursts
    }

    /// How many packets have neither left nor been dropped.
    pub fn inside(&self) -> usize {
        self.simulator.model.fabric.units.packets.len()
    }
}

impl Left {
    /// A packet that left.
    pub fn packet(start: u64, port: u16, number: u64) -> Left {
        let unit = Content::Packet(number);
        Left { start, port, unit }
    }

    /// A marked packet that left.
    pub fn marked(start: u64, port: u16, number: u64) -> Left {
        let unit = Content::Marked(number);
        Left { start, port, unit }
    }

    /// A header that left, the channel of its burst, when that follows, and the numbers of the
    /// packets in it.
    pub fn header(start: u64, port: u16, (channel, data): (u16, u64), numbers: &[u64]) -> Left {
        let packets = numbers.to_vec();
        let unit = Content::Header {
            packets,
            channel,
            data,
        };
        Left { start, port, unit }
    }

    /// A burst that left: the numbers of its packets, and its size.
    pub fn burst(start: u64, port: u16, numbers: &[u64], bytes: u32) -> Left {
        let unit = Content::Burst(numbers.to_vec(), bytes);
        Left { start, port, unit }
    }
}

impl Site {
    fn port(&self, link: LinkId) -> u16 {
        (link.0 - self.first_link.0) as u16
    }

    fn dropped(&self, row: &trace::Packet) -> Option<Dropped> {
        let What::Lost {
            place,
            reason,
            holder,
            ..
        } = row.what
        else {
            return None;
        };
        Some(Dropped {
            time: row.time.0,
            port: (place.link >= self.first_link).then(|| self.port(place.link)),
            packet: row.header.sequence,
            reason,
            held: holder.is_some(),
        })
    }

    /// The head of a unit is at a far end.
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
            Unit::Header(header) => {
                let it = units.headers.remove(header);
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

    fn handle(&mut self, event: Event, scheduler: &mut Scheduler<Event>) {
        let (node, first) = (self.node, self.first_link);
        match event.unpack() {
            EventKind::Arrival { to, link, unit } => {
                fifo::arrived(unit, (link, to), &self.fabric.units, scheduler);
                if to != node {
                    return self.record(unit, link, scheduler.now());
                }
                let ctx = &mut Context::new(node, first, link, &mut self.fabric, scheduler);
                self.switch.on_unit(unit, ctx);
            }
            EventKind::Timer { token, .. } => {
                let none = LinkId::NONE;
                let ctx = &mut Context::new(node, first, none, &mut self.fabric, scheduler);
                self.switch.on_timer(token, ctx);
            }
        }
    }
}
