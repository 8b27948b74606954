//! Optical burst switching without a control plane: nodes with hosts are edges, all other nodes
//! only forward bursts.

use super::{AllOptical, AllOpticalSettings, Build, SwitchSettings};
use crate::assembly::Assembly;
use crate::edge::{Around, Edge, EdgeSettings, Ordering};
use crate::settings::duration;
use lightburst_des::Duration;
use lightburst_net::Switch;
use serde::Deserialize;

/// Settings of a node of a burst network, edge or core.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurstSettings {
    /// Time to set up a connection through the optical matrix.
    #[serde(rename = "switching_time_ps", deserialize_with = "duration")]
    pub switching_time: Duration,
    /// Burst assembly; `None` if all bursts are generated at the edges.
    pub assembly: Option<Assembly>,
    /// Whether packets without payload are assembled too; otherwise each becomes a burst at once.
    pub assemble_acknowledgements: bool,
    /// Method that keeps bursts in order.
    #[serde(default)]
    pub ordering: Ordering,
}

impl BurstSettings {
    /// Returns the settings of the all-optical core.
    pub fn light(&self) -> AllOpticalSettings {
        AllOpticalSettings {
            switching_time: self.switching_time,
        }
    }
}

impl SwitchSettings for BurstSettings {
    fn build(&self, build: Build) -> Box<dyn Switch> {
        match build.edges.contains(&build.node) {
            true => {
                let settings = EdgeSettings {
                    assembly: self.assembly.as_ref(),
                    acknowledgements: self.assemble_acknowledgements,
                    ordering: self.ordering,
                };
                let around = Around::of(&build);
                let core = AllOptical::new(&self.light(), build);
                Box::new(Edge::new(&settings, around, core))
            }
            false => Box::new(AllOptical::new(&self.light(), build)),
        }
    }

    fn stores_and_forwards(&self, from_host: bool) -> bool {
        // An edge receives whole packets from hosts, but forwards bursts optically.
        from_host
    }

    fn switching_time(&self) -> Duration {
        self.switching_time
    }

    fn assembles(&self) -> bool {
        true
    }

    /// What an edge has handed to a fibre it does not take back.
    fn takes_outages(&self) -> bool {
        !matches!(self.ordering, Ordering::Source)
    }

    fn assembly(&self) -> Option<&Assembly> {
        self.assembly.as_ref()
    }
}
