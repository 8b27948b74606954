//! What happens to chosen flows, event by event, and to bursts on chosen links: only when asked for.

mod bookings;

pub use bookings::{Booking, Bookings, Piece};

use crate::{
    Birth, DropReason, FlowId, Header, LinkId, NodeId, Options, PacketId, Sendable, Unit, Units,
};
use lightburst_des::{Duration, Time};

/// A node and a link that begins there; of what is lost as it comes one that ends there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The node.
    pub node: NodeId,
    /// The link.
    pub link: LinkId,
}

/// What was last handed to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A packet of this flow.
    Packet(FlowId),
    /// This burst.
    Burst(Birth),
}

/// What happens to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Its transmission begins on the host's interface, which is here.
    Sent(Place),
    /// It is at the host that it is for.
    Arrived(NodeId),
    /// It is dropped: at this node, on the way to or on this link.
    Lost {
        /// Where.
        place: Place,
        /// Why.
        reason: &'static DropReason,
        /// The burst in which it was.
        burst: Option<Birth>,
        /// What used the link that it wanted, if that was why.
        holder: Option<Holder>,
    },
}

impl What {
    /// Where, mostly where it is noted too.
    pub fn node(&self) -> NodeId {
        match *self {
            What::Sent(place) | What::Lost { place, .. } => place.node,
            What::Arrived(node) => node,
        }
    }
}

/// A packet's row.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// When.
    pub time: Time,
    /// What.
    pub what: What,
    /// The node that noted it.
    pub noted: NodeId,
    /// The flow.
    pub flow: FlowId,
    /// Which one it is.
    pub birth: Birth,
    /// Its header.
    pub header: Header,
    /// Its options, if it carries any.
    pub options: Option<Options>,
    /// Whether its data was sent before.
    pub again: bool,
}

/// Where a sender is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Below the slow start threshold.
    SlowStart,
    /// Above it.
    Avoidance,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until what was outstanding is acknowledged.
    Loss,
}

/// A sender's row.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// When.
    pub time: Time,
    /// The flow.
    pub flow: FlowId,
    /// Congestion window without its inflation, in bytes.
    pub window: f64,
    /// Bytes by which duplicate acknowledgements widen it.
    pub inflation: i64,
    /// Slow start threshold, in bytes.
    pub threshold: f64,
    /// Bytes sent and not acknowledged.
    pub in_flight: u64,
    /// The newest round-trip time.
    pub rtt: Option<Duration>,
    /// The retransmission timeout.
    pub rto: Duration,
    /// Where it is.
    pub state: State,
}

/// A burst's row.
#[derive(Clone, Copy, Debug)]
pub struct Burst {
    /// Which one it is, and so its ingress.
    pub birth: Birth,
    /// Arrival of its first packet at the ingress.
    pub opened: Time,
    /// When it left the ingress.
    pub departure: Time,
    /// The edge at which it ends.
    pub egress: NodeId,
    /// Which of the paths to its egress it takes.
    pub label: u8,
    /// Packets in it.
    pub packets: u32,
    /// Bytes of it.
    pub bytes: u32,
    /// Whether any of them carries data.
    pub data: bool,
    /// When its tail was at the egress; [`Time::NEVER`]: it did not come.
    pub arrival: Time,
    /// How it was dropped.
    pub lost: Option<Lost>,
}

/// How a burst was dropped.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Why.
    pub reason: &'static DropReason,
    /// Where.
    pub place: Place,
    /// When.
    pub time: Time,
    /// When its head was to leave there; none: when it was to leave its ingress.
    pub start: Option<Time>,
    /// The burst that used what it wanted, if that was why.
    pub holder: Option<Birth>,
}

/// The bursts from one edge to another take another path from now on, because of the load.
#[derive(Clone, Copy, Debug)]
pub struct PathSwitch {
    /// When the first of them is made.
    pub time: Time,
    /// Where they begin.
    pub ingress: NodeId,
    /// Where they end.
    pub egress: NodeId,
    /// The label of the path before.
    pub before: u8,
    /// The label of the new path.
    pub label: u8,
}

