//! Transport: what hosts send and when. Knows no optics.

pub mod cc;
pub mod datagram;
pub mod flow;
pub mod hosts;
pub mod receiver;
pub mod segment;
pub mod sender;
#[cfg(test)]
mod tests;
pub mod timeout;
pub mod timer;

pub use cc::CongestionControl;
pub use datagram::DatagramHosts;
pub use flow::{Flow, Outcome, Status};
pub use hosts::TcpHosts;
pub use segment::Sizes;
pub use timeout::TimeoutPolicy;

use std::collections::BTreeMap;

/// The numbers that a transport's settings give by name.
#[derive(Clone, Debug, Default)]
pub struct Parameters(BTreeMap<String, f64>);

impl Parameters {
    /// Collects named numbers.
    pub fn new(numbers: impl IntoIterator<Item = (String, f64)>) -> Parameters {
        Parameters(numbers.into_iter().collect())
    }

    /// A number that the plan must hold; its absence is a bug on the Python side.
    pub fn get(&self, name: &str) -> f64 {
        *self
            .0
            .get(name)
            .unwrap_or_else(|| panic!("the plan lacks transport.{name}"))
    }
}
