//! Transport protocols: the endpoints at the hosts. Independent of the optical layer.

mod boxed;
pub mod cc;
pub mod congestion;
pub mod flight;
pub mod flow;
pub mod hosts;
pub mod measure;
pub mod receiver;
pub mod recovery;
pub mod replay;
pub mod sender;
#[cfg(test)]
mod tests;
pub mod timeout;
pub mod transport;
pub mod wire;

pub use cc::CongestionControl;
pub use flight::audit::Repetitions;
pub use flow::{Flow, Flows, Outcome, Progress, Stage, Status};
pub use hosts::datagram::{DatagramHosts, Datagrams};
pub use hosts::dependencies::{Joins, Waiting, NO_JOIN};
pub use hosts::group::Group;
pub use hosts::matching::Receives;
pub use hosts::mixed::{MixedHosts, Place};
pub use hosts::outcomes::Outcomes;
pub use hosts::parts::Activity;
pub use hosts::TcpHosts;
pub use receiver::reordering::Reordered;
pub use recovery::LossRecovery;
pub use sender::Writes;
pub use timeout::TimeoutPolicy;
pub use transport::parameters::{Parameters, Value};
pub use wire::data_level::DataRules;
pub use wire::segment::{Capable, Sizes};
