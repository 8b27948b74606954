//! Just in time (JIT): Wei and McFarland 2000, "Just-in-time signaling for WDM optical burst switching
//! networks", section III.

use super::Signalling;

/// Reserves a channel from the processing of the header to the end of the burst.
pub const JIT: Signalling = Signalling {
    name: "jit",
    reserved_from: |handled| handled.at,
};
