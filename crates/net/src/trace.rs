//! Trace of chosen flows and of bursts on chosen links, event by event. Kept only on request.

mod bookings;

pub use bookings::{Booking, Bookings, Piece};

use crate::{
    Birth, DropReason, FlowId, Header, LinkId, NodeId, Options, PacketId, Sendable, Unit, Units,
};
use lightburst_des::{Duration, Time};

/// A node and one of its output links. For a unit lost on arrival: the input link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The node.
    pub node: NodeId,
    /// The link.
    pub link: LinkId,
}

/// Unit that was last handed to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A packet of this flow.
    Packet(FlowId),
    /// This burst.
    Burst(Birth),
}

/// Event of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The transmission starts at the interface of the source host, or the packet enters at an edge
    /// (with [`LinkId::NONE`]).
    Sent(Place),
    /// The packet arrives at its destination host.
    Arrived(NodeId),
    /// The packet is dropped.
    Lost {
        /// Node of the drop, and the link that the packet requested or was on.
        place: Place,
        /// Reason of the drop.
        reason: &'static DropReason,
        /// Burst that contained the packet.
        burst: Option<Birth>,
        /// Unit that occupied the requested link, if the link was busy.
        holder: Option<Holder>,
    },
}

impl What {
    /// Returns the node of the event. The row is noted at the same node, except for tails that were
    /// cut off, which are noted at the egress.
    pub fn node(&self) -> NodeId {
        match *self {
            What::Sent(place) | What::Lost { place, .. } => place.node,
            What::Arrived(node) => node,
        }
    }
}

/// Row of a packet event.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Time of the event.
    pub time: Time,
    /// The event.
    pub what: What,
    /// Node that noted the event.
    pub noted: NodeId,
    /// Flow of the packet.
    pub flow: FlowId,
    /// Identity of the packet.
    pub birth: Birth,
    /// Transport header.
    pub header: Header,
    /// Options, if the packet carries any.
    pub options: Option<Options>,
    /// Whether the data was sent before.
    pub again: bool,
}

/// Congestion control state of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Slow start: the window is below the threshold.
    SlowStart,
    /// Congestion avoidance: the window is above the threshold.
    Avoidance,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until the data outstanding at the timeout is acknowledged.
    Loss,
}

/// Row of a sender.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Time of the row.
    pub time: Time,
    /// Flow of the sender.
    pub flow: FlowId,
    /// Congestion window without inflation, in bytes.
    pub window: f64,
    /// Inflation of the window by duplicate acknowledgements, in bytes.
    pub inflation: i64,
    /// Slow start threshold, in bytes.
    pub threshold: f64,
    /// Bytes sent and not acknowledged.
    pub in_flight: u64,
    /// Latest round-trip time sample.
    pub rtt: Option<Duration>,
    /// Retransmission timeout.
    pub rto: Duration,
    /// Congestion control state.
    pub state: State,
}

/// Row of a burst.
#[derive(Clone, Copy, Debug)]
pub struct Burst {
    /// Identity of the burst; contains its ingress.
    pub birth: Birth,
    /// Arrival time of the first packet at the ingress.
    pub opened: Time,
    /// Departure of the burst from the ingress.
    pub departure: Time,
    /// Edge at which the burst ends.
    pub egress: NodeId,
    /// Number of its path to the egress.
    pub label: u8,
    /// Number of packets.
    pub packets: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Whether any packet carries data.
    pub data: bool,
    /// Arrival time of the tail at the egress; [`Time::NEVER`] if it has not arrived.
    pub arrival: Time,
    /// Circumstances of the drop, if the burst was dropped.
    pub lost: Option<Lost>,
}

/// Circumstances of the drop of a burst.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Reason of the drop.
    pub reason: &'static DropReason,
    /// Node and link of the drop.
    pub place: Place,
    /// Time of the drop.
    pub time: Time,
    /// Time at which the head would have left this node. `None` if that is the departure from the
    /// ingress.
    pub start: Option<Time>,
    /// Burst that occupied the requested channel, if it was busy.
    pub holder: Option<Birth>,
}

/// Change of path of the bursts from one edge to another, caused by the load.
#[derive(Clone, Copy, Debug)]
pub struct PathSwitch {
    /// Creation time of the first burst on the new path.
    pub time: Time,
    /// Ingress of the bursts.
    pub ingress: NodeId,
    /// Egress of the bursts.
    pub egress: NodeId,
    /// Label of the old path.
    pub before: u8,
    /// Label of the new path.
    pub label: u8,
}

