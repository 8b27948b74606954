//! Several queues per egress, so that one lost burst does not hit all flows at once (Vlachos 2008).

mod a_posteriori;
mod a_priori;

pub use a_posteriori::APosteriori;

use super::{AssemblyPolicy, AssemblySettings, Decision, Queue, Sight, Timer};
use crate::settings::duration;
use a_priori::APriori;
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::{FlowId, NoticeDelay, Packet};
use serde::Deserialize;
use std::num::NonZeroU16;

/// Settings of timer-based assembly with several queues per egress.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultiQueue {
    /// Length of an assembly cycle; with one queue per flow, the time limit of [`Timer`].
    #[serde(rename = "time_ps", deserialize_with = "duration")]
    pub time: Duration,
    /// Rule that allocates flows to queues.
    pub allocation: Allocation,
}

/// Rule that allocates flows to queues.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Allocation {
    /// Each cycle deals the queues to the flows in blocks: every block is a random permutation of
    /// all queues.
    APriori {
        /// Number of queues.
        queues: NonZeroU16,
    },
    /// Flows that lost data in the same burst are spread over the queues afterwards.
    APosteriori(APosteriori),
    /// In each cycle, each flow draws a queue independently, as the printed formula implies.
    Printed {
        /// Number of queues.
        queues: NonZeroU16,
    },
    /// Each flow has its own queue.
    PerFlow,
}

impl AssemblySettings for MultiQueue {
    fn start(&self) -> Box<dyn AssemblyPolicy> {
        let time = self.time;
        match self.allocation {
            Allocation::APriori { queues } => Cycles::of(time, APriori::new(queues, true)),
            Allocation::Printed { queues } => Cycles::of(time, APriori::new(queues, false)),
            Allocation::APosteriori(settings) => Cycles::of(time, settings.start()),
            Allocation::PerFlow => Box::new(PerFlow { time }),
        }
    }

    fn notices(&self) -> Option<NoticeDelay> {
        match self.allocation {
            Allocation::APosteriori(settings) => Some(settings.notices()),
            _ => None,
        }
    }
}

/// Policy with one queue per flow.
struct PerFlow {
    time: Duration,
}

impl AssemblyPolicy for PerFlow {
    fn has_queues(&self) -> bool {
        true
    }

    fn queue(&mut self, packet: &Packet, _sight: &mut Sight<'_>) -> u32 {
        packet.envelope.flow.0
    }

    fn on_packet(&mut self, queue: &Queue, draw: &mut Stream) -> Decision {
        Timer { time: self.time }.on_packet(queue, draw)
    }
}

/// Allocation of flows to queues during an assembly cycle.
trait Allocate: Send {
    /// Starts a new cycle.
    fn begin(&mut self, sight: &mut Sight<'_>);

    /// Returns the queue of a flow; it does not change until the next cycle.
    fn queue(&mut self, flow: FlowId, sight: &mut Sight<'_>) -> u32;
}

/// Policy that closes all its queues at the end of each assembly cycle. A flow that changes its
/// queue between two cycles therefore keeps its packets in order.
struct Cycles<A> {
    time: Duration,
    /// End of the current or the last cycle; `None` before the first one.
    ends: Option<Time>,
    allocation: A,
}

impl<A: Allocate + 'static> Cycles<A> {
    fn of(time: Duration, allocation: A) -> Box<dyn AssemblyPolicy> {
        let ends = None;
        Box::new(Cycles {
            time,
            ends,
            allocation,
        })
    }
}

impl<A: Allocate> AssemblyPolicy for Cycles<A> {
    fn has_queues(&self) -> bool {
        true
    }

    fn queue(&mut self, packet: &Packet, sight: &mut Sight<'_>) -> u32 {
        if !self.ends.is_some_and(|ends| sight.now <= ends) {
            self.ends = Some(sight.now + self.time);
            self.allocation.begin(sight);
        }
        self.allocation.queue(packet.envelope.flow, sight)
    }

    fn on_packet(&mut self, queue: &Queue, _draw: &mut Stream) -> Decision {
        let ends = self.ends.expect("a cycle, since a packet has come");
        match queue.packets {
            1 => Decision::StartTimer(ends.since(queue.newest)),
            _ => Decision::Wait,
        }
    }
}

/// Deals the queues in blocks, each a random permutation of all queues.
struct Blocks {
    queues: u32,
    /// Queues not yet dealt in the current block.
    left: Vec<u32>,
}

impl Blocks {
    fn new(queues: NonZeroU16) -> Blocks {
        let queues = u32::from(queues.get());
        Blocks {
            queues,
            left: Vec::with_capacity(queues as usize),
        }
    }

    /// Starts a new block.
    fn begin(&mut self) {
        self.left.clear();
    }

    fn next(&mut self, draw: &mut Stream) -> u32 {
        if self.left.is_empty() {
            self.left.extend(0..self.queues);
        }
        let place = draw.below(self.left.len() as u32);
        self.left.swap_remove(place as usize)
    }
}
