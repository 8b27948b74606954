//! A burst as soon as enough bytes are there.

use super::{AssemblyPolicy, Decision, Queue};
use serde::Deserialize;

/// By size.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Bytes that make a burst.
    pub size_bytes: u32,
}

impl AssemblyPolicy for Size {
    fn on_packet(&mut self, queue: &Queue) -> Decision {
        if queue.bytes >= self.size_bytes {
            Decision::Close
        } else {
            Decision::Wait
        }
    }
}
