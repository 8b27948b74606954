//! Bursts: packets that travel as one unit.

use crate::unit::units::{Envelope, Identity};
use crate::{Counted, Counters, DropReason, FlowId, NodeId, PacketId};
use lightburst_des::{mix, Time};

/// A burst in the network. The first two fields are adjacent because `Context::announce` copies
/// them into the header immediately after they were written. A copy in pieces of the same size as
/// the stores does not wait for them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Burst {
    /// Identity of the burst.
    pub identity: Identity,
    /// Addressing, size and order.
    pub envelope: Envelope,
    /// Class of the burst: the group of its packets if classes are distinguished, otherwise 0.
    pub class: u16,
    /// Number of the burst among those from its ingress to its egress, from 0.
    pub sequence: u32,
    /// First packet; the others follow as its successors.
    pub(crate) first: PacketId,
}

/// Numbers of bursts of one class.
#[derive(Clone, Copy, Debug, Default)]
pub struct BurstCount {
    /// Bursts created.
    pub created: u64,
    /// Bursts dropped.
    pub lost: u64,
    /// Bursts disassembled at their egress.
    pub delivered: u64,
}

/// Drop reason of packets that are cut off from their burst, because another burst occupies the
/// channel at their time.
pub const CUT: &DropReason = &DropReason {
    name: "cut",
    busy: false,
};

/// Counters of a node for burst segmentation.
#[derive(Clone, Copy, Debug, Default)]
pub struct CutCounters {
    /// Bursts from which packets were cut off here.
    pub bursts: u64,
    /// Packets cut off here.
    pub packets: u64,
}

impl Counters for CutCounters {
    fn counted(&self, _end: Time) -> Counted {
        Counted::default()
            .count("bursts_cut", self.bursts)
            .count("packets_cut", self.packets)
    }
}

/// The first packets of a burst, which are cut off from the rest.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Number of packets cut off.
    pub packets: u32,
    /// Bytes cut off.
    pub bytes: u32,
    /// Time at which the transmission of the first of them would have started.
    pub start: Time,
    /// Burst that occupies the channel until the rest arrives.
    pub by: Option<Identity>,
}

/// Packets that are about to become one burst.
#[derive(Clone, Copy, Debug)]
pub struct Bundle {
    /// First packet; the others follow as its successors.
    pub first: PacketId,
    /// Number of packets.
    pub packets: u32,
    /// Size on the fibre, in bytes.
    pub bytes: u32,
    /// One of the hosts behind the egress.
    pub destination: NodeId,
    /// Edge at which the burst ends.
    pub egress: NodeId,
    /// Class of the burst, see [`Burst`].
    pub class: u16,
    /// Number of the burst among those of this ingress for this egress, from 0.
    pub sequence: u32,
    /// Arrival time of the first packet.
    pub opened: Time,
}

impl Burst {
    /// Creates a burst from the packets of a bundle. All bursts between the same two edges have the
    /// same flow number, whatever their packets.
    pub(crate) fn new(bundle: &Bundle, ingress: NodeId, identity: Identity) -> Burst {
        let pair = mix(u64::from(ingress.0) << 32 | u64::from(bundle.egress.0));
        let flow = FlowId(pair as u32);
        Burst {
            envelope: Envelope::new(flow, ingress, bundle.destination, bundle.bytes),
            identity,
            class: bundle.class,
            sequence: bundle.sequence,
            first: bundle.first,
        }
    }
}
