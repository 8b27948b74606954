//! Paths by congestion: each flow has a number that goes into the hash of its packets, and its sender
//! changes the number when the path is congested (PLB, Qureshi et al., SIGCOMM 2022; FlowBender,
//! Kabbani et al., CoNEXT 2014).

use crate::routing::repath::PathNews;
use crate::{Envelope, FlowId, NodeId};

/// When a path counts as congested.
#[derive(Clone, Copy, Debug)]
pub struct ChangeSettings {
    /// Least share of marked bytes in a congested round trip.
    pub threshold: f64,
    /// Congested round trips in a row after which the path changes.
    pub rounds: u32,
    /// The same where no data is in flight.
    pub idle_rounds: u32,
}

/// Path of one flow, and the present round trip.
#[derive(Clone, Copy, Debug)]
struct Way {
    source: NodeId,
    number: u8,
    /// Whether the receiver has notified of a mark.
    notified: bool,
    count: u8,
    /// Congested round trips in a row.
    congested: u32,
    /// End of the data sent when the round trip began.
    until: u64,
    acknowledged: u64,
    marked: u64,
}

/// Paths of all flows. Only a flow's own source reads and changes its path.
#[derive(Debug)]
pub struct Changes {
    settings: ChangeSettings,
    ways: Vec<Way>,
}

impl Changes {
    /// Creates the first paths of the flows from `sources`; `count` is the first count of marks.
    pub fn new(
        settings: ChangeSettings,
        sources: impl Iterator<Item = NodeId>,
        count: u8,
    ) -> Changes {
        let way = |source| Way {
            source,
            number: 0,
            notified: false,
            count,
            congested: 0,
            until: 0,
            acknowledged: 0,
            marked: 0,
        };
        Changes {
            settings,
            ways: sources.map(way).collect(),
        }
    }

    /// Returns the number in a new packet: packets from the flow's source have that of the flow.
    pub(crate) fn number(&self, packet: &Envelope) -> u8 {
        let way = &self.ways[packet.flow.index()];
        match packet.source == way.source {
            true => way.number,
            false => 0,
        }
    }

    /// Handles an acknowledgement.
    pub(crate) fn on_ack(&mut self, flow: FlowId, news: &PathNews) {
        let settings = self.settings;
        let way = &mut self.ways[flow.index()];
        let count = news.count.unwrap_or(way.count);
        let counted = std::mem::replace(&mut way.count, count) != count;
        way.acknowledged += news.bytes;
        if news.marked || counted {
            way.marked += news.bytes;
        }
        if news.bytes == 0 || news.acknowledged < way.until {
            return;
        }
        // PLB: a round is congested if at least the share K of it was marked.
        let share = settings.threshold * way.acknowledged as f64;
        let by_marks = way.marked > 0 && way.marked as f64 >= share;
        way.congested = match way.notified || by_marks {
            true => way.congested + 1,
            false => 0,
        };
        let idle = news.acknowledged == news.sent;
        if way.congested >= settings.rounds || idle && way.congested >= settings.idle_rounds {
            way.change();
        }
        (way.acknowledged, way.marked, way.notified) = (0, 0, false);
        way.until = news.sent;
    }

    /// Handles a notification of marks.
    pub(crate) fn on_notification(&mut self, flow: FlowId) {
        self.ways[flow.index()].notified = true;
    }

    /// Handles a timeout: the path may be broken.
    pub(crate) fn on_timeout(&mut self, flow: FlowId) {
        self.ways[flow.index()].change();
    }
}

impl Way {
    fn change(&mut self) {
        self.number = self.number.wrapping_add(1);
        self.congested = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Round trips of 1,000 bytes, of which so many are marked; returns the number after each.
    fn numbers(rounds: u32, marked: &[u64]) -> Vec<u8> {
        let settings = ChangeSettings {
            threshold: 0.5,
            rounds,
            idle_rounds: 9,
        };
        let mut paths = Changes::new(settings, [NodeId(3)].into_iter(), 0);
        let mut acknowledged = 0;
        let round = |&marks: &u64| {
            for (bytes, marked) in [(1000 - marks, false), (marks, true)] {
                acknowledged += bytes;
                let news = PathNews {
                    bytes,
                    marked,
                    acknowledged,
                    sent: acknowledged + 1000,
                    count: None,
                    trimmed: None,
                };
                paths.on_ack(FlowId(0), &news);
            }
            paths.ways[0].number
        };
        marked.iter().map(round).collect()
    }

    #[test]
    fn a_path_is_left_after_so_many_congested_round_trips_in_a_row() {
        // The first acknowledgement ends the round of nothing; the marks of the first round follow.
        let marked = [0, 500, 999, 400, 500, 500, 500];
        assert_eq!(numbers(1, &marked), [0, 1, 2, 2, 3, 4, 5]);
        assert_eq!(numbers(2, &marked), [0, 0, 1, 1, 1, 2, 2]);
        assert_eq!(numbers(3, &marked), [0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn only_packets_of_the_source_have_the_number() {
        let settings = ChangeSettings {
            threshold: 0.5,
            rounds: 1,
            idle_rounds: 1,
        };
        let mut paths = Changes::new(settings, [NodeId(3), NodeId(4)].into_iter(), 0);
        paths.on_timeout(FlowId(1));
        paths.on_timeout(FlowId(1));
        let from = |flow, source| {
            let unit = Envelope::new(FlowId(flow), NodeId(source), NodeId(9), 100);
            paths.number(&unit)
        };
        assert_eq!([from(1, 4), from(1, 3), from(0, 3)], [2, 0, 0]);
    }

    #[test]
    fn a_notification_makes_the_round_congested_and_an_idle_flow_leaves_sooner() {
        let settings = ChangeSettings {
            threshold: 0.5,
            rounds: 5,
            idle_rounds: 2,
        };
        let mut paths = Changes::new(settings, [NodeId(3)].into_iter(), 0);
        let mut numbers = Vec::new();
        for n in 1..=4 {
            paths.on_notification(FlowId(0));
            let news = PathNews {
                bytes: 10,
                marked: false,
                acknowledged: 10 * n,
                sent: 10 * n,
                count: None,
                trimmed: None,
            };
            paths.on_ack(FlowId(0), &news);
            numbers.push(paths.ways[0].number);
        }
        assert_eq!(numbers, [0, 1, 1, 2]);
    }
}
