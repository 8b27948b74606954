//! Optical burst switching with a control plane; see [`crate::obs`].

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

/// Settings of a node of a burst-switched network.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObsSettings {
    /// Burst assembly; `None` if all bursts are generated at the edges.
    pub assembly: Option<Assembly>,
    /// Whether packets without payload are assembled too; otherwise each becomes a burst at once.
    pub assemble_acknowledgements: bool,
    /// Method that keeps bursts in order.
    #[serde(default)]
    pub ordering: Ordering,
    /// Time to set up the optical matrix.
    #[serde(rename = "switching_time_ps", deserialize_with = "duration")]
    pub switching_time: Duration,
    /// Time to process a header packet; headers are processed one after the other.
    #[serde(rename = "header_processing_time_ps", deserialize_with = "duration")]
    pub header_processing_time: Duration,
    /// Size of a header packet, in bytes.
    pub header_bytes: u32,
    /// Rate of a control channel; `None`: the transmission of a header takes no time.
    #[serde(
        rename = "control_rate_bps",
        default,
        deserialize_with = "optional_rate"
    )]
    pub control_rate: Option<Rate>,
    /// Offset time between a header and its burst, without the share of each fibre.
    #[serde(rename = "offset_time_ps", deserialize_with = "duration")]
    pub offset_time: Duration,
    /// Addition to the offset time for each fibre of the path; `None`: transmission and processing
    /// time of a header.
    #[serde(
        rename = "offset_per_hop_ps",
        default,
        deserialize_with = "optional_duration"
    )]
    pub offset_per_hop: Option<Duration>,
    /// Addition to the offset time for each class of bursts; empty if there are no classes.
    #[serde(default, deserialize_with = "durations")]
    pub extra_offset_ps: Vec<Duration>,
    /// Signalling scheme: start of the reservation of a channel.
    #[serde(deserialize_with = "signalling")]
    pub signalling: Signalling,
    /// Scheduler: choice of the channel.
    #[serde(deserialize_with = "scheduler")]
    pub scheduler: Scheduler,
    /// Wavelength conversion of the node.
    pub conversion: Conversion,
    /// Treatment of a burst that finds no free channel at its ingress.
    pub ingress: IngressRule,
    /// Resolvers for a burst that finds no free channel, in the order of use.
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
    /// Returns the transmission time of a header on a control channel.
    pub fn header_time(&self) -> Duration {
        let bytes = Bytes(u64::from(self.header_bytes));
        self.control_rate
            .map_or(Duration::ZERO, |rate| rate.transmission_time(bytes))
    }

    /// Returns the addition to the offset time for a class of bursts.
    pub fn extra_offset(&self, class: u16) -> Duration {
        let extra = self.extra_offset_ps.get(usize::from(class));
        extra.copied().unwrap_or(Duration::ZERO)
    }

    /// Returns the time of a header for one fibre and the node at its end, without the delay of the
    /// fibre.
    fn needed_per_hop(&self) -> Duration {
        self.header_processing_time + self.header_time()
    }

    /// Returns the addition to the offset time for each fibre of the path.
    pub fn offset_per_hop(&self) -> Duration {
        self.offset_per_hop.unwrap_or(self.needed_per_hop())
    }

    /// Returns the offset time that a burst needs for the next `fibres` fibres, if all nodes have
    /// these settings and no header waits for another one.
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
        // Units on fibres are headers, for which this setting has no effect.
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

    fn takes_outages(&self) -> bool {
        // An ingress that keeps bursts in order calculates with routes that stay.
        !matches!(self.ordering, Ordering::Source)
    }

    fn sends_headers(&self) -> bool {
        true
    }
}
