//! Signalling: from when on a channel is booked for a burst. One file for each; [`REGISTRY`] is the
//! one list of them.

mod jet;
mod jit;

use lightburst_des::{Duration, Time};

/// What is known when a channel is booked.
#[derive(Clone, Copy, Debug)]
pub struct Handled {
    /// When the node has handled the header.
    pub at: Time,
    /// When the head of the burst leaves the node.
    pub start: Time,
    /// Time to set up the optical matrix.
    pub setup: Duration,
}

/// A signalling scheme.
#[derive(Clone, Copy, Debug)]
pub struct Signalling {
    /// The name.
    pub name: &'static str,
    /// From when on the channel is booked.
    pub booked_from: fn(Handled) -> Time,
}

/// All schemes. A new one is a new file and a line here.
pub const REGISTRY: &[Signalling] = &[jet::JET, jit::JIT];
