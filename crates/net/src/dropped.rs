//! What was dropped of each flow, and which of its packets those were that a sender numbers.

use crate::Packet;
use lightburst_des::Time;

/// A packet that was dropped, of which its sender counts how often it sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSending {
    /// First byte of its payload.
    pub sequence: u64,
    /// Which sending of it this was, from 1.
    pub sending: u32,
    /// What kind of segment it was.
    pub flags: u8,
    /// When it was dropped.
    pub at: Time,
}

/// What was dropped of a flow.
#[derive(Clone, Debug, Default)]
pub struct Dropped {
    /// Packets, of both directions.
    pub packets: u64,
    /// Those with a number, in the order of time, until the sender has read of them.
    pub sendings: Vec<LostSending>,
}

impl Dropped {
    /// Counts a packet.
    #[inline]
    pub(crate) fn count(&mut self, packet: &Packet, now: Time) {
        self.packets += 1;
        if packet.envelope.sending > 0 {
            self.sendings.push(LostSending {
                sequence: packet.header.sequence,
                sending: packet.envelope.sending,
                flags: packet.header.flags,
                at: now,
            });
        }
    }
}
