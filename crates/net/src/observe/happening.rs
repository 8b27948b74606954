//! Events of a network as reported to observers.

use crate::{Bundle, BurstId, DropReason, FlowId, Identity, LinkId, NodeId, PacketId, Unit};
use lightburst_des::{Duration, Time};
use std::ops::{BitOr, Range};

/// Set of kinds of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interest(u16);

impl Interest {
    /// [`Happening::Created`].
    pub const CREATED: Interest = Interest(1);
    /// [`Happening::Sent`].
    pub const SENT: Interest = Interest(1 << 1);
    /// [`Happening::Assembled`].
    pub const ASSEMBLED: Interest = Interest(1 << 2);
    /// [`Happening::Departing`].
    pub const DEPARTING: Interest = Interest(1 << 3);
    /// [`Happening::Transmitted`].
    pub const TRANSMITTED: Interest = Interest(1 << 4);
    /// [`Happening::Shortened`].
    pub const SHORTENED: Interest = Interest(1 << 5);
    /// [`Happening::Cut`].
    pub const CUT: Interest = Interest(1 << 6);
    /// [`Happening::Dropped`].
    pub const DROPPED: Interest = Interest(1 << 7);
    /// [`Happening::TailArrived`].
    pub const TAIL_ARRIVED: Interest = Interest(1 << 8);
    /// [`Happening::Disassembled`].
    pub const DISASSEMBLED: Interest = Interest(1 << 9);
    /// [`Happening::Delivered`].
    pub const DELIVERED: Interest = Interest(1 << 10);
    /// [`Happening::PathSwitched`].
    pub const PATH_SWITCHED: Interest = Interest(1 << 11);
    /// [`Happening::RoundTrip`].
    pub const ROUND_TRIP: Interest = Interest(1 << 12);
    /// [`Happening::WindowMoved`].
    pub const WINDOW_MOVED: Interest = Interest(1 << 13);
    /// [`Happening::Copied`].
    pub const COPIED: Interest = Interest(1 << 14);
    /// [`Happening::Trimmed`] and [`Happening::Returned`].
    pub const TRIMMED: Interest = Interest(1 << 15);

    /// All kinds.
    pub const ALL: Interest = Interest(u16::MAX);

    /// Returns whether the two sets have a kind in common.
    #[inline(always)]
    pub fn intersects(self, other: Interest) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Interest {
    type Output = Interest;

    fn bitor(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }
}

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
    Burst(Identity),
}

/// Times of a unit that is handed to a link.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// Node and output link.
    pub place: Place,
    /// Time of the hand-over.
    pub now: Time,
    /// Earliest start of the transmission that the node permits. The wait for the link is the time
    /// from here to `start`; a wait in the fair interface of a host comes before.
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

/// Packets that one node cut off from a burst in one operation.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Time of the loss. A tail is lost when the shortened burst reaches its egress.
    pub time: Time,
    /// Node at which the loss is noted.
    pub noted: NodeId,
    /// Node that made the cut, and its link.
    pub place: Place,
    /// Time at which the first of the packets would have left that node.
    pub start: Time,
    /// Identity of the burst.
    pub burst: Identity,
    /// Number of packets.
    pub packets: u32,
    /// Bytes of the packets.
    pub bytes: u32,
    /// Burst that uses the channel instead.
    pub by: Option<Identity>,
}

/// Part of a burst that is cut off.
#[derive(Clone, Copy, Debug)]
pub enum CutOff {
    /// The head, before the burst uses the channel.
    Head {
        /// Arrival of the remaining packets; `None` if the burst was created at this node.
        rest: Option<Time>,
    },
    /// A part of the tail, after the start of the transmission.
    Tail {
        /// Departure of the head of the burst from the node that made the cut.
        departure: Time,
    },
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

/// Congestion control state of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionState {
    /// Slow start: the window is below the threshold.
    SlowStart,
    /// Congestion avoidance: the window is above the threshold.
    Avoidance,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until the data outstanding at the timeout is acknowledged.
    Loss,
}

/// Congestion window of a sender, with the state that goes with it.
#[derive(Clone, Copy, Debug)]
pub struct WindowState {
    /// Congestion window without inflation, in bytes.
    pub window: f64,
    /// Inflation of the window by duplicate acknowledgements, in bytes.
    pub inflation: i64,
    /// Slow start threshold, in bytes.
    pub threshold: f64,
    /// Bytes sent and not acknowledged.
    pub in_flight: u64,
    /// Retransmission timeout.
    pub rto: Duration,
    /// Congestion control state.
    pub state: CongestionState,
    /// Bytes per second at which segments leave; `None` without pacing.
    pub pacing: Option<u64>,
    /// Reordering window of RACK (RFC 8985, section 6.2); `None` if losses are not found by time.
    pub reordering_window: Option<Duration>,
    /// Number of reductions of the window undone so far.
    pub undone: u32,
}

