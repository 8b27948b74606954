//! Random fit with void filling: any channel that is free for the whole burst, with equal
//! probability. Without conversion it spreads the bursts evenly over the wavelengths.

use super::{Scheduler, Wanted};
use crate::obs::channels::Channels;
use lightburst_des::Stream;

/// Random fit with void filling.
pub const RANDOM_FIT: Scheduler = Scheduler {
    name: "random-fit",
    fills_voids: true,
    choose,
};

fn choose(channels: &Channels, wanted: Wanted, draw: &mut Stream) -> Option<u16> {
    let Wanted { start, end, .. } = wanted;
    let (mut chosen, mut free) = (None, 0);
    for channel in wanted.channels {
        if channels.void(channel, start, end).is_some() {
            // The n-th free channel replaces the chosen one with probability 1/n.
            free += 1;
            if draw.below(free) == 0 {
                chosen = Some(channel);
            }
        }
    }
    chosen
}
