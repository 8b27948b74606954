//! Samples of queues, buffers and link utilisation at regular times.
//!
//! A sample is not an event: the run is advanced up to its time and then continues.

use crate::columns::{Column, Table};
use lightburst_des::{Duration, Time};
use lightburst_net::{Hosts, Network};

/// Collected samples: one row per time, and for each time one row per link and per switch.
pub struct Samples {
    every: Duration,
    next: Time,
    times: Vec<u64>,
    queues: Vec<u64>,
    busy: Vec<u64>,
    buffers: Vec<u64>,
}

impl Samples {
    /// Creates an empty collection; the first sample is due at `every`.
    pub fn new(every: Duration) -> Samples {
        Samples {
            every,
            next: Time::ZERO + every,
            times: Vec::new(),
            queues: Vec::new(),
            busy: Vec::new(),
            buffers: Vec::new(),
        }
    }

    /// Returns the time of the next sample.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Returns the number of samples.
    pub fn len(&self) -> u64 {
        self.times.len() as u64
    }

    /// Records the state at `time`; all events up to then must have been handled.
    pub fn take<H: Hosts>(&mut self, time: Time, network: &Network<H>) {
        let (fabric, before) = (&network.fabric, self.queues.len());
        self.times.push(time.0);
        for link in fabric.carried(time) {
            self.queues.push(link.waiting);
            self.busy.push(link.busy.0);
        }
        let queues = &self.queues[before..];
        for (node, switch) in network.switches() {
            let queued = fabric.outputs(node).map(|link| queues[link.index()]).sum();
            self.buffers.push(switch.held(queued));
        }
        self.next = time + self.every;
    }

    /// Records the state at the end of the run, unless it has been recorded.
    pub fn end<H: Hosts>(&mut self, time: Time, network: &Network<H>) {
        if self.times.last().copied().unwrap_or(0) < time.0 {
            self.take(time, network);
        }
    }

    /// Returns the tables of times, links and switches.
    pub fn tables(&self) -> [Table; 3] {
        let column = |values: &Vec<u64>| Column::U64(values.clone());
        [
            vec![("time_ps", column(&self.times))],
            vec![
                ("queue_bytes", column(&self.queues)),
                ("busy_ps", column(&self.busy)),
            ],
            vec![("buffer_bytes", column(&self.buffers))],
        ]
    }
}
