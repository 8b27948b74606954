//! The plan: settings as one JSON string, nodes, links and flows as columns.
//!
//! The Python side has validated it; [`crate::check`] looks at it once more where it comes in.

use lightburst_des::{Ties, Time};
use lightburst_net::{NodeId, Numbering, Shared};
use lightburst_optical::obs::contention::DropEnd;
use lightburst_optical::settings::Table;
use lightburst_optical::switch::{self, SwitchSettings};
use lightburst_tcp::{Parameters, Sizes, Value};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The transport whose datagrams are bursts of edges.
const BURSTS: &str = "bursts";
/// The transports that have no connection.
pub const OPEN_LOOP: [&str; 2] = ["datagram", BURSTS];

/// A plan that this crate cannot read.
#[derive(Debug)]
pub struct PlanError(pub String);

impl std::fmt::Display for PlanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unreadable plan: {}", self.0)
    }
}

impl std::error::Error for PlanError {}

/// Switches, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    /// Which of the settings each switch has.
    pub switch: Vec<u16>,
    /// The switches at the ends of each path, in the order of the labels of a pair; empty: no paths.
    pub path_source: Vec<u32>,
    /// See above.
    pub path_destination: Vec<u32>,
    /// The first link of each path, and their number.
    pub path_offsets: Vec<u64>,
    /// The links of the paths, path by path; those from one node are alternatives.
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
    /// Whether it may lose units; empty: none may.
    pub lossy: Vec<u8>,
    /// Data channels of a fibre on which bursts are booked; empty: there is none.
    pub channels: Vec<u16>,
}

/// Flows, sorted by start.
#[derive(Clone, Debug, Default)]
pub struct Flows {
    /// Source host.
    pub source: Shared<u32>,
    /// Destination host.
    pub destination: Shared<u32>,
    /// Start in picoseconds.
    pub start_ps: Shared<u64>,
    /// Useful bytes.
    pub bytes: Shared<u64>,
    /// Which group; empty: all are of the first.
    pub group: Shared<u16>,
    /// Departures of datagrams in picoseconds, flow by flow.
    pub departures_ps: Shared<u64>,
    /// First departure of each flow, and their number.
    pub departure_offsets: Shared<u64>,
}

/// All that a run needs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// PlanSettings.
    pub settings: PlanSettings,
    /// Switches.
    pub nodes: Nodes,
    /// Links.
    pub links: Links,
    /// Flows.
    pub flows: Flows,
}

/// The settings of a plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanSettings {
    /// Number of hosts.
    pub hosts: u32,
    /// Number of nodes.
    pub nodes: u32,
    /// How next hops are found.
    pub routing: Routing,
    /// Choice among equal-cost next hops.
    pub choice: String,
    /// Choice among the paths of a pair, if there are any.
    #[serde(default)]
    pub label: Option<String>,
    /// How that choice follows the load, if it does.
    #[serde(default)]
    pub balance: Option<Balance>,
    /// Seed of all random streams.
    pub seed: u64,
    /// For tests: simultaneous events of different nodes in another order, which changes nothing.
    #[serde(default)]
    pub shuffle: Option<u64>,
    /// No event after this time is handled.
    pub time_limit_ps: u64,
    /// The settings that switches have; which of them is a column of the nodes.
    #[serde(deserialize_with = "switches")]
    pub switches: Vec<Arc<dyn SwitchSettings>>,
    /// The groups of flows.
    pub groups: Vec<Group>,
    /// How hosts serve their flows; none: first in, first out.
    #[serde(default)]
    pub fair: Option<Fair>,
    /// What lossy links lose.
    #[serde(default)]
    pub loss: Option<Loss>,
    /// The flows that are traced.
    #[serde(default)]
    pub trace: Option<Vec<u32>>,
    /// The links on which bursts are traced.
    #[serde(default)]
    pub bookings: Option<Bookings>,
    /// From one look at queues and buffers to the next.
    #[serde(default)]
    pub sample_ps: Option<u64>,
    /// Where the order of arrivals is looked at: how many packets early or late are beyond it.
    #[serde(default)]
    pub displacement_threshold: Option<u32>,
    /// Where it is seen whether flows move together: in which bins of time.
    #[serde(default)]
    pub synchronisation: Option<Bins>,
    /// The bursts whose contents are counted.
    #[serde(default)]
    pub bursts: Option<Span>,
    /// The time of which counts are given apart from those of the whole run.
    #[serde(default)]
    pub window: Option<Span>,
}

