//! The hosts: the two ends of every flow, and the flow that starts next.

use crate::receiver::{self, Receiver};
use crate::segment::{Endpoint, FORWARD};
use crate::sender::{self, Sender};
use crate::transport::{Entry, Reception, Setting};
use crate::{Flow, Outcome, Parameters, Sizes, Status};
use lightburst_des::{Agenda, Duration, Time};
use lightburst_net::{Effects, Event, FlowId, Hosts, UnitId};

/// What a token says: the lowest bits tell which timer, the others the flow.
const START: u64 = 0;
const SENDER: u64 = 1;
const RECEIVER: u64 = 2;
const PACING: u64 = 3;
const DELAY: u64 = 4;
const KIND_BITS: u32 = 3;

fn token(flow: FlowId, kind: u64) -> u64 {
    u64::from(flow.0) << KIND_BITS | kind
}

fn sender_tokens(flow: FlowId) -> sender::Tokens {
    sender::Tokens {
        retransmission: token(flow, SENDER),
        pacing: token(flow, PACING),
    }
}

fn receiver_tokens(flow: FlowId) -> receiver::Tokens {
    receiver::Tokens {
        retransmission: token(flow, RECEIVER),
        delay: token(flow, DELAY),
    }
}

/// Hosts that speak TCP.
pub struct TcpHosts {
    flows: Vec<Flow>,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    reception: Reception,
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
        let reception = (transport.reception)(parameters);
        let full = sizes.payload();
        let sender = |flow: &Flow| {
            Sender::new(
                flow.size,
                full,
                reception.advertised,
                transport.fin_with_data,
                build(flow),
            )
        };
        let senders = flows.iter().map(sender).collect();
        let receiver = |flow| Receiver::new(receiver_timers.then(|| build(flow).timeout));
        let receivers = flows.iter().map(receiver).collect();
        TcpHosts {
            flows,
            senders,
            receivers,
            reception,
            sizes,
        }
    }

    /// What became of each flow.
    pub fn outcomes(&self) -> impl Iterator<Item = Outcome> + '_ {
        let ends = self.senders.iter().zip(&self.receivers);
        self.flows
            .iter()
            .zip(ends)
            .map(|(flow, (sender, receiver))| {
                let finished = receiver.received() == flow.size;
                Outcome {
                    received: if finished {
                        receiver.advanced()
                    } else {
                        Time::NEVER
                    },
                    acknowledged: sender.acknowledged,
                    delivered: receiver.received(),
                    transmissions: sender.transmissions,
                    retransmissions: sender.retransmissions,
                    timeouts: sender.timeouts,
                    duplicates: receiver.duplicates,
                    status: match sender.started() {
                        false => Status::NotStarted,
                        true if finished => Status::Finished,
                        true => Status::TimeLimit,
                    },
                }
            })
    }

    /// Arms the start of a flow, if there is one of this number.
    fn arm_start<A: Agenda<Event>>(&self, flow: u32, fx: &mut Effects<'_, A>) {
        if let Some(next) = self.flows.get(flow as usize) {
            fx.timer_at(next.source, next.start, token(FlowId(flow), START));
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
        let header = &packet.header;
        let given = header.has_options().then(|| *fx.options(unit));
        let options = given.as_ref();
        let id = packet.flow;
        // The answer goes where the segment came from: the flow's row stays untouched.
        let end = Endpoint {
            id,
            peer: packet.source,
            sizes: &self.sizes,
        };
        if header.flags & FORWARD != 0 {
            let receiver = &mut self.receivers[id.index()];
            let tokens = receiver_tokens(id);
            receiver.on_segment(header, options, &self.reception, end, tokens, fx);
        } else {
            let sender = &mut self.senders[id.index()];
            sender.on_segment(header, options, end, sender_tokens(id), fx);
        }
    }

    fn on_timer<A: Agenda<Event>>(&mut self, token: u64, fx: &mut Effects<'_, A>) {
        let id = FlowId((token >> KIND_BITS) as u32);
        let flow = &self.flows[id.index()];
        let source = Endpoint::source(id, flow, &self.sizes);
        let destination = Endpoint::destination(id, flow, &self.sizes);
        let sender = &mut self.senders[id.index()];
        let receiver = &mut self.receivers[id.index()];
        match token & ((1 << KIND_BITS) - 1) {
            START => {
                sender.start(source, sender_tokens(id), fx);
                self.arm_start(id.0 + 1, fx);
            }
            SENDER => sender.on_timer(source, sender_tokens(id), fx),
            PACING => sender.on_pacing(source, sender_tokens(id), fx),
            RECEIVER => receiver.on_timer(&self.reception, destination, receiver_tokens(id), fx),
            _ => receiver.on_delay(&self.reception, destination, receiver_tokens(id), fx),
        }
    }
}
