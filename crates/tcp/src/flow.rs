//! A row of the table of flows and what became of it.

use crate::{Reordered, Repetitions};
use lightburst_des::Time;
use lightburst_net::{FlowId, NodeId, Shared};

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

/// Flows in the order of their starts, as columns that the plan has, too.
pub struct Flows {
    /// Their numbers in the table of all flows, ascending; none: these are all.
    pub ids: Option<Vec<u32>>,
    /// Of each group of the plan, which of those it is that the hosts know.
    pub groups: Vec<u16>,
    /// The group in the plan; empty: all are of the first.
    pub group: Shared<u16>,
    /// Hosts that have the data.
    pub source: Shared<u32>,
    /// Hosts that want it.
    pub destination: Shared<u32>,
    /// When they are asked for, in picoseconds.
    pub start_ps: Shared<u64>,
    /// Useful bytes.
    pub bytes: Shared<u64>,
}

impl Flows {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ids.as_ref().map_or(self.source.len(), Vec::len)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the flow at a place.
    pub fn id(&self, index: usize) -> FlowId {
        FlowId(self.ids.as_ref().map_or(index as u32, |ids| ids[index]))
    }

    /// The place of a flow, if it is one of these.
    pub fn index(&self, flow: FlowId) -> Option<usize> {
        match &self.ids {
            None => Some(flow.index()),
            Some(ids) => ids.binary_search(&flow.0).ok(),
        }
    }

    /// When the flow at a place starts, if there is one.
    pub fn start(&self, index: usize) -> Option<Time> {
        let row = (index < self.len()).then(|| self.id(index).index())?;
        Some(Time(self.start_ps[row]))
    }

    /// The flow at a place.
    pub fn get(&self, index: usize) -> Flow {
        let id = self.id(index);
        let row = id.index();
        Flow {
            id,
            group: self.groups[self.group.get(row).copied().map_or(0, usize::from)],
            source: NodeId(self.source[row]),
            destination: NodeId(self.destination[row]),
            start: Time(self.start_ps[row]),
            size: self.bytes[row],
        }
    }
}

#[cfg(test)]
impl From<Vec<Flow>> for Flows {
    fn from(rows: Vec<Flow>) -> Flows {
        let ids: Vec<u32> = rows.iter().map(|flow| flow.id.0).collect();
        assert!(ids.iter().copied().eq(0..ids.len() as u32));
        let (of, to) = (
            |node: &Flow| node.source.0,
            |node: &Flow| node.destination.0,
        );
        Flows {
            ids: None,
            groups: (0..=rows.iter().map(|flow| flow.group).max().unwrap_or(0)).collect(),
            group: rows
                .iter()
                .map(|flow| flow.group)
                .collect::<Vec<_>>()
                .into(),
            source: rows.iter().map(of).collect::<Vec<_>>().into(),
            destination: rows.iter().map(to).collect::<Vec<_>>().into(),
            start_ps: rows
                .iter()
                .map(|flow| flow.start.0)
                .collect::<Vec<_>>()
                .into(),
            bytes: rows.iter().map(|flow| flow.size).collect::<Vec<_>>().into(),
        }
    }
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
