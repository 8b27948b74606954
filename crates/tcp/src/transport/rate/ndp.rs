//! NDP: M. Handley et al., "Re-architecting datacenter networks and stacks for low latency and high
//! performance", SIGCOMM 2017, section 3.2. The receiver pulls; `hosts/pulls.rs` has its side.

use super::{RateLawSettings, UNLIMITED};
use crate::cc::{Ack, CongestionControl, Loss, Sent, Timeout, Wants, Window};
use crate::transport::parameters::COUNT;

/// The packets that may be sent: a first window unasked, then one for each pull.
#[derive(Clone)]
pub struct Ndp {
    first: u64,
    /// Packets that may be sent now.
    left: u64,
    /// Largest number of pulls of which the receiver told.
    pulled: u64,
}

impl Ndp {
    /// Creates the law of one message.
    pub fn new(settings: &RateLawSettings) -> Ndp {
        let first = settings.parameters.get("first_window", COUNT) as u64;
        Ndp {
            first,
            left: first,
            pulled: 0,
        }
    }
}

impl CongestionControl for Ndp {
    fn start(&self, _initial: f64) -> Window {
        UNLIMITED
    }

    fn on_ack(&mut self, _ack: &Ack, _window: &mut Window) {}

    fn on_loss(&mut self, _loss: &Loss, _window: &mut Window) {}

    fn on_timeout(&mut self, _timeout: &Timeout, _window: &mut Window) {
        // All that was sent is taken for lost, and so are the pulls that it would have caused.
        self.left = self.first;
    }

    fn on_sent(&mut self, _sent: &Sent) {
        self.left = self.left.saturating_sub(1);
    }

    fn on_pull(&mut self, number: u64) {
        // Section 3.2: the counter makes up for pulls that were lost, or overtaken.
        self.left += number.saturating_sub(self.pulled);
        self.pulled = self.pulled.max(number);
    }

    fn may_send(&self) -> bool {
        self.left > 0
    }

    fn wants(&self) -> Wants {
        Wants {
            transmissions: true,
            pulls: true,
            ..Wants::default()
        }
    }
}
