//! Tail dropping: the earlier burst loses its tail. Vokkarane, Jue and Sitaraman 2002, "Burst
//! segmentation: an approach for reducing packet loss in optical burst switched networks", with
//! their modified tail dropping: only if the tail is shorter than the contending burst. No trailer
//! informs the downstream nodes of the cut.

use crate::obs::contention::{Contention, Resolved, Resolver};
use crate::obs::outputs::{Offer, Outputs, Request};
use lightburst_des::Time;
use lightburst_net::{Context, Counted, DropReason, PortId, Sent, Slot};

/// Resolver that cuts the tails off earlier bursts.
pub struct TailDrop;

/// Burst whose tail may be cut off.
#[derive(Clone, Copy, Debug)]
struct Earlier {
    port: PortId,
    channel: u16,
    /// Index among the bursts sent by the port.
    place: usize,
    /// End of its transmission before the cut.
    end: Time,
    /// Number of its bytes transmitted before the cut.
    bytes: u32,
}

/// Returns the burst on a channel of a port, if cutting its tail frees the channel for the request.
fn on_channel(
    outputs: &Outputs,
    (port, channel): (PortId, u16),
    request: &Request,
) -> Option<Earlier> {
    let (start, end) = outputs.reserved(request);
    let until = match outputs.settings.scheduler.fills_voids {
        true => end,
        false => Time::NEVER,
    };
    if outputs.is_channel_down(port, channel) {
        return None;
    }
    let reservation = outputs.channels(port).only_holder(channel, start, until)?;
    let place = outputs.place_of(port, channel, reservation)?;
    let Sent { slot, first, .. } = *outputs.sent(port, place);
    if reservation.end >= end || start <= slot.start {
        return None;
    }
    let bytes = outputs.transmitted(start.since(slot.start));
    (bytes >= u64::from(first)).then_some(Earlier {
        port,
        channel,
        place,
        end: reservation.end,
        bytes: bytes as u32,
    })
}

impl Resolver for TailDrop {
    fn resolve(
        &mut self,
        burst: &Contention,
        outputs: &mut Outputs,
        ctx: &mut Context<'_>,
    ) -> Result<Resolved, Option<&'static DropReason>> {
        let request = burst.request;
        let channels = |&port: &PortId| {
            let reach = outputs.reach(port, &request);
            reach.map(move |channel| (port, channel))
        };
        let ports = ctx.ports(burst.ports).iter();
        let up = ports.filter(|&&port| !outputs.is_down(port));
        let all = up.flat_map(channels);
        let earlier = all.filter_map(|of| on_channel(outputs, of, &request));
        let Some(shortest) = earlier.min_by_key(|earlier| earlier.end) else {
            return Err(None);
        };
        let Earlier {
            port,
            channel,
            place,
            bytes,
            ..
        } = shortest;
        let sent = outputs.shorten(port, place, bytes);
        ctx.shorten(port, &sent, bytes, request.burst);
        let slot = Slot {
            channel,
            start: request.start,
            delayed: request.delayed,
        };
        let reserved = outputs.reserved(&request);
        Ok(Resolved::whole(
            Offer {
                port,
                slot,
                reserved,
            },
            request,
        ))
    }

    fn lost(&mut self, _reason: &'static DropReason) {
        unreachable!("it gives no reason");
    }

    fn counted(&self, _end: Time) -> Counted {
        // The cut packets are counted where their bursts end.
        Counted::default()
    }
}
