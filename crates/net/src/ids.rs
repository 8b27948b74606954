//! Handles: typed indices of nodes, ports, links, flows and units.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl crate::unit::arena::Handle for $name {
            #[inline]
            fn of(place: u32) -> $name {
                $name(place as $inner)
            }

            #[inline]
            fn place(self) -> usize {
                self.0 as usize
            }
        }

        impl $name {
            /// Returns the handle as an index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A host or a switch. Hosts have the lowest numbers.
    NodeId(u32)
);
id!(
    /// Output port of a node. Ports are numbered in the order of the node's links in the link
    /// table.
    PortId(u16)
);
id!(
    /// A directed link.
    LinkId(u32)
);
id!(
    /// Handle of a packet. Valid while the packet is in the network; reused afterwards.
    PacketId(u32)
);
id!(
    /// Handle of a burst. Valid while the burst is in the network; reused afterwards.
    BurstId(u32)
);
id!(
    /// Handle of a burst header packet. Valid while it is in the network; reused afterwards.
    BurstHeaderId(u32)
);
id!(
    /// Row of a flow in the flow table.
    FlowId(u32)
);

impl LinkId {
    /// Stands for the absence of a link.
    pub const NONE: LinkId = LinkId(u32::MAX);
}

/// A transmission unit in the network: packet, burst or burst header packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A packet outside a burst.
    Packet(PacketId),
    /// A burst of packets.
    Burst(BurstId),
    /// A burst header packet; it stands for the burst that follows it.
    BurstHeader(BurstHeaderId),
}

impl From<PacketId> for Unit {
    #[inline]
    fn from(packet: PacketId) -> Unit {
        Unit::Packet(packet)
    }
}

impl From<BurstId> for Unit {
    #[inline]
    fn from(burst: BurstId) -> Unit {
        Unit::Burst(burst)
    }
}

impl From<BurstHeaderId> for Unit {
    #[inline]
    fn from(header: BurstHeaderId) -> Unit {
        Unit::BurstHeader(header)
    }
}

const _: () = assert!(std::mem::size_of::<Option<Unit>>() == 8);
