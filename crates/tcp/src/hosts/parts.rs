//! Hosts of a network in parts. The endpoints of a flow may belong to two parts: that of its source
//! has the sender, that of its destination the receiver, made at the first segment. Each has a copy of
//! the other endpoint, which no event touches.

use super::TcpHosts;
use crate::{Outcomes, Status};
use lightburst_net::{Context, Dropped, FlowId, NodeId, Part};

/// Number of slots below which it is not worth a stop of all parts to free some.
const FEW: usize = 1 << 10;

/// Activity of a flow whose endpoints are in one part or in two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Whether any part has endpoints.
    pub begun: bool,
    /// Whether an endpoint may act without a segment that arrives.
    pub busy: bool,
}

impl Activity {
    /// Returns whether the flow has ended, if no packet of it is under way.
    pub fn is_over(&self) -> bool {
        self.begun && !self.busy
    }
}

impl TcpHosts {
    /// Creates the receiver of a flow that comes from another part.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_receiver(&mut self, index: usize, ctx: &mut Context<'_>) {
        let source = self.flows.get(index).source;
        // The transport of a sender depends on the link of its host.
        self.begin(index, &mut ctx.of_host(source));
    }

    /// Takes the steps that senders have postponed to the end of a window.
    pub fn end_window(&mut self, asking: Vec<FlowId>, dropped: &mut Dropped) {
        for flow in asking {
            let index = self.index_of(flow).expect("a flow of this sender");
            self.connections.sender(index).end_window(flow, dropped);
        }
    }

    /// Returns whether ended connections should be searched before others begin.
    pub fn are_many(&self) -> bool {
        self.connections.slots() >= FEW && self.connections.are_many()
    }

    /// Adds the activity of the endpoints of this part to that of all flows, by index.
    pub fn add_activity(&self, part: &Part, all: &mut [Activity]) {
        for (index, sender, receiver) in self.connections.all() {
            let (source, destination) = self.flows.ends(index);
            let activity = &mut all[index];
            activity.begun = true;
            // The copies of endpoints that belong to another part never act.
            let of_sender = part.owns(NodeId(source)) && !sender.is_done();
            let of_receiver = part.owns(NodeId(destination)) && !receiver.is_done();
            activity.busy |= of_sender || of_receiver;
        }
    }

    /// Records the outcomes of the flows in `over` that have endpoints here, and frees their slots.
    pub fn end(&mut self, over: &[usize], dropped: &mut Dropped) {
        let here = |&index: &usize| self.connections.ends(index).is_some();
        let over: Vec<usize> = over.iter().copied().filter(here).collect();
        for &index in &over {
            let flow = self.flows.id(index);
            let outcome = self.outcome(index, dropped);
            self.outcomes.set(flow, &outcome);
            dropped.forget(flow);
        }
        self.connections.end(&over);
    }
}

/// Columns of outcomes that a receiver knows; a sender knows the others, except the status.
const OF_RECEIVER: [&str; 6] = [
    "received_ps",
    "delivered_bytes",
    "duplicates",
    "reordered",
    "reorder_extent_sum",
    "reorder_extent_max",
];

impl Outcomes {
    /// Joins the outcomes of parts. `ends` are the sources and the destinations of all flows;
    /// `of_node` is the part of each node.
    pub fn joined(parts: &[Outcomes], ends: [&[u32]; 2], of_node: &[u16]) -> Outcomes {
        let [sources, destinations] = ends;
        let part = |host: u32| usize::from(of_node[host as usize]);
        let mut joined = Outcomes::new(sources.len());
        joined.join(parts, sources.len(), |name, columns, row| {
            let sent = columns[part(sources[row])].get(row);
            let received = columns[part(destinations[row])].get(row);
            match name {
                "status" => status(sent, received),
                _ if OF_RECEIVER.contains(&name) => received,
                _ => sent,
            }
        });
        joined
    }
}

/// Returns the status of a flow from those in the parts of its sender and of its receiver: all data has
/// arrived if the receiver has it, and either may give up.
fn status(of_sender: u64, of_receiver: u64) -> u64 {
    let finished = Status::Finished as u64;
    let gave_up = Status::GaveUp as u64;
    if of_receiver == finished {
        finished
    } else if of_sender == gave_up || of_receiver == gave_up {
        gave_up
    } else {
        of_sender
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_has_one_status_of_those_in_two_parts() {
        use Status::{Finished, GaveUp, NotStarted, TimeLimit};
        for (of_sender, of_receiver, of_both) in [
            (TimeLimit, Finished, Finished),
            (GaveUp, Finished, Finished),
            (GaveUp, TimeLimit, GaveUp),
            (TimeLimit, GaveUp, GaveUp),
            (GaveUp, NotStarted, GaveUp),
            (TimeLimit, NotStarted, TimeLimit),
            (NotStarted, NotStarted, NotStarted),
        ] {
            assert_eq!(status(of_sender as u64, of_receiver as u64), of_both as u64);
        }
    }
}