/// Event of a network. Its units are still in the network when it is reported, in the state before
/// any of their packets is removed.
#[derive(Clone, Debug)]
pub enum Happening<'a> {
    /// A packet enters the network.
    Created {
        /// The packet.
        packet: PacketId,
        /// Node that created it.
        node: NodeId,
        /// Whether its data was sent before.
        again: bool,
    },
    /// The transmission of a packet at the interface of its source host is decided, or the packet
    /// enters at an edge (with [`LinkId::NONE`]).
    Sent {
        /// The packet.
        packet: PacketId,
        /// Node and link.
        place: Place,
        /// Start of the transmission.
        start: Time,
    },
    /// A burst is assembled.
    Assembled {
        /// The burst.
        burst: BurstId,
    },
    /// The departure of a burst from its ingress is decided.
    Departing {
        /// The burst.
        burst: BurstId,
        /// Packets of the burst.
        bundle: &'a Bundle,
        /// Time of the departure.
        departure: Time,
    },
    /// A unit is handed to a link. Only watched links report this event ([`crate::Wire::watched`]): all
    /// links, if an observer wants this kind.
    Transmitted {
        /// The unit; for a burst behind a header, the header.
        unit: Unit,
        /// Times of the transmission.
        passage: Passage,
    },
    /// The transmission of a burst is shortened while it is in progress.
    Shortened {
        /// Link of the transmission.
        link: LinkId,
        /// Identity of the burst.
        burst: Identity,
        /// Start of the transmission.
        start: Time,
        /// New end of the transmission.
        end: Time,
        /// Bytes before the new end.
        bytes: u32,
    },
    /// Packets are cut off from a burst, and dropped.
    Cut {
        /// The burst.
        burst: BurstId,
        /// Positions of the packets in the burst.
        packets: Range<usize>,
        /// Circumstances of the cut.
        piece: Piece,
        /// Part of the burst that is cut off.
        part: CutOff,
    },
    /// A unit is dropped, a burst with all its packets.
    Dropped {
        /// The unit; for a burst behind a header, the header.
        unit: Unit,
        /// Node of the drop, and the link that the unit requested or was on.
        place: Place,
        /// Reason of the drop.
        reason: &'static DropReason,
        /// Unit that occupied the link, if it is not the unit last handed to the link.
        holder: Option<Holder>,
        /// Time at which the transmission would have started, if it does not follow from the unit.
        start: Option<Time>,
    },
    /// The payload is cut off a packet, whose header goes on.
    Trimmed {
        /// The packet, with its payload.
        packet: PacketId,
        /// Node, and the link that the packet requested.
        place: Place,
    },
    /// The header of a trimmed packet returns to its sender.
    Returned {
        /// The packet, before its source and its destination are swapped.
        packet: PacketId,
        /// Node, and the link that the header requested.
        place: Place,
    },
    /// The tail of a burst arrives at its egress.
    TailArrived {
        /// The burst.
        burst: BurstId,
    },
    /// A burst is disassembled at its egress.
    Disassembled {
        /// The burst.
        burst: BurstId,
    },
    /// A packet reaches its destination host.
    Delivered {
        /// The packet.
        packet: PacketId,
        /// The host.
        host: NodeId,
    },
    /// Load balancing moves the bursts between two edges to another path.
    PathSwitched(PathSwitch),
    /// A sender takes a sample of the round-trip time.
    RoundTrip {
        /// Flow of the sender.
        flow: FlowId,
        /// The sample.
        rtt: Duration,
    },
    /// A sender has handled an event that may have moved its window.
    WindowMoved {
        /// Flow of the sender.
        flow: FlowId,
        /// The window.
        window: WindowState,
    },
    /// A packet goes on in two copies.
    Copied {
        /// The packet.
        packet: PacketId,
        /// Its copy.
        copy: PacketId,
    },
}

impl Happening<'_> {
    /// Returns the kind of the event.
    #[inline(always)]
    pub fn kind(&self) -> Interest {
        match self {
            Happening::Created { .. } => Interest::CREATED,
            Happening::Sent { .. } => Interest::SENT,
            Happening::Assembled { .. } => Interest::ASSEMBLED,
            Happening::Departing { .. } => Interest::DEPARTING,
            Happening::Transmitted { .. } => Interest::TRANSMITTED,
            Happening::Shortened { .. } => Interest::SHORTENED,
            Happening::Cut { .. } => Interest::CUT,
            Happening::Dropped { .. } => Interest::DROPPED,
            Happening::TailArrived { .. } => Interest::TAIL_ARRIVED,
            Happening::Disassembled { .. } => Interest::DISASSEMBLED,
            Happening::Delivered { .. } => Interest::DELIVERED,
            Happening::PathSwitched(_) => Interest::PATH_SWITCHED,
            Happening::RoundTrip { .. } => Interest::ROUND_TRIP,
            Happening::WindowMoved { .. } => Interest::WINDOW_MOVED,
            Happening::Copied { .. } => Interest::COPIED,
            Happening::Trimmed { .. } | Happening::Returned { .. } => Interest::TRIMMED,
        }
    }
}
