//! Retransmission timeouts. Each rule has a file of its own.

mod fixed;
mod linux;
mod rfc6298;
mod saw;

pub use fixed::Fixed;
pub use linux::{Linux, MICROSECOND, TICK};
pub use rfc6298::Rfc6298;
pub use saw::SawTimeout;

use crate::flight::Flight;
use lightburst_des::Duration;

/// A rule for the retransmission timeout, with its state for one endpoint.
pub trait TimeoutPolicy: CopiedTimeout + Send {
    /// Returns the present timeout.
    fn value(&self) -> Duration;

    /// Handles a round-trip time, measured on a segment that was sent once (Karn's algorithm) or by
    /// a timestamp; `flight` already contains the acknowledgement.
    fn on_sample(&mut self, rtt: Duration, flight: &Flight);

    /// Returns the smoothed round-trip time (SRTT); `None` before the first sample, and of a rule
    /// that keeps none.
    fn smoothed(&self) -> Option<Duration> {
        None
    }

    /// Returns the lower bound of the timeout, or of its margin over the round-trip time.
    fn minimum(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns the tick on which timers expire; zero if they expire at any time.
    fn tick(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns the number of times that the SYN may be repeated without an effect on the initial
    /// window (RFC 5681, section 3.1: none).
    fn excused(&self) -> u32 {
        0
    }

    /// Returns whether a SYN that was repeated gives a sample, by the timestamp that is echoed.
    fn samples_repeated(&self) -> bool {
        false
    }

    /// Handles the end of the handshake; `sampled` is false if its SYN gave no sample.
    fn on_established(&mut self, _sampled: bool) {}

    /// Handles an expiry of the timer.
    fn on_timeout(&mut self);
}

crate::boxed::copied_in_box!(TimeoutPolicy, CopiedTimeout);
