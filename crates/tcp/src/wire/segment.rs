//! Segments and their sizes on the wire, and the actions of an endpoint.

use crate::wire::data_level::DataLevel;
use crate::wire::host_timer::{self, HostTimer};
use crate::Flow;
use lightburst_des::Time;
use lightburst_net::{
    Context, DropReason, Ecn, FlowId, Happening, Header, Interest, LostTransmission, NodeId,
    Options, Packet, PortId, TimerId, Treatment,
};

/// Flag of the first segment in each direction (RFC 9293, section 3.1).
pub const SYN: u8 = 1;
/// Flag of a segment with a valid acknowledgement field.
pub const ACK: u8 = 2;
/// Flag of a segment after which its sender has no more data.
pub const FIN: u8 = 4;
/// Flag of a segment from the flow's source to its destination.
pub const FORWARD: u8 = 8;
/// ECN echo: flag of an acknowledgement that reports a congestion mark (RFC 3168, section 6.1).
pub const ECE: u8 = 16;
/// Congestion window reduced: flag of the first new data segment after a reduction (RFC 3168, section
/// 6.1.2).
pub const CWR: u8 = 32;

/// Flag of a packet of a responder (transport `rdma`): a negative acknowledgement, or without [`ACK`]
/// a congestion notification. No receiver of TCP has the bit, which is [`CWR`] of data.
pub const NOTICE: u8 = 32;

/// Flag of a pull, with [`NOTICE`] and without [`ACK`]; its sequence number counts the pulls of the
/// message. The bit is [`ECE`] of acknowledgements.
pub const PULL: u8 = 16;

// A returned header is a notice with the flag of a SYN, which queue pairs have not.
const _: () = assert!(Header::RETURNED == NOTICE | SYN);

/// Sender's acknowledgement of the receiver's SYN. SYN and FIN take one sequence number each (RFC
/// 9293, section 3.4).
pub const SYN_ACKNOWLEDGED: u64 = 1;
/// Sender's acknowledgement of the receiver's FIN; see [`SYN_ACKNOWLEDGED`].
pub const FIN_ACKNOWLEDGED: u64 = 2;

/// The only port of a host.
pub const NIC: PortId = PortId(0);

/// Drop reason: the queue of the host's interface is full.
pub const ACCESS_BUFFER_FULL: &DropReason = &DropReason {
    name: "access-buffer-full",
    busy: false,
};

/// Sizes on the wire, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Size of a full data segment, headers included.
    pub segment: u32,
    /// Size of the headers of a data segment.
    pub header: u32,
    /// Size of a SYN, FIN or ACK, and minimum size of a data segment.
    pub control: u32,
    /// Capacity of the queue at a host's interface.
    pub access_buffer: u64,
    /// Data segments that are capable of ECN.
    pub capable: Capable,
    /// Whether a data segment that lost its payload is repaired as soon as its header arrives.
    pub trimmable: bool,
}

/// Data segments of a connection that a queue may mark in place of dropping them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Capable {
    /// None: the connection does not use ECN.
    #[default]
    None,
    /// Those with new data; retransmissions are not (RFC 3168, section 6.1.5).
    New,
    /// All, since the window law needs the mark of each byte (RFC 8257).
    All,
}

impl Capable {
    /// Returns the ECN field of the `transmission`-th transmission of a data segment, from 1.
    #[inline]
    fn field(self, transmission: u32) -> Ecn {
        match self {
            Capable::New if transmission <= 1 => Ecn::Classic,
            Capable::None | Capable::New => Ecn::NotCapable,
            Capable::All => Ecn::Scalable,
        }
    }
}

impl Sizes {
    /// Packets of 1,250 bytes with 1,000 useful ones.
    #[cfg(test)]
    pub const FOR_TESTS: Sizes = Sizes {
        segment: 1250,
        header: 250,
        control: 60,
        access_buffer: u64::MAX,
        capable: Capable::None,
        trimmable: false,
    };

    /// Returns the payload of a full segment in bytes (SMSS of RFC 5681).
    pub fn mss(&self) -> u32 {
        self.segment - self.header
    }

    /// Returns the size on the wire of a segment with this payload in bytes.
    pub fn wire(&self, payload: u32) -> u32 {
        if payload == 0 {
            self.control
        } else {
            (payload + self.header).max(self.control)
        }
    }
}

/// One endpoint of a flow during the handling of an event; senders and receivers act through it.
pub struct Endpoint<'a, 'c> {
    /// Number of the flow.
    pub id: FlowId,
    /// Host of the other endpoint.
    pub peer: NodeId,
    /// Sizes on the wire.
    pub sizes: &'a Sizes,
    /// Access to the network and the clock, at the host of this endpoint.
    pub ctx: &'a mut Context<'c>,
    /// Data level of the connection; `None` if there is none.
    pub level: Option<&'a mut DataLevel>,
}

impl<'a, 'c> Endpoint<'a, 'c> {
    /// Returns the sending endpoint of `flow`.
    pub fn source(flow: &Flow, sizes: &'a Sizes, ctx: &'a mut Context<'c>) -> Self {
        Endpoint {
            id: flow.id,
            peer: flow.destination,
            sizes,
            ctx,
            level: None,
        }
    }

