//! Assembly by size: a burst is closed when it has enough bytes.

use super::{AssemblyPolicy, Decision, Queue};
use lightburst_des::Stream;
use serde::Deserialize;

/// Settings of assembly by size.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Number of bytes at which a burst is closed.
    pub size_bytes: u32,
}

impl AssemblyPolicy for Size {
    fn on_packet(&mut self, queue: &Queue, _draw: &mut Stream) -> Decision {
        if queue.bytes >= self.size_bytes {
            Decision::Close
        } else {
            Decision::Wait
        }
    }
}
