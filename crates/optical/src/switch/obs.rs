//! Optical burst switching with a control plane: see [`crate::obs`].

use super::{Build, SwitchSettings};
use crate::assembly::Assembly;
use crate::edge::{Around, Edge, EdgeSettings, Ordering};
use crate::obs::contention::{ChainSettings, DropEnd};
use crate::obs::scheduler::{self, Scheduler};
use crate::obs::signalling::{self, Signalling};
use crate::obs::{Conversion, IngressRule, ObsCore};
use crate::settings::{duration, durations, named, optional_duration, optional_rate};
use lightburst_des::Duration;
use lightburst_net::{Bytes, Rate, Switch};
use serde::{Deserialize, Deserializer};

/// The settings of a node of a burst-switched network.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObsSettings {
    /// How an edge makes bursts of packets; none: there are none but those that edges make themselves.
    pub assembly: Option<Assembly>,
    /// Whether packets without payload wait too; otherwise each is a burst at once.
    pub assemble_acknowledgements: bool,
    /// How an edge keeps bursts in their order.
    #[serde(default)]
    pub ordering: Ordering,
    /// Time to set up the optical matrix.
    #[serde(rename = "switching_time_ps", deserialize_with = "duration")]
    pub switching_time: Duration,
    /// Time to handle a header packet, one after the other.
    #[serde(rename = "header_processing_time_ps", deserialize_with = "duration")]
    pub header_processing_time: Duration,
    /// Size of a header packet.
    pub header_bytes: u32,
    /// Rate of a control channel; none: a header packet takes no time.
    #[serde(
        rename = "control_rate_bps",
        default,
        deserialize_with = "optional_rate"
    )]
    pub control_rate: Option<Rate>,
    /// How far a header packet is ahead of its burst, beside what each fibre adds.
    #[serde(rename = "offset_time_ps", deserialize_with = "duration")]
    pub offset_time: Duration,
    /// What each fibre of the path adds; none: what a header takes there.
    #[serde(
        rename = "offset_per_hop_ps",
        default,
        deserialize_with = "optional_duration"
    )]
    pub offset_per_hop: Option<Duration>,
    /// How much further, for each class of bursts; empty where they are all alike.
    #[serde(default, deserialize_with = "durations")]
    pub extra_offset_ps: Vec<Duration>,
    /// From when on a channel is booked.
    #[serde(deserialize_with = "signalling")]
    pub signalling: Signalling,
    /// On which channel.
    #[serde(deserialize_with = "scheduler")]
    pub scheduler: Scheduler,
    /// Which channels a burst can change to.
    pub conversion: Conversion,
    /// What becomes of a burst that finds no channel where it is made.
    pub ingress: IngressRule,
    /// What is tried for a burst that finds no channel, in this order.
    #[serde(default)]
    pub contention: ChainSettings,
}

fn signalling<'de, D: Deserializer<'de>>(name: D) -> Result<Signalling, D::Error> {
    named(
        "signallings",
        signalling::REGISTRY,
        |scheme| scheme.name,
        name,
    )
}

fn scheduler<'de, D: Deserializer<'de>>(name: D) -> Result<Scheduler, D::Error> {
    named("schedulers", scheduler::REGISTRY, |rule| rule.name, name)
}

impl ObsSettings {
    /// How long a control channel takes for a header packet.
    pub fn header_time(&self) -> Duration {
        let bytes = Bytes(u64::from(self.header_bytes));
        self.control_rate
            .map_or(Duration::ZERO, |rate| rate.transmission_time(bytes))
    }

    /// What the class of a burst adds to the offset time.
    pub fn extra_offset(&self, class: u16) -> Duration {
        let extra = self.extra_offset_ps.get(usize::from(class));
        extra.copied().unwrap_or(Duration::ZERO)
    }

    /// What a header takes for a fibre and the node at its end.
    fn needed_per_hop(&self) -> Duration {
        self.header_processing_time + self.header_time()
    }

    /// What each fibre of the path adds to the offset time.
    pub fn offset_per_hop(&self) -> Duration {
        self.offset_per_hop.unwrap_or(self.needed_per_hop())
    }

    /// How far a header must be ahead of its burst that has so many fibres before it, if all nodes
    /// are like this one and no header waits for another.
    pub fn offset_needed(&self, fibres: u64) -> Duration {
        self.needed_per_hop() * fibres + self.switching_time
    }
}

impl SwitchSettings for ObsSettings {
    fn build(&self, build: Build) -> Box<dyn Switch> {
        if !build.edges.contains(&build.node) {
            return Box::new(ObsCore::new(self, build));
        }
        let settings = EdgeSettings {
            assembly: self.assembly.as_ref(),
            acknowledgements: self.assemble_acknowledgements,
            ordering: self.ordering,
        };
        let around = Around::of(&build);
        Box::new(Edge::new(&settings, around, ObsCore::new(self, build)))
    }

    fn stores_and_forwards(&self, from_host: bool) -> bool {
        // What comes over a fibre is a header, for which this does not count.
        from_host
    }

    fn assembles(&self) -> bool {
        true
    }

    fn assembly(&self) -> Option<&Assembly> {
        self.assembly.as_ref()
    }

    fn classes(&self) -> usize {
        self.extra_offset_ps.len()
    }

    fn cuts(&self) -> Option<DropEnd> {
        self.contention.cuts()
    }

    fn sends_headers(&self) -> bool {
        true
    }
}
