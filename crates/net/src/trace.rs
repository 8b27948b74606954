//! What happens to chosen flows, event by event: only when asked for.

use crate::{DropReason, FlowId, Header, NodeId, Options, UnitId};
use lightburst_des::{Duration, Time};

/// What happens to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Its transmission begins on the host's interface.
    Sent,
    /// It is at the host that it is for.
    Arrived,
    /// It is dropped, in the burst of this number if it was in one.
    Lost {
        /// Why.
        reason: DropReason,
        /// The burst in which it was.
        burst: Option<u64>,
    },
}

/// A packet's row.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// When.
    pub time: Time,
    /// What.
    pub what: What,
    /// The flow.
    pub flow: FlowId,
    /// Its number in the order of creation.
    pub number: u64,
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
    /// Its number in the order of creation.
    pub number: u64,
    /// Arrival of its first packet at the ingress.
    pub opened: Time,
    /// When it left the ingress.
    pub departure: Time,
    /// The ingress.
    pub node: NodeId,
    /// Packets in it.
    pub packets: u32,
    /// Bytes of it.
    pub bytes: u32,
    /// Whether any of them carries data.
    pub data: bool,
    /// Why it was dropped.
    pub lost: Option<DropReason>,
}

/// The rows of the flows that are traced.
#[derive(Debug, Default)]
pub struct Trace {
    wanted: Vec<bool>,
    /// The newest round-trip time of each flow.
    samples: Vec<Option<Duration>>,
    /// Number and repetition of the packets that are somewhere, by handle.
    marks: Vec<(u64, bool)>,
    /// Packets, in the order in which the rows were made.
    pub packets: Vec<Packet>,
    /// Senders.
    pub windows: Vec<Window>,
    /// Bursts that carry a packet of a traced flow.
    pub bursts: Vec<Burst>,
}

impl Trace {
    /// A trace of some of `flows` flows.
    pub fn new(flows: usize, wanted: &[u32]) -> Trace {
        let mut trace = Trace {
            wanted: vec![false; flows],
            samples: vec![None; flows],
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
    pub(crate) fn mark(&mut self, unit: UnitId, number: u64, again: bool) {
        if unit.index() >= self.marks.len() {
            self.marks.resize(unit.index() + 1, (0, false));
        }
        self.marks[unit.index()] = (number, again);
    }

    /// Adds the row of a packet.
    pub(crate) fn packet(
        &mut self,
        time: Time,
        what: What,
        unit: UnitId,
        packet: &crate::Packet,
        options: Option<Options>,
    ) {
        let (number, again) = self.marks[unit.index()];
        self.packets.push(Packet {
            time,
            what,
            flow: packet.flow,
            number,
            header: packet.header,
            options,
            again,
        });
    }

    /// Notes that a burst is dropped.
    pub(crate) fn lose(&mut self, number: u64, reason: DropReason) {
        // Rows come in the order of the numbers; a burst without a traced flow has none.
        if let Ok(place) = self.bursts.binary_search_by_key(&number, |b| b.number) {
            self.bursts[place].lost = Some(reason);
        }
    }
}