impl PlanSettings {
    /// When counts are read before the end of the run: where the window begins, unless it begins
    /// with the run, and where it ends.
    pub fn looks(&self) -> [Time; 2] {
        let look = |at: u64| if at == 0 { Time::NEVER } else { Time(at) };
        let looks = self
            .window
            .map(|span| [span.from_ps, span.until_ps].map(look));
        looks.unwrap_or([Time::NEVER; 2])
    }
}

/// Interfaces of hosts that serve flows in turn.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fair {
    /// Segments with data that a flow may have waiting there; none: any number.
    pub small_queue: Option<u32>,
}

/// Bins of time, one after another from 0 on.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bins {
    /// How long each is.
    pub bin_ps: u64,
    /// Those that begin earlier do not count.
    pub from_ps: u64,
    /// Nor do those that end later.
    pub until_ps: u64,
    /// Whether what is summed over them is kept for each, too.
    pub series: bool,
}

/// A time.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// Its beginning.
    pub from_ps: u64,
    /// Its end, which is not in it.
    pub until_ps: u64,
}

/// Which bursts on which links are traced.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bookings {
    /// The links.
    pub links: Vec<u32>,
    /// Those that are over by then are left out.
    pub from_ps: u64,
    /// And those that begin then or later.
    pub until_ps: u64,
}

/// How next hops are found.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Routing {
    /// Structured.
    FatTree {
        /// Ports of a switch, with one wavelength.
        k: u16,
        /// Parallel links between two switches.
        wavelengths: u16,
    },
    /// Tables.
    ShortestPath {
        /// What is shortest.
        metric: Metric,
    },
}

/// The length of a path.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Number of links.
    Hops,
    /// Sum of their delays.
    Delay,
}

/// How the choice among the paths of a pair follows the load.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Balance {
    /// What is offered for so long is reported.
    pub interval_ps: u64,
    /// A report comes so long after the end of its interval.
    pub delay_ps: u64,
    /// A path is left when its load was more than this.
    pub threshold: f64,
    /// Which load that is.
    pub threshold_on: ThresholdOn,
    /// What a fibre with a load of 1 carries; none: what its channels do.
    pub capacity_bps: Option<u64>,
}

/// The load that a threshold is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdOn {
    /// That of the link of a path that has the most.
    Link,
    /// That of all its links together.
    Path,
}

/// What lossy links lose.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loss {
    /// Of a unit with data.
    pub probability: f64,
    /// Of a unit without.
    pub acknowledgement_probability: f64,
    /// By script.
    #[serde(default)]
    pub drops: Vec<ScriptedDrop>,
}

/// A scripted drop: one of the four.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedDrop {
    /// The flow.
    #[serde(default)]
    pub flow: u32,
    /// The k-th burst with data.
    #[serde(default)]
    pub burst: Option<u64>,
    /// Data segments, from and to.
    #[serde(default)]
    pub segments: Option<(u64, u64)>,
    /// Which time they come.
    #[serde(default)]
    pub transmission: Option<u32>,
    /// A window in segments.
    #[serde(default)]
    pub window: Option<u16>,
    /// Units with acknowledgements, from and to.
    #[serde(default)]
    pub acknowledgements: Option<(u64, u64)>,
}

/// Flows that share a transport.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// What the user calls it; nothing, if it is the only one.
    #[serde(default)]
    pub name: Option<String>,
    /// The transport.
    pub transport: Transport,
}

/// The transport.
#[derive(Clone, Debug, Deserialize)]
pub struct Transport {
    /// Name in the registry.
    pub kind: String,
    /// Full segment on the wire.
    pub segment_bytes: u32,
    /// Headers of a data segment.
    pub header_bytes: u32,
    /// SYN, FIN and ACK.
    pub control_bytes: u32,
    /// Whether the receiver retransmits SYN+ACK and FIN+ACK by a timer of its own.
    #[serde(default)]
    pub receiver_timers: bool,
    /// Bytes that wait at a host's interface; none: any number.
    #[serde(default)]
    pub access_buffer_bytes: Option<u64>,
    /// Packets of which an edge makes its bursts; none: a burst is one.
    #[serde(default)]
    pub packet_bytes: Option<u32>,
    /// The settings of that transport.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, TransportSetting>,
}

impl Transport {
    /// Whether it has no connections.
    pub fn is_datagram(&self) -> bool {
        OPEN_LOOP.contains(&self.kind.as_str())
    }

