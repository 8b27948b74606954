//! Telemetry in an acknowledgement, as a law hears it.

use lightburst_net::Reading;

/// Telemetry of the packet that an acknowledgement answers. Built after the acknowledged data is
/// noted, and before the loss recovery handles the acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// Readings of the outputs on the path, in their order.
    pub readings: &'a [Reading],
    /// Next byte that the receiver expects.
    pub acknowledged: u64,
    /// Next byte to send.
    pub sent: u64,
}
