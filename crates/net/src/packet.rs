//! A packet and its transport header.

use crate::units::Envelope;
use crate::{FlowId, NodeId, PacketId, Unit};
use lightburst_des::Time;

/// The transport header that a packet carries. The network reads [`Header::MARKED`] and, at a fair
/// interface, whether there is a payload.
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

/// A packet; one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Packet {
    /// What the network reads of it.
    pub envelope: Envelope,
    /// Transport header.
    pub header: Header,
}

const _: () = assert!(std::mem::size_of::<Packet>() == 64);

impl Packet {
    /// A packet that has not been sent yet.
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

    /// The packet behind it in a burst, or at an interface.
    #[inline]
    pub(crate) fn behind(&self) -> Option<PacketId> {
        match self.envelope.behind.unit {
            Some(Unit::Packet(next)) => Some(next),
            _ => None,
        }
    }

    /// It is the last one of its burst from now on.
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