    /// Returns the endpoint whose timer expired.
    #[inline]
    pub fn at_timer(
        timer_id: TimerId,
        peer: NodeId,
        sizes: &'a Sizes,
        ctx: &'a mut Context<'c>,
    ) -> Self {
        Endpoint {
            id: host_timer::flow(timer_id),
            peer,
            sizes,
            ctx,
            level: None,
        }
    }

    /// Returns the endpoint at which a packet arrived. The peer is the source of the packet, so the
    /// table of flows need not be read.
    #[inline]
    pub fn at_arrival(packet: &Packet, sizes: &'a Sizes, ctx: &'a mut Context<'c>) -> Self {
        Endpoint {
            id: packet.envelope.flow,
            peer: packet.envelope.source,
            sizes,
            ctx,
            level: None,
        }
    }

    /// Returns the endpoint whose packet leaves the interface of its host.
    pub fn at_departure(packet: &Packet, sizes: &'a Sizes, ctx: &'a mut Context<'c>) -> Self {
        Endpoint {
            id: packet.envelope.flow,
            peer: packet.envelope.destination,
            sizes,
            ctx,
            level: None,
        }
    }

    /// Returns the endpoint with the data level of its connection.
    #[inline]
    pub fn with(mut self, level: Option<&'a mut DataLevel>) -> Self {
        self.level = level;
        self
    }

    /// Adds what the data level has to say to a data segment.
    #[inline]
    pub fn numbered(&mut self, header: Header) -> Header {
        match &mut self.level {
            Some(level) => level.number(header),
            None => header,
        }
    }

    /// Returns the sequence number after a data segment.
    #[inline]
    pub fn after(&self, header: &Header) -> u64 {
        match &self.level {
            Some(level) => level.end_of_slot(header),
            None => header.sequence + u64::from(header.payload),
        }
    }

    /// Returns the acknowledgement of the data level; 0 if there is none.
    #[inline]
    pub fn data_ack(&self) -> u64 {
        let level = self.level.as_ref();
        level.map_or(0, |level| level.receiving.delivered())
    }

    /// Returns the present time.
    #[inline]
    pub fn now(&self) -> Time {
        self.ctx.now()
    }

    /// Returns the number of switches on a shortest path to the other endpoint.
    pub fn switches(&self) -> u32 {
        self.ctx.switches_to(self.peer)
    }

    /// Sets a timer of this endpoint at time `at`.
    #[inline]
    pub fn timer(&mut self, at: Time, timer: HostTimer) {
        self.ctx.timer(at, timer.id(self.id));
    }

    /// Returns whether an observer wants any event of these kinds.
    #[inline(always)]
    pub fn observed(&self, kinds: Interest) -> bool {
        self.ctx.observed(kinds)
    }

    /// Reports an event of a kind to the observers that want it. The event is made only if there are
    /// any.
    #[inline(always)]
    pub fn tell<'h>(&mut self, kind: Interest, happening: impl FnOnce() -> Happening<'h>) {
        self.ctx.tell(kind, happening);
    }

    /// Takes the losses of this flow's segments that the sender has not read yet.
    #[inline]
    pub fn lost(&mut self) -> impl Iterator<Item = LostTransmission> + '_ {
        let now = self.now();
        self.ctx.dropped().take(self.id, now)
    }

    /// Returns whether the interface accepts another data segment. If not, the sender is notified
    /// when a segment of the flow leaves.
    #[inline]
    pub fn has_room(&mut self) -> bool {
        self.ctx.has_room(self.id)
    }

    /// Hands a segment to the network interface. Returns the start of its transmission, or `None`
    /// if it waits for its turn at a fair interface. `transmission` counts the
    /// transmissions of the segment, from 1; it is 0 if they are not counted.
    #[inline]
    pub fn send(
        &mut self,
        header: Header,
        options: Option<Options>,
        transmission: u32,
    ) -> Option<Time> {
        let ctx = &mut *self.ctx;
        let bytes = self.sizes.wire(header.payload);
        let mut packet = Packet::new(self.id, ctx.node(), self.peer, bytes, header);
        packet.envelope.transmission = transmission;
        if header.payload > 0 {
            let ecn = self.sizes.capable.field(transmission);
            packet.envelope.treatment = Treatment::new(ecn, self.sizes.trimmable);
        }
        let packet = ctx.create(packet);
        if let Some(options) = options {
            ctx.set_options(packet, options);
        }
        // For observers only repeated data counts as a retransmission.
        ctx.created(packet, header.payload > 0 && transmission > 1);
        let room = self.sizes.access_buffer;
        if room < u64::MAX && ctx.access_backlog() + u64::from(bytes) > room {
            ctx.drop(packet, NIC, ACCESS_BUFFER_FULL);
            return Some(ctx.now());
        }
        ctx.send_new(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retransmission_is_capable_of_ecn_only_if_the_law_needs_each_mark() {
        let fields = |capable: Capable| [1, 2, 3].map(|transmission| capable.field(transmission));
        assert_eq!(fields(Capable::None), [Ecn::NotCapable; 3]);
        let first = [Ecn::Classic, Ecn::NotCapable, Ecn::NotCapable];
        assert_eq!(fields(Capable::New), first);
        assert_eq!(fields(Capable::All), [Ecn::Scalable; 3]);
    }
}
