//! Burst segmentation: when two bursts collide, only the overlapping packets are lost. The choice
//! of these packets is studied by Vokkarane and Jue 2003, "Prioritized burst segmentation and
//! composite burst-assembly techniques for QoS support in optical burst-switched networks".

mod head;
mod tail;

use super::{Resolver, ResolverSettings};
use head::HeadDrop;
use serde::Deserialize;
use tail::TailDrop;

/// Part of a burst that is cut off: its head or its tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropEnd {
    /// The packets at the head of the later burst are dropped.
    Head,
    /// The packets at the tail of the earlier burst are dropped.
    Tail,
}

/// Settings of segmentation at a node.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentationSettings {
    /// Part that is cut off.
    pub drop: DropEnd,
}

impl ResolverSettings for SegmentationSettings {
    fn build(&self) -> Box<dyn Resolver> {
        match self.drop {
            DropEnd::Head => Box::<HeadDrop>::default(),
            DropEnd::Tail => Box::new(TailDrop),
        }
    }

    fn cuts(&self) -> Option<DropEnd> {
        Some(self.drop)
    }
}
