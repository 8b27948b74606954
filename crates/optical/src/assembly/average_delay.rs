//! Assembly by average delay (Christodoulopoulos, Varvarigos and Vlachos 2007): a burst is closed
//! when its packets have waited a given time on average. Later arrivals therefore postpone its end.

use super::{AssemblyPolicy, Decision, Queue};
use crate::settings::duration;
use lightburst_des::{Duration, Stream, Time};
use serde::Deserialize;

/// Settings of assembly by average delay.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AverageDelay {
    /// Mean time from the arrival of a packet to the end of the burst (T_AVE).
    #[serde(rename = "time_ps", deserialize_with = "duration")]
    pub time: Duration,
}

impl AssemblyPolicy for AverageDelay {
    fn on_packet(&mut self, queue: &Queue, _draw: &mut Stream) -> Decision {
        // T_AVE = sum of (end - arrival) / packets, solved for the end.
        let arrival = queue.arrivals.div_ceil(u128::from(queue.packets));
        let end = Time(arrival as u64) + self.time;
        Decision::StartTimer(end.since(queue.newest))
    }
}
