//! Networks of circuit switches: racks whose switches keep units until a circuit to the right rack
//! is open.

pub mod backlog;
pub mod core;
pub mod edge;
pub mod forwarding;
pub mod layout;
pub mod schedule;

pub use layout::Layout;
pub use schedule::Schedule;
