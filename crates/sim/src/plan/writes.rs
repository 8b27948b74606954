//! Applications that write in parts.

use serde::Deserialize;

/// Writes of the applications of a group.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Writes {
    /// Bytes of each write.
    pub bytes: u64,
    /// Time from one write to the next in picoseconds.
    pub interval_ps: u64,
}

impl Writes {
    /// Returns the time of the last write of `size` bytes, in picoseconds after the first, and the
    /// bytes that cannot leave before, since a segment leaves when all of it is written.
    pub fn last(&self, size: u64, mss: u32) -> (u64, u64) {
        let (before, mss) = (size.saturating_sub(1) / self.bytes, u64::from(mss));
        let at = before.saturating_mul(self.interval_ps);
        (at, size - before * self.bytes / mss * mss)
    }
}
