//! Buffer that all outputs of a switch share, with dynamic thresholds (Choudhury and Hahne 1998).

use serde::Deserialize;

/// Settings of a shared buffer.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedBuffer {
    /// Size of the buffer in bytes.
    #[serde(rename = "size_bytes")]
    bytes: u64,
    /// Largest queue, as a multiple of the free part of the buffer.
    alpha: f64,
}

impl SharedBuffer {
    /// Returns the largest queue and the free bytes while all outputs together have `used` bytes.
    pub(super) fn bounds(&self, used: u64) -> (u64, u64) {
        let free = self.bytes.saturating_sub(used);
        // Choudhury and Hahne 1998, equation (1): T(t) = alpha (B - Q(t))
        ((self.alpha * free as f64) as u64, free)
    }
}
