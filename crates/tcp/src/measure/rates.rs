//! What a law hears that sets window and pace from rates of delivery, on each acknowledgement.

use crate::recovery::Phase;
use lightburst_des::{Duration, Time};

/// State of a connection at the end of its handshake.
#[derive(Clone, Copy, Debug)]
pub struct Established {
    /// Time of the end of the handshake.
    pub at: Time,
    /// Round-trip time of the handshake; `None` if the SYN was sent more than once.
    pub rtt: Option<Duration>,
    /// Whether the receiver sends SACK blocks.
    pub selective: bool,
}

/// Delivery rate over about a round trip (draft-ietf-ccwg-bbr, section 4.1; `struct rate_sample` of
/// Linux): of the segment that was sent last among those that an acknowledgement delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rated {
    /// Segments delivered when the segment was sent.
    pub prior_delivered: u64,
    /// Segments delivered since.
    pub delivered: u64,
    /// The longer of the times in which these were sent and acknowledged; `None` if it is shorter
    /// than any round trip, as after a retransmission that was not needed.
    pub interval: Option<Duration>,
    /// Whether the application had nothing more to send when the segment was sent.
    pub application_limited: bool,
    /// Segments in the network when the segment was sent, with it (RS.tx_in_flight).
    pub in_flight: u64,
    /// Segments marked lost since it was sent (RS.lost).
    pub lost: u64,
}

/// A segment when it is marked lost (draft-ietf-ccwg-bbr, section 5.5.10.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Time of the mark.
    pub at: Time,
    /// Number of the segment in the connection.
    pub number: u64,
    /// Segments delivered so far.
    pub delivered: u64,
    /// Segments in the network when the segment was sent, with it (P.tx_in_flight).
    pub in_flight: u64,
    /// Segments marked lost since it was sent, with it (C.lost - P.lost).
    pub lost: u64,
    /// Whether the application had nothing more to send when the segment was sent.
    pub application_limited: bool,
}

/// An acknowledgement after the recovery has handled it. Counts are of segments, cumulative or by
/// SACK.
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Arrival time.
    pub at: Time,
    /// Segments delivered so far, the SYN included, and the time of the last delivery.
    pub delivered: u64,
    /// See `delivered`.
    pub delivered_at: Time,
    /// Segments taken for lost so far.
    pub lost: u64,
    /// Segments that this acknowledgement delivers.
    pub newly_delivered: u64,
    /// Segments that this acknowledgement shows to be lost.
    pub newly_lost: u64,
    /// Segments in the network before and after this acknowledgement.
    pub prior_in_flight: u64,
    /// See `prior_in_flight`.
    pub in_flight: u64,
    /// Whether the window was used up at any time in the last round trip (C.is_cwnd_limited).
    pub window_limited: bool,
    /// Delivery rate, if a segment is delivered whose last transmission is known.
    pub rate: Option<Rated>,
    /// Round-trip time of the newest segment that gives one.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time.
    pub smoothed: Option<Duration>,
    /// Whether the receiver may have delayed this acknowledgement: it is of a lone short segment.
    pub may_be_delayed: bool,
    /// Phase of the recovery.
    pub phase: Phase,
    /// Time until pacing permits the next segment.
    pub ahead: Duration,
}

/// Model of the path that a law keeps, for observers.
#[derive(Clone, Copy, Debug)]
pub struct PathModel {
    /// Name of the law's state.
    pub mode: &'static str,
    /// Estimated bandwidth, and rate of pacing, in bytes per second.
    pub bandwidth: u64,
    /// See `bandwidth`.
    pub pacing_rate: u64,
    /// Estimated minimum of the round-trip time; `None` before the first.
    pub min_rtt: Option<Duration>,
    /// Factor on the bandwidth in the pacing rate, and on its product with the round trip in the
    /// window.
    pub pacing_gain: f64,
    /// See `pacing_gain`.
    pub cwnd_gain: f64,
}
