//! A row of the table of flows and what became of it.

use crate::{Reordered, Repetitions};
use lightburst_des::Time;
use lightburst_net::{FlowId, NodeId};

/// A transfer that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Its number in the table of all flows.
    pub id: FlowId,
    /// The group that it belongs to, of those that its hosts know.
    pub group: u16,
    /// Host that has the data.
    pub source: NodeId,
    /// Host that wants it.
    pub destination: NodeId,
    /// When it is asked for.
    pub start: Time,
    /// Useful bytes.
    pub size: u64,
}

/// How a flow ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All data arrived, acknowledged or not.
    Finished,
    /// The simulation ended first.
    TimeLimit,
    /// The simulation ended before it started.
    NotStarted,
    /// Open loop, and not all of it arrived.
    Lost,
    /// Not all of it arrived before an end repeated something as often as it may.
    GaveUp,
}

impl Status {
    /// The names, in the order of the variants.
    pub const NAMES: [&'static str; 5] =
        ["finished", "time-limit", "not-started", "lost", "gave-up"];
}

/// Where a connection is, seen from its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It has not begun, or waits for the SYN+ACK.
    Opening,
    /// It is in progress: established, and not all of its data is acknowledged.
    Open,
    /// All of its data is acknowledged, or its sender gave up.
    Over,
}

/// How far a connection is at some instant.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Where it is.
    pub stage: Stage,
    /// Its congestion window, in thousandths of a full segment.
    pub window: u64,
    /// Useful bytes that its receiver has, in order or not.
    pub arrived: u64,
    /// Losses that its window has answered so far: fast retransmissions, and timeouts of data.
    pub reductions: u64,
}

/// What became of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Arrival of the last data byte in order; [`Time::NEVER`] if not all came.
    pub received: Time,
    /// Arrival of its acknowledgement (for datagrams, which have none: as `received`);
    /// [`Time::NEVER`] if it did not come.
    pub acknowledged: Time,
    /// Useful bytes that reached the destination in order.
    pub delivered: u64,
    /// Data segments sent, retransmissions included.
    pub transmissions: u64,
    /// Data segments sent again.
    pub retransmissions: u64,
    /// Expirations of the sender's retransmission timer (SYN, data and FIN).
    pub timeouts: u64,
    /// Data segments that the receiver had already.
    pub duplicates: u64,
    /// Fast retransmissions, and what was repeated though it was not lost.
    pub repetitions: Repetitions,
    /// In which order its data arrived.
    pub reordered: Reordered,
    /// How it ended.
    pub status: Status,
}

/// How the number of a column follows from an outcome.
type Number = fn(&Outcome) -> u64;

impl Outcome {
    /// Of a flow that has not begun.
    pub fn not_started() -> Outcome {
        Outcome {
            received: Time::NEVER,
            acknowledged: Time::NEVER,
            delivered: 0,
            transmissions: 0,
            retransmissions: 0,
            timeouts: 0,
            duplicates: 0,
            repetitions: Repetitions::default(),
            reordered: Reordered::default(),
            status: Status::NotStarted,
        }
    }

    /// Its numbers, by the names of their columns.
    pub const NUMBERS: [(&'static str, Number); 16] = [
        ("received_ps", |o| o.received.0),
        ("acknowledged_ps", |o| o.acknowledged.0),
        ("delivered_bytes", |o| o.delivered),
        ("transmissions", |o| o.transmissions),
        ("retransmissions", |o| o.retransmissions),
        ("spurious_retransmissions", |o| {
            o.repetitions.spurious_retransmissions
        }),
        ("spurious_bytes", |o| o.repetitions.spurious_bytes),
        ("fast_retransmits", |o| o.repetitions.fast_retransmits),
        ("false_fast_retransmits", |o| {
            o.repetitions.false_fast_retransmits
        }),
        ("timeouts", |o| o.timeouts),
        ("false_timeouts", |o| o.repetitions.false_timeouts),
        ("duplicates", |o| o.duplicates),
        ("reordered", |o| o.reordered.segments),
        ("reorder_extent_sum", |o| o.reordered.extent_sum),
        ("reorder_extent_max", |o| o.reordered.extent_max),
        ("status", |o| o.status as u64),
    ];
}
