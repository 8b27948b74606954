//! Samples of queues, buffers and link utilisation at regular times.
//!
//! A sample is not an event: the run is advanced up to its time and then continues.

use super::{require, Kind, Look, Measurement, Meter, Scope};
use crate::counts::Counts;
use crate::state::State;
use lightburst_des::{Duration, Time};
use lightburst_net::column::{Column, Outputs};
use serde::Deserialize;

/// The measurement of a plan.
pub const KIND: Kind = Kind {
    keys: &["sample_ps"],
    ..Kind::of::<Settings>()
};

/// Time between two samples.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Settings {
    sample_ps: u64,
}

impl Measurement for Settings {
    fn check(&self, _scope: &Scope<'_>) -> Result<(), String> {
        let words = || "samples without time between them".to_string();
        require(self.sample_ps > 0, words)
    }

    fn build(&self, _scope: &Scope<'_>) -> Meter {
        Meter::Look(Box::new(Samples::new(Duration(self.sample_ps))))
    }
}

/// Collected samples: one row per time, and for each time one row per link and per switch.
struct Samples {
    every: Duration,
    next: Time,
    times: Vec<u64>,
    queues: Vec<u64>,
    busy: Vec<u64>,
    buffers: Vec<u64>,
}

impl Samples {
    /// Creates an empty collection; the first sample is due at `every`.
    fn new(every: Duration) -> Samples {
        Samples {
            every,
            next: Time::ZERO + every,
            times: Vec::new(),
            queues: Vec::new(),
            busy: Vec::new(),
            buffers: Vec::new(),
        }
    }
}

impl Look for Samples {
    fn next(&self) -> Time {
        self.next
    }

    fn take(&mut self, time: Time, state: &mut dyn State) {
        let (fabric, before) = (state.fabric(), self.queues.len());
        self.times.push(time.0);
        for link in fabric.carried(time) {
            self.queues.push(link.waiting);
            self.busy.push(link.busy.0);
        }
        let queues = &self.queues[before..];
        for (node, switch) in state.switches() {
            let queued = fabric.outputs(node).map(|link| queues[link.index()]).sum();
            self.buffers.push(switch.held(queued));
        }
        self.next = time + self.every;
    }

    /// Records the state at the end of the run, unless it has been recorded.
    fn end(&mut self, time: Time, state: &mut dyn State) {
        if self.times.last().copied().unwrap_or(0) < time.0 {
            self.take(time, state);
        }
    }

    fn load(&self) -> Option<(&'static str, u64)> {
        Some(("samples", self.times.len() as u64))
    }

    fn tables(self: Box<Self>, _whole: &mut Counts) -> Outputs {
        let links = vec![
            ("queue_bytes", Column::U64(self.queues)),
            ("busy_ps", Column::U64(self.busy)),
        ];
        vec![
            ("samples", vec![("time_ps", Column::U64(self.times))].into()),
            ("samples_links", links.into()),
            (
                "samples_switches",
                vec![("buffer_bytes", Column::U64(self.buffers))].into(),
            ),
        ]
    }
}
