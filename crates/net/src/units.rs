//! What travels: packets, and bursts of packets, each kind in an arena of its own.

use crate::fifo::Behind;
use crate::{Arena, Burst, BurstHeader, BurstId, FlowId, HeaderId, NodeId, Packet, PacketId, Unit};
use lightburst_des::Time;
use std::ops::Range;

/// Bytes that a unit is given at the most: a burst is closed before it has more than 32 bits count.
pub const LARGEST_UNIT: u32 = 1_000_000_000;

/// What the network reads of a unit, whatever is in it.
#[derive(Clone, Copy, Debug)]
pub struct Envelope {
    /// The flow it belongs to, in either direction; of a burst a hash of its pair of edges.
    pub flow: FlowId,
    /// The node that made it.
    pub source: NodeId,
    /// The host that it is for; of a burst, one behind its egress.
    pub destination: NodeId,
    /// Size on the wire.
    pub bytes: u32,
    /// Which sending of what it carries this is, from 1; 0: nobody sends it again.
    pub sending: u32,
    /// Which of the paths to its destination it takes: set where it enters the network.
    pub label: u8,
    /// What is behind it.
    pub(crate) behind: Behind,
}

impl Envelope {
    /// The envelope of a unit that has not been sent yet.
    #[inline]
    pub fn new(flow: FlowId, source: NodeId, destination: NodeId, bytes: u32) -> Envelope {
        Envelope {
            flow,
            source,
            destination,
            bytes,
            sending: 0,
            label: 0,
            behind: Behind::NOTHING,
        }
    }
}

/// Tells a packet or a burst from all others of its kind. It says nothing of what happened
/// elsewhere, and orders them by the time at which they were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Birth {
    /// When it was made.
    pub at: Time,
    /// Where: the number of the node.
    pub node: u32,
    /// Its number among those of its kind that the node made, from 1.
    pub nth: u32,
}

/// What can be sent: a packet, a burst, or a unit of either kind. Where the kind is known it is not
/// looked up again at each step.
pub trait Sendable: Copy + Into<Unit> {
    /// Its envelope.
    fn envelope(self, units: &Units) -> &Envelope;
    /// Its envelope, to be changed.
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

impl Sendable for HeaderId {
    #[inline(always)]
    fn envelope(self, units: &Units) -> &Envelope {
        &units.headers[self].envelope
    }

    #[inline(always)]
    fn envelope_mut(self, units: &mut Units) -> &mut Envelope {
        &mut units.headers[self].envelope
    }
}

impl Sendable for Unit {
    #[inline(always)]
    fn envelope(self, units: &Units) -> &Envelope {
        match self {
            Unit::Packet(packet) => packet.envelope(units),
            Unit::Burst(burst) => burst.envelope(units),
            Unit::Header(header) => header.envelope(units),
        }
    }

    #[inline(always)]
    fn envelope_mut(self, units: &mut Units) -> &mut Envelope {
        match self {
            Unit::Packet(packet) => packet.envelope_mut(units),
            Unit::Burst(burst) => burst.envelope_mut(units),
            Unit::Header(header) => header.envelope_mut(units),
        }
    }
}

/// The units that are somewhere in the network.
#[derive(Debug)]
pub struct Units {
    /// The packets, those in bursts included.
    pub packets: Arena<PacketId, Packet>,
    /// The bursts.
    pub bursts: Arena<BurstId, Burst>,
    /// The burst header packets.
    pub headers: Arena<HeaderId, BurstHeader>,
}

impl Units {
    /// No units, with room for some packets.
    pub fn with_capacity(packets: usize) -> Units {
        Units {
            packets: Arena::with_capacity(packets),
            bursts: Arena::with_capacity(0),
            headers: Arena::with_capacity(0),
        }
    }

    /// Tells the processor that a unit will be wanted soon. With many on their way an event would
    /// spend most of its time waiting for its unit.
    #[inline(always)]
    pub fn prefetch(&self, unit: Unit) {
        match unit {
            Unit::Packet(packet) => self.packets.prefetch(packet),
            Unit::Burst(burst) => self.bursts.prefetch(burst),
            Unit::Header(header) => self.headers.prefetch(header),
        }
    }

    /// The burst that a unit is, or goes ahead of.
    pub fn burst_of(&self, unit: Unit) -> Option<BurstId> {
        match unit {
            Unit::Packet(_) => None,
            Unit::Burst(burst) => Some(burst),
            Unit::Header(header) => Some(self.headers[header].burst),
        }
    }

    /// The packets of a unit: those in a burst, or itself.
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

    /// The packets of a burst that have these places in it, from 0.
    pub(crate) fn packets_at(
        &self,
        burst: BurstId,
        places: Range<usize>,
    ) -> impl Iterator<Item = &Packet> {
        let packets = self.packets_of(Unit::Burst(burst));
        let packets = packets.map(|(_, packet)| packet);
        packets.skip(places.start).take(places.len())
    }
}
