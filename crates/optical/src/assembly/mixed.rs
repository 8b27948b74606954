//! A burst when enough bytes are there, or the time is over: what comes first.

use super::{size::Size, timer::Timer, AssemblyPolicy, AssemblySettings, Decision, Queue};

pub struct Mixed {
    timer: Timer,
    size: Size,
}

impl Mixed {
    pub fn new(settings: &AssemblySettings) -> Mixed {
        Mixed {
            timer: Timer::new(settings),
            size: Size::new(settings),
        }
    }
}

impl AssemblyPolicy for Mixed {
    fn on_packet(&mut self, queue: &Queue) -> Decision {
        match self.size.on_packet(queue) {
            Decision::Close => Decision::Close,
            _ => self.timer.on_packet(queue),
        }
    }
}
