//! Notices to an ingress about losses in its bursts: each notice names the flows that lost data
//! together in one burst. An ingress reads only notices from before the present instant, ordered by
//! arrival time and burst. The result therefore does not depend on the order of simultaneous events
//! at different nodes.
//!
//! Notices are a mechanism of the network and no measurement: assembly at the ingress acts on them.

use crate::{BurstId, Fabric, FlowId, Identity, NodeId, PortId};
use lightburst_des::{Duration, Time};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Time from a loss to its notice at the ingress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeDelay {
    /// Time from the creation of the burst to its loss: the same time is taken for the way back.
    WayBack,
    /// The same time for all losses.
    Fixed(Duration),
}

impl NoticeDelay {
    /// Returns the arrival time of the notice about a burst, given its creation and its loss.
    fn comes(self, made: Time, lost: Time) -> Time {
        match self {
            NoticeDelay::WayBack => lost + lost.since(made),
            NoticeDelay::Fixed(delay) => lost + delay,
        }
    }
}

/// Notice about the flows that lost data together.
#[derive(Debug)]
struct Notice {
    /// Arrival time of the notice.
    comes: Time,
    /// Burst that lost the data.
    burst: Identity,
    /// Flows that lost data, in the order of their first packets in the burst.
    flows: Vec<FlowId>,
}

/// Notices about the bursts of one class from one ingress to one egress.
#[derive(Debug, Default)]
pub struct Notices {
    /// Unread notices, the next one in front.
    pending: VecDeque<Notice>,
    /// Empty lists for reuse.
    spare: Vec<Vec<FlowId>>,
}

impl Notices {
    /// Adds a notice that data of these flows was lost in a burst. A single flow gives no notice.
    pub fn add(&mut self, comes: Time, burst: Identity, lost: impl Iterator<Item = FlowId>) {
        let mut flows = self.spare.pop().unwrap_or_default();
        flows.clear();
        for flow in lost {
            if !flows.contains(&flow) {
                flows.push(flow);
            }
        }
        if flows.len() < 2 {
            return self.spare.push(flows);
        }
        let before = |other: &Notice| (other.comes, other.burst) <= (comes, burst);
        let at = self.pending.partition_point(before);
        let notice = Notice {
            comes,
            burst,
            flows,
        };
        self.pending.insert(at, notice);
    }

    /// Reads and removes the notices that arrived before `now`; `reader` gets the flows of each.
    pub fn read(&mut self, now: Time, mut reader: impl FnMut(&[FlowId])) {
        while let Some(Notice { flows, .. }) = self.pop_before(now) {
            reader(&flows);
            self.spare.push(flows);
        }
    }

    fn pop_before(&mut self, now: Time) -> Option<Notice> {
        match self.pending.front()?.comes < now {
            true => self.pending.pop_front(),
            false => None,
        }
    }
}

/// Ingress, egress and class of bursts.
type Line = (NodeId, NodeId, u16);

/// Notices to all ingress nodes.
#[derive(Debug)]
pub struct NoticeBoard {
    /// Ingress nodes that use notices, with their delays.
    delays: BTreeMap<NodeId, NoticeDelay>,
    lines: BTreeMap<Line, Notices>,
}

impl NoticeBoard {
    /// Creates the notices for the ingress nodes in `delays`.
    pub fn new(delays: BTreeMap<NodeId, NoticeDelay>) -> NoticeBoard {
        let lines = BTreeMap::new();
        NoticeBoard { delays, lines }
    }

    /// Returns the notices for an ingress about its bursts of a class for an egress. `None` if no
    /// packet of them was lost yet.
    pub(crate) fn line(
        &mut self,
        ingress: NodeId,
        egress: NodeId,
        class: u16,
    ) -> Option<&mut Notices> {
        self.lines.get_mut(&(ingress, egress, class))
    }
}

impl Fabric {
    /// Gives notice about the packets of a burst at the positions `lost`, which are about to be
    /// dropped.
    #[inline]
    pub(crate) fn give_notice(&mut self, burst: BurstId, lost: Range<usize>, now: Time) {
        if self.notices.is_some() {
            self.post_notice(burst, lost, now);
        }
    }

    #[cold]
    fn post_notice(&mut self, id: BurstId, lost: Range<usize>, now: Time) {
        let burst = self.units.bursts[id];
        let ingress = burst.envelope.source;
        let of_host = self.link_id(burst.envelope.destination, PortId(0));
        let egress = self.links.to(of_host);
        let board = self.notices.as_mut().expect("a notice board");
        let Some(delay) = board.delays.get(&ingress) else {
            return;
        };
        // Packets created by the ingress itself wait in no assembly queue.
        let data = self
            .units
            .packets_at(id, lost)
            .filter(|packet| packet.header.payload > 0 && packet.envelope.source != ingress);
        let notices = board.lines.entry((ingress, egress, burst.class));
        let comes = delay.comes(burst.identity.at, now);
        let flows = data.map(|packet| packet.envelope.flow);
        notices.or_default().add(comes, burst.identity, flows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(at: u64, node: u32, nth: u32) -> Identity {
        let at = Time(at);
        Identity { at, node, nth }
    }

    fn read(notices: &mut Notices, now: u64) -> Vec<Vec<u32>> {
        let mut all = Vec::new();
        notices.read(Time(now), |flows| {
            all.push(flows.iter().map(|flow| flow.0).collect());
        });
        all
    }

    /// Notices given as (arrival time, burst, flows).
    fn notices(given: &[(u64, Identity, &[u32])]) -> Notices {
        let mut notices = Notices::default();
        for &(comes, burst, flows) in given {
            notices.add(Time(comes), burst, flows.iter().map(|&flow| FlowId(flow)));
        }
        notices
    }

    #[test]
    fn a_notice_is_read_once_and_after_the_instant_at_which_it_comes() {
        let mut notices = notices(&[(100, identity(0, 5, 1), &[7, 3, 7])]);
        assert!(read(&mut notices, 100).is_empty());
        assert_eq!(read(&mut notices, 101), [[7, 3]]);
        assert!(read(&mut notices, 102).is_empty());
    }

    #[test]
    fn of_one_flow_alone_there_is_none() {
        let mut notices = notices(&[
            (100, identity(0, 5, 1), &[7, 7]),
            (100, identity(0, 5, 2), &[]),
        ]);
        assert!(read(&mut notices, 1000).is_empty());
    }

    #[test]
    fn notices_are_read_in_an_order_that_is_not_that_of_the_losses() {
        let (first, second) = (identity(10, 5, 1), identity(10, 5, 2));
        let given: [(u64, Identity, &[u32]); 3] = [
            (200, first, &[1, 2]),
            (150, second, &[3, 4]),
            (150, first, &[5, 6]),
        ];
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let mut notices = notices(&order.map(|i| given[i]));
            assert_eq!(read(&mut notices, 200), [[5, 6], [3, 4]]);
            assert_eq!(read(&mut notices, 201), [[1, 2]]);
        }
    }

    #[test]
    fn a_notice_takes_as_long_as_the_burst_or_a_fixed_time() {
        let comes = |delay: NoticeDelay| delay.comes(Time(100), Time(140)).0;
        assert_eq!(comes(NoticeDelay::WayBack), 180);
        assert_eq!(comes(NoticeDelay::Fixed(Duration(7))), 147);
    }
}
