//! Networks of circuit switches: racks whose switches keep units until a circuit to the right rack
//! is open.

pub mod backlog;
pub mod closures;
pub mod core;
pub mod demand;
pub mod edge;
pub mod forwarding;
pub mod graphs;
pub mod interrupted;
pub mod layout;
pub mod occupied;
pub mod packet;
pub mod schedule;
pub mod scheduler;
pub mod timetable;

pub use closures::Closures;
pub use layout::Layout;
pub use schedule::Schedule;
pub use timetable::Timetable;
