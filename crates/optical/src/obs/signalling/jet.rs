//! Just enough time (JET): Qiao and Yoo 1999, "Optical burst switching (OBS) - a new paradigm for an
//! optical Internet", section 3.

use super::Signalling;
use lightburst_des::Time;

/// A channel is booked for the burst alone, and for setting up the matrix before it, but not before
/// the header is handled: at an ingress a burst may be ready sooner than the matrix.
pub const JET: Signalling = Signalling {
    name: "jet",
    booked_from: |handled| Time(handled.start.0.saturating_sub(handled.setup.0)).max(handled.at),
};
