//! Segments and their sizes on the wire.

use crate::token::{self, token};
use crate::Flow;
use lightburst_des::Time;
use lightburst_net::{
    Context, DropReason, FlowId, Header, LostSending, NodeId, Options, Packet, PortId, Token, Trace,
};

/// Synchronise: the first segment of each direction (RFC 9293, section 3.1).
pub const SYN: u8 = 1;
/// The acknowledgement field counts.
pub const ACK: u8 = 2;
/// No more data from the sender of this segment.
pub const FIN: u8 = 4;
/// From the flow's source to its destination.
pub const FORWARD: u8 = 8;
/// ECN echo: a mark of the network came (RFC 3168, section 6.1).
pub const ECE: u8 = 16;

/// What the sender acknowledges: the receiver's SYN, and its FIN, each of which
/// takes one sequence number (RFC 9293, section 3.4).
pub const SYN_ACKNOWLEDGED: u64 = 1;
/// See [`SYN_ACKNOWLEDGED`].
pub const FIN_ACKNOWLEDGED: u64 = 2;

/// A host's only port.
pub const NIC: PortId = PortId(0);

/// The queue of a host's interface had no room.
pub const ACCESS_BUFFER_FULL: &DropReason = &DropReason {
    name: "access-buffer-full",
    busy: false,
};

/// Sizes on the wire, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// A full data segment, headers included.
    pub segment: u32,
    /// The headers of a data segment.
    pub header: u32,
    /// SYN, FIN and ACK; no data segment is smaller.
    pub control: u32,
    /// Bytes that wait at a host's interface at the most.
    pub access_buffer: u64,
}

impl Sizes {
    /// Useful bytes of a full segment (SMSS of RFC 5681).
    pub fn mss(&self) -> u32 {
        self.segment - self.header
    }

    /// Size on the wire of a segment with this payload.
    pub fn wire(&self, payload: u32) -> u32 {
        if payload == 0 {
            self.control
        } else {
            (payload + self.header).max(self.control)
        }
    }
}

/// One end of a flow at an event: through it a sender or a receiver acts.
pub struct Endpoint<'a, 'c> {
    /// The flow's handle.
    pub id: FlowId,
    /// The host at the other end.
    pub peer: NodeId,
    /// Sizes on the wire.
    pub sizes: &'a Sizes,
    /// The host at this end.
    pub ctx: &'a mut Context<'c>,
}

impl<'a, 'c> Endpoint<'a, 'c> {
    /// The end of `flow` that has the data.
    pub fn source(flow: &Flow, sizes: &'a Sizes, ctx: &'a mut Context<'c>) -> Self {
        Endpoint {
            id: flow.id,
            peer: flow.destination,
            sizes,
            ctx,
        }
    }

    /// The end of which a timer expires.
    #[inline]
    pub fn at_timer(
        token: Token,
        peer: NodeId,
        sizes: &'a Sizes,
        ctx: &'a mut Context<'c>,
    ) -> Self {
        Endpoint {
            id: token::flow(token),
            peer,
            sizes,
            ctx,
        }
    }

    /// The end at which a packet arrives; answers go to where it came from. So the flow's row in
    /// the table is not touched.
    #[inline]
    pub fn at_arrival(packet: &Packet, sizes: &'a Sizes, ctx: &'a mut Context<'c>) -> Self {
        Endpoint {
            id: packet.envelope.flow,
            peer: packet.envelope.source,
            sizes,
            ctx,
        }
    }

    /// The end whose packet leaves its interface.
    pub fn at_departure(packet: &Packet, sizes: &'a Sizes, ctx: &'a mut Context<'c>) -> Self {
        Endpoint {
            id: packet.envelope.flow,
            peer: packet.envelope.destination,
            sizes,
            ctx,
        }
    }

    /// The present time.
    #[inline]
    pub fn now(&self) -> Time {
        self.ctx.now()
    }

    /// Sets a timer of this end; see [`crate::token`] for the kinds.
    #[inline]
    pub fn timer(&mut self, at: Time, kind: u8) {
        self.ctx.timer(at, token(self.id, kind));
    }

    /// The trace, if the flow is traced.
    #[inline]
    pub fn trace(&mut self) -> Option<&mut Trace> {
        self.ctx.trace(self.id)
    }

    /// The segments of this flow that were lost until now, of which its sender has not read.
    #[inline]
    pub fn lost(&mut self) -> impl Iterator<Item = LostSending> + '_ {
        let now = self.now();
        self.ctx.dropped().take(self.id, now)
    }

    /// Whether the interface has room for another segment with data. If not, the sender hears when
    /// one has left.
    #[inline]
    pub fn has_room(&mut self) -> bool {
        self.ctx.has_room(self.id)
    }

    /// Hands a segment to the network interface; returns when its transmission begins, unless it
    /// waits there for its turn. It is sent for the `sending`-th time; 0: nobody counts.
    #[inline]
    pub fn send(&mut self, header: Header, options: Option<Options>, sending: u32) -> Option<Time> {
        let ctx = &mut *self.ctx;
        let bytes = self.sizes.wire(header.payload);
        let mut packet = Packet::new(self.id, ctx.node(), self.peer, bytes, header);
        packet.envelope.sending = sending;
        let packet = ctx.create(packet);
        if let Some(options) = options {
            ctx.set_options(packet, options);
        }
        // Of the trace only data is sent again.
        ctx.mark(packet, header.payload > 0 && sending > 1);
        let room = self.sizes.access_buffer;
        if room < u64::MAX && ctx.access_backlog() + u64::from(bytes) > room {
            ctx.drop(packet, NIC, ACCESS_BUFFER_FULL);
            return Some(ctx.now());
        }
        ctx.send_new(packet)
    }
}
