//! Times and counters of transmissions, compared with results worked out by hand and with a list of
//! all transmissions.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// A link that takes 800 ps per byte.
fn link() -> Links {
    link_of(10_000_000_000)
}

fn link_of(bps: u64) -> Links {
    Links::new(&[Wire {
        from: NodeId(0),
        to: NodeId(1),
        rate: Rate::from_bps(bps),
        delay: Duration(1),
        store_and_forward: false,
        watched: false,
    }])
}

fn carried(links: &Links, end: u64) -> (u64, u64, u64) {
    let found = links.carried(Time(end)).next().expect("a link");
    (found.bytes, found.waiting, found.busy.0)
}

#[test]
fn what_a_link_has_still_to_transmit_is_not_yet_carried() {
    let mut links = link();
    for _ in 0..2 {
        links.transmit(LinkId(0), 10, Time(0));
    }
    assert_eq!(carried(&links, 16_000), (20, 0, 16_000));
    // A byte that is transmitted in part counts as waiting.
    assert_eq!(carried(&links, 7_999), (9, 11, 7_999));
    assert_eq!(carried(&links, 0), (0, 20, 0));
}

#[test]
fn no_more_waits_than_was_given() {
    // The transmission of one byte is rounded up to 2667 ps, in which slightly more than one
    // byte fits.
    let mut links = link_of(3_000_000_000);
    links.transmit(LinkId(0), 1, Time(0));
    assert_eq!(carried(&links, 0), (0, 1, 0));
}

#[test]
fn a_gap_before_a_transmission_given_in_advance_is_not_busy() {
    // 10 bytes from 0 to 8,000, then 10 bytes from 20,000 to 28,000, handed over in advance.
    let mut links = link();
    links.transmit(LinkId(0), 10, Time(0));
    links.postpone(LinkId(0), Time(20_000), Time(0));
    links.transmit(LinkId(0), 10, Time(20_000));
    for (end, expected) in [
        (4_000, (5, 15, 4_000)),
        (12_000, (10, 10, 8_000)),
        (24_000, (15, 5, 12_000)),
        (28_000, (20, 0, 16_000)),
    ] {
        assert_eq!(carried(&links, end), expected, "{end}");
    }
}

#[test]
fn several_gaps_ahead_are_not_busy() {
    // 10 bytes each, from 0 to 8,000, from 20,000 and from 40,000, all handed over at 0.
    let mut links = link();
    links.transmit(LinkId(0), 10, Time(0));
    for from in [20_000, 40_000].map(Time) {
        links.postpone(LinkId(0), from, Time(0));
        links.transmit(LinkId(0), 10, from);
    }
    for (end, expected) in [
        (12_000, (10, 20, 8_000)),
        (24_000, (15, 15, 12_000)),
        (44_000, (25, 5, 20_000)),
    ] {
        assert_eq!(carried(&links, end), expected, "{end}");
    }
}

#[test]
fn bursts_are_transmitted_side_by_side_and_headers_do_not_count() {
    // 10 bytes each: from 20,000 to 28,000, from 24,000 to 32,000, and from 30,000 to 38,000;
    // the last is handed over at 29,000, after the end of the first. The control channel is
    // busy for much longer.
    let mut links = link();
    let mut carry = |start, now| links.carry(LinkId(0), 10, Time(start), Time(now));
    carry(20_000, 0);
    carry(24_000, 0);
    carry(30_000, 29_000);
    links.signal(LinkId(0), Duration(90_000), Time(0));
    for (end, expected) in [
        (29_000, (16, 14, 13_000)),
        (31_000, (20, 10, 16_000)),
        (38_000, (30, 0, 24_000)),
    ] {
        assert_eq!(carried(&links, end), expected, "{end}");
    }
}

#[test]
fn without_a_gap_nothing_is_postponed() {
    // The second transmission starts at the end of the first, as it would without `postpone`.
    let mut links = link();
    links.transmit(LinkId(0), 10, Time(0));
    links.postpone(LinkId(0), Time(8_000), Time(0));
    links.transmit(LinkId(0), 10, Time(8_000));
    assert_eq!(carried(&links, 4_000), (5, 15, 4_000));
}

