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
    if channels.may_have_voids(wanted.channels.clone(), end) {
        return choose_void(channels, wanted);
    }
    let horizons = channels.horizons(wanted.channels.clone());
    let latest = Time(start.0.wrapping_sub(least_gap(horizons, start)));
    let place = horizons.iter().position(|&horizon| horizon == latest)?;
    (latest <= start).then(|| wanted.channels.start + place as u16)
}

/// The least time from one of these to `start`, modulo 2^64: of a channel that is in use by then it
/// is more than of any that is free, so that no branch has to tell them apart, which no processor
/// could predict.
#[inline]
fn least_gap(horizons: &[Time], start: Time) -> u64 {
    let gap = |horizon: &Time| start.0.wrapping_sub(horizon.0);
    // Four at once, since each minimum waits for the one before.
    let fours = horizons.chunks_exact(4);
    let rest = fours.remainder().iter().map(gap).fold(u64::MAX, u64::min);
    let mut least = [u64::MAX; 4];
    for four in fours {
        for (least, horizon) in least.iter_mut().zip(four) {
            *least = gap(horizon).min(*least);
        }
    }
    least.into_iter().fold(rest, u64::min)
}

/// The same where there is room before a booking.
#[inline(never)]
fn choose_void(channels: &Channels, wanted: Wanted) -> Option<u16> {
    let Wanted { start, end, .. } = wanted;
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
