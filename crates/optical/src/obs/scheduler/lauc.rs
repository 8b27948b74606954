//! Latest available unscheduled channel (LAUC): Xiong, Vandenhoute and Cankaya 2000, "Control
//! architecture in optical burst-switched WDM networks", section IV. Among the channels whose last
//! reservation ends by the start of the burst, it takes the one with the latest end, which wastes
//! the smallest gap. Among equal channels it takes the first.

use super::{Scheduler, Wanted};
use crate::obs::channels::Channels;
use lightburst_des::Stream;

/// LAUC, without void filling.
pub const LAUC: Scheduler = Scheduler {
    name: "lauc",
    fills_voids: false,
    choose,
};

fn choose(channels: &Channels, wanted: Wanted, _draw: &mut Stream) -> Option<u16> {
    let free = wanted
        .channels
        .filter(|&channel| channels.horizon(channel) <= wanted.start);
    // `max_by_key` returns the last of several equal channels, hence `rev`.
    free.rev().max_by_key(|&channel| channels.horizon(channel))
}
