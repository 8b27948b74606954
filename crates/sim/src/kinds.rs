//! Counters and reasons for drops, by the kinds of nodes that have them.

use lightburst_net::link::loss::{RANDOM, SCRIPTED};
use lightburst_net::{Counted, CUT};
use lightburst_optical::{queue, switch};
use lightburst_tcp::wire::segment::ACCESS_BUFFER_FULL;

/// Returns the names of all reasons for drops; a trace stores their positions in this list.
pub fn drop_reasons() -> Vec<&'static str> {
    // Reasons of queues came last, and older traces keep their numbers.
    let queues: Vec<_> = queue::reasons().collect();
    let mut switches = names(&counted().drops);
    switches.retain(|reason| !queues.contains(reason));
    let others = [ACCESS_BUFFER_FULL, RANDOM, SCRIPTED, CUT];
    let all = switches.into_iter().chain(others).chain(queues);
    all.map(|reason| reason.name).collect()
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