/// A row of a packet that is handed to a link, alone or in a burst.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// The flow.
    pub flow: FlowId,
    /// The packet.
    pub birth: Birth,
    /// The burst in which it is.
    pub burst: Option<Birth>,
    /// Where.
    pub place: Place,
    /// When what the node acts on was there: the head, the tail, or the packet that a
    /// burst was taken apart to, or a host made.
    pub came: Time,
    /// How long it was kept in a buffer or until its burst was closed.
    pub held: Duration,
    /// How long it then waited for the link.
    pub queued: Duration,
    /// When its transmission begins.
    pub start: Time,
    /// When the node at the other end can act; [`Time::NEVER`]: it is lost on the link.
    pub arrival: Time,
    /// Whether it was cut off its burst after this was noted: it did not go over this link.
    pub cut: bool,
}

/// A unit that is handed to a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    /// From where, and over what.
    pub place: Place,
    /// When it is handed over.
    pub now: Time,
    /// When its transmission may begin as far as the node goes.
    pub ready: Time,
    /// On which channel of it.
    pub channel: u16,
    /// When it begins.
    pub start: Time,
    /// When it is over.
    pub end: Time,
    /// When the node at the other end can act; [`Time::NEVER`]: it is lost.
    pub arrival: Time,
}

/// What is known of a packet that is somewhere.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    birth: Birth,
    again: bool,
    /// When it came to the node where it is, or to which it is on its way.
    came: Time,
}

/// The rows of the flows and of the links that are traced.
#[derive(Debug, Default)]
pub struct Trace {
    wanted: Vec<bool>,
    /// The newest round-trip time of each flow.
    samples: Vec<Option<Duration>>,
    /// The packets that are somewhere, by handle.
    marks: Vec<Mark>,
    /// How many packets each node has made.
    made: Vec<u32>,
    /// What each link was given last.
    holders: Vec<Option<Holder>>,
    /// Packets, in the order in which the rows were made.
    pub packets: Vec<Packet>,
    /// Senders.
    pub windows: Vec<Window>,
    /// All bursts that were made, in time: their numbers.
    pub births: Vec<Birth>,
    /// Bursts that carry a packet of a traced flow; all of them if links are traced.
    pub bursts: Vec<Burst>,
    /// Bursts on the traced links.
    pub bookings: Option<Bookings>,
    /// Packets on their way from node to node.
    pub hops: Vec<Hop>,
    /// All bursts that the load leads away from the path of those before.
    pub path_switches: Vec<PathSwitch>,
}

impl Trace {
    /// A trace of some of `flows` flows, over `links` links.
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

    /// Whether a flow is traced.
    #[inline]
    pub fn wants(&self, flow: FlowId) -> bool {
        self.wanted[flow.index()]
    }

    /// Notes a round-trip time.
    pub fn sample(&mut self, flow: FlowId, rtt: Duration) {
        self.samples[flow.index()] = Some(rtt);
    }

    /// The newest round-trip time of a flow.
    pub fn newest_sample(&self, flow: FlowId) -> Option<Duration> {
        self.samples[flow.index()]
    }

    /// Notes a new packet.
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

    /// Notes when a packet comes to where it is: with the tail of its burst, or behind what was cut off.
    pub(crate) fn comes(&mut self, packet: PacketId, at: Time) {
        self.marks[packet.index()].came = at;
    }

    /// Whether a burst with these packets has a row.
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

