//! Reservations in a plain list, with which the channels and their schedulers are compared.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::cmp::Reverse;

/// Change of a fibre after some time has passed.
#[derive(Clone, Copy, Debug)]
struct Step {
    passed: u64,
    change: Change,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    /// Reserves a channel, if it is free, from some time ahead for some time.
    Reserve(Index, u64, u64),
    /// Moves the end of a reservation that is not over.
    Shorten(Index, Index),
}

/// Changes of a fibre with some channels.
#[derive(Clone, Debug)]
pub struct Script {
    number: u16,
    steps: Vec<Step>,
}

/// Scripts with more reservations of a channel than it has capacity for at first.
pub fn scripts() -> impl Strategy<Value = Script> {
    let reserve = (any::<Index>(), 0..60u64, 1..12u64)
        .prop_map(|(channel, ahead, time)| Change::Reserve(channel, ahead, time));
    let shorten = any::<[Index; 2]>().prop_map(|[which, end]| Change::Shorten(which, end));
    let step = (0..4u64, prop_oneof![6 => reserve, 1 => shorten])
        .prop_map(|(passed, change)| Step { passed, change });
    (1..=6u16, vec(step, 0..80)).prop_map(|(number, steps)| Script { number, steps })
}

/// All reservations that were ever made, with their channels.
#[derive(Default)]
pub struct Plain(Vec<(u16, Reservation)>);

impl Plain {
    fn of(&self, channel: u16) -> impl Iterator<Item = Reservation> + '_ {
        let of_channel = self.0.iter().filter(move |(number, _)| *number == channel);
        of_channel.map(|(_, reservation)| *reservation)
    }

    /// Returns the last reservation of a channel.
    pub fn last(&self, channel: u16) -> Option<Reservation> {
        self.of(channel).max_by_key(|reservation| reservation.end)
    }

    /// Returns the end of the last reservation of a channel.
    pub fn horizon(&self, channel: u16) -> Time {
        self.last(channel).map_or(Time::ZERO, |last| last.end)
    }

    /// Returns the reservations of a channel that overlap a time, in order of time.
    pub fn holders(&self, channel: u16, start: Time, end: Time) -> Vec<Reservation> {
        let overlaps = |it: &Reservation| it.start < end && start < it.end;
        let mut holders: Vec<_> = self.of(channel).filter(overlaps).collect();
        holders.sort_by_key(|holder| holder.start);
        holders
    }

    /// Returns the start of the void that contains a time.
    pub fn void(&self, channel: u16, start: Time, end: Time) -> Option<Time> {
        let before = self
            .of(channel)
            .map(|it| it.end)
            .filter(|end| *end <= start);
        let is_free = self.holders(channel, start, end).is_empty();
        is_free.then(|| before.max().unwrap_or(Time::ZERO))
    }
}

impl Script {
    /// Applies the changes to channels and to a list; returns the time after the last change too.
    pub fn play(&self) -> (Channels, Plain, Time) {
        let (mut channels, mut plain) = (Channels::new(self.number), Plain::default());
        let mut now = Time::ZERO;
        for (nth, Step { passed, change }) in (1..).zip(&self.steps) {
            now = now + Duration(*passed);
            match change {
                Change::Reserve(channel, ahead, time) => {
                    let channel = channel.index(usize::from(self.number)) as u16;
                    let start = now + Duration(*ahead);
                    let reservation = Reservation {
                        start,
                        end: start + Duration(*time),
                        burst: Identity {
                            nth,
                            ..Identity::default()
                        },
                    };
                    if plain.void(channel, start, reservation.end).is_some() {
                        channels.reserve(channel, reservation, now);
                        plain.0.push((channel, reservation));
                    }
                }
                Change::Shorten(which, end) => {
                    let least = |it: &Reservation| Time(it.start.0 + 1).max(now);
                    let places = 0..plain.0.len();
                    let open =
                        places.filter(|&place| least(&plain.0[place].1) < plain.0[place].1.end);
                    let open: Vec<usize> = open.collect();
                    if !open.is_empty() {
                        let (channel, it) = &mut plain.0[*which.get(&open)];
                        let least = least(it);
                        let earlier =
                            least + Duration(end.index((it.end.0 - least.0) as usize) as u64);
                        channels.shorten(*channel, it.end, earlier);
                        it.end = earlier;
                    }
                }
            }
        }
        (channels, plain, now)
    }
}

/// Returns the channel with the latest of the given times, the first of several.
pub fn latest(channels: &[u16], time: impl Fn(u16) -> Time) -> Option<u16> {
    let channels = channels.iter().copied();
    channels.max_by_key(|&channel| (time(channel), Reverse(channel)))
}

proptest! {
    #[test]
    fn channels_are_a_list_of_reservations(
        script in scripts(),
        queries in vec((0..80u64, 1..15u64), 20),
    ) {
        let (channels, plain, now) = script.play();
        let last_starts_from = |channel, end| plain.last(channel).is_some_and(|last| last.start >= end);
        for (channel, (ahead, time)) in channels.all().flat_map(|channel| {
            queries.iter().map(move |query| (channel, *query))
        }) {
            let (start, time) = (now + Duration(ahead), Duration(time));
            let end = start + time;
            let holders = plain.holders(channel, start, end);
            prop_assert_eq!(channels.horizon(channel), plain.horizon(channel));
            prop_assert_eq!(channels.horizons(channel..channel + 1), [plain.horizon(channel)]);
            prop_assert_eq!(channels.void(channel, start, end), plain.void(channel, start, end));
            prop_assert_eq!(channels.holder(channel, start, end), holders.first());
            prop_assert_eq!(channels.last_holder(channel, start, end), holders.last());
            let only = holders.first().filter(|_| holders.len() == 1);
            prop_assert_eq!(channels.only_holder(channel, start, end), only);
            let is_free = |from: &Time| plain.void(channel, *from, *from + time).is_some();
            let earliest = (start.0..).map(Time).find(is_free);
            prop_assert_eq!(Some(channels.earliest(channel, start, time)), earliest);
            let among = channel..channels.all().end;
            let any = among.clone().any(|channel| last_starts_from(channel, end));
            prop_assert_eq!(channels.may_have_voids(among, end), any);
        }
    }
}
