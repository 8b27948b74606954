//! A burst for each period that begins with a packet (yu2004, section II).

use super::{AssemblyPolicy, AssemblySettings, Decision, Queue};
use lightburst_des::Duration;

pub struct Timer {
    time: Duration,
}

impl Timer {
    pub fn new(settings: &AssemblySettings) -> Timer {
        Timer {
            time: settings.time,
        }
    }
}

impl AssemblyPolicy for Timer {
    fn on_packet(&mut self, queue: &Queue) -> Decision {
        match queue.packets {
            1 => Decision::StartTimer(self.time),
            _ => Decision::Wait,
        }
    }
}
