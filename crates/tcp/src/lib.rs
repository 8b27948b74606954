//! Transport protocols: the endpoints at the hosts. Independent of the optical layer.

mod boxed;
pub mod cc;
mod connections;
pub mod datagram;
mod delivery_rate;
pub mod flight;
pub mod flow;
pub mod hosts;
pub mod measure;
pub mod mixed;
pub mod outcomes;
mod parameters;
pub mod reassembly;
pub mod receiver;
pub mod recovery;
pub mod reordering;
pub mod report;
mod rounds;
pub mod scoreboard;
pub mod segment;
pub mod sender;
mod starts;
#[cfg(test)]
mod tests;
pub mod timeout;
pub mod timer;
mod token;
pub mod transport;
pub mod truth;

pub use cc::CongestionControl;
pub use datagram::{DatagramHosts, Datagrams};
pub use flow::{Flow, Flows, Outcome, Progress, Stage, Status};
pub use hosts::{Group, TcpHosts};
pub use mixed::{MixedHosts, Place};
pub use outcomes::Outcomes;
pub use parameters::{Parameters, Value};
pub use recovery::LossRecovery;
pub use reordering::Reordered;
pub use segment::Sizes;
pub use timeout::TimeoutPolicy;
pub use truth::Repetitions;
