//! Flows that wait for others, through joins: a join is at one host, and opens when all data of all
//! flows that lead to it has arrived there, and all joins that lead to it have opened. The flows that
//! wait for it then start at this host.

use crate::Flows;
use lightburst_des::{Duration, Time};
use lightburst_net::Shared;

/// Stands for no join.
pub const NO_JOIN: u32 = u32::MAX;

/// Joins of the flows, as columns. Flows lead to a join where they end and wait for one where they
/// start, so that no state is shared between hosts.
#[derive(Clone, Debug, Default)]
pub struct Joins {
    /// Join for which each flow waits, or [`NO_JOIN`]; empty if no flow waits.
    pub after: Shared<u32>,
    /// Join to which each flow leads, or [`NO_JOIN`].
    pub towards: Shared<u32>,
    /// Time from the opening of each join to the start of the flows that wait for it, in picoseconds.
    pub delay_ps: Shared<u64>,
    /// Join to which each join leads, or [`NO_JOIN`].
    pub beyond: Shared<u32>,
}

/// Flows that wait, by join.
pub struct Waiting {
    flows: Vec<u32>,
    /// Index in `flows` of the first flow of each join, followed by their number.
    offsets: Vec<u32>,
}

impl Waiting {
    /// Sorts the flows by the join for which they wait, by counting.
    pub fn new(joins: &Joins) -> Waiting {
        let number = joins.delay_ps.len();
        let mut offsets = vec![0; number + 1];
        let waits = || {
            (0..)
                .zip(joins.after.iter())
                .filter(|(_, &join)| join != NO_JOIN)
        };
        for (_, &join) in waits() {
            offsets[join as usize + 1] += 1;
        }
        for join in 0..number {
            offsets[join + 1] += offsets[join];
        }
        let mut next = offsets.clone();
        let mut flows = vec![0; offsets[number] as usize];
        for (flow, &join) in waits() {
            let place = &mut next[join as usize];
            flows[*place as usize] = flow;
            *place += 1;
        }
        Waiting { flows, offsets }
    }

    /// Returns the flows that wait for a join.
    pub fn of(&self, join: usize) -> &[u32] {
        &self.flows[self.offsets[join] as usize..self.offsets[join + 1] as usize]
    }
}

/// Progress of the flows that wait.
pub(super) struct Dependencies {
    joins: Joins,
    /// Flows and joins that lead to each join and have not arrived or opened.
    awaited: Vec<u32>,
    waiting: Waiting,
    /// Start of each flow; [`Time::NEVER`] before.
    started: Vec<Time>,
}

impl Dependencies {
    /// Returns `None` if no flow waits.
    pub fn new(joins: Joins, flows: usize) -> Option<Box<Dependencies>> {
        if joins.after.is_empty() {
            return None;
        }
        let mut awaited = vec![0; joins.delay_ps.len()];
        let leads = joins.towards.iter().chain(joins.beyond.iter());
        for &join in leads.filter(|&&join| join != NO_JOIN) {
            awaited[join as usize] += 1;
        }
        Some(Box::new(Dependencies {
            waiting: Waiting::new(&joins),
            joins,
            awaited,
            started: vec![Time::NEVER; flows],
        }))
    }

    /// Returns whether the flow at `index` waits for others.
    pub fn waits(&self, index: usize) -> bool {
        self.joins.after[index] != NO_JOIN
    }

    /// Notes the start of a flow.
    pub fn start(&mut self, index: usize, now: Time) {
        self.started[index] = now;
    }

    /// Returns the start of a flow; [`Time::NEVER`] before.
    pub fn started(&self, index: usize) -> Time {
        self.started[index]
    }

    /// Notes that all data of the flow at `index` has arrived; calls `start` with each flow that
    /// starts because of it and its start time.
    pub fn arrive(
        &mut self,
        index: usize,
        now: Time,
        flows: &Flows,
        mut start: impl FnMut(usize, Time),
    ) {
        let mut join = self.joins.towards[index] as usize;
        while let Some(awaited) = self.awaited.get_mut(join) {
            *awaited -= 1;
            if *awaited > 0 {
                return;
            }
            let opened = now + Duration(self.joins.delay_ps[join]);
            for &next in self.waiting.of(join) {
                let next = next as usize;
                start(next, opened.max(flows.get(next).start));
            }
            join = self.joins.beyond[join] as usize;
        }
    }
}
