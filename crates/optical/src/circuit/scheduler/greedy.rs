//! Greedy maximum weight: the pair of racks with the most bytes first, then the one with the most
//! among the racks that are left. It has at least half of the largest weight.

use super::{Matcher, Matching, Weights};
use std::cmp::Reverse;

/// Takes the heaviest pair that is left.
pub struct Greedy;

impl Matcher for Greedy {
    fn matching(&mut self, _switch: usize, weights: &Weights) -> Matching {
        let racks = weights.racks();
        let pairs = (0..racks).flat_map(|from| (0..racks).map(move |to| (from, to)));
        let weighed = pairs.map(|(from, to)| (Reverse(weights.get(from, to)), from, to));
        let mut order: Vec<_> = weighed.filter(|(bytes, ..)| bytes.0 > 0).collect();
        // Of equal pairs that of the rack with the lower number, then that to the lower number.
        order.sort_unstable();
        let (mut matching, mut taken) = (vec![None; racks], vec![false; racks]);
        for (_, from, to) in order {
            if matching[from].is_none() && !taken[to] {
                matching[from] = Some(to as u16);
                taken[to] = true;
            }
        }
        matching
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_pair_goes_first_and_ties_to_the_lower_numbers() {
        let matching = |bytes: [u64; 9]| Greedy.matching(0, &Weights::new(3, bytes.to_vec()));
        // 0 to 1 (6) excludes 0 to 2 and 2 to 1, although these are 10 together.
        assert_eq!(matching([0, 6, 5, 0, 0, 0, 0, 5, 0]), [Some(1), None, None]);
        assert_eq!(
            matching([0, 5, 5, 5, 0, 5, 5, 5, 0]),
            [Some(1), Some(0), None]
        );
    }
}
