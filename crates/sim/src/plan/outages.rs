//! Outages of links, as given by the plan.

use serde::Deserialize;

/// Links that are down for a time, and what the routes do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutageSettings {
    /// Link, first instant at which it is down, and first instant at which it is up again; by link
    /// and time.
    pub links: Vec<(u32, u64, u64)>,
    /// The same of single data channels of fibres: link, channel, begin and end; by link, channel and
    /// time.
    #[serde(default)]
    pub channels: Vec<(u32, u16, u64, u64)>,
    /// Delay from a change of a link to that of the routes; `None`: routes do not change.
    #[serde(default)]
    pub restoration_ps: Option<u64>,
    /// Whether units that wait when the routes change take the new ones; otherwise they are lost.
    #[serde(default)]
    pub reroute: bool,
}
