//! Builds a network from a plan, runs it, and collects the columns of the result.
//!
//! In the following list, a module uses only modules above it.

mod kinds;
mod state;

mod counts;

pub mod measurement;

pub mod plan;
pub mod registry;

mod circuits;
mod links;

mod check;
mod ideal;

mod build;
pub mod columns;
mod replay;

pub mod run;

pub mod parts;

pub use columns::Outputs;
pub use plan::{Plan, PlanError};
pub use registry::registry;
pub use replay::replay;
pub use run::{prepare, Run};
