//! Retransmission timeouts. Each rule has a file of its own.

mod rfc6298;
mod saw;

pub use rfc6298::Rfc6298;
pub use saw::SawTimeout;

use lightburst_des::Duration;

/// A rule for the retransmission timeout, with its state for one endpoint.
pub trait TimeoutPolicy: CopiedTimeout + Send {
    /// Returns the present timeout.
    fn value(&self) -> Duration;

    /// Handles a round-trip time, measured on a segment that was sent once (Karn's algorithm).
    fn on_sample(&mut self, rtt: Duration);

    /// Handles the end of the handshake; `repeated` is true if the SYN was sent more than once.
    fn on_established(&mut self, _repeated: bool) {}

    /// Handles an expiry of the timer.
    fn on_timeout(&mut self);
}

crate::boxed::copied_in_box!(TimeoutPolicy, CopiedTimeout);
