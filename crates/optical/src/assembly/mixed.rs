//! Assembly by size or timer, whichever limit is reached first.

use super::{AssemblyPolicy, Decision, Queue, Size, Timer};
use crate::settings::duration;
use lightburst_des::{Duration, Stream};
use serde::Deserialize;

/// Settings of mixed assembly.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mixed {
    /// Time limit, as in [`Timer`].
    #[serde(rename = "time_ps", deserialize_with = "duration")]
    pub time: Duration,
    /// Size limit, as in [`Size`].
    pub size_bytes: u32,
}

impl AssemblyPolicy for Mixed {
    fn on_packet(&mut self, queue: &Queue, draw: &mut Stream) -> Decision {
        let Mixed { time, size_bytes } = *self;
        match (Size { size_bytes }).on_packet(queue, draw) {
            Decision::Close => Decision::Close,
            _ => Timer { time }.on_packet(queue, draw),
        }
    }
}
