//! The hosts: the two ends of every flow, and the flow that starts next.

use crate::cc::{Entry, Setting};
use crate::receiver::Receiver;
use crate::segment::{Endpoint, FORWARD};
use crate::sender::{Sender, Tokens};
use crate::{Flow, Outcome, Parameters, Sizes, Status};
use lightburst_des::{Agenda, Duration};
use lightburst_net::{Effects, Event, FlowId, Hosts, UnitId};

/// What a token says: the two lowest bits tell which timer, the others the flow.
const START: u64 = 0;
const SENDER: u64 = 1;
const RECEIVER: u64 = 2;
const PACING: u64 = 3;

fn tokens(flow: FlowId) -> Tokens {
    let base = u64::from(flow.0) << 2;
    Tokens {
        retransmission: base | SENDER,
        pacing: base | PACING,
    }
}

/// Hosts that speak TCP.
pub struct TcpHosts {
    flows: Vec<Flow>,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    sizes: Sizes,
}

impl TcpHosts {
    /// Hosts for `flows`, sorted by start; `segment_time` gives the
    /// transmission time of a full segment at a flow's source. With
    /// `receiver_timers` SYN+ACK and FIN+ACK have a timer of their own (RFC 9293).
    pub fn new(
        flows: Vec<Flow>,
        transport: &Entry,
        parameters: &Parameters,
        sizes: Sizes,
        receiver_timers: bool,
        segment_time: impl Fn(&Flow) -> Duration,
    ) -> TcpHosts {
        let build = |flow: &Flow| {
            let segment_time = segment_time(flow);
            (transport.build)(&Setting {
                parameters,
                sizes: &sizes,
                segment_time,
            })
        };
        let senders = flows
            .iter()
            .map(|flow| Sender::new(flow.size, build(flow), 1))
            .collect();
        let receiver = |flow| Receiver::new(receiver_timers.then(|| build(flow).timeout));
        let receivers = flows.iter().map(receiver).collect();
        TcpHosts {
            flows,
            senders,
            receivers,
            sizes,
        }
    }

    /// What became of each flow.
    pub fn outcomes(&self) -> impl Iterator<Item = Outcome> + '_ {
        self.senders
            .iter()
            .zip(&self.receivers)
            .map(|(sender, receiver)| Outcome {
                end: sender.end,
                delivered: receiver.received(),
                transmissions: sender.transmissions,
                retransmissions: sender.retransmissions,
                timeouts: sender.timeouts,
                status: match sender.end {
                    lightburst_des::Time::NEVER if sender.started() => Status::TimeLimit,
                    lightburst_des::Time::NEVER => Status::NotStarted,
                    _ => Status::Finished,
                },
            })
    }

    /// Arms the start of a flow, if there is one of this number.
    fn arm_start<A: Agenda<Event>>(&self, flow: u32, fx: &mut Effects<'_, A>) {
        if let Some(next) = self.flows.get(flow as usize) {
            fx.timer_at(next.source, next.start, u64::from(flow) << 2 | START);
        }
    }
}

impl Hosts for TcpHosts {
    fn start<A: Agenda<Event>>(&mut self, fx: &mut Effects<'_, A>) {
        self.arm_start(0, fx);
    }

    #[inline]
    fn on_unit<A: Agenda<Event>>(&mut self, unit: UnitId, fx: &mut Effects<'_, A>) {
        let packet = fx.deliver(unit);
        debug_assert_eq!(packet.destination, fx.node());
        let id = packet.flow;
        let flow = &self.flows[id.index()];
        if packet.header.flags & FORWARD != 0 {
            let end = Endpoint::destination(id, flow, &self.sizes);
            let token = u64::from(id.0) << 2 | RECEIVER;
            self.receivers[id.index()].on_segment(&packet.header, end, token, fx);
        } else {
            let end = Endpoint::source(id, flow, &self.sizes);
            self.senders[id.index()].on_segment(&packet.header, end, tokens(id), fx);
        }
    }

    fn on_timer<A: Agenda<Event>>(&mut self, token: u64, fx: &mut Effects<'_, A>) {
        let id = FlowId((token >> 2) as u32);
        let flow = &self.flows[id.index()];
        let source = Endpoint::source(id, flow, &self.sizes);
        let sender = &mut self.senders[id.index()];
        match token & 3 {
            START => {
                sender.start(source, tokens(id), fx);
                self.arm_start(id.0 + 1, fx);
            }
            SENDER => sender.on_timer(source, tokens(id), fx),
            PACING => sender.on_pacing(source, tokens(id), fx),
            _ => {
                let end = Endpoint::destination(id, flow, &self.sizes);
                self.receivers[id.index()].on_timer(end, token, fx);
            }
        }
    }
}
