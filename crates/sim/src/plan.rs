//! Plan of a run: the settings as one JSON string; nodes, links and flows as columns.
//!
//! The Python side has validated it; [`crate::check`] checks it again when it is received.

pub mod changes;
pub mod choice;
mod groups;
pub mod loss;
pub mod outages;
pub mod protection;
mod writes;

pub use groups::{Group, Transport, TransportSetting, OPEN_LOOP};
pub use writes::Writes;

use crate::measurement::{self, Measurement, Scope};
use crate::plan::changes::ChangeSettings;
use crate::plan::choice::Choice;
use crate::plan::loss::LossSettings;
use crate::plan::outages::OutageSettings;
use lightburst_des::queue::Layout;
use lightburst_des::{Ties, Time};
use lightburst_net::{Label, NodeId, Numbering, Shared};
use lightburst_optical::obs::contention::DropEnd;
use lightburst_optical::settings::Table;
use lightburst_optical::switch::{self, SwitchSettings};
pub use lightburst_tcp::{Joins, Receives};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::sync::Arc;

/// Plan that this crate cannot run, with the reason.
#[derive(Debug)]
pub struct PlanError(pub String);

impl std::fmt::Display for PlanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unreadable plan: {}", self.0)
    }
}

impl std::error::Error for PlanError {}

/// Switches in the order of their node numbers.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    /// Index of the settings of each switch.
    pub switch: Vec<u16>,
    /// Source switch of each path, in the order of the labels of a pair; empty if there are no
    /// paths.
    pub path_source: Vec<u32>,
    /// Destination switch of each path.
    pub path_destination: Vec<u32>,
    /// Index in `path_links` of the first link of each path, followed by the length of
    /// `path_links`.
    pub path_offsets: Vec<u64>,
    /// Links of the paths, path by path; consecutive links from the same node are alternatives.
    pub path_links: Vec<u32>,
}

/// Directed links, sorted by source.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// Source node.
    pub from: Vec<u32>,
    /// Target node.
    pub to: Vec<u32>,
    /// Rate in bits per second.
    pub rate_bps: Vec<u64>,
    /// Delay in picoseconds.
    pub delay_ps: Vec<u64>,
    /// Whether the link may lose units; empty if no link may.
    pub lossy: Vec<u8>,
    /// Number of data channels of a link, where bursts reserve channels; empty if they do not.
    pub channels: Vec<u16>,
}

/// Flows, sorted by start time.
#[derive(Clone, Debug, Default)]
pub struct Flows {
    /// Source host.
    pub source: Shared<u32>,
    /// Destination host.
    pub destination: Shared<u32>,
    /// Start time in picoseconds.
    pub start_ps: Shared<u64>,
    /// Useful bytes, without headers.
    pub bytes: Shared<u64>,
    /// Index of the group; empty if all flows belong to the first group.
    pub group: Shared<u16>,
    /// Departure times of datagrams in picoseconds, flow by flow.
    pub departures_ps: Shared<u64>,
    /// Index in `departures_ps` of the first departure of each flow, followed by its length.
    pub departure_offsets: Shared<u64>,
    /// Joins, through which flows wait for others.
    pub joins: Joins,
}

/// Complete input of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Settings, read from JSON.
    pub settings: PlanSettings,
    /// Switches.
    pub nodes: Nodes,
    /// Links.
    pub links: Links,
    /// Flows.
    pub flows: Flows,
}

/// Settings of a plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanSettings {
    /// Number of hosts.
    pub hosts: u32,
    /// Number of nodes, hosts included.
    pub nodes: u32,
    /// Method that finds the next hops.
    pub routing: Routing,
    /// Choice among equal-cost next hops.
    pub choice: Choice,
    /// Choice among the paths of a pair of edges, if there are any.
    #[serde(default)]
    pub label: Option<String>,
    /// Load balancing, if the choice among paths follows the load.
    #[serde(default)]
    pub balance: Option<Balance>,
    /// Seed of all random streams.
    pub seed: u64,
    /// For tests: shuffles simultaneous events of different nodes, which must not change the
    /// results.
    #[serde(default)]
    pub shuffle: Option<u64>,
    /// For tests: the queue of pending events to use, which must not change the results.
    #[serde(default)]
    pub queue: Queue,
    /// Events after this time are not handled.
    pub time_limit_ps: u64,
    /// Settings of switches; `Nodes::switch` refers to them by index.
    #[serde(deserialize_with = "switches")]
    pub switches: Vec<Arc<dyn SwitchSettings>>,
    /// Groups of flows.
    pub groups: Vec<Group>,
    /// Fair service of flows at the interfaces of hosts; `None`: first in, first out.
    #[serde(default)]
    pub fair: Option<Fair>,
    /// Losses on lossy links.
    #[serde(default)]
    pub loss: Option<LossSettings>,
    /// Outages of links.
    #[serde(default)]
    pub outages: Option<OutageSettings>,
    /// Changes of the rates and losses of links.
    #[serde(default)]
    pub changes: Option<ChangeSettings>,
    /// Protection of the paths between edges.
    #[serde(default)]
    pub protection: Option<protection::ProtectionSettings>,
    /// Requested measurements, each of which has keys of its own.
    #[serde(skip)]
    pub measurements: Vec<Arc<dyn Measurement>>,
}

