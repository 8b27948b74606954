//! Names that a plan may use, and names in a result that depend on the kinds of nodes.

use crate::plan::OPEN_LOOP;
use lightburst_net::contents::{Fate, Tally};
use lightburst_net::densities::Densities;
use lightburst_net::loss::{RANDOM, SCRIPTED};
use lightburst_net::{Counted, CUT};
use lightburst_optical::switch;
use lightburst_tcp::segment::ACCESS_BUFFER_FULL;

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

/// Returns the names of all reasons for drops; a trace stores their positions in this list.
pub fn drop_reasons() -> Vec<&'static str> {
    let switches = names(&counted().drops);
    let others = [ACCESS_BUFFER_FULL, RANDOM, SCRIPTED, CUT];
    switches.into_iter().chain(others).map(|r| r.name).collect()
}

/// Returns the counters of all kinds of switches, one after the other.
pub fn counted() -> Counted {
    let kinds = switch::REGISTRY.iter().map(|kind| (kind.counted)());
    kinds.fold(Counted::default(), Counted::and)
}

/// Returns each name once, in the order of its first occurrence.
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
