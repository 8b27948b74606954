//! Optical burst switching with a control plane: a header packet goes ahead of each burst, over a
//! channel of its own, and books a data channel of each fibre on the way. The burst follows in
//! light: it is an event where it is assembled and where it ends, and nowhere between.

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
