//! Builds a network from a plan, runs it, and gathers the columns of the result.

pub mod build;
mod check;
pub mod columns;
mod ideal;
mod loss;
pub mod plan;
pub mod run;
mod samples;
mod trace;

use lightburst_net::loss::{RANDOM, SCRIPTED};
use lightburst_tcp::segment::ACCESS_BUFFER_FULL;

pub use columns::Columns;
pub use plan::{Plan, PlanError};
pub use run::{prepare, Run};

/// Names that a plan may use, by what they name.
pub fn registry() -> Vec<(&'static str, Vec<&'static str>)> {
    fn names<E>(entries: &[E], name: fn(&E) -> &'static str) -> Vec<&'static str> {
        entries.iter().map(name).collect()
    }
    let mut transports = names(lightburst_tcp::transport::REGISTRY, |e| e.name);
    transports.push(plan::DATAGRAM);
    let mut registry = vec![
        (
            "switches",
            names(lightburst_optical::switch::REGISTRY, |e| e.name),
        ),
        ("transports", transports),
        (
            "congestion_controls",
            names(lightburst_tcp::cc::REGISTRY, |e| e.name),
        ),
        (
            "recoveries",
            names(lightburst_tcp::recovery::REGISTRY, |e| e.name),
        ),
        (
            "assemblies",
            names(lightburst_optical::assembly::REGISTRY, |e| e.name),
        ),
        ("choices", lightburst_net::Choice::NAMES.to_vec()),
        ("labels", lightburst_net::Label::NAMES.to_vec()),
        ("statuses", lightburst_tcp::Status::NAMES.to_vec()),
        ("drop_reasons", drop_reasons()),
    ];
    let words = lightburst_tcp::transport::WORDS.iter();
    registry.extend(words.map(|(setting, words)| (*setting, words.to_vec())));
    registry
}

/// The names of all reasons for which a unit is dropped; a trace has their places here.
fn drop_reasons() -> Vec<&'static str> {
    let switches = columns::names(&columns::all_counted().drops);
    let others = [ACCESS_BUFFER_FULL, RANDOM, SCRIPTED];
    switches.into_iter().chain(others).map(|r| r.name).collect()
}
