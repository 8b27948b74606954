//! Handles: an index with a type.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

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
    /// A unit of transmission while it is somewhere in the network.
    UnitId(u32)
);
id!(
    /// A row of the table of flows.
    FlowId(u32)
);

impl UnitId {
    /// No unit.
    pub const NONE: UnitId = UnitId(u32::MAX);
}
