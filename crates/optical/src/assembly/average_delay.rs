//! A burst when its packets have waited so long in the mean (Christodoulopoulos, Varvarigos and
//! Vlachos 2007): it lasts the longer the later most of them come.

use super::{AssemblyPolicy, Decision, Queue};
use crate::settings::duration;
use lightburst_des::{Duration, Time};
use serde::Deserialize;

/// By the mean delay of the packets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AverageDelay {
    /// Mean time from the arrival of a packet to the burst (T_AVE).
    #[serde(rename = "time_ps", deserialize_with = "duration")]
    pub time: Duration,
}

impl AssemblyPolicy for AverageDelay {
    fn on_packet(&mut self, queue: &Queue) -> Decision {
        // T_AVE = sum of (end - arrival) / packets. Each packet puts the end off.
        let arrival = queue.arrivals.div_ceil(u128::from(queue.packets));
        let end = Time(arrival as u64) + self.time;
        Decision::StartTimer(end.since(queue.newest))
    }
}
