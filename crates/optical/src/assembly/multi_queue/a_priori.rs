//! Allocation by lot: queues are dealt again in each assembly cycle.

use super::{Allocate, Blocks};
use crate::assembly::Sight;
use lightburst_net::FlowId;
use std::collections::HashMap;
use std::num::NonZeroU16;

/// Random allocation for one cycle, made in the order in which flows send their first packet.
pub struct APriori {
    blocks: Blocks,
    /// Whether flows of a block get different queues; otherwise each flow draws independently.
    permuted: bool,
    /// Queue of each flow that has sent a packet in this cycle.
    allocated: HashMap<FlowId, u32>,
}

impl APriori {
    pub fn new(queues: NonZeroU16, permuted: bool) -> APriori {
        APriori {
            blocks: Blocks::new(queues),
            permuted,
            allocated: HashMap::new(),
        }
    }
}

impl Allocate for APriori {
    fn begin(&mut self, _sight: &mut Sight<'_>) {
        self.allocated.clear();
        self.blocks.begin();
    }

    fn queue(&mut self, flow: FlowId, sight: &mut Sight<'_>) -> u32 {
        if let Some(&queue) = self.allocated.get(&flow) {
            return queue;
        }
        let queue = match self.permuted {
            true => self.blocks.next(sight.draw),
            false => sight.draw.below(self.blocks.queues),
        };
        self.allocated.insert(flow, queue);
        queue
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cycles;
    use super::*;
    use crate::assembly::AssemblyPolicy;
    use lightburst_des::{Duration, Stream, Time};
    use lightburst_net::{Header, NodeId, Packet};

    fn rule(permuted: bool) -> Box<dyn AssemblyPolicy> {
        let queues = NonZeroU16::new(3).expect("three");
        Cycles::of(Duration(10), APriori::new(queues, permuted))
    }

    fn queue(rule: &mut dyn AssemblyPolicy, flow: u32, now: u64, draw: &mut Stream) -> u32 {
        let packet = Packet::new(FlowId(flow), NodeId(0), NodeId(1), 64, Header::default());
        let (now, notices) = (Time(now), None);
        rule.queue(&packet, &mut Sight { now, draw, notices })
    }

    /// Counts how often three flows of a cycle had each combination of three queues.
    fn counts(permuted: bool, cycles: u64) -> HashMap<[u32; 3], u64> {
        let mut rule = rule(permuted);
        let mut draw = Stream::new(1, "assembly/7");
        let mut counts = HashMap::new();
        for cycle in 0..cycles {
            let mut queue =
                |flow: u32, after: u64| queue(&mut *rule, flow, 11 * cycle + after, &mut draw);
            let queues = [0, 1, 2].map(|flow| queue(flow, 0));
            // A flow keeps its queue until the end of the cycle.
            let [last, middle, first] = [2, 1, 0].map(|flow| queue(flow, 10));
            assert_eq!(queues, [first, middle, last]);
            *counts.entry(queues).or_default() += 1;
        }
        counts
    }

    /// Whether chi-square stays below `most`, the value exceeded with a probability of 0.001.
    fn is_uniform(counts: &HashMap<[u32; 3], u64>, outcomes: usize, most: f64) -> bool {
        let total: u64 = counts.values().sum();
        let expected = total as f64 / outcomes as f64;
        let term = |count: &u64| (*count as f64 - expected).powi(2) / expected;
        counts.len() == outcomes && counts.values().map(term).sum::<f64>() < most
    }

    #[test]
    fn each_permutation_of_the_queues_is_as_likely() {
        let counts = counts(true, 60_000);
        assert!(is_uniform(&counts, 6, 20.5), "{counts:?}");
    }

    #[test]
    fn a_cycle_begins_with_a_block_of_its_own() {
        let mut rule = rule(true);
        let mut draw = Stream::new(1, "assembly/7");
        for cycle in 0..100 {
            // Two flows of three: the queue left over must not be kept for the next cycle.
            let mut queue = |flow| queue(&mut *rule, flow, 11 * cycle, &mut draw);
            assert_ne!(queue(0), queue(1));
        }
    }

    #[test]
    fn by_the_printed_formula_each_flow_draws_for_itself() {
        let counts = counts(false, 60_000);
        assert!(is_uniform(&counts, 27, 54.1), "{counts:?}");
    }
}
