//! A burst when enough bytes are there, or the time is over: what comes first.

use super::{AssemblyPolicy, Decision, Queue, Size, Timer};
use crate::settings::duration;
use lightburst_des::Duration;
use serde::Deserialize;

/// By size or by time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mixed {
    /// See [`Timer`].
    #[serde(rename = "time_ps", deserialize_with = "duration")]
    pub time: Duration,
    /// See [`Size`].
    pub size_bytes: u32,
}

impl AssemblyPolicy for Mixed {
    fn on_packet(&mut self, queue: &Queue) -> Decision {
        let Mixed { time, size_bytes } = *self;
        match (Size { size_bytes }).on_packet(queue) {
            Decision::Close => Decision::Close,
            _ => Timer { time }.on_packet(queue),
        }
    }
}