    /// Notes that a unit is handed to a link: the rows of its packets that are traced.
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
            // A packet of its own host has waited at a fair interface since then, as on the link.
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
                    // A header is handed over before its burst comes.
                    held: held_until.max(came).since(came),
                    queued: passage.start.since(ready),
                    start: passage.start,
                    arrival: passage.arrival,
                    cut: false,
                });
            }
        }
    }

    /// Takes back the rows, behind so many, of the hops of a packet in a burst.
    pub(crate) fn take_back(&mut self, packet: PacketId, burst: Birth, rows: usize) {
        let of = (self.marks[packet.index()].birth, Some(burst));
        for hop in &mut self.hops[rows..] {
            hop.cut |= (hop.birth, hop.burst) == of;
        }
    }

    /// What was last handed to a link.
    pub(crate) fn holder(&self, link: LinkId) -> Option<Holder> {
        self.holders[link.index()]
    }

    /// Adds the row of a packet.
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

    /// Adds the row of a burst; one that was held comes after those that were made later.
    pub(crate) fn add_burst(&mut self, row: Burst) {
        let at = self
            .bursts
            .partition_point(|other| other.birth.at <= row.birth.at);
        self.bursts.insert(at, row);
    }

    /// The row of a burst, if it has one.
    fn row(&mut self, burst: Birth) -> Option<&mut Burst> {
        // Rows come in the order of time.
        let first = self.bursts.partition_point(|row| row.birth.at < burst.at);
        let mut since = self.bursts[first..].iter_mut();
        since.find(|row| row.birth == burst)
    }

    /// Notes that a burst is dropped.
    pub(crate) fn lose(&mut self, burst: Birth, lost: Lost) {
        if let Some(row) = self.row(burst) {
            row.lost = Some(lost);
        }
    }

    /// Notes that a burst has come to its egress.
    pub(crate) fn end(&mut self, burst: Birth, now: Time) {
        if let Some(row) = self.row(burst) {
            row.arrival = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place {
        node: NodeId(1),
        link: LinkId(0),
    };

    fn birth(at: u64, node: u32) -> Birth {
        let at = Time(at);
        Birth { at, node, nth: 1 }
    }

    #[test]
    fn a_dropped_burst_is_found_among_those_of_its_instant() {
        let mut trace = Trace::new(1, 1, &[0]);
        for birth in [birth(5, 1), birth(5, 2), birth(9, 1)] {
            trace.bursts.push(Burst {
                birth,
                opened: Time(0),
                departure: Time(9),
                egress: NodeId(4),
                label: 0,
                packets: 1,
                bytes: 64,
                data: true,
                arrival: Time::NEVER,
                lost: None,
            });
        }
        // The last of these carries no traced flow, and has no row.
        for burst in [birth(5, 2), birth(9, 1), birth(5, 3)] {
            let lost = Lost {
                reason: crate::loss::RANDOM,
                place: PLACE,
                time: Time(9),
                start: None,
                holder: None,
            };
            trace.lose(burst, lost);
        }
        let lost = trace.bursts.iter().map(|row| row.lost.is_some());
        assert_eq!(lost.collect::<Vec<_>>(), [false, true, true]);
    }

    #[test]
    fn a_unit_is_held_until_it_is_handed_over_and_queued_from_when_it_may_begin() {
        let (source, destination) = (NodeId(0), NodeId(1));
        let packet = crate::Packet::new(FlowId(0), source, destination, 64, Header::default());
        let mut units = Units::with_capacity(1);
        let packet = units.packets.insert(packet);
        let mut trace = Trace::new(1, 1, &[0]);
        trace.mark(packet, source, false, Time(100));
        let passage = |now, start| Passage {
            place: PLACE,
            now: Time(now),
            ready: Time(now + 7),
            channel: 0,
            start: Time(start),
            end: Time(start + 40),
            arrival: Time(start + 50),
        };
        trace.hop(Unit::Packet(packet), &units, &passage(103, 150));
        trace.hop(Unit::Packet(packet), &units, &passage(210, 217));
        let hops = trace.hops.iter();
        let found = hops.map(|hop| (hop.came.0, hop.held.0, hop.queued.0, hop.arrival.0));
        let expected = [(100, 3, 40, 200), (200, 10, 0, 267)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}
