//! A time for each of three paces of flows, told by the sender's congestion window (Vlachos 2008).

use super::{AssemblyPolicy, Decision, Queue, Sight, Timer};
use crate::settings::duration;
use lightburst_des::Duration;
use lightburst_net::Packet;
use serde::Deserialize;

/// How fast a flow is; the packets of each pace have a queue of their own.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// A window below the medium one.
    Slow,
    /// From there to the fast one.
    Medium,
    /// That and more.
    Fast,
}

/// By time, which depends on the congestion window.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowBased {
    /// Time from the first packet of a slow flow to the burst.
    #[serde(rename = "slow_time_ps", deserialize_with = "duration")]
    pub slow_time: Duration,
    /// Of a medium one.
    #[serde(rename = "medium_time_ps", deserialize_with = "duration")]
    pub medium_time: Duration,
    /// Of a fast one.
    #[serde(rename = "fast_time_ps", deserialize_with = "duration")]
    pub fast_time: Duration,
    /// The least window of a medium flow, in segments (B).
    pub medium_window: u16,
    /// The least window of a fast flow, in segments (C).
    pub fast_window: u16,
    /// The pace of packets without data, which have no window.
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

    fn on_packet(&mut self, queue: &Queue) -> Decision {
        let times = [self.slow_time, self.medium_time, self.fast_time];
        let time = times[queue.number as usize];
        Timer { time }.on_packet(queue)
    }
}
