//! Rows of a trace.

use lightburst_des::{Duration, Time};
use lightburst_net::observe::{Holder, Place, WindowState};
use lightburst_net::{DropReason, FlowId, Header, Identity, NodeId, Options};

/// Event of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The transmission starts at the interface of the source host, or the packet enters at an edge
    /// (with [`lightburst_net::LinkId::NONE`]).
    Sent(Place),
    /// The packet arrives at its destination host.
    Arrived(NodeId),
    /// The payload is cut off the packet, at a node for a link.
    Trimmed(Place),
    /// The header of a trimmed packet returns to its sender, at a node where it had no room for a link.
    Returned(Place),
    /// The packet is dropped.
    Lost {
        /// Node of the drop, and the link that the packet requested or was on.
        place: Place,
        /// Reason of the drop.
        reason: &'static DropReason,
        /// Burst that contained the packet.
        burst: Option<Identity>,
        /// Unit that occupied the requested link, if the link was busy.
        holder: Option<Holder>,
    },
}

impl What {
    /// Returns the node of the event. The row is noted at the same node, except for tails that were
    /// cut off, which are noted at the egress.
    pub fn node(&self) -> NodeId {
        match *self {
            What::Sent(place)
            | What::Trimmed(place)
            | What::Returned(place)
            | What::Lost { place, .. } => place.node,
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
    pub identity: Identity,
    /// Transport header.
    pub header: Header,
    /// Options, if the packet carries any.
    pub options: Option<Options>,
    /// Whether the data was sent before.
    pub again: bool,
}

/// Row of a sender.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Time of the row.
    pub time: Time,
    /// Flow of the sender.
    pub flow: FlowId,
    /// The window.
    pub window: WindowState,
    /// Latest round-trip time sample.
    pub rtt: Option<Duration>,
}

/// Row of a burst.
#[derive(Clone, Copy, Debug)]
pub struct Burst {
    /// Identity of the burst; contains its ingress.
    pub identity: Identity,
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
    pub holder: Option<Identity>,
}

/// Row of a packet that is handed to a link, alone or in a burst.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// Flow of the packet.
    pub flow: FlowId,
    /// Identity of the packet.
    pub identity: Identity,
    /// Burst that contains the packet.
    pub burst: Option<Identity>,
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
