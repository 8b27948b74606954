//! Signalling: the start of the reservation of a channel. Each scheme has a file of its own and a
//! line in [`REGISTRY`].

mod jet;
mod jit;

use lightburst_des::{Duration, Time};

/// Times known when a channel is reserved.
#[derive(Clone, Copy, Debug)]
pub struct Handled {
    /// Time when the node has processed the header.
    pub at: Time,
    /// Time when the head of the burst leaves the node.
    pub start: Time,
    /// Time to set up the optical matrix.
    pub setup: Duration,
}

/// Signalling scheme.
#[derive(Clone, Copy, Debug)]
pub struct Signalling {
    /// Name in the scenario.
    pub name: &'static str,
    /// Returns the start of the reservation.
    pub reserved_from: fn(Handled) -> Time,
}

/// All schemes. To add one, create a file and add a line here.
pub const REGISTRY: &[Signalling] = &[jet::JET, jit::JIT];
