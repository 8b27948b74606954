//! Groups of flows in a plan, each with its transport.

use super::Writes;
use lightburst_tcp as tcp;
use lightburst_tcp::{transport, Parameters, Sizes};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Transport whose datagrams are bursts generated at edges.
const BURSTS: &str = "bursts";
/// Transports without connections.
pub const OPEN_LOOP: [&str; 2] = ["datagram", BURSTS];

/// Flows that share a transport.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Name given by the user; `None` if there is only one group.
    #[serde(default)]
    pub name: Option<String>,
    /// The transport.
    pub transport: Transport,
    /// Writes of the application; `None` if it writes all data at once.
    #[serde(default)]
    pub writes: Option<Writes>,
}

/// Transport of a group.
#[derive(Clone, Debug, Deserialize)]
pub struct Transport {
    /// Name in the registry.
    pub kind: String,
    /// Size of a full segment on the wire, in bytes.
    pub segment_bytes: u32,
    /// Size of the headers of a data segment, in bytes.
    pub header_bytes: u32,
    /// Size of SYN, FIN and ACK on the wire, in bytes.
    pub control_bytes: u32,
    /// Whether the receiver retransmits SYN+ACK and FIN+ACK by its own timer.
    #[serde(default)]
    pub receiver_timers: bool,
    /// Whether SYN and SYN+ACK precede the data.
    #[serde(default = "with_handshake")]
    pub handshake: bool,
    /// Capacity of a host's interface queue in bytes; `None`: unlimited.
    #[serde(default)]
    pub access_buffer_bytes: Option<u64>,
    /// Size on the wire of the packets in a burst generated at an edge; `None`: one packet per
    /// burst.
    #[serde(default)]
    pub packet_bytes: Option<u32>,
    /// Number of subflows of each connection.
    #[serde(default = "one")]
    pub subflows: u16,
    /// Whether a subflow sends again what another one holds after a timeout.
    #[serde(default)]
    pub reinjection: bool,
    /// Whether the subflows of a connection share its receive window.
    #[serde(default)]
    pub shared_window: bool,
    /// Settings specific to this transport.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, TransportSetting>,
}

fn one() -> u16 {
    1
}

fn with_handshake() -> bool {
    true
}

impl Transport {
    /// Whether the transport has no connections.
    pub fn is_datagram(&self) -> bool {
        OPEN_LOOP.contains(&self.kind.as_str())
    }

    /// Whether each datagram is a burst that enters the network at the edge of its source host and
    /// ends at the edge of its destination host.
    pub fn at_edge(&self) -> bool {
        self.kind == BURSTS
    }

    /// Returns the sizes on the wire.
    pub fn sizes(&self) -> Sizes {
        Sizes {
            segment: self.segment_bytes,
            header: self.header_bytes,
            control: self.control_bytes,
            access_buffer: self.access_buffer_bytes.unwrap_or(u64::MAX),
            capable: transport::capable(&self.kind, &self.parameters()),
            trimmable: transport::trimmable(&self.kind, &self.parameters()),
        }
    }

    /// Whether outputs add telemetry to its packets.
    pub fn asks_for_telemetry(&self) -> bool {
        transport::asks_for_telemetry(&self.kind, &self.parameters())
    }

    /// Returns the kind that the table called `name` of this transport selects, if there is one.
    pub fn policy(&self, name: &str) -> Option<&str> {
        let table = match self.parameters.get(name)? {
            TransportSetting::Table(table) => table,
            _ => return None,
        };
        match table.get("kind")? {
            TransportSetting::Word(kind) => Some(kind),
            _ => None,
        }
    }

    /// Returns the settings specific to this transport.
    pub fn parameters(&self) -> Parameters {
        parameters(&self.parameters)
    }
}

fn parameters(table: &BTreeMap<String, TransportSetting>) -> Parameters {
    let value = |(name, setting): (&String, &TransportSetting)| {
        let value = match setting {
            TransportSetting::Number(number) => tcp::Value::Number(*number),
            TransportSetting::Switch(on) => tcp::Value::Switch(*on),
            TransportSetting::Word(word) => tcp::Value::Word(word.clone()),
            TransportSetting::Table(table) => tcp::Value::Table(parameters(table)),
        };
        (name.clone(), value)
    };
    Parameters::new(table.iter().map(value))
}

/// Setting of a transport.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum TransportSetting {
    /// Switch: on or off.
    Switch(bool),
    /// Number.
    Number(f64),
    /// Name.
    Word(String),
    /// Settings of a policy.
    Table(BTreeMap<String, TransportSetting>),
}
