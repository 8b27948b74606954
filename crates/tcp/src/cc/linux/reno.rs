//! Reno as in Linux: slow start and congestion avoidance by whole segments acknowledged.

use super::super::{Ack, CongestionControl, CongestionControlSettings, Loss, Timeout, Window};
use super::Whole;

/// Window law of Linux's Reno.
#[derive(Clone)]
pub struct Reno {
    whole: Whole,
}

impl Reno {
    /// Creates the state of one connection.
    pub fn new(settings: &CongestionControlSettings) -> Reno {
        Reno {
            whole: Whole::new(settings.mss),
        }
    }
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let acked = self.whole.segments(ack.bytes);
        let acked = self.whole.slow_start(acked, window);
        if acked > 0 {
            let cwnd = self.whole.cwnd(window);
            self.whole.additive(cwnd, acked, window);
        }
    }

    fn on_loss(&mut self, _loss: &Loss, window: &mut Window) {
        let cwnd = self.whole.cwnd(window);
        self.whole.reduce(cwnd / 2, window);
        window.cwnd = window.ssthresh;
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        let cwnd = self.whole.cwnd(window);
        self.whole.count = 0;
        if !timeout.repeated {
            self.whole.reduce(cwnd / 2, window);
        }
        window.cwnd = self.whole.mss;
    }
}
