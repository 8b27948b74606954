//! Latest available unused channel with void filling (LAUC-VF): Xiong, Vandenhoute and Cankaya 2000,
//! section IV. Of the channels that are free then, the one whose void begins last; of equal ones the
//! first.

use super::{Scheduler, Wanted};
use crate::obs::channels::Channels;
use lightburst_des::{Stream, Time};

/// See above.
pub const LAUC_VF: Scheduler = Scheduler {
    name: "lauc-vf",
    fills_voids: true,
    choose,
};

fn choose(channels: &Channels, wanted: Wanted, _draw: &mut Stream) -> Option<u16> {
    let Wanted { start, end, .. } = wanted;
    // Of those that are not used any more: without branches, since no processor could predict them.
    let (mut latest, mut best, mut voids) = (0, None, false);
    let ends = channels.ends(wanted.channels.clone());
    for (channel, (&Time(horizon), &last_start)) in wanted.channels.clone().zip(ends) {
        let is_free = horizon <= start.0;
        let begins = if is_free { horizon + 1 } else { 0 };
        best = if begins > latest { Some(channel) } else { best };
        latest = latest.max(begins);
        voids |= !is_free & (last_start >= end);
    }
    if !voids {
        return best;
    }
    let mut best: Option<(Time, u16)> = None;
    for channel in wanted.channels {
        if let Some(void) = channels.void(channel, start, end) {
            if best.map_or(true, |(begins, _)| void > begins) {
                best = Some((void, channel));
            }
        }
    }
    best.map(|(_, channel)| channel)
}
