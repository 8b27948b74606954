//! Pull queues of receiving hosts: M. Handley et al., "Re-architecting datacenter networks and stacks
//! for low latency and high performance", SIGCOMM 2017, section 3.2. The rate law `ndp` has the side
//! of the sender.

use super::{Shared, TcpHosts};
use crate::wire::host_timer;
use crate::wire::segment::{Endpoint, NIC, NOTICE, PULL};
use lightburst_des::Time;
use lightburst_net::{Context, Header, NodeId};
use std::collections::{BTreeMap, VecDeque};

/// The pull queues of all hosts that have received a packet to which a pull belongs.
#[derive(Default)]
pub(super) struct Pulls(BTreeMap<NodeId, PullQueue>);

/// The one pull queue of a host.
struct PullQueue {
    /// Messages that wait for pulls, by their index, in the order of their turns. Those whose data is
    /// complete are left out when their turn comes.
    turns: VecDeque<usize>,
    /// Number of pulls that wait.
    waiting: u64,
    /// Earliest time of the next pull.
    next: Time,
    /// Whether a timer is pending for that time.
    armed: bool,
}

impl Default for PullQueue {
    fn default() -> PullQueue {
        PullQueue {
            turns: VecDeque::new(),
            waiting: 0,
            next: Time::ZERO,
            armed: false,
        }
    }
}

impl PullQueue {
    /// Arms the timer if pulls wait and none is pending.
    fn arm(&mut self, ctx: &mut Context<'_>) {
        if self.waiting > 0 && !self.armed {
            self.armed = true;
            ctx.timer_at(ctx.node(), self.next, host_timer::PULL);
        }
    }
}

impl TcpHosts {
    /// Adds the pull of an arrived packet to the queue of its host, whether it has data or was
    /// trimmed, unless all data of the message is there: then its pulls leave the queue.
    #[cold]
    pub(super) fn add_pull(&mut self, index: usize, ctx: &mut Context<'_>) {
        let receiver = self.connections.receiver(index);
        let pulls = self.pulls.as_mut().expect("a message that is pulled");
        let queue = pulls.0.entry(ctx.node()).or_default();
        if receiver.received() == self.flows.get(index).size {
            queue.waiting -= u64::from(std::mem::take(&mut receiver.pulls.waiting));
            return;
        }
        if receiver.pulls.waiting == 0 {
            queue.turns.push_back(index);
        }
        receiver.pulls.waiting += 1;
        queue.waiting += 1;
        if !queue.armed && ctx.now() >= queue.next {
            self.send_pull(ctx);
        } else {
            queue.arm(ctx);
        }
    }

    /// Handles the timer of a pull queue.
    #[cold]
    pub(super) fn on_pull_timer(&mut self, ctx: &mut Context<'_>) {
        let pulls = self.pulls.as_mut().expect("a pull queue");
        let queue = pulls.0.entry(ctx.node()).or_default();
        queue.armed = false;
        if queue.waiting > 0 {
            self.send_pull(ctx);
        }
    }

    /// Sends the pull of the message whose turn it is. The next one follows a packet's time on the
    /// host's link later, so that the packets that they ask for fill it.
    fn send_pull(&mut self, ctx: &mut Context<'_>) {
        let pulls = self.pulls.as_mut().expect("a pull queue");
        let queue = pulls.0.entry(ctx.node()).or_default();
        let connections = &mut self.connections;
        let (index, receiver) = loop {
            let index = queue.turns.pop_front().expect("a pull that waits");
            if let Some((_, receiver)) = connections.in_progress(index) {
                if receiver.pulls.waiting > 0 {
                    break (index, receiver);
                }
            }
        };
        receiver.pulls.waiting -= 1;
        receiver.pulls.sent += 1;
        queue.waiting -= 1;
        if receiver.pulls.waiting > 0 {
            queue.turns.push_back(index);
        }
        let Shared { sizes, .. } = &self.groups[usize::from(receiver.group)];
        let (id, peer) = (self.flows.id(index), receiver.peer);
        let header = Header {
            sequence: receiver.pulls.sent,
            flags: NOTICE | PULL,
            ..Header::default()
        };
        queue.next = ctx.now() + ctx.first_transmission_time(NIC, sizes.segment);
        queue.arm(ctx);
        let end = &mut Endpoint {
            id,
            peer,
            sizes,
            ctx,
            level: None,
        };
        end.send(header, None, 0);
    }
}
