//! Burst header packets (BHP), which travel ahead of their bursts and reserve channels for them.

use crate::unit::units::{Envelope, Identity};
use crate::BurstId;
use lightburst_des::{Duration, Time};

/// A burst header packet on its way over control channels. It carries all properties of its burst
/// that intermediate nodes need.
#[derive(Clone, Copy, Debug)]
pub struct BurstHeader {
    /// Envelope of the burst: `bytes` is the size of the burst.
    pub envelope: Envelope,
    /// Identity of the burst.
    pub identity: Identity,
    /// Handle of the burst.
    pub burst: BurstId,
    /// Arrival time of the head of the burst at the next node of the header.
    pub data_at: Time,
    /// Data channel on which the burst arrives at that node.
    pub channel: u16,
    /// Number of fibres over which the header was sent.
    pub hops: u16,
}

impl BurstHeader {
    /// Returns the arrival time of the head of the burst at the present node of the header; `None`
    /// at the ingress, where both are created.
    pub fn due(&self) -> Option<Time> {
        (self.hops > 0).then_some(self.data_at)
    }
}

/// Reservation of a data channel of a fibre for one burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Data channel.
    pub channel: u16,
    /// Start of the transmission.
    pub start: Time,
    /// Time that the burst spends in a delay line before the transmission.
    pub delayed: Duration,
}
