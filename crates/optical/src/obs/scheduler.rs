//! Channel scheduling: the choice of one among the usable channels. Each scheduler has a file of
//! its own and a line in [`REGISTRY`].

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

/// Reservation to be placed on a channel.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Usable channels.
    pub channels: Range<u16>,
    /// Start of the reservation.
    pub start: Time,
    /// End of the reservation.
    pub end: Time,
}

/// Rule that chooses a channel.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler {
    /// Name in the scenario.
    pub name: &'static str,
    /// Whether it also uses voids between two reservations.
    pub fills_voids: bool,
    /// Returns a channel for the reservation; `None` if the rule finds no free one.
    pub choose: fn(&Channels, Wanted, &mut Stream) -> Option<u16>,
}

/// All schedulers. To add one, create a file and add a line here.
pub const REGISTRY: &[Scheduler] = &[
    first_fit::FIRST_FIT,
    first_fit_vf::FIRST_FIT_VF,
    horizon::HORIZON,
    lauc::LAUC,
    lauc_vf::LAUC_VF,
    random_fit::RANDOM_FIT,
];

/// Returns the names of the schedulers that also use voids between two reservations.
pub fn void_filling() -> Vec<&'static str> {
    let filling = REGISTRY.iter().filter(|scheduler| scheduler.fills_voids);
    filling.map(|scheduler| scheduler.name).collect()
}

impl Scheduler {
    /// Returns the earliest time, not before `from`, at which this scheduler can place a
    /// reservation of length `time` on one of the channels `among`.
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
