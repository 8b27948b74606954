//! A burst header packet (BHP): it goes ahead of its burst, and books the way for it.

use crate::units::{Birth, Envelope};
use crate::BurstId;
use lightburst_des::{Duration, Time};

/// A burst header packet on its way over control channels. It says all of its burst that a node on
/// the way must know.
#[derive(Clone, Copy, Debug)]
pub struct BurstHeader {
    /// What the network reads of it; the bytes are those of the burst.
    pub envelope: Envelope,
    /// Which burst it is.
    pub birth: Birth,
    /// The burst that follows.
    pub burst: BurstId,
    /// When the head of the burst comes to the node to which the header is on its way.
    pub data_at: Time,
    /// The data channel over which it comes.
    pub channel: u16,
    /// How many fibres the header has been sent over.
    pub hops: u16,
}

impl BurstHeader {
    /// When the head of the burst comes to the node where the header is; none where both are made.
    pub(crate) fn due(&self) -> Option<Time> {
        (self.hops > 0).then_some(self.data_at)
    }
}

/// When and on which data channel of a fibre a burst is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The channel.
    pub channel: u16,
    /// When the transmission begins.
    pub start: Time,
    /// For how long the burst is in a delay line before that.
    pub delayed: Duration,
}
