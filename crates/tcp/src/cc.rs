//! Congestion control: how much may be in flight, and how fast it may be sent.
//!
//! One file for each; [`REGISTRY`] is the one list of them.

mod stop_and_wait;

use crate::timeout::{SawTimeout, TimeoutPolicy};
use crate::{Parameters, Sizes};
use lightburst_des::{Duration, Time};
use lightburst_net::Rate;

/// What a congestion control is built from.
pub struct Setting<'a> {
    /// The transport's numbers.
    pub parameters: &'a Parameters,
    /// Sizes on the wire.
    pub sizes: &'a Sizes,
    /// Transmission time of a full segment on the host's link (tau).
    pub segment_time: Duration,
}

/// The choices that make a transport.
pub struct Transport {
    /// How much may be in flight.
    pub congestion: Box<dyn CongestionControl>,
    /// When to retransmit.
    pub timeout: Box<dyn TimeoutPolicy>,
}

/// A transport by its name in the scenario.
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// Builds the state of one connection.
    pub build: fn(&Setting) -> Transport,
}

/// All transports. A new one is a new file and a line here.
pub const REGISTRY: &[Entry] = &[
    Entry {
        name: "saw",
        build: |s| stop_and_wait::transport(s, 0.0),
    },
    Entry {
        name: "sawl",
        build: |s| stop_and_wait::transport(s, s.parameters.get("p")),
    },
];

/// The transport called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
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
}

/// How the window of one connection moves.
pub trait CongestionControl: Send {
    /// A segment was sent.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// New data was acknowledged.
    fn on_ack(&mut self, _ack: &Ack) {}

    /// The retransmission timer expired.
    fn on_timeout(&mut self, _timeout: &Timeout) {}

    /// Useful bytes that may be in flight; the first segment may always be sent.
    fn window(&self) -> u64;

    /// The rate at which segments may leave; none: as fast as the window lets them.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
}
