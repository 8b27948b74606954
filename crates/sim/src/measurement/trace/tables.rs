//! Columns of a trace.

use super::bookings::Booking;
use super::rows::{Burst, Hop, Lost, Packet, What, Window};
use super::Trace;
use crate::kinds::drop_reasons;
use lightburst_des::Time;
use lightburst_net::column::{Column, Outputs, Table};
use lightburst_net::observe::{Holder, PathSwitch, Piece, Place};
use lightburst_net::{Block, DropReason, Header, Identity, Options};

/// Code for the absence of a reason.
const NO_REASON: u8 = u8::MAX;

fn each<R, T>(rows: &[&R], value: impl Fn(&R) -> T) -> Vec<T> {
    rows.iter().map(|row| value(row)).collect()
}

/// Sorts rows by a key; rows with equal keys keep their order.
fn by_key<R, K: Ord>(rows: &[R], key: impl Fn(&R) -> K) -> Vec<&R> {
    let mut rows: Vec<&R> = rows.iter().collect();
    rows.sort_by_key(|row| key(row));
    rows
}

/// Makes the tables of a trace, by name.
///
/// Rows of the same time are sorted by the node that recorded them, and then by the order of
/// recording. They therefore do not depend on the order of simultaneous events of different nodes.
pub(super) fn tables(trace: &Trace) -> Outputs {
    let numbers = Numbers::of(trace);
    // The row of a packet is made when the interface accepts it, possibly before it leaves.
    let segments = by_key(&trace.packets, |row| (row.time, row.noted));
    let senders = by_key(&trace.windows, |row| (row.time, row.flow));
    let assembled = by_key(&trace.bursts, |row| row.identity);
    let mut on_the_way = by_key(&trace.hops, |row| (row.came + row.held, row.place.node));
    on_the_way.retain(|row| !row.cut);
    let switches = by_key(&trace.path_switches, |row| {
        (row.time, row.ingress, row.egress)
    });
    let mut tables = vec![
        ("trace_segments", packets(&segments, &numbers).into()),
        ("trace_windows", windows(&senders).into()),
        ("trace_bursts", bursts(&assembled, &numbers).into()),
        ("trace_hops", hops(&on_the_way, &numbers).into()),
        ("trace_path_switches", path_switches(&switches).into()),
    ];
    if let Some(kept) = &trace.bookings {
        // A channel carries one burst at a time.
        let carried = by_key(&kept.rows, |row| (row.start, row.link, row.channel));
        tables.push(("trace_bookings", bookings(&carried, &numbers).into()));
        let lost = by_key(&kept.pieces, |row| (row.time, row.noted));
        tables.push(("trace_cuts", cuts(&lost, &numbers).into()));
    }
    tables
}

/// Numbers used in rows: packets in the order of creation, bursts in the order of assembly among
/// all bursts of the run, and reasons for drops.
struct Numbers {
    packets: Vec<Identity>,
    bursts: Vec<Identity>,
    reasons: Vec<&'static str>,
}

impl Numbers {
    fn of(trace: &Trace) -> Numbers {
        // Every packet has a row: it was sent, or lost at the interface of its host.
        let of_rows = trace.packets.iter().map(|row| row.identity);
        Numbers {
            packets: sorted(of_rows),
            bursts: sorted(trace.identities.iter().copied()),
            reasons: drop_reasons(),
        }
    }

    fn packet(&self, identity: Identity) -> u64 {
        let place = self.packets.binary_search(&identity);
        place.expect("a packet with a row") as u64
    }

    fn reason(&self, reason: Option<&DropReason>) -> u8 {
        reason.map_or(NO_REASON, |reason| {
            let place = self.reasons.iter().position(|name| *name == reason.name);
            place.expect("a reason of some kind of node") as u8
        })
    }

    /// Returns the number of a burst; `u64::MAX` if there is none.
    fn burst(&self, identity: Option<Identity>) -> u64 {
        identity.map_or(u64::MAX, |identity| {
            let place = self.bursts.binary_search(&identity);
            place.expect("a burst that was made") as u64
        })
    }
}

/// Sorts the values and removes duplicates.
fn sorted(identities: impl Iterator<Item = Identity>) -> Vec<Identity> {
    let mut identities: Vec<Identity> = identities.collect();
    identities.sort_unstable();
    identities.dedup();
    identities
}

/// Returns the reason for a loss, the burst that contained the packet, and the unit that occupied
/// the link.
fn loss(
    what: What,
) -> (
    Option<&'static DropReason>,
    Option<Identity>,
    Option<Holder>,
) {
    match what {
        What::Lost {
            reason,
            burst,
            holder,
            ..
        } => (Some(reason), burst, holder),
        What::Sent(_) | What::Arrived(_) | What::Trimmed(_) | What::Returned(_) => {
            (None, None, None)
        }
    }
}

/// Returns the link of an event; `u32::MAX` if there is none.
fn link(what: What) -> u32 {
    match what {
        What::Sent(place)
        | What::Trimmed(place)
        | What::Returned(place)
        | What::Lost { place, .. } => place.link.0,
        What::Arrived(_) => u32::MAX,
    }
}

