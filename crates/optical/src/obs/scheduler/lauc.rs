//! Latest available unscheduled channel (LAUC): Xiong, Vandenhoute and Cankaya 2000, "Control
//! architecture in optical burst-switched WDM networks", section IV. Of the channels on which nothing is
//! booked any more, the one with the latest end, so that the smallest gap is lost; of equal ones the
//! first.

use super::{Scheduler, Wanted};
use crate::obs::channels::Channels;
use lightburst_des::Stream;

/// See above.
pub const LAUC: Scheduler = Scheduler {
    name: "lauc",
    fills_voids: false,
    choose,
};

fn choose(channels: &Channels, wanted: Wanted, _draw: &mut Stream) -> Option<u16> {
    let free = wanted
        .channels
        .filter(|&channel| channels.horizon(channel) <= wanted.start);
    // Of several with one end `max_by_key` takes the last.
    free.rev().max_by_key(|&channel| channels.horizon(channel))
}
