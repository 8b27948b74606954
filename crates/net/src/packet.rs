//! What travels.

use crate::{Arena, FlowId, NodeId, UnitId};
use lightburst_des::{mix, Order, Time};

/// The transport header that a packet carries; the network reads nothing but the label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// First byte of the payload, counted from the start of the flow.
    pub sequence: u64,
    /// Next byte expected by the sender of this header.
    pub acknowledgement: u64,
    /// Useful bytes carried.
    pub payload: u32,
    /// What kind of segment this is; the bits are the transport's, but for
    /// [`Header::OPTIONS`] and [`Header::MARKED`].
    pub flags: u8,
    /// Which of the paths to its destination it takes: set where it enters the network.
    pub label: u8,
    /// The congestion window with which a data segment was sent, in segments.
    pub window: u16,
}

impl Header {
    /// The packet carries [`Options`].
    pub const OPTIONS: u8 = 128;
    /// Congestion experienced (ECN): set by the network.
    pub const MARKED: u8 = 64;

    /// Whether the packet carries [`Options`].
    #[inline]
    pub fn has_options(&self) -> bool {
        self.flags & Header::OPTIONS != 0
    }
}

/// A range of bytes of a flow: from its first to the one after its last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The first byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
}

/// Options of a transport header, for the few packets that carry any.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    blocks: [Block; Options::BLOCKS],
    count: u8,
    /// When it was sent; [`Time::NEVER`]: no time stamp.
    pub timestamp: Time,
    /// The time stamp that it echoes; [`Time::NEVER`]: none.
    pub echo: Time,
}

impl Options {
    /// RFC 2018, section 3: four blocks fill the options of a TCP header.
    pub const BLOCKS: usize = 4;

    /// A time stamp alone.
    pub fn stamped(timestamp: Time) -> Options {
        Options {
            timestamp,
            ..Options::default()
        }
    }

    /// The SACK blocks.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Adds a SACK block; one too many is left out.
    pub fn push(&mut self, block: Block) {
        if let Some(place) = self.blocks.get_mut(usize::from(self.count)) {
            *place = block;
            self.count += 1;
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            blocks: [Block::default(); Options::BLOCKS],
            count: 0,
            timestamp: Time::NEVER,
            echo: Time::NEVER,
        }
    }
}

/// A packet, or a burst of packets; one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Packet {
    /// Transport header.
    pub header: Header,
    /// The flow it belongs to, in either direction; of a burst a hash of its pair of edges.
    pub flow: FlowId,
    /// The node that made it.
    pub source: NodeId,
    /// The host that it is for.
    pub destination: NodeId,
    /// Size on the wire.
    pub bytes: u32,
    /// The first packet of a burst.
    pub cargo: UnitId,
    /// The unit behind it, on a link or in a burst.
    pub(crate) next: UnitId,
    /// When it arrives, if it is behind another one on a link.
    pub(crate) due: Time,
    /// The place of that arrival among the events of its instant.
    pub(crate) order: Order,
}

/// Packets that are to become one burst.
#[derive(Clone, Copy, Debug)]
pub struct Bundle {
    /// The first of them.
    pub first: UnitId,
    /// How many.
    pub packets: u32,
    /// Size on the fibre.
    pub bytes: u32,
    /// A host behind the egress.
    pub destination: NodeId,
    /// The edge at which it ends.
    pub egress: NodeId,
    /// Arrival of the first packet.
    pub opened: Time,
}

impl Packet {
    /// A burst of `packets` packets, the first of which is `cargo`; its header
    /// holds its number and how many packets it has. All bursts from one edge to another
    /// are one flow, whatever is in them.
    pub(crate) fn burst(burst: &Bundle, edge: NodeId, number: u64) -> Packet {
        let header = Header {
            sequence: number,
            payload: burst.packets,
            ..Header::default()
        };
        let pair = mix(u64::from(edge.0) << 32 | u64::from(burst.egress.0));
        let flow = FlowId(pair as u32);
        Packet {
            cargo: burst.first,
            ..Packet::new(flow, edge, burst.destination, burst.bytes, header)
        }
    }

    /// Whether it is a burst of packets.
    #[inline]
    pub(crate) fn is_burst(&self) -> bool {
        self.cargo != UnitId::NONE
    }

    /// A packet that is nowhere yet.
    #[inline]
    pub fn new(
        flow: FlowId,
        source: NodeId,
        destination: NodeId,
        bytes: u32,
        header: Header,
    ) -> Packet {
        Packet {
            header,
            flow,
            source,
            destination,
            bytes,
            cargo: UnitId::NONE,
            next: UnitId::NONE,
            due: Time::ZERO,
            order: Order::default(),
        }
    }
}

/// The packets of a unit: those in a burst, or itself.
pub(crate) fn packets(
    unit: UnitId,
    units: &Arena<Packet>,
) -> impl Iterator<Item = (UnitId, &Packet)> {
    let burst = units[unit].is_burst();
    let mut at = if burst { units[unit].cargo } else { unit };
    std::iter::from_fn(move || {
        let packet = (at != UnitId::NONE).then(|| (at, &units[at]))?;
        at = if burst { packet.1.next } else { UnitId::NONE };
        Some(packet)
    })
}

const _: () = assert!(std::mem::size_of::<Packet>() == 64);
