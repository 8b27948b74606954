//! Several queues for an egress, so that one lost burst does not hit all flows at once (Vlachos 2008).

use super::{AssemblyPolicy, AssemblySettings, Decision, Queue, Timer};
use crate::settings::duration;
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::{FlowId, Packet};
use serde::Deserialize;
use std::collections::HashMap;
use std::num::NonZeroU16;

/// Several queues for an egress, by time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultiQueue {
    /// How long an assembly cycle is; of a queue for each flow, see [`Timer`].
    #[serde(rename = "time_ps", deserialize_with = "duration")]
    pub time: Duration,
    /// Which flow is in which queue.
    pub allocation: Allocation,
}

/// How flows are allocated to queues.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Allocation {
    /// In each cycle anew: a random permutation of the queues for each block of as many flows.
    APriori {
        /// How many queues.
        queues: NonZeroU16,
    },
    /// In each cycle anew: each flow draws one, as the printed formula comes to.
    Printed {
        /// How many queues.
        queues: NonZeroU16,
    },
    /// Each flow has its own.
    PerFlow,
}

impl AssemblySettings for MultiQueue {
    fn start(&self) -> Box<dyn AssemblyPolicy> {
        let time = self.time;
        let queues = match self.allocation {
            Allocation::PerFlow => return Box::new(PerFlow { time }),
            Allocation::APriori { queues } | Allocation::Printed { queues } => queues,
        };
        Box::new(Cycles {
            time,
            queues: u32::from(queues.get()),
            permuted: matches!(self.allocation, Allocation::APriori { .. }),
            ends: None,
            allocated: HashMap::new(),
            left: Vec::new(),
        })
    }
}

/// One queue for each flow.
struct PerFlow {
    time: Duration,
}

impl AssemblyPolicy for PerFlow {
    fn has_queues(&self) -> bool {
        true
    }

    fn queue(&mut self, packet: &Packet, _now: Time, _draw: &mut Stream) -> u32 {
        packet.envelope.flow.0
    }

    fn on_packet(&mut self, queue: &Queue) -> Decision {
        Timer { time: self.time }.on_packet(queue)
    }
}

/// Queues that are allocated anew in each assembly cycle, at whose end all are closed.
struct Cycles {
    time: Duration,
    queues: u32,
    permuted: bool,
    /// When the present cycle ends, or the last one has ended.
    ends: Option<Time>,
    /// The queue of each flow of which a packet came in this cycle.
    allocated: HashMap<FlowId, u32>,
    /// Those that no flow of the present block has.
    left: Vec<u32>,
}

impl Cycles {
    /// The queue of a flow that is new in the cycle.
    fn allocate(&mut self, draw: &mut Stream) -> u32 {
        if !self.permuted {
            return draw.below(self.queues);
        }
        if self.left.is_empty() {
            self.left.extend(0..self.queues);
        }
        let place = draw.below(self.left.len() as u32);
        self.left.swap_remove(place as usize)
    }
}

impl AssemblyPolicy for Cycles {
    fn has_queues(&self) -> bool {
        true
    }

    fn queue(&mut self, packet: &Packet, now: Time, draw: &mut Stream) -> u32 {
        if !self.ends.is_some_and(|ends| now <= ends) {
            self.ends = Some(now + self.time);
            self.allocated.clear();
            self.left.clear();
        }
        let flow = packet.envelope.flow;
        if let Some(&queue) = self.allocated.get(&flow) {
            return queue;
        }
        let queue = self.allocate(draw);
        self.allocated.insert(flow, queue);
        queue
    }

    fn on_packet(&mut self, queue: &Queue) -> Decision {
        let ends = self.ends.expect("a cycle, since a packet has come");
        match queue.packets {
            1 => Decision::StartTimer(ends.since(queue.newest)),
            _ => Decision::Wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightburst_net::{Header, NodeId};

    fn rule(permuted: bool) -> Cycles {
        Cycles {
            time: Duration(10),
            queues: 3,
            permuted,
            ends: None,
            allocated: HashMap::new(),
            left: Vec::new(),
        }
    }

    fn packet(flow: u32) -> Packet {
        Packet::new(FlowId(flow), NodeId(0), NodeId(1), 64, Header::default())
    }

    /// How often three flows of one cycle had which of three queues.
    fn counts(permuted: bool, cycles: u64) -> HashMap<[u32; 3], u64> {
        let mut rule = rule(permuted);
        let mut draw = Stream::new(1, "assembly/7");
        let mut counts = HashMap::new();
        for cycle in 0..cycles {
            let mut queue = |flow: u32, after: u64| {
                rule.queue(&packet(flow), Time(11 * cycle + after), &mut draw)
            };
            let queues = [0, 1, 2].map(|flow| queue(flow, 0));
            // To the end of the cycle a flow stays where it is.
            let [last, middle, first] = [2, 1, 0].map(|flow| queue(flow, 10));
            assert_eq!(queues, [first, middle, last]);
            *counts.entry(queues).or_default() += 1;
        }
        counts
    }

    /// Below the value that chi-square exceeds once in a thousand times.
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
            // Two flows of three: the queue that is left over is not kept for the next cycle.
            let mut queue = |flow| rule.queue(&packet(flow), Time(11 * cycle), &mut draw);
            assert_ne!(queue(0), queue(1));
        }
    }

    #[test]
    fn by_the_printed_formula_each_flow_draws_for_itself() {
        let counts = counts(false, 60_000);
        assert!(is_uniform(&counts, 27, 54.1), "{counts:?}");
    }
}
