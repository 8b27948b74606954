//! Just enough time (JET): Qiao and Yoo 1999, "Optical burst switching (OBS) - a new paradigm for an
//! optical Internet", section 3.

use super::Signalling;
use lightburst_des::Time;

/// Reserves a channel for the burst and the preceding set-up of the matrix, but not before the
/// header is processed: at an ingress a burst may be ready earlier than the matrix.
pub const JET: Signalling = Signalling {
    name: "jet",
    reserved_from: |handled| Time(handled.start.0.saturating_sub(handled.setup.0)).max(handled.at),
};
