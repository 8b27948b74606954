//! The columns of a trace.

use crate::columns::{Column, Table};
use lightburst_des::Time;
use lightburst_net::trace::{Burst, Holder, Hop, Packet, Place, What, Window};
use lightburst_net::{Block, DropReason, Header, NodeId, Options, Trace};

/// Stands for no reason.
const NO_REASON: u8 = u8::MAX;

fn each<R, T>(rows: &[R], value: impl Fn(&R) -> T) -> Vec<T> {
    rows.iter().map(value).collect()
}

fn reason(reason: Option<DropReason>) -> u8 {
    reason.map_or(NO_REASON, |reason| reason as u8)
}

/// Why a packet was lost, in which burst, and who used the link.
fn loss(what: What) -> (Option<DropReason>, Option<u64>, Option<Holder>) {
    match what {
        What::Lost {
            reason,
            burst,
            holder,
            ..
        } => (Some(reason), burst, holder),
        What::Sent(_) | What::Arrived(_) => (None, None, None),
    }
}

/// The number of a burst, if there is one.
fn number(burst: Option<u64>) -> u64 {
    burst.unwrap_or(u64::MAX)
}

/// The node of an event and, where a link has to do with it, that.
fn place(what: What) -> (NodeId, u32) {
    match what {
        What::Sent(place) | What::Lost { place, .. } => (place.node, place.link.0),
        What::Arrived(node) => (node, u32::MAX),
    }
}

fn holder(what: What) -> (u32, u64) {
    match loss(what).2 {
        Some(Holder::Packet(flow)) => (flow.0, u64::MAX),
        Some(Holder::Burst(number)) => (u32::MAX, number),
        None => (u32::MAX, u64::MAX),
    }
}

/// What happened to the packets of the traced flows, in time.
pub fn packets(trace: &Trace) -> Table {
    let mut rows: Vec<Packet> = trace.packets.clone();
    // A packet's row is made when it is handed to the interface, which may be before it leaves.
    rows.sort_by_key(|row| row.time);
    let header = |value: fn(&Header) -> u64| Column::U64(each(&rows, |row| value(&row.header)));
    let mut columns = vec![
        ("time_ps", Column::U64(each(&rows, |row| row.time.0))),
        ("flow", Column::U32(each(&rows, |row| row.flow.0))),
        (
            "event",
            Column::U8(each(&rows, |row| match row.what {
                What::Sent(_) => 0,
                What::Arrived(_) => 1,
                What::Lost { .. } => 2,
            })),
        ),
        ("packet", Column::U64(each(&rows, |row| row.number))),
        (
            "flags",
            Column::U8(each(&rows, |row| {
                row.header.flags & !(Header::OPTIONS | Header::MARKED)
            })),
        ),
        ("sequence", header(|h| h.sequence)),
        ("acknowledgement", header(|h| h.acknowledgement)),
        (
            "payload",
            Column::U32(each(&rows, |row| row.header.payload)),
        ),
        (
            "retransmission",
            Column::U8(each(&rows, |row| u8::from(row.again))),
        ),
        (
            "burst",
            Column::U64(each(&rows, |row| number(loss(row.what).1))),
        ),
        ("node", Column::U32(each(&rows, |row| place(row.what).0 .0))),
        ("link", Column::U32(each(&rows, |row| place(row.what).1))),
        (
            "holder_flow",
            Column::U32(each(&rows, |row| holder(row.what).0)),
        ),
        (
            "holder_burst",
            Column::U64(each(&rows, |row| holder(row.what).1)),
        ),
        (
            "reason",
            Column::U8(each(&rows, |row| reason(loss(row.what).0))),
        ),
    ];
    columns.extend(options(&rows));
    columns
}

/// The options of the packets.
fn options(rows: &[Packet]) -> Table {
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

/// The windows of the traced senders.
pub fn windows(rows: &[Window]) -> Table {
    vec![
        ("time_ps", Column::U64(each(rows, |row| row.time.0))),
        ("flow", Column::U32(each(rows, |row| row.flow.0))),
        (
            "congestion_window",
            Column::F64(each(rows, |row| row.window)),
        ),
        (
            "inflation",
            Column::F64(each(rows, |row| row.inflation as f64)),
        ),
        (
            "slow_start_threshold",
            Column::F64(each(rows, |row| row.threshold)),
        ),
        ("in_flight", Column::U64(each(rows, |row| row.in_flight))),
        (
            "rtt_ps",
            Column::U64(each(rows, |row| row.rtt.map_or(u64::MAX, |rtt| rtt.0))),
        ),
        ("rto_ps", Column::U64(each(rows, |row| row.rto.0))),
        ("state", Column::U8(each(rows, |row| row.state as u8))),
    ]
}

/// The bursts that carried packets of the traced flows.
pub fn bursts(rows: &[Burst]) -> Table {
    let lost = |value: fn(Place) -> u32| {
        Column::U32(each(rows, |row| {
            row.lost.map_or(u32::MAX, |(_, place)| value(place))
        }))
    };
    vec![
        ("opened_ps", Column::U64(each(rows, |row| row.opened.0))),
        (
            "departure_ps",
            Column::U64(each(rows, |row| row.departure.0)),
        ),
        ("number", Column::U64(each(rows, |row| row.number))),
        ("node", Column::U32(each(rows, |row| row.node.0))),
        ("packets", Column::U32(each(rows, |row| row.packets))),
        ("bytes", Column::U64(each(rows, |row| u64::from(row.bytes)))),
        ("data", Column::U8(each(rows, |row| u8::from(row.data)))),
        (
            "lost",
            Column::U8(each(rows, |row| u8::from(row.lost.is_some()))),
        ),
        (
            "reason",
            Column::U8(each(rows, |row| reason(row.lost.map(|(why, _)| why)))),
        ),
        ("lost_node", lost(|place| place.node.0)),
        ("lost_link", lost(|place| place.link.0)),
    ]
}

/// The hops of the packets of the traced flows, in the order in which they were handed over.
pub fn hops(rows: &[Hop]) -> Table {
    let time = |value: fn(&Hop) -> u64| Column::U64(each(rows, value));
    vec![
        ("came_ps", time(|row| row.came.0)),
        ("flow", Column::U32(each(rows, |row| row.flow.0))),
        ("packet", time(|row| row.number)),
        ("burst", time(|row| number(row.burst))),
        ("node", Column::U32(each(rows, |row| row.place.node.0))),
        ("link", Column::U32(each(rows, |row| row.place.link.0))),
        ("held_ps", time(|row| row.held.0)),
        ("queued_ps", time(|row| row.queued.0)),
        ("start_ps", time(|row| row.start.0)),
        ("arrival_ps", time(|row| row.arrival.0)),
    ]
}
