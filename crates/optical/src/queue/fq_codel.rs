//! Flow queue controlled delay (RFC 8290): flows are hashed into queues, each with CoDel, which take
//! turns by deficit round robin. Queues that were empty come first.

use super::codel::Law;
use super::{CoDel, Discipline, DisciplineSettings, Port, QUEUE_FULL};
use crate::output::Output;
use crate::settings::positive_duration;
use lightburst_des::{mix, Duration, Time};
use lightburst_net::{Chain, Unit};
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::num::NonZeroU32;

/// Settings of FQ-CoDel.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FqCoDel {
    /// Delay in a queue that is acceptable for good (TARGET).
    #[serde(rename = "target_ps", deserialize_with = "positive_duration")]
    target: Duration,
    /// Time for which the delay must be above the target before the first drop (INTERVAL).
    #[serde(rename = "interval_ps", deserialize_with = "positive_duration")]
    interval: Duration,
    /// Number of queues.
    flows: NonZeroU32,
    /// Bytes that a queue may send in its turn.
    quantum_bytes: NonZeroU32,
    /// Whether packets of transports capable of ECN are marked in place of being dropped.
    ecn: bool,
}

impl DisciplineSettings for FqCoDel {
    fn build(&self, port: &Port) -> Box<dyn Discipline> {
        Box::new(Queues {
            settings: *self,
            salt: port.draw().next_u64(),
            places: Vec::new(),
            queues: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
        })
    }
}

/// Queue of the flows with one hash.
struct Queue {
    /// Hash of its flows.
    bucket: u32,
    chain: Chain,
    /// Bytes that wait.
    bytes: u64,
    /// Bytes that it may still send in its turn.
    credits: i64,
    /// Whether it is in one of the lists.
    is_listed: bool,
    law: Law,
}

struct Queues {
    settings: FqCoDel,
    salt: u64,
    /// Position in `queues` of each hash, plus one; 0 for hashes that have not occurred. Empty before
    /// the first unit: most outputs of a large network are hardly used.
    places: Vec<u32>,
    queues: Vec<Queue>,
    /// Positions of the queues that have just begun to wait, and of the others.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
}

impl Queues {
    /// Returns the queue of a unit. The hash is SplitMix64's, as for the choice of paths.
    fn place(&mut self, unit: Unit, output: &Output<'_, '_>) -> u32 {
        let flows = self.settings.flows.get();
        let hash = mix(self.salt ^ u64::from(output.flow(unit)));
        let bucket = ((u128::from(hash) * u128::from(flows)) >> 64) as u32;
        if self.places.is_empty() {
            self.places = vec![0; flows as usize];
        }
        let place = &mut self.places[bucket as usize];
        if *place == 0 {
            let FqCoDel {
                target,
                interval,
                ecn,
                ..
            } = self.settings;
            self.queues.push(Queue {
                bucket,
                chain: Chain::default(),
                bytes: 0,
                credits: 0,
                is_listed: false,
                law: Law::new(CoDel::new(target, interval, ecn)),
            });
            *place = self.queues.len() as u32;
        }
        *place - 1
    }

    /// Makes room for a unit of the queue `place` (RFC 8290, section 4.1): while there is none, the
    /// first unit of the queue with the most bytes is dropped. Returns whether that unit is itself.
    #[cold]
    fn make_room(&mut self, unit: Unit, place: u32, output: &mut Output<'_, '_>) -> bool {
        let bytes = u64::from(output.bytes(unit));
        while output.lacks_room(unit) {
            let with_unit = |&at: &u32| {
                let queue = &self.queues[at as usize];
                let arriving = if at == place { bytes } else { 0 };
                (queue.bytes + arriving, Reverse(queue.bucket))
            };
            let listed = self.new.iter().chain(&self.old).chain([&place]).copied();
            let most = listed.max_by_key(with_unit).expect("the queue of the unit");
            let queue = &mut self.queues[most as usize];
            let Some((first, _)) = output.pop(&mut queue.chain) else {
                output.drop(unit, QUEUE_FULL);
                return false;
            };
            queue.bytes -= u64::from(output.bytes(first));
            output.drop_for_room(first);
        }
        true
    }

    /// Moves the first queue of a list to the end of the old ones, or out of the lists.
    fn move_on(&mut self, is_new: bool, stays: bool) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        let at = list.pop_front().expect("a queue in the list");
        match stays {
            true => self.old.push_back(at),
            false => self.queues[at as usize].is_listed = false,
        }
    }
}

impl Discipline for Queues {
    #[inline]
    fn enqueue(&mut self, unit: Unit, output: &mut Output<'_, '_>) {
        let place = self.place(unit, output);
        let bytes = u64::from(output.bytes(unit));
        let mut backlog = output.backlog();
        if output.lacks_room(unit) {
            if !self.make_room(unit, place, output) {
                return;
            }
            backlog = output.backlog();
        }
        let queue = &mut self.queues[place as usize];
        output.push(&mut queue.chain, unit, backlog);
        queue.bytes += bytes;
        // RFC 8290, section 4.1: a queue that is not active becomes a new one, with a quantum.
        if !queue.is_listed {
            queue.is_listed = true;
            queue.credits = i64::from(self.settings.quantum_bytes.get());
            self.new.push_back(place);
        }
    }

    #[inline]
    fn dequeue(&mut self, output: &mut Output<'_, '_>) -> Option<(Unit, Time)> {
        // RFC 8290, section 4.2.
        loop {
            let is_new = !self.new.is_empty();
            let &at = self.new.front().or(self.old.front())?;
            let queue = &mut self.queues[at as usize];
            if queue.credits <= 0 {
                queue.credits += i64::from(self.settings.quantum_bytes.get());
                self.move_on(is_new, true);
                continue;
            }
            let Queue {
                law, chain, bytes, ..
            } = queue;
            if let Some((unit, since)) = law.dequeue(chain, bytes, output) {
                queue.credits -= i64::from(output.bytes(unit));
                return Some((unit, since));
            }
            // A new queue that is empty comes last among the old ones, so that a flow does not gain by
            // sending a unit at a time.
            self.move_on(is_new, is_new);
        }
    }

    /// In the order of the hashes.
    fn flush(&mut self, output: &mut Output<'_, '_>) -> Vec<Unit> {
        let mut places: Vec<usize> = (0..self.queues.len()).collect();
        places.sort_unstable_by_key(|&at| self.queues[at].bucket);
        let mut units = Vec::new();
        for at in places {
            let queue = &mut self.queues[at];
            queue.bytes = 0;
            units.append(&mut output.pop_all(&mut queue.chain));
        }
        units
    }
}
