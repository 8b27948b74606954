//! Recoveries that go by the times at which segments were sent.

use super::SenderState;
use lightburst_des::{Duration, Time};
use lightburst_net::Block;

/// An acknowledgement as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Next byte that the receiver expects.
    pub acknowledgement: u64,
    /// First unacknowledged byte before this acknowledgement.
    pub before: u64,
    /// SACK blocks; a duplicate comes first (RFC 2883, section 4).
    pub blocks: &'a [Block],
    /// Whether ECE is set (RFC 3168).
    pub echo: bool,
    /// Whether an echo reduces the window like a loss; otherwise it concerns the window law alone.
    pub reduces: bool,
    /// Timestamp that the acknowledgement echoes (TSecr of RFC 7323).
    pub timestamp: Option<Time>,
}

/// Findings of a recovery that the sender reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heard {
    /// Round-trip time that entered the timeout.
    pub rtt: Option<Duration>,
    /// Whether a fast recovery began.
    pub entered: bool,
    /// Whether a reduction of the window began.
    pub reduced: bool,
}

/// Counts of a recovery, in segments.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Name of the state: `Open`, `Disorder`, `CWR`, `Recovery` or `Loss`.
    pub state: &'static str,
    /// Segments SACKed beyond the cumulative acknowledgement.
    pub sacked: u64,
    /// Segments taken for lost and not delivered since.
    pub lost: u64,
    /// Retransmissions in flight.
    pub retransmitted: u64,
    /// Segments sent and not acknowledged cumulatively.
    pub outstanding: u64,
    /// Reordering metric.
    pub reordering: u64,
    /// Number of times that reordering was seen.
    pub reordering_seen: u64,
    /// Segments reported as duplicates (RFC 2883).
    pub duplicates: u64,
    /// Segments delivered, the SYN included.
    pub delivered: u64,
    /// Minimum of the round-trip time; `None` before the first sample.
    pub least_round_trip: Option<Duration>,
}

/// A recovery that hears every acknowledgement whole, takes the samples of the round-trip time and
/// keeps the sender's one timer.
pub trait Timed {
    /// Notes the end of the handshake, with its round-trip time if the SYN was sent once.
    fn on_established(&mut self, rtt: Option<Duration>, sender: &mut SenderState<'_>);

    /// Notes whether the next acknowledgement updates the receive window, and so is no duplicate (RFC
    /// 5681, section 2). Without a call the first one does.
    fn expect_window(&mut self, updates: bool);

    /// Handles any acknowledgement, also an old one; called after the flight was updated.
    fn on_acknowledgement(&mut self, arrival: &Arrival<'_>, sender: &mut SenderState<'_>) -> Heard;

    /// Handles an expiry of the timer that is no timeout; `None` if it is one.
    fn on_look(&mut self, sender: &mut SenderState<'_>) -> Option<Heard>;

    /// Notes that pacing or the interface permits a further segment.
    fn on_room(&mut self);

    /// Notes that the application has written `written` bytes in all. Before the first call all data
    /// counts as written. Called before the flight grows.
    fn on_write(&mut self, written: u64, sender: &mut SenderState<'_>);

    /// Notes that all segments were sent that may be sent after an event. Returns the time for which
    /// the timer is set; [`Time::NEVER`] if it is off.
    fn after_sending(&mut self, sender: &mut SenderState<'_>) -> Time;

    /// Returns whether the recovery paces.
    fn paces(&self) -> bool;

    /// Returns the earliest time of the next segment after one with this payload was sent, of `wire`
    /// bytes with its headers, if the recovery paces.
    fn release(&mut self, payload: u32, wire: u64, sender: &mut SenderState<'_>) -> Time;

    /// Returns the present counts.
    fn counts(&self) -> Counts;
}
