//! Burst segmentation: of two bursts that collide only packets are lost that overlap. Here the later
//! burst loses its head: Detti, Eramo and Listanti 2002, "Performance evaluation of a new technique
//! for IP support in a WDM optical network: optical composite burst switching (OCBS)"; what to drop
//! is the question of Vokkarane and Jue 2003, "Prioritized burst segmentation and composite
//! burst-assembly techniques for QoS support in optical burst-switched networks".

use super::{Contention, Resolved, Resolver, ResolverSettings};
use crate::obs::outputs::{Outputs, Request};
use lightburst_des::Time;
use lightburst_net::{BurstHeader, Context, Counted, Counters, Cut, DropReason};
use serde::Deserialize;

/// What is cut off.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dropped {
    /// The packets at the head of the burst that comes later.
    Head,
}

/// How a node cuts bursts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentationSettings {
    /// What is cut off.
    pub drop: Dropped,
}

/// What segmentation counts.
#[derive(Debug, Default)]
pub struct SegmentationCounters {
    bursts_cut: u64,
    packets_cut: u64,
}

impl Counters for SegmentationCounters {
    fn counted(&self, _end: Time) -> Counted {
        Counted::default()
            .count("bursts_cut", self.bursts_cut)
            .count("packets_cut", self.packets_cut)
    }
}

/// Cuts the heads off later bursts.
#[derive(Default)]
struct HeadDrop {
    counters: SegmentationCounters,
}

impl ResolverSettings for SegmentationSettings {
    fn build(&self) -> Box<dyn Resolver> {
        match self.drop {
            Dropped::Head => Box::<HeadDrop>::default(),
        }
    }
}

impl Resolver for HeadDrop {
    fn resolve(
        &mut self,
        burst: &Contention,
        outputs: &mut Outputs,
        ctx: &mut Context<'_>,
    ) -> Result<Resolved, Option<&'static DropReason>> {
        let (ctx, wanted) = (&*ctx, burst.request);
        let BurstHeader {
            burst: it,
            envelope: whole,
            ..
        } = ctx.header(burst.header);
        let mut cut = Cut {
            packets: 0,
            bytes: 0,
            by: None,
        };
        let mut packets = ctx.packets_of(*it).peekable();
        while let Some(packet) = packets.next() {
            cut.packets += 1;
            cut.bytes += packet.envelope.bytes;
            if packets.peek().is_none() {
                break;
            }
            let request = Request {
                start: wanted.start + outputs.transmission_time(cut.bytes),
                time: outputs.transmission_time(whole.bytes - cut.bytes),
                ..wanted
            };
            if let Some(offer) = outputs.offer(burst.ports, &request, |_| true, ctx) {
                self.counters.bursts_cut += 1;
                self.counters.packets_cut += u64::from(cut.packets);
                cut.by = outputs.before(&offer, &wanted);
                return Ok(Resolved {
                    offer,
                    request,
                    cut: Some(cut),
                });
            }
        }
        Err(None)
    }

    fn lost(&mut self, _reason: &'static DropReason) {
        unreachable!("it gives no reason");
    }

    fn counted(&self, end: Time) -> Counted {
        self.counters.counted(end)
    }
}
