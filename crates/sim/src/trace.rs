//! The columns of a trace.

use crate::columns::{Column, Table};
use lightburst_des::Time;
use lightburst_net::trace::{Burst, Packet, What, Window};
use lightburst_net::{Block, DropReason, Header, Options, Trace};

/// Stands for no reason.
const NO_REASON: u8 = u8::MAX;

fn each<R, T>(rows: &[R], value: impl Fn(&R) -> T) -> Vec<T> {
    rows.iter().map(value).collect()
}

fn reason(reason: Option<DropReason>) -> u8 {
    reason.map_or(NO_REASON, |reason| reason as u8)
}

fn loss(what: What) -> (Option<DropReason>, Option<u64>) {
    match what {
        What::Lost { reason, burst } => (Some(reason), burst),
        What::Sent | What::Arrived => (None, None),
    }
}

/// What happened to the packets of the traced flows, in time.
pub fn packets(trace: &Trace) -> Table {
    let mut rows: Vec<Packet> = trace.packets.clone();
    // A packet's row is made when it is handed to the interface, which may be before it leaves.
    rows.sort_by_key(|row| row.time);
    let header = |value: fn(&Header) -> u64| Column::U64(each(&rows, |row| value(&row.header)));
    let option = |value: &dyn Fn(&Options) -> u64, none: u64| {
        Column::U64(each(&rows, |row| row.options.as_ref().map_or(none, value)))
    };
    let block = |i: usize, value: fn(&Block) -> u64| {
        option(&|options| options.blocks().get(i).map_or(0, value), 0)
    };
    vec![
        ("time_ps", Column::U64(each(&rows, |row| row.time.0))),
        ("flow", Column::U32(each(&rows, |row| row.flow.0))),
        (
            "event",
            Column::U8(each(&rows, |row| match row.what {
                What::Sent => 0,
                What::Arrived => 1,
                What::Lost { .. } => 2,
            })),
        ),
        ("packet", Column::U64(each(&rows, |row| row.number))),
        (
            "flags",
            Column::U8(each(&rows, |row| row.header.flags & !Header::OPTIONS)),
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
            Column::U64(each(&rows, |row| loss(row.what).1.unwrap_or(u64::MAX))),
        ),
        (
            "reason",
            Column::U8(each(&rows, |row| reason(loss(row.what).0))),
        ),
        (
            "blocks",
            Column::U8(each(&rows, |row| {
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
        ("reason", Column::U8(each(rows, |row| reason(row.lost)))),
    ]
}