impl PlanSettings {
    /// Returns the times before the end of the run at which the counters of switches are read.
    pub fn looks(&self) -> [Time; 2] {
        let mut measurements = self.measurements.iter();
        let read = measurements.find_map(|measurement| measurement.counters_read());
        read.unwrap_or([Time::NEVER; 2])
    }
}

/// Interfaces of hosts that serve their flows in turn.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fair {
    /// Greatest number of data segments of a flow waiting at the interface; `None`: unlimited.
    pub small_queue: Option<u32>,
}

/// Method that finds the next hops.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Routing {
    /// Structured routing in a fat-tree.
    FatTree {
        /// Number of ports of a switch if links have one wavelength.
        k: u16,
        /// Number of parallel links between two switches.
        wavelengths: u16,
    },
    /// Routing tables of shortest paths.
    ShortestPath {
        /// Length that is minimised.
        metric: Metric,
    },
}

/// Length of a path.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Number of links.
    Hops,
    /// Sum of the delays of the links.
    Delay,
}

/// Load balancing among the paths of a pair of edges.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Balance {
    /// Interval after which the load offered during it is reported.
    pub interval_ps: u64,
    /// Delay from the end of an interval to the arrival of its report.
    pub delay_ps: u64,
    /// Load above which a path is left.
    pub threshold: f64,
    /// Load that is compared with the threshold.
    pub threshold_on: ThresholdOn,
    /// Path of a pair none of whose paths is above the threshold.
    #[serde(default)]
    pub uncongested: Uncongested,
    /// Rate that corresponds to a load of 1 on a fibre; `None`: the rate of all its channels.
    pub capacity_bps: Option<u64>,
}

/// Load of a path that is compared with the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdOn {
    /// Load of its most loaded link.
    Link,
    /// Sum of the loads of all its links.
    Path,
}

/// Path of a pair none of whose paths is congested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Uncongested {
    /// The present one.
    #[default]
    Present,
    /// The first one.
    Primary,
}

/// Queue of pending events.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Queue {
    /// The one that is faster, by what the run has measured.
    #[default]
    Measured,
    /// The wheel.
    Wheel,
    /// The ladder.
    Ladder,
}

impl Plan {
    /// Returns the queue of pending events to use.
    pub fn layout(&self) -> Layout {
        match self.settings.queue {
            Queue::Measured => Layout::Measured,
            Queue::Wheel => Layout::Wheel,
            Queue::Ladder => Layout::Ladder,
        }
    }

    /// Returns the order of simultaneous events. The counters of scripts are the only state that
    /// nodes share.
    pub fn ties(&self) -> Ties {
        let ties = Ties::new(self.settings.seed, self.settings.shuffle);
        match &self.settings.loss {
            Some(loss) if loss.scripts().next().is_some() => ties,
            _ => ties.of_separate_nodes(),
        }
    }

    /// Returns the settings of a switch; `None` if the node is a host.
    pub fn switch(&self, node: u32) -> Option<&dyn SwitchSettings> {
        let switch = node.checked_sub(self.settings.hosts)?;
        let which = self.nodes.switch[switch as usize];
        Some(&*self.settings.switches[usize::from(which)])
    }

    /// Returns the number of burst classes, one for each group of flows; 0 if bursts are not
    /// divided into classes.
    pub fn classes(&self) -> usize {
        let switches = self.settings.switches.iter();
        switches.map(|switch| switch.classes()).max().unwrap_or(0)
    }

    /// Returns the numbering of the packets of a flow.
    pub fn numbering(&self, flow: usize) -> Numbering {
        let transport = &self.group(flow).transport;
        let packet = transport.packet_bytes.map(u64::from);
        Numbering {
            full: u64::from(transport.segment_bytes - transport.header_bytes),
            packets: packet.map(|bytes| (u64::from(transport.header_bytes), bytes)),
        }
    }

