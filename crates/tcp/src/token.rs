//! The timers of a flow's two ends.

use lightburst_net::{FlowId, Token};

/// The start of a flow.
pub const START: u8 = 0;
/// Of the sender: retransmission, or the next datagram.
pub const SENDER: u8 = 1;
/// Of the receiver.
pub const RECEIVER: u8 = 2;
/// The sender may go on.
pub const PACING: u8 = 3;
/// A delayed acknowledgement is due.
pub const DELAY: u8 = 4;

/// The token of a timer of this kind.
#[inline]
pub fn token(flow: FlowId, kind: u8) -> Token {
    Token {
        kind,
        subject: flow.0,
    }
}

/// The flow of a token.
#[inline]
pub fn flow(token: Token) -> FlowId {
    FlowId(token.subject)
}