fn holder(what: What, numbers: &Numbers) -> (u32, u64) {
    match loss(what).2 {
        Some(Holder::Packet(flow)) => (flow.0, u64::MAX),
        Some(Holder::Burst(burst)) => (u32::MAX, numbers.burst(Some(burst))),
        None => (u32::MAX, u64::MAX),
    }
}

/// Makes the table of the packets of traced flows, in order of time.
fn packets(rows: &[&Packet], numbers: &Numbers) -> Table {
    let header = |value: fn(&Header) -> u64| Column::U64(each(rows, |row| value(&row.header)));
    let mut columns = vec![
        ("time_ps", Column::U64(each(rows, |row| row.time.0))),
        ("flow", Column::U32(each(rows, |row| row.flow.0))),
        (
            "event",
            Column::U8(each(rows, |row| match row.what {
                What::Sent(_) => 0,
                What::Arrived(_) => 1,
                What::Lost { .. } => 2,
                What::Trimmed(_) => 3,
                What::Returned(_) => 4,
            })),
        ),
        (
            "packet",
            Column::U64(each(rows, |row| numbers.packet(row.identity))),
        ),
        (
            "flags",
            Column::U8(each(rows, |row| {
                // Counts of marks are the flags ECE, CWR and AE.
                row.header.flags & !(Header::OPTIONS | Header::MARKED) | row.header.ace << 4
            })),
        ),
        ("sequence", header(|h| h.sequence)),
        ("acknowledgement", header(|h| h.acknowledgement)),
        ("payload", Column::U32(each(rows, |row| row.header.payload))),
        (
            "retransmission",
            Column::U8(each(rows, |row| u8::from(row.again))),
        ),
        (
            "burst",
            Column::U64(each(rows, |row| numbers.burst(loss(row.what).1))),
        ),
        ("node", Column::U32(each(rows, |row| row.what.node().0))),
        ("link", Column::U32(each(rows, |row| link(row.what)))),
        (
            "holder_flow",
            Column::U32(each(rows, |row| holder(row.what, numbers).0)),
        ),
        (
            "holder_burst",
            Column::U64(each(rows, |row| holder(row.what, numbers).1)),
        ),
        (
            "reason",
            Column::U8(each(rows, |row| numbers.reason(loss(row.what).0))),
        ),
    ];
    columns.extend(options(rows));
    columns
}

/// Makes the columns of the TCP options of packets.
fn options(rows: &[&Packet]) -> Table {
    let option = |value: &dyn Fn(&Options) -> u64, none: u64| {
        Column::U64(each(rows, |row| row.options.as_ref().map_or(none, value)))
    };
    let block = |i: usize, value: fn(&Block) -> u64| {
        option(&|options| options.blocks().get(i).map_or(0, value), 0)
    };
    vec![
        (
            "blocks",
            Column::U8(each(rows, |row| {
                row.options.as_ref().map_or(0, |o| o.blocks().len() as u8)
            })),
        ),
        ("block_start_0", block(0, |b| b.start)),
        ("block_end_0", block(0, |b| b.end)),
        ("block_start_1", block(1, |b| b.start)),
        ("block_end_1", block(1, |b| b.end)),
        ("block_start_2", block(2, |b| b.start)),
        ("block_end_2", block(2, |b| b.end)),
        ("block_start_3", block(3, |b| b.start)),
        ("block_end_3", block(3, |b| b.end)),
        ("timestamp_ps", option(&|o| o.timestamp.0, Time::NEVER.0)),
        ("echo_ps", option(&|o| o.echo.0, Time::NEVER.0)),
    ]
}

/// Makes the table of the congestion windows of traced senders.
fn windows(rows: &[&Window]) -> Table {
    vec![
        ("time_ps", Column::U64(each(rows, |row| row.time.0))),
        ("flow", Column::U32(each(rows, |row| row.flow.0))),
        (
            "congestion_window",
            Column::F64(each(rows, |row| row.window.window)),
        ),
        (
            "inflation",
            Column::F64(each(rows, |row| row.window.inflation as f64)),
        ),
        (
            "slow_start_threshold",
            Column::F64(each(rows, |row| row.window.threshold)),
        ),
        (
            "in_flight",
            Column::U64(each(rows, |row| row.window.in_flight)),
        ),
        (
            "rtt_ps",
            Column::U64(each(rows, |row| row.rtt.map_or(u64::MAX, |rtt| rtt.0))),
        ),
        ("rto_ps", Column::U64(each(rows, |row| row.window.rto.0))),
        (
            "state",
            Column::U8(each(rows, |row| row.window.state as u8)),
        ),
        (
            "pacing",
            Column::U64(each(rows, |row| row.window.pacing.unwrap_or(0))),
        ),
        (
            "reordering_window_ps",
            Column::U64(each(rows, |row| {
                row.window.reordering_window.map_or(u64::MAX, |it| it.0)
            })),
        ),
        ("undone", Column::U32(each(rows, |row| row.window.undone))),
    ]
}

