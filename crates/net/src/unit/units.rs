//! Transmission units: packets, bursts and burst header packets, each kind in its own arena.

use crate::{
    Arena, Burst, BurstHeader, BurstHeaderId, BurstId, FlowId, Header, NodeId, Packet, PacketId,
    Unit,
};
use lightburst_des::Time;
use std::ops::Range;

/// Limit in bytes on the sizes in a plan: segments, control segments and minimum sizes of units.
/// Bursts may be larger; they are closed before their size exceeds 32 bits.
pub const LARGEST_UNIT: u32 = 1_000_000_000;

/// Successor of a unit: the next one on the link, in the burst or in the queue of an interface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Behind {
    pub unit: Option<Unit>,
    /// Arrival time of the successor; used on links only.
    pub due: Time,
}

impl Behind {
    pub const NOTHING: Behind = Behind {
        unit: None,
        due: Time::ZERO,
    };
}

/// How the transport of a packet reacts to congestion marks: the ECN field of its header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// Not at all: a queue drops the packet in place of marking it (RFC 3168, section 5).
    #[default]
    NotCapable,
    /// As to a loss: ECT(0).
    Classic,
    /// By the share of marks: ECT(1) (RFC 9331, section 4).
    Scalable,
}

/// Treatment of a packet that a queue would drop otherwise: whether its transport reacts to a mark,
/// and repairs a packet that lost its payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Treatment(u8);

impl Treatment {
    /// Bits of [`Ecn`].
    const ECN: u8 = 3;
    const TRIMMABLE: u8 = 4;
    const TRIMMED: u8 = 8;

    /// Creates the treatment of a packet.
    #[inline]
    pub fn new(ecn: Ecn, trimmable: bool) -> Treatment {
        Treatment(ecn as u8 | if trimmable { Treatment::TRIMMABLE } else { 0 })
    }

    /// Returns the ECN field.
    #[inline]
    pub fn ecn(self) -> Ecn {
        match self.0 & Treatment::ECN {
            0 => Ecn::NotCapable,
            1 => Ecn::Classic,
            _ => Ecn::Scalable,
        }
    }

    /// Whether its transport repairs a packet that lost its payload.
    #[inline]
    pub fn is_trimmable(self) -> bool {
        self.0 & Treatment::TRIMMABLE != 0
    }

    /// Whether it is the header of a packet that lost its payload, and did not return to its sender.
    #[inline]
    pub fn is_trimmed(self) -> bool {
        self.0 & Treatment::TRIMMED != 0
    }

    /// Returns the treatment of what is left of a packet that lost its payload.
    pub(crate) fn trimmed(self) -> Treatment {
        Treatment(self.0 & Treatment::ECN | Treatment::TRIMMED)
    }
}

/// Addressing, size and order of a unit: the part that is the same for all kinds of units.
#[derive(Clone, Copy, Debug)]
pub struct Envelope {
    /// Flow of a packet, the same in both directions. For a burst: a hash of ingress and egress.
    pub flow: FlowId,
    /// Node that created the unit.
    pub source: NodeId,
    /// Destination host. For a burst: one of the hosts behind its egress.
    pub destination: NodeId,
    /// Size on the wire, in bytes.
    pub bytes: u32,
    /// Transmission number of the content, from 1: 2 is the first retransmission. 0 if the sender
    /// does not count transmissions.
    pub transmission: u32,
    /// Number of the path to the destination. Set when the unit enters the network.
    pub label: u8,
    /// Treatment by a queue in place of a drop.
    pub treatment: Treatment,
    /// Number of circuits that the unit has taken, where the nodes count them.
    pub circuits: u8,
    /// Number that goes into the hash of its path, where senders change it.
    pub path: u8,
    /// Successor on the link, in the burst or in the queue of an interface.
    pub(crate) behind: Behind,
}

impl Envelope {
    /// Creates the envelope of a unit that has not been sent.
    #[inline]
    pub fn new(flow: FlowId, source: NodeId, destination: NodeId, bytes: u32) -> Envelope {
        Envelope {
            flow,
            source,
            destination,
            bytes,
            transmission: 0,
            label: 0,
            treatment: Treatment::default(),
            circuits: 0,
            path: 0,
            behind: Behind::NOTHING,
        }
    }
}

/// Identifies a packet or a burst among all units of its kind. It does not depend on events at
/// other nodes, and it orders units by creation time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// Time of creation.
    pub at: Time,
    /// Number of the node that created the unit.
    pub node: u32,
    /// Number of the unit among those of its kind created by the node, from 1.
    pub nth: u32,
}

