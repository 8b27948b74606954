//! The data channels of a fibre, and what is booked on them.

use lightburst_des::{Duration, Time};
use lightburst_net::{Birth, Timeline};
use std::ops::Range;

/// A channel is booked from `start` on, and free again at `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Booking {
    /// When it begins.
    pub start: Time,
    /// When it is over.
    pub end: Time,
    /// The burst for which it is.
    pub burst: Birth,
}

/// One data channel.
#[derive(Clone, Debug, Default)]
struct Channel {
    /// In the order of time; those that are over may be missing.
    bookings: Timeline<Booking>,
    /// The end of the last one that is missing.
    over: Time,
}

/// The data channels of a fibre.
#[derive(Clone, Debug)]
pub struct Channels {
    /// The end of the last booking of each, and its start: side by side, since a choice among
    /// channels mostly needs no more.
    horizons: Vec<Time>,
    last_starts: Vec<Time>,
    /// The latest of these.
    latest_start: Time,
    channels: Vec<Channel>,
}

impl Channels {
    /// So many channels, on which nothing is booked.
    pub fn new(number: u16) -> Channels {
        Channels {
            horizons: vec![Time::ZERO; usize::from(number)],
            last_starts: vec![Time::ZERO; usize::from(number)],
            latest_start: Time::ZERO,
            channels: vec![Channel::default(); usize::from(number)],
        }
    }

    /// All of them.
    pub fn all(&self) -> Range<u16> {
        0..self.channels.len() as u16
    }

    /// The end of the last booking of a channel.
    #[inline]
    pub fn horizon(&self, channel: u16) -> Time {
        self.horizons[usize::from(channel)]
    }

    /// The end of the last booking of each of these channels.
    #[inline]
    pub fn horizons(&self, channels: Range<u16>) -> &[Time] {
        &self.horizons[usize::from(channels.start)..usize::from(channels.end)]
    }

    /// Whether there may be room before the last booking of one of these channels: whether one
    /// begins at `end` or later.
    #[inline]
    pub fn may_have_voids(&self, channels: Range<u16>, end: Time) -> bool {
        // Where all offset times are alike, bookings come in the order of their starts.
        if self.latest_start < end {
            return false;
        }
        let places = usize::from(channels.start)..usize::from(channels.end);
        self.last_starts[places].iter().any(|&begins| begins >= end)
    }

    /// When the void begins that holds all from `start` to `end`, if a channel is free then.
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

    /// The same where the last booking is later; apart, since that is seldom so.
    #[inline(never)]
    fn void_between(&self, channel: u16, start: Time, end: Time) -> Option<Time> {
        let channel = &self.channels[usize::from(channel)];
        for booking in channel.bookings.iter().rev() {
            if booking.end <= start {
                return Some(booking.end);
            }
            if booking.start < end {
                return None;
            }
        }
        Some(channel.over)
    }

    /// The earliest time, not before `from`, from which a channel is free for `time`.
    pub fn earliest(&self, channel: u16, from: Time, time: Duration) -> Time {
        let mut start = from;
        for booking in self.channels[usize::from(channel)].bookings.iter() {
            if start + time <= booking.start {
                break;
            }
            start = start.max(booking.end);
        }
        start
    }

    /// What is booked first of all that overlaps a time on a channel.
    pub fn holder(&self, channel: u16, start: Time, end: Time) -> Option<&Booking> {
        let mut bookings = self.channels[usize::from(channel)].bookings.iter();
        bookings.find(|booking| booking.start < end && start < booking.end)
    }

    /// What is booked last of all that overlaps a time on a channel.
    pub fn last_holder(&self, channel: u16, start: Time, end: Time) -> Option<&Booking> {
        let mut bookings = self.channels[usize::from(channel)].bookings.iter().rev();
        bookings.find(|booking| booking.start < end && start < booking.end)
    }

    /// The one booking that overlaps a time on a channel; none where there are several.
    pub fn only_holder(&self, channel: u16, start: Time, end: Time) -> Option<&Booking> {
        let bookings = self.channels[usize::from(channel)].bookings.iter();
        let mut holders = bookings.filter(|booking| booking.start < end && start < booking.end);
        let one = holders.next()?;
        holders.next().is_none().then_some(one)
    }

