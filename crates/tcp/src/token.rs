//! What the token of a host's timer says: the lowest bits tell which timer, the others the flow.

use lightburst_net::FlowId;

/// The start of a flow.
pub const START: u64 = 0;
/// Of the sender: retransmission, or the next datagram.
pub const SENDER: u64 = 1;
/// Of the receiver.
pub const RECEIVER: u64 = 2;
/// The sender may go on.
pub const PACING: u64 = 3;
/// A delayed acknowledgement is due.
pub const DELAY: u64 = 4;
const KIND_BITS: u32 = 3;

/// The token of a timer of this kind.
#[inline]
pub fn token(flow: FlowId, kind: u64) -> u64 {
    u64::from(flow.0) << KIND_BITS | kind
}

/// The flow of a token.
#[inline]
pub fn flow(token: u64) -> FlowId {
    FlowId((token >> KIND_BITS) as u32)
}

/// The kind of a token.
#[inline]
pub fn kind(token: u64) -> u64 {
    token & ((1 << KIND_BITS) - 1)
}
