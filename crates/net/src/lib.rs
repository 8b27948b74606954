//! Nodes, links and units of transmission. Knows no TCP and no optics.

pub mod arena;
pub mod choice;
pub mod effects;
pub mod fabric;
pub mod ids;
pub mod label;
pub mod link;
pub mod loss;
pub mod network;
pub mod node;
pub mod probe;
pub mod routing;
pub mod trace;
pub mod unit;
pub mod units;

pub use arena::Arena;
pub use choice::{Choice, Pick};
pub use effects::Effects;
pub use fabric::Fabric;
pub use ids::{FlowId, LinkId, NodeId, PortId, UnitId};
pub use label::{Label, Labels};
pub use link::{Links, Wire};
pub use loss::Loss;
pub use network::{Event, Network};
pub use node::{Hosts, Node};
pub use probe::{DropReason, Occupancy, SwitchCounters};
pub use routing::{Path, Route, Routing};
pub use trace::Trace;
pub use unit::{Block, Bundle, Header, Options, Packet};
pub use units::{Bytes, Rate};
