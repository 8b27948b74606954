//! The channels that the schedulers choose, compared with results worked out by hand and with the
//! definition of each rule.

use super::*;
use crate::obs::channels::model::{latest, scripts};
use crate::obs::channels::Reservation;
use lightburst_net::Identity;
use proptest::prelude::*;
use proptest::sample::Index;

/// Channel 0 has a void before a late reservation. Among the channels unscheduled at 100, channel 1
/// has the latest end and channel 2 an earlier one; channel 3 has no reservation. Channel 4 has the
/// void that begins last.
fn fibre() -> Channels {
    reserved(&[
        (0, 300, 400),
        (1, 20, 90),
        (2, 10, 50),
        (4, 0, 95),
        (4, 250, 260),
    ])
}

/// Five channels with the given reservations: channel, start and end.
fn reserved(reservations: &[(u16, u64, u64)]) -> Channels {
    let mut channels = Channels::new(5);
    for &(channel, start, end) in reservations {
        let reservation = Reservation {
            start: Time(start),
            end: Time(end),
            burst: Identity::default(),
        };
        channels.reserve(channel, reservation, Time::ZERO);
    }
    channels
}

fn chosen(name: &str, channels: Range<u16>, start: u64, end: u64) -> Option<u16> {
    let scheduler = REGISTRY.iter().find(|scheduler| scheduler.name == name);
    let wanted = Wanted {
        channels,
        start: Time(start),
        end: Time(end),
    };
    (scheduler.expect("a scheduler").choose)(&fibre(), wanted, &mut Stream::new(1, "channels"))
}

#[test]
fn without_voids_only_the_last_end_counts() {
    assert_eq!(chosen("first-fit", 0..5, 100, 200), Some(1));
    assert_eq!(chosen("first-fit", 2..5, 100, 200), Some(2));
    assert_eq!(chosen("lauc", 0..5, 100, 200), Some(1));
    assert_eq!(chosen("horizon", 0..5, 100, 200), Some(1));
    assert_eq!(chosen("lauc", 0..5, 60, 70), Some(2));
    // exactly at the end of a reservation
    assert_eq!(chosen("lauc", 0..5, 90, 100), Some(1));
    assert_eq!(chosen("lauc", 0..1, 100, 200), None);
}

#[test]
fn with_voids_a_channel_that_is_reserved_later_can_be_used() {
    assert_eq!(chosen("first-fit-vf", 0..5, 100, 200), Some(0));
    assert_eq!(chosen("lauc-vf", 0..5, 100, 200), Some(4));
    assert_eq!(chosen("lauc-vf", 0..5, 100, 251), Some(1));
    assert_eq!(chosen("lauc-vf", 0..1, 200, 300), Some(0));
    assert_eq!(chosen("lauc-vf", 0..1, 200, 301), None);
}

#[test]
fn of_equal_channels_the_first_is_chosen() {
    let fresh = Channels::new(3);
    for scheduler in REGISTRY.iter().filter(|s| s.name != "random-fit") {
        let wanted = Wanted {
            channels: 1..3,
            start: Time(5),
            end: Time(6),
        };
        assert_eq!(
            (scheduler.choose)(&fresh, wanted, &mut Stream::new(1, "channels")),
            Some(1),
            "{}",
            scheduler.name
        );
    }
}

#[test]
fn of_voids_that_begin_together_the_first_is_filled() {
    let channels = reserved(&[
        (1, 10, 50),
        (1, 300, 400),
        (2, 0, 50),
        (2, 250, 400),
        (3, 20, 50),
    ]);
    for from in 1..4 {
        let wanted = Wanted {
            channels: from..4,
            start: Time(100),
            end: Time(200),
        };
        let chosen = (lauc_vf::LAUC_VF.choose)(&channels, wanted, &mut Stream::new(1, "channels"));
        assert_eq!(chosen, Some(from));
    }
}

#[test]
fn random_fit_takes_each_free_channel_equally_often() {
    let mut draw = Stream::new(1, "channels");
    let mut taken = [0; 5];
    for _ in 0..30_000 {
        let wanted = Wanted {
            channels: 0..5,
            start: Time(80),
            end: Time(200),
        };
        let channel = (random_fit::RANDOM_FIT.choose)(&fibre(), wanted, &mut draw);
        taken[usize::from(channel.expect("a channel"))] += 1;
    }
    // Channels 1 and 4 are in use at 80; the standard deviation is 82.
    assert_eq!([taken[1], taken[4]], [0, 0]);
    for channel in [0, 2, 3] {
        assert!((9_700..10_300).contains(&taken[channel]), "{taken:?}");
    }
}

proptest! {
    #[test]
    fn each_scheduler_chooses_by_its_definition(
        script in scripts(),
        ends in any::<[Index; 2]>(),
        (ahead, time) in (0..80u64, 1..15u64),
        seed in any::<u64>(),
    ) {
        let (channels, plain, now) = script.play();
        let mut ends = ends.map(|end| end.index(usize::from(channels.all().end) + 1) as u16);
        ends.sort_unstable();
        let among = ends[0]..ends[1];
        let (from, time) = (now + Duration(ahead), Duration(time));
        let void = |channel, start| plain.void(channel, start, start + time);
        for scheduler in REGISTRY {
            let usable = |start: Time| -> Vec<u16> {
                let is_usable = |&channel: &u16| match scheduler.fills_voids {
                    true => void(channel, start).is_some(),
                    false => plain.horizon(channel) <= start,
                };
                among.clone().filter(is_usable).collect()
            };
            let wanted = Wanted {
                channels: among.clone(),
                start: from,
                end: from + time,
            };
            let chosen = (scheduler.choose)(&channels, wanted, &mut Stream::new(seed, "channels"));
            let candidates = usable(from);
            let expected = match scheduler.name {
                "first-fit" | "first-fit-vf" => candidates.first().copied(),
                "lauc" | "horizon" => latest(&candidates, |channel| plain.horizon(channel)),
                "lauc-vf" => latest(&candidates, |channel| void(channel, from).expect("a void")),
                "random-fit" => chosen.filter(|channel| candidates.contains(channel)),
                name => panic!("no definition of {name}"),
            };
            prop_assert_eq!(chosen, expected, "{}", scheduler.name);
            prop_assert_eq!(chosen.is_some(), !candidates.is_empty(), "{}", scheduler.name);
            // The last reservation ends within 72 ps of the last step.
            let mut times = (from.0..from.0 + 100).map(Time);
            let earliest = times.find(|start| !usable(*start).is_empty());
            let found = scheduler.earliest(&channels, among.clone(), from, time);
            prop_assert_eq!(found, earliest, "{}", scheduler.name);
        }
    }
}
