//! Names that a plan may use, and names of the codes in a result.

use crate::kinds::drop_reasons;
use crate::measurement;
use crate::plan::OPEN_LOOP;
use lightburst_optical::circuit::{self, forwarding};
use lightburst_optical::obs::{scheduler, signalling};

/// Returns the names that a plan may use, by topic.
pub fn registry() -> Vec<(&'static str, Vec<&'static str>)> {
    fn named<E>(entries: &[E], name: fn(&E) -> &'static str) -> Vec<&'static str> {
        entries.iter().map(name).collect()
    }
    let mut transports = named(lightburst_tcp::transport::REGISTRY, |e| e.name);
    transports.extend(OPEN_LOOP);
    let mut registry = vec![
        (
            "switches",
            named(lightburst_optical::switch::REGISTRY, |e| e.name),
        ),
        ("transports", transports),
        (
            "congestion_controls",
            named(lightburst_tcp::cc::REGISTRY, |e| e.name),
        ),
        (
            "recoveries",
            named(lightburst_tcp::recovery::REGISTRY, |e| e.name),
        ),
        (
            "rate_laws",
            named(lightburst_tcp::transport::rate::REGISTRY, |e| e.name),
        ),
        (
            "rdma_recoveries",
            named(lightburst_tcp::transport::rdma::RECOVERIES, |e| e.name),
        ),
        (
            "assemblies",
            named(lightburst_optical::assembly::REGISTRY, |e| e.name),
        ),
        (
            "queues",
            named(lightburst_optical::queue::REGISTRY, |e| e.name),
        ),
        ("forwardings", named(forwarding::REGISTRY, |e| e.name)),
        ("schedulers", named(scheduler::REGISTRY, |e| e.name)),
        (
            "circuit_schedulers",
            named(circuit::scheduler::REGISTRY, |e| e.name),
        ),
        ("void_filling_schedulers", scheduler::void_filling()),
        ("signallings", named(signalling::REGISTRY, |e| e.name)),
        (
            "resolvers",
            named(lightburst_optical::obs::contention::REGISTRY, |e| e.name),
        ),
        ("choices", lightburst_net::Choice::NAMES.to_vec()),
        ("labels", lightburst_net::Label::NAMES.to_vec()),
        ("statuses", lightburst_tcp::Status::NAMES.to_vec()),
        ("drop_reasons", drop_reasons()),
    ];
    let measured = measurement::REGISTRY.iter().flat_map(|kind| kind.codes);
    registry.extend(measured.map(|(topic, names)| (*topic, names.to_vec())));
    registry
}
