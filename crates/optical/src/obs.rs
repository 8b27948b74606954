//! Optical burst switching with a control plane. A burst header packet travels ahead of each burst
//! on a control channel and reserves a data channel of every fibre on the path. The burst itself
//! passes core nodes optically: it causes events only at its ingress and its egress.

pub mod channels;
pub mod contention;
mod conversion;
mod core;
pub mod outputs;
pub mod scheduler;
pub mod signalling;

pub use contention::DELAY_LINES_FULL;
pub use conversion::Conversion;
pub use core::{IngressRule, ObsCore, ObsCounters, LATE_HEADER, NO_CHANNEL};
