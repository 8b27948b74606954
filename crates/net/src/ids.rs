//! Handles: an index with a type.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl crate::arena::Handle for $name {
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
            /// The handle as an index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A host or a switch; hosts come first.
    NodeId(u32)
);
id!(
    /// An outgoing link of a node, in the order of the table of links.
    PortId(u16)
);
id!(
    /// A directed link.
    LinkId(u32)
);
id!(
    /// A packet while it is somewhere in the network.
    PacketId(u32)
);
id!(
    /// A burst while it is somewhere in the network.
    BurstId(u32)
);
id!(
    /// A burst header packet while it is somewhere in the network.
    HeaderId(u32)
);
id!(
    /// A row of the table of flows.
    FlowId(u32)
);

impl LinkId {
    /// No link.
    pub const NONE: LinkId = LinkId(u32::MAX);
}

/// A unit of transmission while it is somewhere in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A packet by itself.
    Packet(PacketId),
    /// A burst of packets.
    Burst(BurstId),
    /// The header packet of a burst, with the burst that follows it.
    Header(HeaderId),
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

impl From<HeaderId> for Unit {
    #[inline]
    fn from(header: HeaderId) -> Unit {
        Unit::Header(header)
    }
}

const _: () = assert!(std::mem::size_of::<Option<Unit>>() == 8);
