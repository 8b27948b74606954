//! First fit: the first channel whose last reservation ends by the start of the burst.

use super::{Scheduler, Wanted};
use crate::obs::channels::Channels;
use lightburst_des::Stream;

/// First fit without void filling.
pub const FIRST_FIT: Scheduler = Scheduler {
    name: "first-fit",
    fills_voids: false,
    choose,
};

fn choose(channels: &Channels, wanted: Wanted, _draw: &mut Stream) -> Option<u16> {
    let mut among = wanted.channels;
    among.find(|&channel| channels.horizon(channel) <= wanted.start)
}
