//! Packet network beside circuits: an electronic switch that joins all racks. Which packets a rack
//! hands to it follows from their flow.

use crate::settings::named;
use lightburst_net::{Context, PacketId, Unit};
use serde::{Deserialize, Deserializer};
use std::sync::Arc;

/// What is compared with the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// Size of the flow.
    Size,
    /// Bytes of the flow up to the last one of the packet.
    Age,
}

const RULES: &[(&str, By)] = &[("size", By::Size), ("age", By::Age)];

/// Settings of the packet network, as the racks see it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketSettings {
    #[serde(deserialize_with = "rule")]
    by: By,
    threshold_bytes: u64,
    /// Capacity of the queue of a rack for the packet network, in bytes; `None`: unlimited.
    pub queue_bytes: Option<u64>,
    /// Backlog of this queue from which on units are marked (ECN); `None`: never.
    pub ecn_threshold_bytes: Option<u64>,
}

fn rule<'de, D: Deserializer<'de>>(given: D) -> Result<By, D::Error> {
    named("rules of packet networks", RULES, |rule| rule.0, given).map(|rule| rule.1)
}

impl PacketSettings {
    /// Whether it asks for the sizes of flows.
    pub fn wants_sizes(&self) -> bool {
        self.by == By::Size
    }

    /// Makes the rule of the racks; `sizes` are the bytes of each flow, if it asks for them.
    pub fn rule(&self, sizes: &Arc<[u64]>) -> Rule {
        let sizes = self.wants_sizes().then(|| Arc::clone(sizes));
        Rule {
            sizes,
            threshold: self.threshold_bytes,
        }
    }
}

/// Rule by which a rack hands packets to the packet network.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Bytes of each flow; `None`: by age.
    sizes: Option<Arc<[u64]>>,
    threshold: u64,
}

impl Rule {
    /// Whether the packet network carries a unit: one without data, one of a short flow, or one at
    /// the begin of its flow.
    pub fn takes(&self, unit: Unit, ctx: &Context<'_>) -> bool {
        let Unit::Packet(packet) = unit else {
            return false;
        };
        ctx.packet(packet).header.payload == 0 || self.bytes(packet, ctx) <= self.threshold
    }

    fn bytes(&self, packet: PacketId, ctx: &Context<'_>) -> u64 {
        match &self.sizes {
            Some(sizes) => sizes[ctx.envelope(packet).flow.index()],
            None => {
                let header = &ctx.packet(packet).header;
                header.sequence + u64::from(header.payload)
            }
        }
    }
}