/// A handle that can be sent: of a packet, a burst, a header, or of a unit of any kind. Functions
/// that take a specific handle avoid a `match` over the kinds.
pub trait Sendable: Copy + Into<Unit> {
    /// Returns the envelope.
    fn envelope(self, units: &Units) -> &Envelope;
    /// Returns the envelope for writing.
    fn envelope_mut(self, units: &mut Units) -> &mut Envelope;
}

impl Sendable for PacketId {
    #[inline(always)]
    fn envelope(self, units: &Units) -> &Envelope {
        &units.packets[self].envelope
    }

    #[inline(always)]
    fn envelope_mut(self, units: &mut Units) -> &mut Envelope {
        &mut units.packets[self].envelope
    }
}

impl Sendable for BurstId {
    #[inline(always)]
    fn envelope(self, units: &Units) -> &Envelope {
        &units.bursts[self].envelope
    }

    #[inline(always)]
    fn envelope_mut(self, units: &mut Units) -> &mut Envelope {
        &mut units.bursts[self].envelope
    }
}

impl Sendable for BurstHeaderId {
    #[inline(always)]
    fn envelope(self, units: &Units) -> &Envelope {
        &units.burst_headers[self].envelope
    }

    #[inline(always)]
    fn envelope_mut(self, units: &mut Units) -> &mut Envelope {
        &mut units.burst_headers[self].envelope
    }
}

impl Sendable for Unit {
    #[inline(always)]
    fn envelope(self, units: &Units) -> &Envelope {
        match self {
            Unit::Packet(packet) => packet.envelope(units),
            Unit::Burst(burst) => burst.envelope(units),
            Unit::BurstHeader(header) => header.envelope(units),
        }
    }

    #[inline(always)]
    fn envelope_mut(self, units: &mut Units) -> &mut Envelope {
        match self {
            Unit::Packet(packet) => packet.envelope_mut(units),
            Unit::Burst(burst) => burst.envelope_mut(units),
            Unit::BurstHeader(header) => header.envelope_mut(units),
        }
    }
}

/// All units in the network.
#[derive(Debug)]
pub struct Units {
    /// Packets, including those in bursts.
    pub packets: Arena<PacketId, Packet>,
    /// Bursts.
    pub bursts: Arena<BurstId, Burst>,
    /// Burst header packets.
    pub burst_headers: Arena<BurstHeaderId, BurstHeader>,
}

impl Units {
    /// Creates an empty set with capacity for `packets` packets.
    pub fn with_capacity(packets: usize) -> Units {
        Units {
            packets: Arena::with_capacity(packets),
            bursts: Arena::with_capacity(0),
            burst_headers: Arena::with_capacity(0),
        }
    }

    /// Prefetches a unit into the cache. With many units in flight, an event would otherwise spend
    /// most of its time waiting for the unit to be loaded.
    #[inline(always)]
    pub fn prefetch(&self, unit: Unit) {
        match unit {
            Unit::Packet(packet) => self.packets.prefetch(packet),
            Unit::Burst(burst) => self.bursts.prefetch(burst),
            Unit::BurstHeader(header) => self.burst_headers.prefetch(header),
        }
    }

    /// Returns the burst of a unit: the burst itself, or the one that a header announces.
    pub fn burst_of(&self, unit: Unit) -> Option<BurstId> {
        match unit {
            Unit::Packet(_) => None,
            Unit::Burst(burst) => Some(burst),
            Unit::BurstHeader(header) => Some(self.burst_headers[header].burst),
        }
    }

    /// Iterates over the packets of a unit: those in the burst, or the single packet.
    pub fn packets_of(&self, unit: Unit) -> impl Iterator<Item = (PacketId, &Packet)> + Clone {
        let burst = self.burst_of(unit);
        let in_burst = burst.is_some();
        let mut at = match (burst, unit) {
            (Some(burst), _) => Some(self.bursts[burst].first),
            (None, Unit::Packet(packet)) => Some(packet),
            (None, _) => None,
        };
        std::iter::from_fn(move || {
            let id = at?;
            let packet = &self.packets[id];
            at = packet.behind().filter(|_| in_burst);
            Some((id, packet))
        })
    }

    /// Marks the packets of a unit: congestion experienced (ECN).
    pub fn mark(&mut self, unit: Unit) {
        let ids: Vec<PacketId> = self.packets_of(unit).map(|(id, _)| id).collect();
        for id in ids {
            self.packets[id].header.flags |= Header::MARKED;
        }
    }

    /// Iterates over the packets of a burst at the positions `places`, counted from 0.
    pub fn packets_at(
        &self,
        burst: BurstId,
        places: Range<usize>,
    ) -> impl Iterator<Item = &Packet> {
        let packets = self.packets_of(Unit::Burst(burst));
        let packets = packets.map(|(_, packet)| packet);
        packets.skip(places.start).take(places.len())
    }
}
