//! Stop-and-wait, and stop-and-wait-longer (minakhmetov2018, section 2): one
//! segment in flight, the next one after its acknowledgement.

use super::CongestionControl;

/// A window of one segment.
pub struct StopAndWait {
    segment: u64,
}

impl StopAndWait {
    /// Of segments of so many useful bytes.
    pub fn new(segment: u32) -> StopAndWait {
        StopAndWait {
            segment: u64::from(segment),
        }
    }
}

impl CongestionControl for StopAndWait {
    fn window(&self) -> u64 {
        self.segment
    }
}
