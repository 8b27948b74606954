//! Allocation after losses: flows that lost data in the same burst are spread over the queues.

use super::{Allocate, Blocks};
use crate::assembly::Sight;
use crate::settings::{duration, optional_duration};
use lightburst_des::{Duration, Time};
use lightburst_net::{FlowId, NoticeDelay};
use serde::Deserialize;
use std::collections::HashMap;
use std::num::NonZeroU16;

/// Settings of the allocation after losses.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct APosteriori {
    /// Number of queues.
    pub queues: NonZeroU16,
    /// Delay after a loss until the edge knows of it; `None`: the time the burst had travelled.
    #[serde(
        rename = "notice_delay_ps",
        default,
        deserialize_with = "optional_duration"
    )]
    pub notice_delay: Option<Duration>,
    /// A flow is treated as one without losses after it has sent no packet for longer than this.
    #[serde(rename = "forget_after_ps", deserialize_with = "duration")]
    pub forget_after: Duration,
}

impl APosteriori {
    pub(super) fn start(&self) -> KeptApart {
        KeptApart {
            blocks: Blocks::new(self.queues),
            forget_after: self.forget_after,
            begun: Time::ZERO,
            turned: Time::ZERO,
            recent: HashMap::new(),
            older: HashMap::new(),
        }
    }

    pub(super) fn notices(&self) -> NoticeDelay {
        self.notice_delay
            .map_or(NoticeDelay::WayBack, NoticeDelay::Fixed)
    }
}

/// Queue dealt to a flow after a loss.
#[derive(Clone, Copy)]
struct Dealt {
    queue: u32,
    /// Start of the last cycle in which the queue was dealt or a packet of the flow arrived.
    seen: Time,
}

/// Allocation in which flows with common losses have dealt queues and all other flows use queue 0.
pub(super) struct KeptApart {
    blocks: Blocks,
    forget_after: Duration,
    /// Start of the current cycle.
    begun: Time,
    /// Time when `recent` was last emptied. Entries found only in `older` were seen before it, so
    /// that expired flows are removed without a search.
    turned: Time,
    recent: HashMap<FlowId, Dealt>,
    older: HashMap<FlowId, Dealt>,
}

impl Allocate for KeptApart {
    fn begin(&mut self, sight: &mut Sight<'_>) {
        let seen = sight.now;
        self.begun = seen;
        if seen.since(self.turned) > self.forget_after {
            std::mem::swap(&mut self.recent, &mut self.older);
            self.recent.clear();
            self.turned = seen;
        }
        let Some(notices) = &mut sight.notices else {
            return;
        };
        notices.read(seen, |flows| {
            self.blocks.begin();
            for &flow in flows {
                let queue = self.blocks.next(sight.draw);
                self.recent.insert(flow, Dealt { queue, seen });
            }
        });
    }

    fn queue(&mut self, flow: FlowId, _sight: &mut Sight<'_>) -> u32 {
        let dealt = self.recent.get(&flow).or_else(|| self.older.get(&flow));
        match dealt {
            Some(&Dealt { queue, seen }) if self.begun.since(seen) <= self.forget_after => {
                let seen = self.begun;
                self.recent.insert(flow, Dealt { queue, seen });
                queue
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightburst_des::Stream;
    use lightburst_net::{Identity, Notices};

    const FORGET: u64 = 1000;

    fn kept_apart(queues: u16) -> KeptApart {
        let settings = APosteriori {
            queues: NonZeroU16::new(queues).expect("a queue"),
            notice_delay: None,
            forget_after: Duration(FORGET),
        };
        settings.start()
    }

    /// Starts a cycle with one notice per burst, each listing the flows that lost data in it.
    fn begin(kept: &mut KeptApart, now: u64, draw: &mut Stream, bursts: &[Vec<u32>]) {
        let mut notices = Notices::default();
        for (nth, flows) in (1..).zip(bursts) {
            let (at, node) = (Time(0), 9);
            let flows = flows.iter().map(|&flow| FlowId(flow));
            notices.add(Time(now - 1), Identity { at, node, nth }, flows);
        }
        let (now, notices) = (Time(now), Some(&mut notices));
        kept.begin(&mut Sight { now, draw, notices });
    }

    fn queues(kept: &mut KeptApart, draw: &mut Stream, flows: &[u32]) -> Vec<u32> {
        let (now, notices) = (kept.begun, None);
        let sight = &mut Sight { now, draw, notices };
        let queue = |&flow| kept.queue(FlowId(flow), sight);
        flows.iter().map(queue).collect()
    }

    #[test]
    fn each_block_of_the_flows_of_a_burst_has_all_queues() {
        let mut draw = Stream::new(1, "assembly/7");
        let mut kept = kept_apart(3);
        for cycle in 1..100 {
            let flows = [vec![4, 1, 7, 2, 5], vec![3, 6]];
            begin(&mut kept, 10 * cycle, &mut draw, &flows);
            let mut first = queues(&mut kept, &mut draw, &flows[0][..3]);
            first.sort_unstable();
            assert_eq!(first, [0, 1, 2]);
            for pair in [[2, 5], [3, 6]] {
                let queues = queues(&mut kept, &mut draw, &pair);
                assert_ne!(queues[0], queues[1]);
            }
            assert_eq!(queues(&mut kept, &mut draw, &[8, 0]), [0, 0]);
        }
    }

    #[test]
    fn a_flow_is_forgotten_when_nothing_came_for_so_long() {
        let mut draw = Stream::new(1, "assembly/7");
        for silence in [FORGET, FORGET + 1] {
            let mut kept = kept_apart(2);
            begin(&mut kept, 10, &mut draw, &[vec![1, 2]]);
            let dealt = queues(&mut kept, &mut draw, &[1, 2]);
            assert_eq!(dealt[0] + dealt[1], 1);
            // One flow sends a packet in every cycle, the other one only after the silence.
            let other = usize::from(dealt[0] == 0);
            let flows = [[2, 1][other], [1, 2][other]];
            for now in (10..10 + silence).step_by(100) {
                begin(&mut kept, now, &mut draw, &[]);
                assert_eq!(queues(&mut kept, &mut draw, &flows[..1]), [0]);
            }
            begin(&mut kept, 10 + silence, &mut draw, &[]);
            let later = queues(&mut kept, &mut draw, &flows);
            assert_eq!(later, [0, u32::from(silence == FORGET)]);
        }
    }

    #[test]
    fn what_is_kept_does_not_grow_with_all_flows_that_ever_were() {
        let mut draw = Stream::new(1, "assembly/7");
        let mut kept = kept_apart(2);
        for flow in 0..10_000 {
            let now = 10 + u64::from(flow) * 10;
            begin(&mut kept, now, &mut draw, &[vec![2 * flow, 2 * flow + 1]]);
            // Flows of twice the time after which flows are forgotten, and of one more cycle.
            let most = 2 * (2 * FORGET as usize / 10 + 2);
            assert!(kept.recent.len() + kept.older.len() <= most);
        }
    }
}
