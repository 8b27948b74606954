//! Nodes, links and units of transmission. Knows no TCP and no optics.

pub mod arena;
pub mod choice;
pub mod context;
pub mod fabric;
pub mod ids;
pub mod label;
pub mod link;
pub mod loss;
pub mod network;
pub mod packet;
pub mod probe;
pub mod quantity;
pub mod routing;
pub mod switch;
pub mod trace;

pub use arena::Arena;
pub use choice::{Choice, Pick};
pub use context::Context;
pub use fabric::Fabric;
pub use ids::{FlowId, LinkId, NodeId, PortId, UnitId};
pub use label::{Label, Labels};
pub use link::{Links, Wire};
pub use loss::Loss;
pub use network::{Event, Network};
pub use packet::{Block, Bundle, Header, Options, Packet};
pub use probe::{DropReason, Occupancy, SwitchCounters};
pub use quantity::{Bytes, Rate};
pub use routing::{Path, Route, Routing};
pub use switch::{Hosts, Switch};
pub use trace::Trace;