/// Row of a packet that is handed to a link, alone or in a burst.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// Flow of the packet.
    pub flow: FlowId,
    /// Identity of the packet.
    pub birth: Birth,
    /// Burst that contains the packet.
    pub burst: Option<Birth>,
    /// Node and output link.
    pub place: Place,
    /// Time at which the packet became available at the node: arrival of the head (cut-through) or
    /// of the tail (store and forward) of its unit, disassembly of its burst, or creation at a
    /// host.
    pub came: Time,
    /// Time in a buffer or in burst assembly, from `came` on.
    pub held: Duration,
    /// Waiting time for the link, from the earliest start that the node permits.
    pub queued: Duration,
    /// Start of the transmission.
    pub start: Time,
    /// Time at which the next node can act on the packet; [`Time::NEVER`] if it is lost on the
    /// link.
    pub arrival: Time,
    /// Whether the packet was cut off from its burst after this row was added. It did not use the
    /// link then.
    pub cut: bool,
}

/// Times of a unit that is handed to a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    /// Node and output link.
    pub place: Place,
    /// Time of the hand-over.
    pub now: Time,
    /// Earliest start of the transmission that the node permits.
    pub ready: Time,
    /// Data channel of the link.
    pub channel: u16,
    /// Start of the transmission.
    pub start: Time,
    /// End of the transmission.
    pub end: Time,
    /// Time at which the next node can act on the unit; [`Time::NEVER`] if it is lost.
    pub arrival: Time,
}

/// Trace data of a packet in the network.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    birth: Birth,
    again: bool,
    /// Time at which the packet became available at its present or next node, see [`Hop`].
    came: Time,
}

/// Rows of the traced flows and links.
#[derive(Debug, Default)]
pub struct Trace {
    wanted: Vec<bool>,
    /// Latest round-trip time sample of each flow.
    samples: Vec<Option<Duration>>,
    /// Data of the packets in the network, by handle.
    marks: Vec<Mark>,
    /// Number of packets created by each node.
    made: Vec<u32>,
    /// Unit last handed to each link.
    holders: Vec<Option<Holder>>,
    /// Rows of packet events, in the order of their creation.
    pub packets: Vec<Packet>,
    /// Rows of senders.
    pub windows: Vec<Window>,
    /// Identities of all bursts, in order of time.
    pub births: Vec<Birth>,
    /// Rows of bursts with a packet of a traced flow; of all bursts if links are traced.
    pub bursts: Vec<Burst>,
    /// Bursts on the traced links.
    pub bookings: Option<Bookings>,
    /// Rows of packets handed to links.
    pub hops: Vec<Hop>,
    /// All changes of path caused by the load.
    pub path_switches: Vec<PathSwitch>,
}

impl Trace {
    /// Creates a trace of the flows `wanted`, in a network of `flows` flows and `links` links.
    pub fn new(flows: usize, links: usize, wanted: &[u32]) -> Trace {
        let mut trace = Trace {
            wanted: vec![false; flows],
            samples: vec![None; flows],
            holders: vec![None; links],
            ..Trace::default()
        };
        for &flow in wanted {
            trace.wanted[flow as usize] = true;
        }
        trace
    }

    /// Returns whether a flow is traced.
    #[inline]
    pub fn wants(&self, flow: FlowId) -> bool {
        self.wanted[flow.index()]
    }

    /// Records a round-trip time sample.
    pub fn sample(&mut self, flow: FlowId, rtt: Duration) {
        self.samples[flow.index()] = Some(rtt);
    }

    /// Returns the latest round-trip time sample of a flow.
    pub fn newest_sample(&self, flow: FlowId) -> Option<Duration> {
        self.samples[flow.index()]
    }

    /// Registers a new packet.
    pub(crate) fn mark(&mut self, packet: PacketId, node: NodeId, again: bool, now: Time) {
        if node.index() >= self.made.len() {
            self.made.resize(node.index() + 1, 0);
        }
        self.made[node.index()] += 1;
        if packet.index() >= self.marks.len() {
            self.marks.resize(packet.index() + 1, Mark::default());
        }
        let birth = Birth {
            at: now,
            node: node.0,
            nth: self.made[node.index()],
        };
        self.marks[packet.index()] = Mark {
            birth,
            again,
            came: now,
        };
    }

