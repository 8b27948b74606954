//! Just in time (JIT): Wei and McFarland 2000, "Just-in-time signaling for WDM optical burst switching
//! networks", section III.

use super::Signalling;

/// A channel is booked as soon as the header is handled, until the burst is over.
pub const JIT: Signalling = Signalling {
    name: "jit",
    booked_from: |handled| handled.at,
};
