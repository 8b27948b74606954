//! Head dropping: the later burst loses its head. Detti, Eramo and Listanti 2002, "Performance
//! evaluation of a new technique for IP support in a WDM optical network: optical composite burst
//! switching (OCBS)".

use crate::obs::contention::{Contention, Resolved, Resolver};
use crate::obs::outputs::{Outputs, Request};
use lightburst_des::Time;
use lightburst_net::{BurstHeader, Context, Counted, Counters, Cut, CutCounters, DropReason};

/// Resolver that cuts the heads off later bursts.
#[derive(Default)]
pub struct HeadDrop {
    counters: CutCounters,
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
            start: wanted.start,
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
                self.counters.bursts += 1;
                self.counters.packets += u64::from(cut.packets);
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
