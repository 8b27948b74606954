//! A burst as soon as enough bytes are there.

use super::{AssemblyPolicy, AssemblySettings, Decision, Queue};

pub struct Size {
    size: u32,
}

impl Size {
    pub fn new(settings: &AssemblySettings) -> Size {
        Size {
            size: settings.size,
        }
    }
}

impl AssemblyPolicy for Size {
    fn on_packet(&mut self, queue: &Queue) -> Decision {
        if queue.bytes >= self.size {
            Decision::Close
        } else {
            Decision::Wait
        }
    }
}
