//! Names: those that a plan may use, and those that a result has from the kinds of node.

use crate::plan::OPEN_LOOP;
use lightburst_net::contents::{Fate, Tally};
use lightburst_net::densities::Densities;
use lightburst_net::loss::{RANDOM, SCRIPTED};
use lightburst_net::{Counted, CUT};
use lightburst_optical::switch;
use lightburst_tcp::segment::ACCESS_BUFFER_FULL;

/// Names that a plan may use, by what they name.
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
            "assemblies",
            named(lightburst_optical::assembly::REGISTRY, |e| e.name),
        ),
        (
            "resolvers",
            named(lightburst_optical::obs::contention::REGISTRY, |e| e.name),
        ),
        ("choices", lightburst_net::Choice::NAMES.to_vec()),
        ("labels", lightburst_net::Label::NAMES.to_vec()),
        ("statuses", lightburst_tcp::Status::NAMES.to_vec()),
        ("reordering_metrics", Densities::NAMES.to_vec()),
        ("burst_fates", Fate::NAMES.to_vec()),
        ("burst_contents", Tally::NAMES.to_vec()),
        ("drop_reasons", drop_reasons()),
    ];
    let words = lightburst_tcp::transport::WORDS.iter();
    registry.extend(words.map(|(setting, words)| (*setting, words.to_vec())));
    registry
}

/// The names of all reasons for which a unit is dropped; a trace has their places here.
pub fn drop_reasons() -> Vec<&'static str> {
    let switches = names(&counted().drops);
    let others = [ACCESS_BUFFER_FULL, RANDOM, SCRIPTED, CUT];
    switches.into_iter().chain(others).map(|r| r.name).collect()
}

/// What the kinds of switch count, one after the other.
pub fn counted() -> Counted {
    let kinds = switch::REGISTRY.iter().map(|kind| (kind.counted)());
    kinds.fold(Counted::default(), Counted::and)
}

/// Each name once, in the order in which they come.
pub fn names<N: Copy + PartialEq, T>(counts: &[(N, T)]) -> Vec<N> {
    let mut names = Vec::new();
    for (name, _) in counts {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_comes_once() {
        assert_eq!(names(&[("a", 1), ("b", 2), ("a", 4)]), ["a", "b"]);
    }
}
