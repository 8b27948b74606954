//! Priority flow control (IEEE 802.1Qbb) of an electronic switch.

use lightburst_net::link::pause::Bounds;
use lightburst_net::DropReason;
use serde::Deserialize;

/// More bytes had come over the link of the unit, and not left, than the switch keeps for it.
pub const HEADROOM_FULL: &DropReason = &DropReason {
    name: "headroom-full",
    busy: false,
};

/// Settings of priority flow control.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pfc {
    /// Bytes that came over a link, above which it is to pause.
    #[serde(rename = "xoff_bytes")]
    xoff: u64,
    /// Bytes at which it goes on.
    #[serde(rename = "xon_bytes")]
    xon: u64,
    /// Bytes above the first number for which there is room; `None`: unlimited.
    #[serde(rename = "headroom_bytes")]
    headroom: Option<u64>,
}

impl Pfc {
    /// Returns the bounds at the end of a link.
    pub(super) fn bounds(self) -> Bounds {
        let most = self.headroom.map(|headroom| self.xoff + headroom);
        Bounds {
            xoff: self.xoff,
            xon: self.xon,
            most: most.unwrap_or(u64::MAX),
        }
    }
}
