//! A packet and its transport header.

use crate::unit::units::Envelope;
use crate::{FlowId, NodeId, PacketId, Unit};
use lightburst_des::Time;

/// Transport header of a packet. Forwarding reads only the envelope. The network sets
/// [`Header::MARKED`] and [`Header::RETURNED`], and reads the payload length (fair interfaces, losses, notices, burst
/// assembly), the congestion window (burst assembly, scripted losses) and the sequence number
/// (scripted losses, reports and metrics).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// First byte of the payload, counted from the start of the flow.
    pub sequence: u64,
    /// Next byte that the sender of this header expects.
    pub acknowledgement: u64,
    /// Useful bytes in the packet.
    pub payload: u32,
    /// Flags of the segment. Their meaning belongs to the transport, except [`Header::OPTIONS`],
    /// [`Header::MARKED`] and [`Header::RETURNED`].
    pub flags: u8,
    /// Congestion window of the sender, in segments, when it sent this data segment.
    pub window: u16,
    /// Count of congestion marks modulo 8 (ACE field of RFC 9768); 0 if the transport does not count.
    pub ace: u8,
}

const _: () = assert!(std::mem::size_of::<Header>() == 24);

impl Header {
    /// Flag of a packet that carries [`Options`].
    pub const OPTIONS: u8 = 128;
    /// Congestion experienced (ECN). Set by the network, read by the receiver.
    pub const MARKED: u8 = 64;
    /// Flags of the header of a trimmed packet that the network returned to its sender; of these only
    /// [`Header::MARKED`] may be set beside them.
    pub const RETURNED: u8 = 33;

    /// Returns whether the packet carries [`Options`].
    #[inline]
    pub fn has_options(&self) -> bool {
        self.flags & Header::OPTIONS != 0
    }
}

/// Half-open range of bytes of a flow, as in a SACK block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// First byte of the range.
    pub start: u64,
    /// Byte after the last one of the range.
    pub end: u64,
}

/// Options of a transport header: SACK blocks and timestamps. Few packets carry any.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    blocks: [Block; Options::BLOCKS],
    count: u8,
    /// Transmission time of the segment (timestamp value); [`Time::NEVER`] without a timestamp.
    pub timestamp: Time,
    /// Timestamp echo reply; [`Time::NEVER`] without an echo.
    pub echo: Time,
}

impl Options {
    /// Largest number of SACK blocks: four fill the options of a TCP header (RFC 2018, section 3).
    pub const BLOCKS: usize = 4;

    /// Creates options with a timestamp only.
    pub fn stamped(timestamp: Time) -> Options {
        Options {
            timestamp,
            ..Options::default()
        }
    }

    /// Returns the SACK blocks.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Adds a SACK block; ignores it if there are already [`Options::BLOCKS`].
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

/// A packet. It occupies one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Packet {
    /// Addressing, size and order.
    pub envelope: Envelope,
    /// Transport header.
    pub header: Header,
}

const _: () = assert!(std::mem::size_of::<Packet>() == 64);

impl Packet {
    /// Creates a packet that has not been sent.
    #[inline]
    pub fn new(
        flow: FlowId,
        source: NodeId,
        destination: NodeId,
        bytes: u32,
        header: Header,
    ) -> Packet {
        Packet {
            envelope: Envelope::new(flow, source, destination, bytes),
            header,
        }
    }

    /// Returns the next packet in the same burst or interface queue.
    #[inline]
    pub(crate) fn behind(&self) -> Option<PacketId> {
        match self.envelope.behind.unit {
            Some(Unit::Packet(next)) => Some(next),
            _ => None,
        }
    }

    /// Makes this packet the last one of its burst.
    pub(crate) fn end_burst(&mut self) {
        self.envelope.behind.unit = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_room_for_four_blocks() {
        let block = |start| Block {
            start,
            end: start + 1,
        };
        let mut options = Options::default();
        for start in 0..5 {
            options.push(block(start));
        }
        assert_eq!(options.blocks(), [0, 1, 2, 3].map(block));
    }
}
