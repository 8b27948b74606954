//! Builds a network from a plan, runs it, and gathers the columns of the result.

pub mod build;
pub mod columns;
pub mod plan;
pub mod run;

pub use columns::Columns;
pub use plan::{Plan, PlanError};
pub use run::{prepare, Run};

/// Names that a plan may use, by what they name.
pub fn registry() -> Vec<(&'static str, Vec<&'static str>)> {
    type A = lightburst_des::Selected<lightburst_net::Event>;
    let switches = lightburst_optical::switch::registry::<A>().map(|entry| entry.name);
    let mut transports: Vec<_> = lightburst_tcp::cc::REGISTRY
        .iter()
        .map(|e| e.name)
        .collect();
    transports.push(plan::DATAGRAM);
    vec![
        ("switches", switches.to_vec()),
        ("transports", transports),
        ("choices", lightburst_net::Choice::NAMES.to_vec()),
        ("agendas", lightburst_des::agenda::NAMES.to_vec()),
        ("statuses", lightburst_tcp::Status::NAMES.to_vec()),
    ]
}
