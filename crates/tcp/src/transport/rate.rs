//! Rate laws of `rdma`: how fast the packets of a message may be sent, or how many of them may be in
//! flight.
//!
//! A rate law is a [`CongestionControl`] that paces, limits the window, or both. Each has a file of
//! its own; [`REGISTRY`] lists them all.

mod dcqcn;
mod hpcc;
mod line_rate;
mod ndp;
mod swift;
mod timely;

use crate::cc::{CongestionControl, Window};
use crate::{Parameters, Sizes};
use lightburst_net::Rate;
use std::ops::RangeInclusive;

/// Inputs from which a rate law is built.
pub struct RateLawSettings<'a> {
    /// Settings from the table of the law.
    pub parameters: &'a Parameters,
    /// Rate of the host's link.
    pub line_rate: Rate,
    /// Sizes on the wire.
    pub sizes: &'a Sizes,
}

/// Registry entry of a rate law.
pub struct RateLawKind {
    /// Name in the scenario.
    pub name: &'static str,
    /// Whether the receiver notifies the sender of congestion marks of the network.
    pub notified: bool,
    /// Whether the outputs of switches add telemetry to its packets.
    pub telemetry: bool,
    /// Whether the receiver pulls its packets.
    pub pulls: bool,
    /// Builds the state of one message.
    pub build: fn(&RateLawSettings) -> Box<dyn CongestionControl>,
}

/// All rate laws of `rdma`. To add one, add a file and an entry here.
pub const REGISTRY: &[RateLawKind] = &[
    RateLawKind {
        name: "dcqcn",
        notified: true,
        telemetry: false,
        pulls: false,
        build: |s| Box::new(dcqcn::Dcqcn::new(s)),
    },
    RateLawKind {
        name: "hpcc",
        notified: false,
        telemetry: true,
        pulls: false,
        build: |s| Box::new(hpcc::Hpcc::new(s)),
    },
    RateLawKind {
        name: "line-rate",
        notified: false,
        telemetry: false,
        pulls: false,
        build: |s| Box::new(line_rate::LineRate::new(s)),
    },
    RateLawKind {
        name: "ndp",
        notified: false,
        telemetry: false,
        pulls: true,
        build: |s| Box::new(ndp::Ndp::new(s)),
    },
    RateLawKind {
        name: "swift",
        notified: false,
        telemetry: false,
        pulls: false,
        build: |s| Box::new(swift::Swift::new(s)),
    },
    RateLawKind {
        name: "timely",
        notified: false,
        telemetry: false,
        pulls: false,
        build: |s| Box::new(timely::Timely::new(s)),
    },
];

/// Returns the rate law called `name`.
pub fn find(name: &str) -> Option<&'static RateLawKind> {
    REGISTRY.iter().find(|entry| entry.name == name)
}

/// Range of a rate in bits per second.
const RATE: RangeInclusive<f64> = 1.0..=1e18;

/// Range of a number of flows.
const COUNT_OF_FLOWS: RangeInclusive<f64> = 1.0..=1e9;

/// Range of a window in packets, or of a part of it.
const PACKETS: RangeInclusive<f64> = 1e-6..=1e9;

/// The window of a law that limits only the rate.
const UNLIMITED: Window = Window {
    cwnd: f64::INFINITY,
    ssthresh: 0.0,
};
