//! Stop-and-wait, and stop-and-wait-longer (minakhmetov2018, section 2): one
//! segment in flight, the next one after its acknowledgement.

use super::{CongestionControl, SawTimeout, Setting, Transport};
use lightburst_des::Duration;

struct StopAndWait {
    segment: u64,
}

impl CongestionControl for StopAndWait {
    fn window(&self) -> u64 {
        self.segment
    }
}

/// Waits `p` segment times longer than the timeout that it estimates.
pub fn transport(setting: &Setting, p: f64) -> Transport {
    let margin = Duration((p * setting.segment_time.0 as f64).round() as u64);
    Transport {
        congestion: Box::new(StopAndWait {
            segment: u64::from(setting.sizes.payload()),
        }),
        timeout: Box::new(SawTimeout::new(setting.parameters, margin)),
    }
}
