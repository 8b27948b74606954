//! Window of stop-and-wait and stop-and-wait-longer (minakhmetov2018, section 2): one segment in
//! flight, the next one after its acknowledgement.

use super::{Ack, CongestionControl, Loss, Timeout, Window};

/// A constant window of one segment.
#[derive(Clone)]
pub struct StopAndWait {
    mss: f64,
}

impl StopAndWait {
    /// Creates a window of one segment with `mss` payload bytes.
    pub fn new(mss: u32) -> StopAndWait {
        StopAndWait {
            mss: f64::from(mss),
        }
    }
}

impl CongestionControl for StopAndWait {
    fn start(&self, _initial: f64) -> Window {
        Window {
            cwnd: self.mss,
            ssthresh: 0.0,
        }
    }

    fn on_ack(&mut self, _ack: &Ack, _window: &mut Window) {}

    fn on_loss(&mut self, _loss: &Loss, _window: &mut Window) {}

    fn on_timeout(&mut self, _timeout: &Timeout, _window: &mut Window) {}
}
