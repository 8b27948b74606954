//! Counters and reasons for drops, by the kinds of nodes that have them.

use lightburst_net::link::loss::{RANDOM, SCRIPTED};
use lightburst_net::link::outages::LINK_DOWN;
use lightburst_net::{Counted, CUT};
use lightburst_optical::queue;
use lightburst_optical::switch::{self, HEADROOM_FULL, QUEUE_FLUSHED};
use lightburst_tcp::wire::segment::ACCESS_BUFFER_FULL;

/// Returns the names of all reasons for drops; a trace stores their positions in this list. New ones
/// come last, so that a position keeps its meaning.
pub fn drop_reasons() -> Vec<&'static str> {
    let of_queues: Vec<_> = queue::reasons().collect();
    let mut switches = names(&counted().drops);
    let later = |reason| [LINK_DOWN, QUEUE_FLUSHED, HEADROOM_FULL].contains(&reason);
    switches.retain(|&reason| !later(reason) && !of_queues.contains(&reason));
    let others = [
        ACCESS_BUFFER_FULL,
        RANDOM,
        SCRIPTED,
        CUT,
        LINK_DOWN,
        QUEUE_FLUSHED,
    ];
    let all = switches.into_iter().chain(others).chain(of_queues);
    let all = all.chain([HEADROOM_FULL]);
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
