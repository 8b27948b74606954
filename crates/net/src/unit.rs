//! Transmission units: packets, bursts and burst header packets, and the arenas that hold them.

pub mod arena;
pub mod burst;
pub mod burst_header;
pub mod copies;
pub(crate) mod numbering;
pub mod packet;
pub mod tails;
pub mod telemetry;
pub mod units;
