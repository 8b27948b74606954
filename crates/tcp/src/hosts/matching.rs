//! Receives that may take any of several messages: which one takes which is known when the message
//! has arrived and the receive is posted.
//!
//! The rule is that of LogGOPSim (`match` in LogGOPSim.cpp): a message that arrives goes to the
//! receive that was posted first of those that it fits, or waits; a receive that is posted takes the
//! message that arrived first of those that fit and wait, or waits.

use crate::hosts::dependencies::{Joins, NO_JOIN};
use crate::Flows;
use lightburst_net::Shared;
use std::collections::{BTreeMap, VecDeque};

/// Stands for any source and for any tag.
const ANY: u32 = u32::MAX;

/// Messages and receives that find each other in the run, as columns. Each receive is posted by a
/// join of its own: those of all receives are the last joins, in the order of the receives.
#[derive(Clone, Debug, Default)]
pub struct Receives {
    /// Join that opens when the receive has been posted and has taken a message.
    pub join: Shared<u32>,
    /// Host from which the message comes, or `u32::MAX` for any.
    pub source: Shared<u32>,
    /// Number of its tag, or `u32::MAX` for any.
    pub tag: Shared<u32>,
    /// Number of the tag of each flow, or `u32::MAX` for one that no receive takes.
    pub tag_of_flow: Shared<u32>,
    /// Work of the receive that takes each flow, in picoseconds.
    pub busy_ps: Shared<u64>,
    /// Join that each flow reaches at its source when a receive has taken it, or [`NO_JOIN`].
    pub sent: Shared<u32>,
}

/// Receives and messages with one source and one tag, each of which may be any.
#[derive(Default)]
struct Queue {
    /// Receives that were posted, after the number of receives posted before.
    posted: VecDeque<(u32, u32)>,
    /// Messages that arrived. Others may have taken them since.
    unexpected: VecDeque<u32>,
}

/// What has been posted, has arrived and was taken.
pub(super) struct Matching {
    receives: Receives,
    /// First of the joins by which receives are posted.
    first: u32,
    /// Queues for which there is a receive, by host, source and tag.
    queues: BTreeMap<[u32; 3], Queue>,
    /// Host of each receive.
    hosts: Vec<u32>,
    posted: u32,
    /// Join of the receive that took each flow, or [`NO_JOIN`].
    taken: Vec<u32>,
    /// Work of each join, that of receives once it is known.
    busy: Vec<u64>,
}

impl Matching {
    /// Returns `None` if no receive is matched in the run.
    pub fn new(joins: &Joins, flows: usize) -> Option<Matching> {
        let receives = joins.receives.clone();
        if receives.join.is_empty() {
            return None;
        }
        let host = |&join: &u32| joins.cpu_host[joins.cpu[join as usize] as usize];
        let hosts: Vec<u32> = receives.join.iter().map(host).collect();
        let keys = hosts.iter().zip(&*receives.source).zip(&*receives.tag);
        let queue = |((&host, &source), &tag)| ([host, source, tag], Queue::default());
        let queues = keys.map(queue).collect();
        Some(Matching {
            first: (joins.delay_ps.len() - receives.join.len()) as u32,
            queues,
            hosts,
            posted: 0,
            taken: vec![NO_JOIN; flows],
            busy: joins.busy_ps.to_vec(),
            receives,
        })
    }

    /// Returns the join of the receive that took each flow, or [`NO_JOIN`].
    pub fn taken(&self) -> &[u32] {
        &self.taken
    }

    /// Returns the work of a join.
    pub fn busy(&self, join: usize) -> u64 {
        self.busy[join]
    }

    /// Returns the join that a flow reaches at its source when a receive has taken it.
    pub fn sent(&self, flow: u32) -> Option<u32> {
        let join = self.receives.sent.get(flow as usize).copied();
        join.filter(|&join| join != NO_JOIN)
    }

    /// Yields the joins that wait for a message or for a notice, once for each, and [`NO_JOIN`].
    pub fn awaiting(&self) -> impl Iterator<Item = &u32> {
        self.receives.join.iter().chain(self.receives.sent.iter())
    }

    /// Lets a message arrive. Returns the join of the receive that takes it, if one does now.
    pub fn arrive(&mut self, index: u32, flows: &Flows) -> Option<u32> {
        let tag = self.receives.tag_of_flow[index as usize];
        if tag == ANY {
            return None;
        }
        let (source, host) = flows.ends(index as usize);
        let keys = [(source, tag), (source, ANY), (ANY, tag), (ANY, ANY)];
        let keys = keys.map(|(source, tag)| [host, source, tag]);
        let oldest = |key: &[u32; 3]| {
            let queue = self.queues.get(key)?;
            queue.posted.front().map(|&first| (first, *key))
        };
        let Some(((_, receive), key)) = keys.iter().filter_map(oldest).min() else {
            for key in &keys {
                if let Some(queue) = self.queues.get_mut(key) {
                    queue.unexpected.push_back(index);
                }
            }
            return None;
        };
        if let Some(queue) = self.queues.get_mut(&key) {
            queue.posted.pop_front();
        }
        Some(self.take(receive, index))
    }

    /// Notes that a join began. If it posts a receive, and this takes a message that has arrived,
    /// returns the join of the receive and the message.
    pub fn post(&mut self, join: u32) -> Option<(u32, u32)> {
        let receive = join.checked_sub(self.first)?;
        let at = receive as usize;
        let key = [
            self.hosts[at],
            self.receives.source[at],
            self.receives.tag[at],
        ];
        let queue = self.queues.get_mut(&key)?;
        while let Some(index) = queue.unexpected.pop_front() {
            if self.taken[index as usize] == NO_JOIN {
                return Some((self.take(receive, index), index));
            }
        }
        queue.posted.push_back((self.posted, receive));
        self.posted += 1;
        None
    }

    /// Gives a message to a receive.
    fn take(&mut self, receive: u32, index: u32) -> u32 {
        let join = self.receives.join[receive as usize];
        self.taken[index as usize] = join;
        self.busy[join as usize] = self.receives.busy_ps[index as usize];
        join
    }
}