/// Makes the table of bursts: those with packets of traced flows, or all bursts.
fn bursts(rows: &[&Burst], numbers: &Numbers) -> Table {
    let lost = |value: fn(Place) -> u32| {
        Column::U32(each(rows, |row| {
            row.lost.map_or(u32::MAX, |lost| value(lost.place))
        }))
    };
    let lost_at = |value: fn(&Burst, Lost) -> Time| {
        Column::U64(each(rows, |row| {
            row.lost.map_or(Time::NEVER, |lost| value(row, lost)).0
        }))
    };
    vec![
        ("opened_ps", Column::U64(each(rows, |row| row.opened.0))),
        (
            "closed_ps",
            Column::U64(each(rows, |row| row.identity.at.0)),
        ),
        (
            "departure_ps",
            Column::U64(each(rows, |row| row.departure.0)),
        ),
        (
            "number",
            Column::U64(each(rows, |row| numbers.burst(Some(row.identity)))),
        ),
        ("node", Column::U32(each(rows, |row| row.identity.node))),
        ("of_node", Column::U32(each(rows, |row| row.identity.nth))),
        ("egress", Column::U32(each(rows, |row| row.egress.0))),
        ("label", Column::U8(each(rows, |row| row.label))),
        ("packets", Column::U32(each(rows, |row| row.packets))),
        ("bytes", Column::U64(each(rows, |row| u64::from(row.bytes)))),
        ("data", Column::U8(each(rows, |row| u8::from(row.data)))),
        ("arrival_ps", Column::U64(each(rows, |row| row.arrival.0))),
        (
            "lost",
            Column::U8(each(rows, |row| u8::from(row.lost.is_some()))),
        ),
        (
            "reason",
            Column::U8(each(rows, |row| {
                numbers.reason(row.lost.map(|lost| lost.reason))
            })),
        ),
        ("lost_node", lost(|place| place.node.0)),
        ("lost_link", lost(|place| place.link.0)),
        ("lost_ps", lost_at(|_, lost| lost.time)),
        (
            "lost_start_ps",
            lost_at(|row, lost| lost.start.unwrap_or(row.departure)),
        ),
        (
            "holder_burst",
            Column::U64(each(rows, |row| {
                numbers.burst(row.lost.and_then(|lost| lost.holder))
            })),
        ),
    ]
}

/// Makes the table of bursts on traced links.
fn bookings(rows: &[&Booking], numbers: &Numbers) -> Table {
    let number = |value: &dyn Fn(&Booking) -> u64| Column::U64(each(rows, value));
    vec![
        ("link", Column::U32(each(rows, |row| row.link.0))),
        ("channel", Column::U16(each(rows, |row| row.channel))),
        ("start_ps", number(&|row| row.start.0)),
        ("end_ps", number(&|row| row.end.0)),
        ("made_ps", number(&|row| row.made.0)),
        ("burst", number(&|row| numbers.burst(Some(row.burst)))),
        ("bytes", Column::U32(each(rows, |row| row.bytes))),
    ]
}

/// Makes the table of the parts that were cut off bursts on traced links.
fn cuts(rows: &[&Piece], numbers: &Numbers) -> Table {
    let number = |value: &dyn Fn(&Piece) -> u64| Column::U64(each(rows, value));
    vec![
        ("time_ps", number(&|row| row.time.0)),
        ("burst", number(&|row| numbers.burst(Some(row.burst)))),
        ("link", Column::U32(each(rows, |row| row.place.link.0))),
        ("start_ps", number(&|row| row.start.0)),
        ("packets", Column::U32(each(rows, |row| row.packets))),
        ("bytes", Column::U32(each(rows, |row| row.bytes))),
        ("holder_burst", number(&|row| numbers.burst(row.by))),
    ]
}

/// Makes the table of the hops of traced packets, in the order in which they were offered to the
/// next link.
fn hops(rows: &[&Hop], numbers: &Numbers) -> Table {
    let number = |value: &dyn Fn(&Hop) -> u64| Column::U64(each(rows, value));
    vec![
        ("came_ps", number(&|row| row.came.0)),
        ("flow", Column::U32(each(rows, |row| row.flow.0))),
        ("packet", number(&|row| numbers.packet(row.identity))),
        ("burst", number(&|row| numbers.burst(row.burst))),
        ("node", Column::U32(each(rows, |row| row.place.node.0))),
        ("link", Column::U32(each(rows, |row| row.place.link.0))),
        ("held_ps", number(&|row| row.held.0)),
        ("queued_ps", number(&|row| row.queued.0)),
        ("start_ps", number(&|row| row.start.0)),
        ("arrival_ps", number(&|row| row.arrival.0)),
    ]
}

/// Makes the table of path changes by load balancing.
fn path_switches(rows: &[&PathSwitch]) -> Table {
    vec![
        ("time_ps", Column::U64(each(rows, |row| row.time.0))),
        ("node", Column::U32(each(rows, |row| row.ingress.0))),
        ("egress", Column::U32(each(rows, |row| row.egress.0))),
        ("before", Column::U8(each(rows, |row| row.before))),
        ("label", Column::U8(each(rows, |row| row.label))),
    ]
}
