//! Start order of the flows at each host. Each host has a chain of its own and one pending start
//! event, so no state is shared between hosts.

use crate::Flows;
use lightburst_des::{Ties, Time};

/// Marks the end of a chain.
const NONE: u32 = u32::MAX;

/// Chains of the flows of each host, in the order of their start times.
pub struct Starts {
    first: Vec<u32>,
    next: Vec<u32>,
}

impl Starts {
    /// Builds the chains of the flows that do not wait for others. `ties` orders flows that start at the same host and time, as it orders
    /// their timers.
    pub fn new(flows: &Flows, waits: impl Fn(usize) -> bool, ties: Ties) -> Starts {
        let own = (0..flows.len() as u32).filter(|&index| !waits(index as usize));
        let mut order: Vec<u32> = own.collect();
        // Borrowed once, not at every comparison.
        let (sources, starts_ps) = (&*flows.source, &*flows.start_ps);
        let row = |&index: &u32| flows.id(index as usize).index();
        let when = |row: usize| (sources[row], starts_ps[row]);
        let rank = |row: usize| ties.rank_at(Time(starts_ps[row]), sources[row], row as u32);
        // Sorts in place, as there may be very many flows. Ranks are computed only for flows with
        // the same host and start time.
        order.sort_unstable_by(|one, other| {
            let (one, other) = (row(one), row(other));
            let ranks = || rank(one).cmp(&rank(other)).then(one.cmp(&other));
            when(one).cmp(&when(other)).then_with(ranks)
        });
        let source = |index: u32| sources[row(&index)];
        let mut starts = Starts {
            first: Vec::new(),
            next: vec![NONE; flows.len()],
        };
        starts.first.extend(order.first());
        for pair in order.windows(2) {
            if source(pair[0]) == source(pair[1]) {
                starts.next[pair[0] as usize] = pair[1];
            } else {
                starts.first.push(pair[1]);
            }
        }
        starts
    }

    /// Yields the first flow of each host that has flows.
    pub fn first(&self) -> impl Iterator<Item = usize> + '_ {
        self.first.iter().map(|&index| index as usize)
    }

    /// Returns the flow that starts next at the same host.
    pub fn after(&self, index: usize) -> Option<usize> {
        let next = self.next[index];
        (next != NONE).then_some(next as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flow;
    use lightburst_net::{FlowId, NodeId};

    #[test]
    fn each_host_has_a_chain_and_ties_are_drawn() {
        let flow = |(id, source, start)| Flow {
            id: FlowId(id),
            source: NodeId(source),
            destination: NodeId(9),
            start: Time(start),
            size: 1,
            group: 0,
        };
        let flows: Vec<Flow> = [(0, 2, 5), (1, 0, 5), (2, 2, 5), (3, 2, 1), (4, 0, 7)]
            .map(flow)
            .to_vec();
        let chains = |seed| {
            let starts = Starts::new(&flows.to_vec().into(), |_| false, Ties::new(seed, None));
            let chain = |first| std::iter::successors(Some(first), |&at| starts.after(at));
            let chains: Vec<Vec<usize>> = starts.first().map(|at| chain(at).collect()).collect();
            chains
        };
        let all: std::collections::BTreeSet<_> = (0..20).map(chains).collect();
        let expected = [[3, 0, 2], [3, 2, 0]].map(|two| vec![vec![1, 4], two.to_vec()]);
        assert_eq!(all, expected.into_iter().collect());
    }
}
