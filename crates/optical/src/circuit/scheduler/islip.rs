//! iSLIP (McKeown: The iSLIP Scheduling Algorithm for Input-Queued Switches. IEEE/ACM Transactions on
//! Networking 7(2), 1999): round robin pointers of inputs and outputs that desynchronise.

use super::{Matcher, Matching, Weights};

/// Pointers of one circuit switch.
#[derive(Clone)]
struct Pointers {
    /// Input that each output grants first.
    grant: Vec<usize>,
    /// Output that each input accepts first.
    accept: Vec<usize>,
}

/// Requests, grants and accepts, in some iterations for each slot.
pub struct Islip {
    iterations: u32,
    pointers: Vec<Pointers>,
}

impl Islip {
    /// Creates the scheduler of so many racks and circuit switches; all pointers are at rack 0.
    pub fn new(iterations: u32, racks: usize, switches: usize) -> Islip {
        let pointers = Pointers {
            grant: vec![0; racks],
            accept: vec![0; racks],
        };
        Islip {
            iterations,
            pointers: vec![pointers; switches],
        }
    }
}

/// Returns the first number that is wanted, in a round from `first` on.
fn round(first: usize, racks: usize, is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
    let mut order = (first..racks).chain(0..first);
    order.find(|&number| is_wanted(number))
}

impl Matcher for Islip {
    fn matching(&mut self, switch: usize, weights: &Weights) -> Matching {
        let racks = weights.racks();
        let Pointers { grant, accept } = &mut self.pointers[switch];
        let mut matching: Matching = vec![None; racks];
        let mut taken = vec![false; racks];
        for iteration in 0..self.iterations {
            // Step 1: an unmatched input requests every output for which it has something.
            // Step 2: an unmatched output grants the request that comes first from its pointer on.
            let granted = |to: usize| {
                let requests = |from: usize| matching[from].is_none() && weights.get(from, to) > 0;
                (!taken[to]).then(|| round(grant[to], racks, requests))?
            };
            let granted: Vec<Option<usize>> = (0..racks).map(granted).collect();
            // Step 3: an input accepts the grant that comes first from its pointer on.
            let mut news = false;
            for from in 0..racks {
                let chosen = round(accept[from], racks, |to| granted[to] == Some(from));
                let Some(to) = chosen else {
                    continue;
                };
                news = true;
                matching[from] = Some(to as u16);
                taken[to] = true;
                // Pointers move only if a grant of the first iteration is accepted.
                if iteration == 0 {
                    accept[from] = (to + 1) % racks;
                    grant[to] = (from + 1) % racks;
                }
            }
            if !news {
                break;
            }
        }
        matching
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_move_by_accepted_grants_of_the_first_iteration_alone() {
        // A switch of four ports, in which input 1 requests 1 and 2, input 3 requests 2 and 4, and
        // input 4 requests 4, counted from 1.
        let mut islip = Islip::new(1, 4, 1);
        let mut bytes = vec![0; 16];
        for (from, to) in [(0, 0), (0, 1), (2, 1), (2, 3), (3, 3)] {
            bytes[from * 4 + to] = 1;
        }
        let weights = Weights::new(4, bytes);
        // Outputs 0 and 1 grant to input 0, output 3 to input 2; input 0 accepts 0, input 2 accepts 3.
        assert_eq!(islip.matching(0, &weights), [Some(0), None, Some(3), None]);
        assert_eq!(islip.pointers[0].grant, [1, 0, 0, 3]);
        assert_eq!(islip.pointers[0].accept, [1, 0, 0, 0]);
        // Output 1 still prefers input 0, whose pointer now is at output 1; output 3 grants to input
        // 3 and output 0 to input 0.
        assert_eq!(islip.matching(0, &weights), [Some(1), None, None, Some(3)]);
        // A second iteration gives output 1 of the first case to input 2, without moving a pointer.
        let mut islip = Islip::new(2, 4, 1);
        assert_eq!(islip.matching(0, &weights), [Some(0), None, Some(3), None]);
        islip.pointers[0].grant[3] = 3;
        islip.pointers[0].accept[0] = 0;
        assert_eq!(
            islip.matching(0, &weights),
            [Some(0), None, Some(1), Some(3)]
        );
        assert_eq!(islip.pointers[0].grant[1], 0);
    }

    #[test]
    fn full_queues_are_served_in_turn_without_a_gap() {
        // All outputs grant to input 0 at first. One output more has its own input in each slot, so
        // that the pointers differ after n - 1 slots, and all outputs are matched from then on: 100 %
        // throughput (McKeown 1999).
        let racks = 5;
        let weights = Weights::new(racks, vec![1; racks * racks]);
        let mut islip = Islip::new(1, racks, 1);
        let sizes = |_| islip.matching(0, &weights).iter().flatten().count();
        let sizes: Vec<usize> = (0..20).map(sizes).collect();
        assert_eq!(sizes[..racks], [1, 2, 3, 4, 5]);
        assert!(
            sizes[racks..].iter().all(|&size| size == racks),
            "{sizes:?}"
        );
    }
}
