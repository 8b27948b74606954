//! Channel scheduling: on which of the channels that it could use a burst is booked. One file for each;
//! [`REGISTRY`] is the one list of them.

mod first_fit;
mod first_fit_vf;
mod horizon;
mod lauc;
mod lauc_vf;
mod random_fit;
#[cfg(test)]
mod tests;

use super::channels::Channels;
use lightburst_des::{Duration, Stream, Time};
use std::ops::Range;

/// What is to be booked.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// On one of these channels.
    pub channels: Range<u16>,
    /// From here.
    pub start: Time,
    /// To here.
    pub end: Time,
}

/// A rule that chooses a channel.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler {
    /// The name.
    pub name: &'static str,
    /// Whether it also books between two bookings.
    pub fills_voids: bool,
    /// A channel that is free then, if there is one that it can use.
    pub choose: fn(&Channels, Wanted, &mut Stream) -> Option<u16>,
}

/// All schedulers. A new one is a new file and a line here.
pub const REGISTRY: &[Scheduler] = &[
    first_fit::FIRST_FIT,
    first_fit_vf::FIRST_FIT_VF,
    horizon::HORIZON,
    lauc::LAUC,
    lauc_vf::LAUC_VF,
    random_fit::RANDOM_FIT,
];

impl Scheduler {
    /// The earliest time, not before `from`, from which one of some channels can be booked for `time`.
    pub fn earliest(
        &self,
        channels: &Channels,
        among: Range<u16>,
        from: Time,
        time: Duration,
    ) -> Option<Time> {
        let one = |channel| match self.fills_voids {
            true => channels.earliest(channel, from, time),
            false => channels.horizon(channel).max(from),
        };
        among.map(one).min()
    }
}
