//! First fit with void filling: the first channel that is free for the whole burst.

use super::{Scheduler, Wanted};
use crate::obs::channels::Channels;
use lightburst_des::Stream;

/// First fit with void filling.
pub const FIRST_FIT_VF: Scheduler = Scheduler {
    name: "first-fit-vf",
    fills_voids: true,
    choose,
};

fn choose(channels: &Channels, wanted: Wanted, _draw: &mut Stream) -> Option<u16> {
    let Wanted { start, end, .. } = wanted;
    let mut among = wanted.channels;
    among.find(|&channel| channels.void(channel, start, end).is_some())
}
