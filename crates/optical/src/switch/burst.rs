//! Optical burst switching: an edge where there are hosts, a core that only lets bursts pass
//! elsewhere.

use super::{AllOptical, AllOpticalSettings, Build, SwitchSettings};
use crate::assembly::Assembly;
use crate::edge::{Around, Edge, EdgeSettings, Ordering};
use crate::settings::duration;
use lightburst_des::Duration;
use lightburst_net::Switch;
use serde::Deserialize;

/// The settings of an edge or a core of a burst network.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurstSettings {
    /// Time to set up a connection through the optical matrix.
    #[serde(rename = "switching_time_ps", deserialize_with = "duration")]
    pub switching_time: Duration,
    /// How an edge makes bursts of packets; none: there are none but those that edges make themselves.
    pub assembly: Option<Assembly>,
    /// Whether packets without payload wait too; otherwise each is a burst at once.
    pub assemble_acknowledgements: bool,
    /// How an edge keeps bursts in their order.
    #[serde(default)]
    pub ordering: Ordering,
}

impl BurstSettings {
    /// Those of the switch that lets bursts pass.
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
        // An edge takes in packets, and lets bursts pass in light.
        from_host
    }

    fn switching_time(&self) -> Duration {
        self.switching_time
    }

    fn assembles(&self) -> bool {
        true
    }

    fn assembly(&self) -> Option<&Assembly> {
        self.assembly.as_ref()
    }
}
