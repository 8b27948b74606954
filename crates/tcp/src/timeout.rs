//! How long to wait for an acknowledgement: one file for each rule.

mod rfc6298;
mod saw;

pub use rfc6298::Rfc6298;
pub use saw::SawTimeout;

use lightburst_des::Duration;

/// A rule for the retransmission timeout, with its state for one endpoint.
pub trait TimeoutPolicy: CopiedTimeout + Send {
    /// The timeout to set now.
    fn value(&self) -> Duration;

    /// A round-trip time was measured on a segment that was sent once (Karn).
    fn on_sample(&mut self, rtt: Duration);

    /// Data may be sent; `repeated`: the SYN was sent more than once.
    fn on_established(&mut self, _repeated: bool) {}

    /// The timer expired.
    fn on_timeout(&mut self);
}

crate::boxed::copied_in_box!(TimeoutPolicy, CopiedTimeout);
