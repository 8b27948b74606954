//! Outages of links, as given by the plan.

use lightburst_des::Time;
use lightburst_net::{LinkId, Outage};
use serde::Deserialize;
use std::collections::BTreeMap;

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

impl OutageSettings {
    /// Returns the outages of each link that is ever down, in order.
    pub fn by_link(&self) -> BTreeMap<LinkId, Vec<Outage>> {
        let mut outages: BTreeMap<LinkId, Vec<Outage>> = BTreeMap::new();
        for &(link, down, up) in &self.links {
            let (down, up) = (Time(down), Time(up));
            outages
                .entry(LinkId(link))
                .or_default()
                .push(Outage { down, up });
        }
        outages
    }
}
