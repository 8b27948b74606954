//! Congestion control: how much may be in flight, and how fast it may be sent.
//!
//! One file for each; [`REGISTRY`] is the one list of them.

mod reno;
mod stop_and_wait;

use crate::Parameters;
use lightburst_des::{Duration, Time};
use lightburst_net::Rate;

pub use reno::Reno;
pub use stop_and_wait::StopAndWait;

/// What a congestion control is built from.
pub struct CongestionControlSettings<'a> {
    /// The settings of its own table.
    pub parameters: &'a Parameters,
    /// Useful bytes of a full segment.
    pub mss: u32,
    /// Window after the handshake, in useful bytes.
    pub initial_window: f64,
    /// Useful bytes that the receiver has room for.
    pub advertised: f64,
}

/// A congestion control by its name in the scenario.
pub struct CongestionControlKind {
    /// The name.
    pub name: &'static str,
    /// Builds the state of one connection.
    pub build: fn(&CongestionControlSettings) -> Box<dyn CongestionControl>,
}

/// All congestion controls of `tcp`. A new one is a new file and a line here.
pub const REGISTRY: &[CongestionControlKind] = &[
    CongestionControlKind {
        name: "reno",
        build: |s| Box::new(Reno::new(s)),
    },
    CongestionControlKind {
        name: "stop-and-wait",
        build: |s| Box::new(StopAndWait::new(s.mss)),
    },
];

/// The congestion control called `name`.
pub fn find(name: &str) -> Option<&'static CongestionControlKind> {
    REGISTRY.iter().find(|entry| entry.name == name)
}

/// A segment was handed to the network interface.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When its transmission begins.
    pub at: Time,
    /// Its useful bytes.
    pub bytes: u64,
    /// Useful bytes in flight, this segment included.
    pub in_flight: u64,
    /// Whether it was sent before.
    pub retransmission: bool,
}

/// An acknowledgement of new data came.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When.
    pub at: Time,
    /// Useful bytes newly acknowledged.
    pub bytes: u64,
    /// Useful bytes still in flight.
    pub in_flight: u64,
    /// Round-trip time, if the segment was sent once.
    pub rtt: Option<Duration>,
    /// How fast data was delivered over the last round trip.
    pub delivery_rate: Option<DeliveryRate>,
}

/// A sample of the delivery rate (draft-ietf-ccwg-bbr, section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryRate {
    /// Useful bytes delivered between the sending of a segment and its acknowledgement.
    pub delivered: u64,
    /// The time that took: the longer of the send and the acknowledgement interval.
    pub interval: Duration,
}

/// The retransmission timer expired.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// When.
    pub at: Time,
    /// Useful bytes in flight before.
    pub in_flight: u64,
    /// Whether nothing was acknowledged since the last timeout.
    pub repeated: bool,
}

/// A loss was seen without a timeout.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When.
    pub at: Time,
    /// Useful bytes in flight before (FlightSize).
    pub in_flight: u64,
}

/// How the window of one connection moves.
pub trait CongestionControl: Send {
    /// A segment was sent.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// New data was acknowledged; not called while a recovery holds the window.
    fn on_ack(&mut self, _ack: &Ack) {}

    /// A loss was seen, and will be repaired without a timeout.
    fn on_loss(&mut self, _loss: &Loss) {}

    /// The retransmission timer expired, or the recovery falls back as far.
    fn on_timeout(&mut self, _timeout: &Timeout) {}

    /// Useful bytes that may be in flight; the first segment may always be sent.
    fn window(&self) -> u64;

    /// The window before it is rounded down to whole bytes.
    fn exact_window(&self) -> f64 {
        self.window() as f64
    }

    /// No more than so many bytes may be in the window now: a recovery ends, or a
    /// connection begins after a SYN that was lost.
    fn limit(&mut self, _window: u64) {}

    /// Below this window it is in slow start, in bytes.
    fn slow_start_threshold(&self) -> f64 {
        0.0
    }

    /// The rate at which segments may leave; none: as fast as the window lets them.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
}
