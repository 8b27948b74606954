//! Burst segmentation: of two bursts that collide only packets are lost that overlap. What to drop
//! is the question of Vokkarane and Jue 2003, "Prioritized burst segmentation and composite
//! burst-assembly techniques for QoS support in optical burst-switched networks".

mod head;
mod tail;

use super::{Resolver, ResolverSettings};
use head::HeadDrop;
use serde::Deserialize;
use tail::TailDrop;

/// What is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropEnd {
    /// The packets at the head of the burst that comes later.
    Head,
    /// Those at the tail of the burst that came before.
    Tail,
}

/// How a node cuts bursts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentationSettings {
    /// What is cut off.
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
