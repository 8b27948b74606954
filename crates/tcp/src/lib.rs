//! Transport: what hosts send and when. Knows no optics.

pub mod cc;
pub mod datagram;
pub mod flight;
pub mod flow;
pub mod hosts;
pub mod measure;
pub mod mixed;
pub mod reassembly;
pub mod receiver;
pub mod recovery;
pub mod scoreboard;
pub mod segment;
pub mod sender;
#[cfg(test)]
mod tests;
pub mod timeout;
pub mod timer;
mod token;
pub mod transport;

pub use cc::CongestionControl;
pub use datagram::DatagramHosts;
pub use flow::{Flow, Outcome, Status};
pub use hosts::{Group, TcpHosts};
pub use mixed::{MixedHosts, Place};
pub use recovery::LossRecovery;
pub use segment::Sizes;
pub use timeout::TimeoutPolicy;

use std::collections::BTreeMap;

/// A setting of a transport.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A choice that is on or off.
    Switch(bool),
    /// A choice by name.
    Word(String),
    /// The settings of a policy, in a table of their own.
    Table(Parameters),
}

/// The settings of a transport by name. What is asked for must be there: its
/// absence is a bug on the Python side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters(BTreeMap<String, Value>);

impl Parameters {
    /// Collects named settings.
    pub fn new(settings: impl IntoIterator<Item = (String, Value)>) -> Parameters {
        Parameters(settings.into_iter().collect())
    }

    fn value(&self, name: &str) -> &Value {
        self.0
            .get(name)
            .unwrap_or_else(|| panic!("the plan lacks transport.{name}"))
    }

    /// A number.
    pub fn get(&self, name: &str) -> f64 {
        match self.value(name) {
            Value::Number(number) => *number,
            other => panic!("transport.{name} must be a number, not {other:?}"),
        }
    }

    /// Whether a choice is on.
    pub fn is(&self, name: &str) -> bool {
        match self.value(name) {
            Value::Switch(on) => *on,
            other => panic!("transport.{name} must be true or false, not {other:?}"),
        }
    }

    /// The settings of a policy.
    pub fn table(&self, name: &str) -> &Parameters {
        match self.value(name) {
            Value::Table(table) => table,
            other => panic!("transport.{name} must be a table, not {other:?}"),
        }
    }

    /// A choice by name.
    pub fn word(&self, name: &str) -> &str {
        match self.value(name) {
            Value::Word(word) => word,
            other => panic!("transport.{name} must be a name, not {other:?}"),
        }
    }
}