    /// Returns the network and the flows of measurements.
    pub fn scope(&self) -> Scope<'_> {
        let mut groups = self.settings.groups.iter();
        let outages = self.settings.outages.as_ref();
        Scope {
            flows: self.numbers(),
            whole: self.flows.source.len(),
            links: self.links.from.len(),
            time_limit: Time(self.settings.time_limit_ps),
            connections: groups.any(|group| !group.transport.is_datagram()),
            classes: self.classes() > 0,
            copies: self.settings.copies(),
            outages: outages.map(|outages| &outages.links[..]),
            numbering: Box::new(|flow| self.numbering(flow)),
        }
    }

    /// Returns which part of a burst, head or tail, the switches cut off; `None` if neither. All
    /// switches that cut bursts cut the same part.
    pub fn cuts(&self) -> Option<DropEnd> {
        let mut switches = self.settings.switches.iter();
        switches.find_map(|switch| switch.cuts())
    }

    /// Returns the node at which a flow enters the network: its source host, or the edge of that
    /// host.
    pub fn origin(&self, flow: usize) -> NodeId {
        let host = self.flows.source[self.flow_of(flow)];
        match self.group(flow).transport.at_edge() {
            // A host has one link, and hosts are the first nodes.
            true => NodeId(self.links.to[host as usize]),
            false => NodeId(host),
        }
    }

    /// Returns the largest number of subflows of a connection.
    pub fn subflows(&self) -> usize {
        let groups = self.settings.groups.iter();
        let each = groups.map(|group| usize::from(group.transport.subflows));
        each.max().unwrap_or(1)
    }

    /// Returns the number of flow numbers in the network: subflow `j` of a flow has the number of the
    /// flow + `j` * (number of flows).
    pub fn numbers(&self) -> usize {
        self.flows.source.len() * self.subflows()
    }

    /// Returns the flow with a number in the network.
    pub fn flow_of(&self, number: usize) -> usize {
        number % self.flows.source.len()
    }

    /// Whether each subflow takes the path with its number.
    pub fn labels_subflows(&self) -> bool {
        self.settings.label.as_deref() == Some(Label::SUBFLOW)
    }

    /// Returns the index of the group of a flow or subflow.
    pub fn group_index(&self, flow: usize) -> usize {
        self.flows
            .group
            .get(self.flow_of(flow))
            .copied()
            .map_or(0, usize::from)
    }

    /// Returns the group of a flow.
    pub fn group(&self, flow: usize) -> &Group {
        &self.settings.groups[self.group_index(flow)]
    }
}

impl PlanSettings {
    /// Reads the settings.
    pub fn from_json(json: &str) -> Result<PlanSettings, PlanError> {
        let mut settings: Value = serde_json::from_str(json).map_err(unreadable)?;
        let measurements = match &mut settings {
            Value::Object(table) => measurement::read(table).map_err(unreadable)?,
            _ => Vec::new(),
        };
        let settings = PlanSettings::deserialize(settings).map_err(unreadable)?;
        Ok(PlanSettings {
            measurements,
            ..settings
        })
    }
}

/// Converts an error of the reader. The message about an unknown key of the plan lists the known
/// ones, those of measurements included.
fn unreadable(error: serde_json::Error) -> PlanError {
    let mut words = error.to_string();
    if words.contains(", expected one of `hosts`, ") {
        for key in measurement::REGISTRY.iter().flat_map(|kind| kind.keys) {
            words += &format!(", `{key}`");
        }
    }
    PlanError(words)
}

/// Reads the settings of each switch according to its kind.
fn switches<'de, D>(tables: D) -> Result<Vec<Arc<dyn SwitchSettings>>, D::Error>
where
    D: Deserializer<'de>,
{
    let tables = Vec::<Table>::deserialize(tables)?;
    let read = tables.into_iter().map(switch::read);
    read.collect::<Result<_, _>>().map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_about_an_unknown_key_lists_those_of_measurements() {
        let error = PlanSettings::from_json(r#"{"hosts": 2, "samples_ps": 3}"#);
        let words = error.unwrap_err().to_string();
        let start = "unreadable plan: unknown field `samples_ps`, expected one of `hosts`, ";
        assert!(words.starts_with(start), "{words}");
        let keys = measurement::REGISTRY.iter().flat_map(|kind| kind.keys);
        let keys: String = keys.map(|key| format!(", `{key}`")).collect();
        let end = format!("`fair`, `loss`, `outages`, `changes`, `protection`{keys}");
        assert!(words.ends_with(&end), "{words}");
    }
}
