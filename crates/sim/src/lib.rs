//! Builds a network from a plan, runs it, and collects the columns of the result.
//!
//! In the following list, a module uses only modules above it.

pub mod plan;
pub mod registry;

mod check;
mod ideal;
mod loss;

mod build;
pub mod columns;

mod samples;
mod synchronisation;
mod trace;
mod window;

pub mod run;

pub use columns::Columns;
pub use plan::{Plan, PlanError};
pub use registry::registry;
pub use run::{prepare, Run};
