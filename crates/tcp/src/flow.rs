//! Flows, as rows and as a table, and their outcomes.

use crate::{Reordered, Repetitions};
use lightburst_des::Time;
use lightburst_net::{FlowId, NodeId, Shared};

/// A transfer of data from one host to another.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Number in the table of all flows.
    pub id: FlowId,
    /// Index of its group among the groups of the hosts.
    pub group: u16,
    /// Host that sends the data.
    pub source: NodeId,
    /// Host that receives the data.
    pub destination: NodeId,
    /// Time at which the transfer is requested.
    pub start: Time,
    /// Payload bytes.
    pub size: u64,
}

/// Flows in the order of their start times. The columns are shared with the plan and may contain
/// further flows.
pub struct Flows {
    /// Numbers of these flows in the columns, ascending; `None` if these are all flows.
    pub ids: Option<Vec<u32>>,
    /// For each group of the plan, its index among the groups of the hosts.
    pub groups: Vec<u16>,
    /// Group in the plan, per flow; empty if all flows belong to the first group.
    pub group: Shared<u16>,
    /// Hosts that send the data.
    pub source: Shared<u32>,
    /// Hosts that receive the data.
    pub destination: Shared<u32>,
    /// Times at which the transfers are requested, in picoseconds.
    pub start_ps: Shared<u64>,
    /// Payload bytes per flow.
    pub bytes: Shared<u64>,
}

impl Flows {
    /// Returns the number of these flows.
    pub fn len(&self) -> usize {
        self.ids.as_ref().map_or(self.source.len(), Vec::len)
    }

    /// Returns whether there are no flows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of the flow at `index`.
    pub fn id(&self, index: usize) -> FlowId {
        FlowId(self.ids.as_ref().map_or(index as u32, |ids| ids[index]))
    }

    /// Returns the index of a flow, or `None` if it is not one of these flows.
    pub fn index(&self, flow: FlowId) -> Option<usize> {
        match &self.ids {
            None => Some(flow.index()),
            Some(ids) => ids.binary_search(&flow.0).ok(),
        }
    }

    /// Returns the start time of the flow at `index`, or `None` beyond the last flow.
    pub fn start(&self, index: usize) -> Option<Time> {
        let row = (index < self.len()).then(|| self.id(index).index())?;
        Some(Time(self.start_ps[row]))
    }

    /// Returns the flow at `index`.
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

    /// Returns the source and the destination of the flow at `index`.
    pub fn ends(&self, index: usize) -> (u32, u32) {
        let row = self.id(index).index();
        (self.source[row], self.destination[row])
    }

    /// Returns the number, the source and the start time of the flow at `index`.
    pub fn origin(&self, index: usize) -> (FlowId, NodeId, Time) {
        let id = self.id(index);
        let row = id.index();
        (id, NodeId(self.source[row]), Time(self.start_ps[row]))
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

/// Final state of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All data arrived, whether or not its acknowledgement did.
    Finished,
    /// The simulation ended before all data arrived.
    TimeLimit,
    /// The simulation ended before the flow started.
    NotStarted,
    /// The flow is incomplete because datagrams were dropped; open-loop flows only.
    Lost,
    /// An endpoint reached its limit of repetitions before all data arrived.
    GaveUp,
}

impl Status {
    /// Names of the variants, in their order.
    pub const NAMES: [&'static str; 5] =
        ["finished", "time-limit", "not-started", "lost", "gave-up"];
}

/// Stage of a connection, as seen by its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Not started, or waiting for the SYN+ACK.
    Opening,
    /// Established, with data that is not yet acknowledged.
    Open,
    /// All data is acknowledged, or the sender gave up.
    Over,
}

/// Progress of a connection at some instant.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Stage of the connection.
    pub stage: Stage,
    /// Congestion window in thousandths of a full segment.
    pub window: u64,
    /// Payload bytes at the receiver, in order or not.
    pub arrived: u64,
    /// Number of times data was taken for lost so far: fast retransmissions, and timeouts of data.
    pub reductions: u64,
}

/// Results of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Arrival time of the last data byte in order; [`Time::NEVER`] if data is missing.
    pub received: Time,
    /// Arrival time of its acknowledgement, or [`Time::NEVER`]. Equals `received` for datagrams,
    /// which are not acknowledged.
    pub acknowledged: Time,
    /// Payload bytes that reached the destination in order.
    pub delivered: u64,
    /// Number of data segments sent, retransmissions included.
    pub transmissions: u64,
    /// Number of data segments retransmitted.
    pub retransmissions: u64,
    /// Number of expiries of the sender's retransmission timer (SYN, data and FIN).
    pub timeouts: u64,
    /// Number of data segments that arrived although the receiver already had them.
    pub duplicates: u64,
    /// Number of data segments that a further subflow sent for another one.
    pub reinjections: u64,
    /// Counts of fast retransmissions, and of retransmissions and timeouts without a loss.
    pub repetitions: Repetitions,
    /// Counts of segments that arrived out of order.
    pub reordered: Reordered,
    /// Final state.
    pub status: Status,
}

/// Extracts the value of one column.
type Number = fn(&Outcome) -> u64;

impl Outcome {
    /// Returns the outcome of a flow that has not started.
    pub fn not_started() -> Outcome {
        Outcome {
            received: Time::NEVER,
            acknowledged: Time::NEVER,
            delivered: 0,
            transmissions: 0,
            retransmissions: 0,
            timeouts: 0,
            duplicates: 0,
            reinjections: 0,
            repetitions: Repetitions::default(),
            reordered: Reordered::default(),
            status: Status::NotStarted,
        }
    }

    /// Names of the output columns and the functions that extract their values.
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
