//! What an ingress is told of its bursts of which something is lost: the flows that lost data
//! together. It reads only what came before the present instant, in an order that hangs on when
//! that was and of which bursts it is told, so that the order of simultaneous events of different
//! nodes does not matter.

use crate::{Birth, BurstId, Fabric, FlowId, NodeId, PortId};
use lightburst_des::{Duration, Time};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// How long after a loss the ingress is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeDelay {
    /// As long as the burst was on its way, from the time at which it was made.
    WayBack,
    /// So long, wherever it was lost.
    Fixed(Duration),
}

impl NoticeDelay {
    /// When a notice comes of a burst that was made and lost then.
    fn comes(self, made: Time, lost: Time) -> Time {
        match self {
            NoticeDelay::WayBack => lost + lost.since(made),
            NoticeDelay::Fixed(delay) => lost + delay,
        }
    }
}

/// That some flows lost data together.
#[derive(Debug)]
struct Notice {
    /// When it comes.
    comes: Time,
    /// In which burst.
    burst: Birth,
    /// In the order of their first packets in it.
    flows: Vec<FlowId>,
}

/// The notices of one line: of the bursts of one class from one edge to another.
#[derive(Debug, Default)]
pub struct Notices {
    /// Those that are to be read first in front.
    pending: VecDeque<Notice>,
    /// Lists to be used again.
    spare: Vec<Vec<FlowId>>,
}

impl Notices {
    /// Data of these flows is lost in a burst. Of one flow alone no notice comes.
    pub fn add(&mut self, comes: Time, burst: Birth, lost: impl Iterator<Item = FlowId>) {
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

    /// Reads the notices that came before `now`: the flows of each.
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

/// An ingress, an egress and a class.
type Line = (NodeId, NodeId, u16);

/// What all edges are told.
#[derive(Debug)]
pub struct NoticeBoard {
    /// The edges that want to know, and after what time.
    delays: BTreeMap<NodeId, NoticeDelay>,
    lines: BTreeMap<Line, Notices>,
}

impl NoticeBoard {
    /// These edges want to know.
    pub fn new(delays: BTreeMap<NodeId, NoticeDelay>) -> NoticeBoard {
        let lines = BTreeMap::new();
        NoticeBoard { delays, lines }
    }

    /// What an ingress is told of its bursts of a class for an egress, if it ever was.
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
    /// Some packets of a burst are about to be lost: those at these places.
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
        // What an edge makes itself waits in no queue.
        let data = self
            .units
            .packets_at(id, lost)
            .filter(|packet| packet.header.payload > 0 && packet.envelope.source != ingress);
        let notices = board.lines.entry((ingress, egress, burst.class));
        let comes = delay.comes(burst.birth.at, now);
        let flows = data.map(|packet| packet.envelope.flow);
        notices.or_default().add(comes, burst.birth, flows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn birth(at: u64, node: u32, nth: u32) -> Birth {
        let at = Time(at);
        Birth { at, node, nth }
    }

    fn read(notices: &mut Notices, now: u64) -> Vec<Vec<u32>> {
        let mut all = Vec::new();
        notices.read(Time(now), |flows| {
            all.push(flows.iter().map(|flow| flow.0).collect());
        });
        all
    }

    /// Notices of (when they come, burst, flows).
    fn notices(given: &[(u64, Birth, &[u32])]) -> Notices {
        let mut notices = Notices::default();
        for &(comes, burst, flows) in given {
            notices.add(Time(comes), burst, flows.iter().map(|&flow| FlowId(flow)));
        }
        notices
    }

    #[test]
    fn a_notice_is_read_once_and_after_the_instant_at_which_it_comes() {
        let mut notices = notices(&[(100, birth(0, 5, 1), &[7, 3, 7])]);
        assert!(read(&mut notices, 100).is_empty());
        assert_eq!(read(&mut notices, 101), [[7, 3]]);
        assert!(read(&mut notices, 102).is_empty());
    }

    #[test]
    fn of_one_flow_alone_there_is_none() {
        let mut notices = notices(&[(100, birth(0, 5, 1), &[7, 7]), (100, birth(0, 5, 2), &[])]);
        assert!(read(&mut notices, 1000).is_empty());
    }

    #[test]
    fn notices_are_read_in_an_order_that_is_not_that_of_the_losses() {
        let (first, second) = (birth(10, 5, 1), birth(10, 5, 2));
        let given: [(u64, Birth, &[u32]); 3] = [
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