    /// Sets the time at which a packet becomes available at its node: when the tail of its burst
    /// arrives, or the rest of its burst after a cut.
    pub(crate) fn comes(&mut self, packet: PacketId, at: Time) {
        self.marks[packet.index()].came = at;
    }

    /// Returns whether a burst with these packets, created at `now`, has a row.
    pub(crate) fn keeps<'p>(
        &self,
        now: Time,
        packets: impl Iterator<Item = &'p crate::Packet>,
    ) -> bool {
        let on_links = self.bookings.as_ref().is_some_and(|kept| kept.tell(now));
        on_links
            || packets
                .into_iter()
                .any(|packet| self.wants(packet.envelope.flow))
    }

    /// Records the hand-over of a unit to a link, and adds the rows of its traced packets.
    pub(crate) fn hop(&mut self, unit: Unit, units: &Units, passage: &Passage) {
        let Passage { place, now, .. } = *passage;
        let burst = units.burst_of(unit).map(|burst| units.bursts[burst].birth);
        let packet = Holder::Packet(unit.envelope(units).flow);
        self.holders[place.link.index()] = Some(burst.map_or(packet, Holder::Burst));
        if let (Some(burst), Some(bookings)) = (burst, &mut self.bookings) {
            bookings.add(burst, unit.envelope(units).bytes, passage);
        }
        for (at, packet) in units.packets_of(unit) {
            let mark = &mut self.marks[at.index()];
            let came = std::mem::replace(&mut mark.came, passage.arrival);
            // A packet of this host: the time in its fair interface counts as waiting for the link.
            let of_host = burst.is_none() && mark.birth.node == place.node.0;
            let (held_until, ready) = match of_host {
                true => (came, came),
                false => (now, passage.ready),
            };
            if self.wanted[packet.envelope.flow.index()] {
                self.hops.push(Hop {
                    flow: packet.envelope.flow,
                    birth: mark.birth,
                    burst,
                    place,
                    came,
                    // A header is handed over before its burst arrives.
                    held: held_until.max(came).since(came),
                    queued: passage.start.since(ready),
                    start: passage.start,
                    arrival: passage.arrival,
                    cut: false,
                });
            }
        }
    }

    /// Marks the hops of a packet in a burst as cut, from row `rows` on.
    pub(crate) fn take_back(&mut self, packet: PacketId, burst: Birth, rows: usize) {
        let of = (self.marks[packet.index()].birth, Some(burst));
        for hop in &mut self.hops[rows..] {
            hop.cut |= (hop.birth, hop.burst) == of;
        }
    }

    /// Returns the unit last handed to a link.
    pub(crate) fn holder(&self, link: LinkId) -> Option<Holder> {
        self.holders[link.index()]
    }

    /// Adds the row of a packet event.
    pub(crate) fn packet(
        &mut self,
        (time, noted): (Time, NodeId),
        what: What,
        id: PacketId,
        packet: &crate::Packet,
        options: Option<Options>,
    ) {
        let Mark { birth, again, .. } = self.marks[id.index()];
        self.packets.push(Packet {
            time,
            what,
            noted,
            flow: packet.envelope.flow,
            birth,
            header: packet.header,
            options,
            again,
        });
    }

    /// Inserts the row of a burst in order of creation. A burst that was held may leave after later
    /// ones.
    pub(crate) fn add_burst(&mut self, row: Burst) {
        let at = self
            .bursts
            .partition_point(|other| other.birth.at <= row.birth.at);
        self.bursts.insert(at, row);
    }

    /// Returns the row of a burst, if it has one.
    fn row(&mut self, burst: Birth) -> Option<&mut Burst> {
        // Rows are sorted by creation time.
        let first = self.bursts.partition_point(|row| row.birth.at < burst.at);
        let mut since = self.bursts[first..].iter_mut();
        since.find(|row| row.birth == burst)
    }

    /// Records the drop of a burst.
    pub(crate) fn lose(&mut self, burst: Birth, lost: Lost) {
        if let Some(row) = self.row(burst) {
            row.lost = Some(lost);
        }
    }

    /// Records the arrival of a burst at its egress.
    pub(crate) fn end(&mut self, burst: Birth, now: Time) {
        if let Some(row) = self.row(burst) {
            row.arrival = now;
        }
    }
}

#[cfg(test)]
mod tests;
