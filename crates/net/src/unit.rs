//! What travels.

use crate::{FlowId, NodeId, UnitId};
use lightburst_des::{Order, Time};

/// The transport header that a packet carries; the network never reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// First byte of the payload, counted from the start of the flow.
    pub sequence: u64,
    /// Next byte expected by the sender of this header.
    pub acknowledgement: u64,
    /// Useful bytes carried.
    pub payload: u32,
    /// What kind of segment this is; the bits are the transport's.
    pub flags: u8,
}

/// A packet; one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Packet {
    /// Transport header.
    pub header: Header,
    /// The flow it belongs to, in either direction.
    pub flow: FlowId,
    /// The host that it is for.
    pub destination: NodeId,
    /// Size on the wire.
    pub bytes: u32,
    /// Congestion experienced (ECN).
    pub marked: bool,
    /// Where it waits.
    pub(crate) place: Place,
}

/// The one queue in which a unit stands: behind another on a link, or in a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub due: Time,
    pub order: Order,
    pub next: UnitId,
}

impl Packet {
    /// A packet that is nowhere yet.
    pub fn new(flow: FlowId, destination: NodeId, bytes: u32, header: Header) -> Packet {
        let place = Place {
            due: Time::ZERO,
            order: Order::default(),
            next: UnitId::NONE,
        };
        Packet {
            header,
            flow,
            destination,
            bytes,
            marked: false,
            place,
        }
    }
}

const _: () = assert!(std::mem::size_of::<Packet>() == 64);