/// Rates at which a byte takes a whole number of picoseconds, and others.
fn rates() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(10_000_000_000),
        Just(8_000_000_000_000),
        1_000_000_000..9_000_000_000u64
    ]
}

/// Start, end and bytes of a transmission.
type Row = (u64, u64, u64);

/// Returns the time for which the transmissions are under way by `at`, summed one by one.
fn busy(rows: &[Row], at: u64) -> u64 {
    let until = |(start, end, _): &Row| (*end).min(at.max(*start)) - start;
    rows.iter().map(until).sum()
}

proptest! {
    /// Each unit is handed over some time after the one before it. The counters are read some time
    /// after the last.
    #[test]
    fn units_are_transmitted_one_after_the_other(
        bps in rates(),
        store_and_forward in any::<bool>(),
        units in vec((0..200_000u64, 1..100u32), 1..20),
        passed in 0..500_000u64,
    ) {
        let rate = Rate::from_bps(bps);
        let mut links = link_of(bps);
        links.kinds[0].store_and_forward = store_and_forward;
        let mut rows: Vec<Row> = Vec::new();
        let mut now = 0;
        for (gap, bytes) in units {
            now += gap;
            let start = rows.last().map_or(now, |last| last.1.max(now));
            let end = start + rate.transmission_time(Bytes(u64::from(bytes))).0;
            let (transit, _) = links.transmit(LinkId(0), bytes, Time(now));
            prop_assert_eq!(transit.start.0, start);
            prop_assert_eq!(transit.arrival.0, 1 + if store_and_forward { end } else { start });
            prop_assert_eq!(links.free_at(LinkId(0)).0, end);
            rows.push((start, end, u64::from(bytes)));
        }
        let at = now + passed;
        let given: u64 = rows.iter().map(|row| row.2).sum();
        let (bytes, waiting, time) = carried(&links, at);
        prop_assert_eq!((bytes + waiting, time), (given, busy(&rows, at)));
        if let Some(each) = rate.whole_ps_per_byte().map(u64::from) {
            let whole = |row: &Row| (1..=row.2).filter(|byte| row.0 + byte * each <= at).count() as u64;
            prop_assert_eq!(bytes, rows.iter().map(whole).sum::<u64>());
        }
        prop_assert_eq!(links.transmitted_until(Time(at)).0, at.min(rows[rows.len() - 1].1));
    }

    /// Each burst is announced some time before it starts; some lose their tails at once.
    #[test]
    fn bursts_of_a_fibre_are_counted_one_by_one(
        bps in rates(),
        bursts in vec((0..100_000u64, 0..200_000u64, 2..100u32, any::<bool>()), 1..30),
        passed in 0..500_000u64,
    ) {
        let time = |bytes: u32| Rate::from_bps(bps).transmission_time(Bytes(u64::from(bytes))).0;
        let mut links = link_of(bps);
        let mut rows: Vec<Row> = Vec::new();
        let mut now = 0;
        for (gap, ahead, bytes, is_cut) in bursts {
            now += gap;
            let start = now + ahead;
            links.carry(LinkId(0), bytes, Time(start), Time(now));
            let left = if is_cut { bytes / 2 } else { bytes };
            if is_cut {
                let end = links.shorten(LinkId(0), Time(start), (bytes, left));
                prop_assert_eq!(end.0, start + time(left));
            }
            rows.push((start, start + time(left), u64::from(left)));
        }
        let at = now + passed;
        let (bytes, waiting, time) = carried(&links, at);
        let given: u64 = rows.iter().map(|row| row.2).sum();
        prop_assert_eq!((bytes + waiting, time), (given, busy(&rows, at)));
        prop_assert_eq!(waiting == 0, rows.iter().all(|row| row.1 <= at));
    }
}
