//! Data channels of a fibre and their reservations.

#[cfg(test)]
pub mod model;

use lightburst_des::{Duration, Time};
use lightburst_net::{Identity, Timeline};
use std::ops::Range;

/// Reservation of a channel from `start` (included) to `end` (excluded).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Start of the reservation.
    pub start: Time,
    /// End of the reservation.
    pub end: Time,
    /// Burst that uses the channel.
    pub burst: Identity,
}

/// One data channel.
#[derive(Clone, Debug, Default)]
struct Channel {
    /// Reservations in order of time; those in the past may have been removed.
    reservations: Timeline<Reservation>,
    /// End of the last reservation that was removed.
    over: Time,
}

/// All data channels of a fibre.
#[derive(Clone, Debug)]
pub struct Channels {
    /// End (horizon) and start of the last reservation of each channel, stored side by side because
    /// most choices among channels need nothing else.
    horizons: Vec<Time>,
    last_starts: Vec<Time>,
    /// Latest of `last_starts`.
    latest_start: Time,
    channels: Vec<Channel>,
}

impl Channels {
    /// Creates `number` channels without reservations.
    pub fn new(number: u16) -> Channels {
        Channels {
            horizons: vec![Time::ZERO; usize::from(number)],
            last_starts: vec![Time::ZERO; usize::from(number)],
            latest_start: Time::ZERO,
            channels: vec![Channel::default(); usize::from(number)],
        }
    }

    /// Returns these channels with some of them, at the places that are true, in use for ever.
    pub fn without(&self, down: &[bool]) -> Channels {
        let mut rest = self.clone();
        for channel in (0..down.len()).filter(|&channel| down[channel]) {
            rest.horizons[channel] = Time::NEVER;
            rest.last_starts[channel] = Time::ZERO;
            rest.channels[channel] = Channel::default();
            let (start, end) = (Time::ZERO, Time::NEVER);
            let burst = Identity::default();
            let always = Reservation { start, end, burst };
            rest.channels[channel].reservations.push(always, |_| false);
        }
        rest
    }

    /// Returns the numbers of all channels.
    pub fn all(&self) -> Range<u16> {
        0..self.channels.len() as u16
    }

    /// Returns the end of the last reservation of a channel.
    #[inline]
    pub fn horizon(&self, channel: u16) -> Time {
        self.horizons[usize::from(channel)]
    }

    /// Returns the horizons of a range of channels.
    #[inline]
    pub fn horizons(&self, channels: Range<u16>) -> &[Time] {
        &self.horizons[usize::from(channels.start)..usize::from(channels.end)]
    }

    /// Whether one of these channels may be free before its last reservation, for a burst that ends
    /// at `end`: whether a last reservation starts at `end` or later.
    #[inline]
    pub fn may_have_voids(&self, channels: Range<u16>, end: Time) -> bool {
        // With equal offset times, reservations are made in the order of their starts.
        if self.latest_start < end {
            return false;
        }
        let places = usize::from(channels.start)..usize::from(channels.end);
        self.last_starts[places].iter().any(|&begins| begins >= end)
    }

    /// Returns the start of the void that contains the time from `start` to `end`, or `None` if the
    /// channel is not free all that time.
    #[inline]
    pub fn void(&self, channel: u16, start: Time, end: Time) -> Option<Time> {
        let horizon = self.horizon(channel);
        if horizon <= start {
            return Some(horizon);
        }
        if self.last_starts[usize::from(channel)] < end {
            return None;
        }
        self.void_between(channel, start, end)
    }

    /// Searches the void between reservations. Kept out of line because this case is rare.
    #[inline(never)]
    fn void_between(&self, channel: u16, start: Time, end: Time) -> Option<Time> {
        let channel = &self.channels[usize::from(channel)];
        for reservation in channel.reservations.iter().rev() {
            if reservation.end <= start {
                return Some(reservation.end);
            }
            if reservation.start < end {
                return None;
            }
        }
        Some(channel.over)
    }

    /// Returns the earliest time, not before `from`, at which a channel is free for a duration of
    /// `time`.
    pub fn earliest(&self, channel: u16, from: Time, time: Duration) -> Time {
        let mut start = from;
        for reservation in self.channels[usize::from(channel)].reservations.iter() {
            if start + time <= reservation.start {
                break;
            }
            start = start.max(reservation.end);
        }
        start
    }

    /// Returns the first reservation of a channel that overlaps the given time.
    pub fn holder(&self, channel: u16, start: Time, end: Time) -> Option<&Reservation> {
        let mut reservations = self.channels[usize::from(channel)].reservations.iter();
        reservations.find(|reservation| reservation.start < end && start < reservation.end)
    }

    /// Returns the last reservation of a channel that overlaps the given time.
    pub fn last_holder(&self, channel: u16, start: Time, end: Time) -> Option<&Reservation> {
        let mut reservations = self.channels[usize::from(channel)]
            .reservations
            .iter()
            .rev();
        reservations.find(|reservation| reservation.start < end && start < reservation.end)
    }

