//! Several queues for an egress, so that one lost burst does not hit all flows at once (Vlachos 2008).

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

/// Several queues for an egress, by time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultiQueue {
    /// How long an assembly cycle is; of a queue for each flow, see [`Timer`].
    #[serde(rename = "time_ps", deserialize_with = "duration")]
    pub time: Duration,
    /// Which flow is in which queue.
    pub allocation: Allocation,
}

/// How flows are allocated to queues.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Allocation {
    /// In each cycle anew: a random permutation of the queues for each block of as many flows.
    APriori {
        /// How many queues.
        queues: NonZeroU16,
    },
    /// Flows that lost data in one burst are kept apart afterwards.
    APosteriori(APosteriori),
    /// In each cycle anew: each flow draws one, as the printed formula comes to.
    Printed {
        /// How many queues.
        queues: NonZeroU16,
    },
    /// Each flow has its own.
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

/// One queue for each flow.
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

    fn on_packet(&mut self, queue: &Queue) -> Decision {
        Timer { time: self.time }.on_packet(queue)
    }
}

/// Which flow is in which queue, during an assembly cycle.
trait Allocate: Send {
    /// A cycle begins now.
    fn begin(&mut self, sight: &mut Sight<'_>);

    /// The queue of a flow, the same until the next cycle begins.
    fn queue(&mut self, flow: FlowId, sight: &mut Sight<'_>) -> u32;
}

/// Queues that are all closed at the end of an assembly cycle, so that a flow that has another one in
/// the next cycle overtakes nothing.
struct Cycles<A> {
    time: Duration,
    /// When the present cycle ends, or the last one has ended.
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

    fn on_packet(&mut self, queue: &Queue) -> Decision {
        let ends = self.ends.expect("a cycle, since a packet has come");
        match queue.packets {
            1 => Decision::StartTimer(ends.since(queue.newest)),
            _ => Decision::Wait,
        }
    }
}

/// The queues, dealt in blocks: a random permutation of them for each block.
struct Blocks {
    queues: u32,
    /// Those that nothing in the present block has.
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

    /// The next one begins a block.
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
