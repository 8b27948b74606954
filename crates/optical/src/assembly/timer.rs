//! Assembly by timer: a burst is closed a fixed time after its first packet (yu2004, section II).

use super::{AssemblyPolicy, Decision, Queue};
use crate::settings::duration;
use lightburst_des::{Duration, Stream};
use serde::Deserialize;

/// Settings of assembly by timer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timer {
    /// Time from the first packet to the end of the burst (T_b).
    #[serde(rename = "time_ps", deserialize_with = "duration")]
    pub time: Duration,
}

impl AssemblyPolicy for Timer {
    fn on_packet(&mut self, queue: &Queue, _draw: &mut Stream) -> Decision {
        match queue.packets {
            1 => Decision::StartTimer(self.time),
            _ => Decision::Wait,
        }
    }
}
