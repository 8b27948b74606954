//! A directed link: used by one unit at a time, delivers in order.

use crate::{Bytes, NodeId, PortId, Rate, UnitId};
use lightburst_des::{Duration, Time};

/// A directed link; one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Link {
    /// Arrival of the last unit that was given to it.
    pub(crate) last_arrival: Time,
    delay: Duration,
    /// Zero when the rate gives no whole number of picoseconds.
    ps_per_byte: u32,
    pub(crate) to: NodeId,
    pub(crate) tail: UnitId,
    pub(crate) to_port: PortId,
    /// Whether the target acts on the tail of a unit (or on its head).
    whole: bool,
    /// Whether it may lose units.
    pub(crate) lossy: bool,
    /// Units transmitted.
    pub units: u64,
    /// Bytes transmitted.
    pub bytes: u64,
    /// Time spent in transmission.
    pub busy: Duration,
}

/// When a unit leaves and when the target acts on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transit {
    pub start: Time,
    pub arrival: Time,
}

impl Link {
    pub(crate) fn new(
        rate: Rate,
        delay: Duration,
        to: NodeId,
        to_port: PortId,
        whole: bool,
    ) -> Link {
        assert!(delay > Duration::ZERO, "a link must have a delay");
        Link {
            last_arrival: Time::ZERO,
            delay,
            ps_per_byte: rate.whole_ps_per_byte().unwrap_or(0),
            to,
            tail: UnitId::NONE,
            to_port,
            whole,
            lossy: false,
            units: 0,
            bytes: 0,
            busy: Duration::ZERO,
        }
    }

    /// The node that it leads to.
    pub fn to(&self) -> NodeId {
        self.to
    }

    /// The propagation (and header processing) delay.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// The time to transmit `bytes`, as [`Rate::transmission_time`] has it, without
    /// a division if possible.
    #[inline]
    pub(crate) fn transmission_time(&self, bytes: u32, rate: impl Fn() -> Rate) -> Duration {
        if self.ps_per_byte != 0 {
            Duration(u64::from(self.ps_per_byte) * u64::from(bytes))
        } else {
            rate().transmission_time(Bytes(u64::from(bytes)))
        }
    }

    /// Takes a unit of `bytes` for transmission not before `from`; `free_at` is the
    /// end of the last transmission that was given to this link.
    #[inline]
    pub(crate) fn transmit(
        &mut self,
        free_at: &mut Time,
        bytes: u32,
        from: Time,
        rate: impl Fn() -> Rate,
    ) -> Transit {
        let duration = self.transmission_time(bytes, rate);
        let start = (*free_at).max(from);
        *free_at = start + duration;
        self.units += 1;
        self.bytes += u64::from(bytes);
        self.busy += duration;
        let sent = if self.whole { *free_at } else { start };
        Transit {
            start,
            arrival: sent + self.delay,
        }
    }
}

const _: () = assert!(std::mem::size_of::<Link>() == 64);
