//! Latest available unused channel with void filling (LAUC-VF): Xiong, Vandenhoute and Cankaya
//! 2000, section IV. Among the channels that are free for the whole burst, it takes the one whose
//! void begins last. Among equal channels it takes the first.

use super::{Scheduler, Wanted};
use crate::obs::channels::Channels;
use lightburst_des::{Stream, Time};

/// LAUC-VF, with void filling.
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
    let (gap, place) = least_gap(channels.horizons(wanted.channels.clone()), start);
    (gap <= start.0).then_some(wanted.channels.start + place)
}

/// Returns the smallest gap from a horizon to `start`, modulo 2^64, and the index of its first
/// channel. The gap of a channel still in use at `start` wraps around to a value greater than that
/// of any free channel. The loop therefore needs no branches, which no processor could predict.
#[inline]
fn least_gap(horizons: &[Time], start: Time) -> (u64, u16) {
    let lower = |least: (u64, u16), horizon: Time, place: u16| {
        let gap = start.0.wrapping_sub(horizon.0);
        let is_less = gap < least.0;
        (
            if is_less { gap } else { least.0 },
            if is_less { place } else { least.1 },
        )
    };
    // Two independent minima, since each comparison has to wait for the previous minimum.
    let (mut even, mut odd) = ((u64::MAX, 0), (u64::MAX, 0));
    let fours = horizons.chunks_exact(4);
    let rest = fours.remainder();
    let mut place = 0;
    for four in fours {
        even = lower(even, four[0], place);
        odd = lower(odd, four[1], place + 1);
        even = lower(even, four[2], place + 2);
        odd = lower(odd, four[3], place + 3);
        place += 4;
    }
    for &horizon in rest {
        even = lower(even, horizon, place);
        place += 1;
    }
    even.min(odd)
}

/// Chooses a channel when there may be voids between reservations.
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