    /// A booking that ends at `end` ends earlier: nothing else is booked in between.
    pub fn shorten(&mut self, channel: u16, end: Time, earlier: Time) {
        let horizon = &mut self.horizons[usize::from(channel)];
        if *horizon == end {
            *horizon = earlier;
        }
        let mut bookings = self.channels[usize::from(channel)].bookings.iter_mut();
        let it = bookings.find(|booking| booking.end == end);
        it.expect("a booking").end = earlier;
    }

    /// Books a channel that is free then; what was over at `now` may be forgotten.
    #[inline]
    pub fn book(&mut self, channel: u16, booking: Booking, now: Time) {
        let horizon = &mut self.horizons[usize::from(channel)];
        let last = booking.start >= *horizon;
        if booking.end > *horizon {
            *horizon = booking.end;
            self.last_starts[usize::from(channel)] = booking.start;
            self.latest_start = self.latest_start.max(booking.start);
        }
        let Channel { bookings, over } = &mut self.channels[usize::from(channel)];
        let is_over = |first: &Booking| {
            let ended = first.end <= now;
            *over = if ended { first.end } else { *over };
            ended
        };
        if last {
            bookings.push(booking, is_over);
        } else {
            bookings.insert(booking, is_over, |bookings| {
                bookings.partition_point(|other| other.start < booking.end)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn booked(times: &[(u64, u64)]) -> Channels {
        let mut channels = Channels::new(1);
        for &(start, end) in times {
            channels.book(0, booking(start, end), Time::ZERO);
        }
        channels
    }

    fn booking(start: u64, end: u64) -> Booking {
        Booking {
            start: Time(start),
            end: Time(end),
            burst: Birth::default(),
        }
    }

    #[test]
    fn a_void_holds_what_touches_its_ends() {
        // in any order of booking
        for times in [[(10, 20), (30, 40)], [(30, 40), (10, 20)]] {
            let channels = booked(&times);
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
        let mut channels = booked(&[(10, 20), (50, 60)]);
        let void = |channels: &Channels| channels.void(0, Time(30), Time(40));
        assert_eq!(void(&channels), Some(Time(20)));
        // until there is no room
        for i in 0..100 {
            channels.book(0, booking(70 + i, 71 + i), Time(20));
        }
        assert_eq!(channels.channels[0].bookings[0], booking(50, 60));
        assert_eq!(void(&channels), Some(Time(20)));
    }

    #[test]
    fn the_earliest_time_is_in_the_first_void_that_is_long_enough() {
        let channels = booked(&[(10, 20), (25, 40), (60, 70)]);
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
        let channels = booked(&[(10, 20), (25, 40)]);
        let holder = |start, end| channels.holder(0, Time(start), Time(end)).copied();
        assert_eq!(holder(15, 30), Some(booking(10, 20)));
        assert_eq!(holder(20, 30), Some(booking(25, 40)));
        assert_eq!(holder(20, 25), None);
    }

    #[test]
    fn one_booking_alone_is_in_the_way_and_may_end_earlier() {
        let mut channels = booked(&[(10, 20), (25, 40)]);
        let alone = |channels: &Channels, start, end| {
            let found = channels.only_holder(0, Time(start), end);
            found.copied()
        };
        assert_eq!(alone(&channels, 15, Time(25)), Some(booking(10, 20)));
        assert_eq!(alone(&channels, 15, Time(26)), None);
        assert_eq!(alone(&channels, 15, Time::NEVER), None);
        assert_eq!(alone(&channels, 20, Time::NEVER), Some(booking(25, 40)));
        channels.shorten(0, Time(20), Time(13));
        assert_eq!(channels.void(0, Time(13), Time(25)), Some(Time(13)));
        assert_eq!(channels.horizon(0), Time(40));
        channels.shorten(0, Time(40), Time(33));
        assert_eq!(channels.horizon(0), Time(33));
    }
}
