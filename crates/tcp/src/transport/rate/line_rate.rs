//! No congestion control: each message at the rate of its host's link.

use super::{RateLawSettings, UNLIMITED};
use crate::cc::{Ack, CongestionControl, Loss, Timeout, Window};
use lightburst_net::Rate;

/// The rate of the link, whatever happens.
#[derive(Clone)]
pub struct LineRate(Rate);

impl LineRate {
    /// Creates the law of one message.
    pub fn new(settings: &RateLawSettings) -> LineRate {
        LineRate(settings.line_rate)
    }
}

impl CongestionControl for LineRate {
    fn start(&self, _initial: f64) -> Window {
        UNLIMITED
    }

    fn on_ack(&mut self, _ack: &Ack, _window: &mut Window) {}

    fn on_loss(&mut self, _loss: &Loss, _window: &mut Window) {}

    fn on_timeout(&mut self, _timeout: &Timeout, _window: &mut Window) {}

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.0)
    }
}
