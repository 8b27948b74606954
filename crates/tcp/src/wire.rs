//! Segments, and the timers of endpoints.

pub mod segment;
pub mod timer;
pub(crate) mod token;
