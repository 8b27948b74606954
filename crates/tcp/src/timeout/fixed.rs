//! A timeout that stays the same: the local ACK timeout of InfiniBand, which queue pairs of RoCEv2
//! have (InfiniBand Architecture Specification, volume 1, section 9.7.6.1.3).

use super::TimeoutPolicy;
use crate::flight::Flight;
use lightburst_des::Duration;

/// A constant timeout.
#[derive(Clone, Debug)]
pub struct Fixed(pub Duration);

impl TimeoutPolicy for Fixed {
    fn value(&self) -> Duration {
        self.0
    }

    fn on_sample(&mut self, _rtt: Duration, _flight: &Flight) {}

    fn on_timeout(&mut self) {}
}
