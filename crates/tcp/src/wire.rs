//! Segments, and the timers of endpoints.

pub mod ace;
pub mod data_level;
pub(crate) mod host_timer;
pub mod segment;
pub mod timer;
