//! Timers of the two endpoints of a flow.

use lightburst_net::{FlowId, Token};

/// Start of a flow.
pub const START: u8 = 0;
/// Sender: retransmission timer, or the departure of the next datagram.
pub const SENDER: u8 = 1;
/// Receiver: retransmission timer of SYN+ACK and FIN+ACK.
pub const RECEIVER: u8 = 2;
/// Sender: pacing permits the next segment.
pub const PACING: u8 = 3;
/// Receiver: a delayed acknowledgement is due.
pub const DELAY: u8 = 4;

/// Returns the token of a flow's timer of this kind.
#[inline]
pub fn token(flow: FlowId, kind: u8) -> Token {
    Token {
        kind,
        subject: flow.0,
    }
}

/// Returns the flow of a token.
#[inline]
pub fn flow(token: Token) -> FlowId {
    FlowId(token.subject)
}
