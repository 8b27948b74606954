//! Assembly by timer with three time limits, chosen by the sender's congestion window (Vlachos
//! 2008).

use super::{AssemblyPolicy, Decision, Queue, Sight, Timer};
use crate::settings::duration;
use lightburst_des::{Duration, Stream};
use lightburst_net::Packet;
use serde::Deserialize;

/// Speed class of a flow; each class has its own queue.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// The window is below `medium_window`.
    Slow,
    /// The window is at least `medium_window`, but below `fast_window`.
    Medium,
    /// The window is at least `fast_window`.
    Fast,
}

/// Settings of window-based assembly.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowBased {
    /// Time from the first packet of a slow flow to the end of the burst.
    #[serde(rename = "slow_time_ps", deserialize_with = "duration")]
    pub slow_time: Duration,
    /// The same time for medium flows.
    #[serde(rename = "medium_time_ps", deserialize_with = "duration")]
    pub medium_time: Duration,
    /// The same time for fast flows.
    #[serde(rename = "fast_time_ps", deserialize_with = "duration")]
    pub fast_time: Duration,
    /// Smallest window of a medium flow, in segments (B).
    pub medium_window: u16,
    /// Smallest window of a fast flow, in segments (C).
    pub fast_window: u16,
    /// Speed class of packets without payload, which carry no window.
    pub acknowledgements: Pace,
}

impl WindowBased {
    fn pace(&self, packet: &Packet) -> Pace {
        match packet.header.window {
            _ if packet.header.payload == 0 => self.acknowledgements,
            window if window < self.medium_window => Pace::Slow,
            window if window < self.fast_window => Pace::Medium,
            _ => Pace::Fast,
        }
    }
}

impl AssemblyPolicy for WindowBased {
    fn has_queues(&self) -> bool {
        true
    }

    fn queue(&mut self, packet: &Packet, _sight: &mut Sight<'_>) -> u32 {
        self.pace(packet) as u32
    }

    fn on_packet(&mut self, queue: &Queue, draw: &mut Stream) -> Decision {
        let times = [self.slow_time, self.medium_time, self.fast_time];
        let time = times[queue.number as usize];
        Timer { time }.on_packet(queue, draw)
    }
}