    /// Whether each datagram enters the network at the edge of its host, as a burst, and ends at the
    /// edge of the other.
    pub fn at_edge(&self) -> bool {
        self.kind == BURSTS
    }

    /// Sizes on the wire.
    pub fn sizes(&self) -> Sizes {
        Sizes {
            segment: self.segment_bytes,
            header: self.header_bytes,
            control: self.control_bytes,
            access_buffer: self.access_buffer_bytes.unwrap_or(u64::MAX),
        }
    }

    /// Its other settings.
    pub fn parameters(&self) -> Parameters {
        parameters(&self.parameters)
    }
}

fn parameters(table: &BTreeMap<String, TransportSetting>) -> Parameters {
    let value = |(name, setting): (&String, &TransportSetting)| {
        let value = match setting {
            TransportSetting::Number(number) => Value::Number(*number),
            TransportSetting::Switch(on) => Value::Switch(*on),
            TransportSetting::Word(word) => Value::Word(word.clone()),
            TransportSetting::Table(table) => Value::Table(parameters(table)),
        };
        (name.clone(), value)
    };
    Parameters::new(table.iter().map(value))
}

/// A setting of a transport.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum TransportSetting {
    /// On or off.
    Switch(bool),
    /// A number.
    Number(f64),
    /// A name.
    Word(String),
    /// The settings of a policy.
    Table(BTreeMap<String, TransportSetting>),
}

impl Plan {
    /// The order of simultaneous events. All that nodes share is what scripted drops count.
    pub fn ties(&self) -> Ties {
        let ties = Ties::new(self.settings.seed, self.settings.shuffle);
        match &self.settings.loss {
            Some(loss) if !loss.drops.is_empty() => ties,
            _ => ties.of_separate_nodes(),
        }
    }

    /// The settings of a node that is a switch.
    pub fn switch(&self, node: u32) -> Option<&dyn SwitchSettings> {
        let switch = node.checked_sub(self.settings.hosts)?;
        let which = self.nodes.switch[switch as usize];
        Some(&*self.settings.switches[usize::from(which)])
    }

    /// How many classes of bursts there are, if they are told apart: each group of flows is one.
    pub fn classes(&self) -> usize {
        let switches = self.settings.switches.iter();
        switches.map(|switch| switch.classes()).max().unwrap_or(0)
    }

    /// How the packets of a flow are numbered.
    pub fn numbering(&self, flow: usize) -> Numbering {
        let transport = &self.group(flow).transport;
        let packet = transport.packet_bytes.map(u64::from);
        Numbering {
            full: u64::from(transport.segment_bytes - transport.header_bytes),
            packets: packet.map(|bytes| (u64::from(transport.header_bytes), bytes)),
        }
    }

    /// What switches cut off bursts, if any does: all the same.
    pub fn cuts(&self) -> Option<DropEnd> {
        let mut switches = self.settings.switches.iter();
        switches.find_map(|switch| switch.cuts())
    }

    /// The node at which a flow enters the network: its host, or that one's edge.
    pub fn origin(&self, flow: usize) -> NodeId {
        let host = self.flows.source[flow];
        match self.group(flow).transport.at_edge() {
            // A host has one link, and hosts come first.
            true => NodeId(self.links.to[host as usize]),
            false => NodeId(host),
        }
    }

    /// Which group a flow belongs to.
    pub fn group_index(&self, flow: usize) -> usize {
        self.flows.group.get(flow).copied().map_or(0, usize::from)
    }

    /// The group that a flow belongs to.
    pub fn group(&self, flow: usize) -> &Group {
        &self.settings.groups[self.group_index(flow)]
    }
}

impl PlanSettings {
    /// Reads the settings.
    pub fn from_json(json: &str) -> Result<PlanSettings, PlanError> {
        let unreadable = |error: serde_json::Error| PlanError(error.to_string());
        let settings: serde_json::Value = serde_json::from_str(json).map_err(unreadable)?;
        PlanSettings::deserialize(settings).map_err(unreadable)
    }
}

/// Each table as its kind of switch reads it.
fn switches<'de, D>(tables: D) -> Result<Vec<Arc<dyn SwitchSettings>>, D::Error>
where
    D: Deserializer<'de>,
{
    let tables = Vec::<Table>::deserialize(tables)?;
    let read = tables.into_iter().map(switch::read);
    read.collect::<Result<_, _>>().map_err(D::Error::custom)
}
