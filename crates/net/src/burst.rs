//! A burst: packets that travel as one unit.

use crate::units::{Birth, Envelope};
use crate::{Counted, Counters, DropReason, FlowId, NodeId, PacketId};
use lightburst_des::{mix, Time};

/// A burst on its way. The first two fields stand together because its header is made by a copy of
/// them right after they were written; a copy in the same pieces does not wait for the stores.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Burst {
    /// Which one it is.
    pub birth: Birth,
    /// What the network reads of it.
    pub envelope: Envelope,
    /// Its class: the group of its packets, where classes are told apart; otherwise 0.
    pub class: u16,
    /// Its number among those from its ingress to its egress, from 0.
    pub sequence: u32,
    /// The first of its packets.
    pub(crate) first: PacketId,
}

/// How many bursts of a class there were.
#[derive(Clone, Copy, Debug, Default)]
pub struct BurstCount {
    /// Put into the network.
    pub created: u64,
    /// Dropped.
    pub lost: u64,
    /// Taken apart at their egress.
    pub delivered: u64,
}

/// It was cut off its burst, because another burst had the channel for which it would have been
/// here in time.
pub const CUT: &DropReason = &DropReason {
    name: "cut",
    busy: false,
};

/// What a node counts of bursts of which packets are cut off.
#[derive(Clone, Copy, Debug, Default)]
pub struct CutCounters {
    /// Bursts that lost packets here.
    pub bursts: u64,
    /// These packets.
    pub packets: u64,
}

impl Counters for CutCounters {
    fn counted(&self, _end: Time) -> Counted {
        Counted::default()
            .count("bursts_cut", self.bursts)
            .count("packets_cut", self.packets)
    }
}

/// The first packets of a burst, which are cut off.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// How many.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u32,
    /// When the first of them was to leave.
    pub start: Time,
    /// The burst that has the channel until the rest comes.
    pub by: Option<Birth>,
}

/// Packets that are to become one burst.
#[derive(Clone, Copy, Debug)]
pub struct Bundle {
    /// The first of them.
    pub first: PacketId,
    /// How many.
    pub packets: u32,
    /// Size on the fibre.
    pub bytes: u32,
    /// A host behind the egress.
    pub destination: NodeId,
    /// The edge at which it ends.
    pub egress: NodeId,
    /// Its class, see [`Burst`].
    pub class: u16,
    /// Its number among the bundles for this egress, from 0.
    pub sequence: u32,
    /// Arrival of the first packet.
    pub opened: Time,
}

impl Burst {
    /// The burst of some packets. All bursts from one edge to another are one flow, whatever is
    /// in them.
    pub(crate) fn new(bundle: &Bundle, ingress: NodeId, birth: Birth) -> Burst {
        let pair = mix(u64::from(ingress.0) << 32 | u64::from(bundle.egress.0));
        let flow = FlowId(pair as u32);
        Burst {
            envelope: Envelope::new(flow, ingress, bundle.destination, bundle.bytes),
            birth,
            class: bundle.class,
            sequence: bundle.sequence,
            first: bundle.first,
        }
    }
}