    /// Returns the reservation of a channel that overlaps the given time, if it is the only one.
    pub fn only_holder(&self, channel: u16, start: Time, end: Time) -> Option<&Reservation> {
        let reservations = self.channels[usize::from(channel)].reservations.iter();
        let mut holders =
            reservations.filter(|reservation| reservation.start < end && start < reservation.end);
        let one = holders.next()?;
        holders.next().is_none().then_some(one)
    }

    /// Moves the end of the reservation that ends at `end` to the time `earlier`.
    pub fn shorten(&mut self, channel: u16, end: Time, earlier: Time) {
        let horizon = &mut self.horizons[usize::from(channel)];
        if *horizon == end {
            *horizon = earlier;
        }
        let mut reservations = self.channels[usize::from(channel)].reservations.iter_mut();
        let it = reservations.find(|reservation| reservation.end == end);
        it.expect("a reservation").end = earlier;
    }

    /// Reserves a channel, which must be free. Reservations that ended by `now` may be removed.
    #[inline]
    pub fn reserve(&mut self, channel: u16, reservation: Reservation, now: Time) {
        let horizon = &mut self.horizons[usize::from(channel)];
        let last = reservation.start >= *horizon;
        if reservation.end > *horizon {
            *horizon = reservation.end;
            self.last_starts[usize::from(channel)] = reservation.start;
            self.latest_start = self.latest_start.max(reservation.start);
        }
        let Channel { reservations, over } = &mut self.channels[usize::from(channel)];
        let is_over = |first: &Reservation| {
            let ended = first.end <= now;
            *over = if ended { first.end } else { *over };
            ended
        };
        if last {
            reservations.push(reservation, is_over);
        } else {
            reservations.insert(reservation, is_over, |reservations| {
                reservations.partition_point(|other| other.start < reservation.end)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reserved(times: &[(u64, u64)]) -> Channels {
        let mut channels = Channels::new(1);
        for &(start, end) in times {
            channels.reserve(0, reservation(start, end), Time::ZERO);
        }
        channels
    }

    fn reservation(start: u64, end: u64) -> Reservation {
        Reservation {
            start: Time(start),
            end: Time(end),
            burst: Identity::default(),
        }
    }

    #[test]
    fn a_void_holds_what_touches_its_ends() {
        // in either order of reservation
        for times in [[(10, 20), (30, 40)], [(30, 40), (10, 20)]] {
            let channels = reserved(&times);
            let void = |start, end| channels.void(0, Time(start), Time(end)).map(|time| time.0);
            assert_eq!(void(0, 10), Some(0));
            assert_eq!(void(0, 11), None);
            assert_eq!(void(20, 30), Some(20));
            assert_eq!(void(19, 30), None);
            assert_eq!(void(20, 31), None);
            assert_eq!(void(40, 1000), Some(40));
            assert_eq!(void(39, 41), None);
        }
    }

    #[test]
    fn what_is_over_still_bounds_the_void_behind_it() {
        let mut channels = reserved(&[(10, 20), (50, 60)]);
        let void = |channels: &Channels| channels.void(0, Time(30), Time(40));
        assert_eq!(void(&channels), Some(Time(20)));
        // until the list is full and the past reservation is removed
        for i in 0..100 {
            channels.reserve(0, reservation(70 + i, 71 + i), Time(20));
        }
        assert_eq!(channels.channels[0].reservations[0], reservation(50, 60));
        assert_eq!(void(&channels), Some(Time(20)));
    }

    #[test]
    fn the_earliest_time_is_in_the_first_void_that_is_long_enough() {
        let channels = reserved(&[(10, 20), (25, 40), (60, 70)]);
        let earliest = |from, time| channels.earliest(0, Time(from), Duration(time)).0;
        assert_eq!(
            [earliest(0, 10), earliest(0, 11), earliest(12, 5)],
            [0, 40, 20]
        );
        assert_eq!(
            [earliest(22, 4), earliest(0, 21), earliest(65, 1)],
            [40, 70, 70]
        );
    }

    #[test]
    fn the_holder_is_the_first_that_is_in_the_way() {
        let channels = reserved(&[(10, 20), (25, 40)]);
        let holder = |start, end| channels.holder(0, Time(start), Time(end)).copied();
        assert_eq!(holder(15, 30), Some(reservation(10, 20)));
        assert_eq!(holder(20, 30), Some(reservation(25, 40)));
        assert_eq!(holder(20, 25), None);
    }

    #[test]
    fn one_reservation_alone_is_in_the_way_and_may_end_earlier() {
        let mut channels = reserved(&[(10, 20), (25, 40)]);
        let alone = |channels: &Channels, start, end| {
            let found = channels.only_holder(0, Time(start), end);
            found.copied()
        };
        assert_eq!(alone(&channels, 15, Time(25)), Some(reservation(10, 20)));
        assert_eq!(alone(&channels, 15, Time(26)), None);
        assert_eq!(alone(&channels, 15, Time::NEVER), None);
        assert_eq!(alone(&channels, 20, Time::NEVER), Some(reservation(25, 40)));
        channels.shorten(0, Time(20), Time(13));
        assert_eq!(channels.void(0, Time(13), Time(25)), Some(Time(13)));
        assert_eq!(channels.horizon(0), Time(40));
        channels.shorten(0, Time(40), Time(33));
        assert_eq!(channels.horizon(0), Time(33));
    }
}
