//! The hosts: the two ends of every flow.

use crate::receiver::Receiver;
use crate::segment::{Endpoint, FORWARD};
use crate::sender::Sender;
use crate::starts::Starts;
use crate::token::{self, token};
use crate::transport::{Reception, TransportKind, TransportSettings};
use crate::{Flow, Outcome, Parameters, Progress, Sizes, Status};
use lightburst_des::{Duration, Ties, Time};
use lightburst_net::{Context, Dropped, FlowId, Hosts, Packet, PacketId, Token};

/// What the flows of a group are built from.
pub struct Group<'a> {
    /// Their transport.
    pub transport: &'a TransportKind,
    /// Its settings.
    pub parameters: &'a Parameters,
    /// Sizes on the wire.
    pub sizes: Sizes,
    /// Whether SYN+ACK and FIN+ACK have a timer of their own (RFC 9293).
    pub receiver_timers: bool,
}

/// What both ends of the flows of a group look up.
struct Shared {
    reception: Reception,
    sizes: Sizes,
}

/// Hosts that speak TCP.
pub struct TcpHosts {
    flows: Vec<Flow>,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    groups: Vec<Shared>,
    starts: Starts,
}

impl TcpHosts {
    /// Hosts for `flows` of these groups; `segment_time` gives the
    /// transmission time of a full segment at a flow's source.
    pub fn new(
        flows: Vec<Flow>,
        groups: &[Group<'_>],
        segment_time: impl Fn(&Flow) -> Duration,
        ties: Ties,
    ) -> TcpHosts {
        let shared = groups.iter().map(|group| Shared {
            reception: (group.transport.reception)(group.parameters),
            sizes: group.sizes,
        });
        let shared: Vec<Shared> = shared.collect();
        let build = |flow: &Flow, group: &Group| {
            (group.transport.build)(&TransportSettings {
                parameters: group.parameters,
                sizes: &group.sizes,
                segment_time: segment_time(flow),
            })
        };
        let sender = |flow: &Flow| {
            let at = usize::from(flow.group);
            let (group, advertised) = (&groups[at], shared[at].reception.advertised);
            let mss = group.sizes.mss();
            let fin_with_data = group.transport.fin_with_data;
            Sender::new(flow, mss, advertised, fin_with_data, build(flow, group))
        };
        let receiver = |flow: &Flow| {
            let group = &groups[usize::from(flow.group)];
            let timeout = group.receiver_timers.then(|| build(flow, group).timeout);
            Receiver::new(flow.group, timeout)
        };
        let hosts = TcpHosts {
            senders: flows.iter().map(sender).collect(),
            receivers: flows.iter().map(receiver).collect(),
            starts: Starts::new(&flows, ties),
            flows,
            groups: shared,
        };
        let fault = groups.iter().find_map(|group| group.parameters.fault());
        assert_eq!(fault, None, "the plan was checked");
        hosts
    }

    /// What became of each flow, of which these packets were dropped.
    pub fn outcomes<'a>(&'a self, dropped: &'a [Dropped]) -> impl Iterator<Item = Outcome> + 'a {
        let each = dropped.iter().enumerate();
        each.map(|(index, dropped)| self.outcome(index, dropped))
    }

    /// What became of one flow, of which these packets were dropped.
    pub fn outcome(&self, index: usize, dropped: &Dropped) -> Outcome {
        let (sender, receiver) = (&self.senders[index], &self.receivers[index]);
        let finished = receiver.received() == self.flows[index].size;
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
            repetitions: sender.repetitions(dropped),
            reordered: receiver.reordered(),
            status: match sender.started() {
                false => Status::NotStarted,
                true if finished => Status::Finished,
                true if sender.gave_up() || receiver.gave_up() => Status::GaveUp,
                true => Status::TimeLimit,
            },
        }
    }

    /// The flows, in the order of their starts.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// How far the flow at this place is now.
    pub fn progress(&self, index: usize) -> Progress {
        self.senders[index].progress(self.receivers[index].arrived())
    }

    /// The flow whose sender repeated most, SYN, data or FIN, and how often; none without flows.
    pub fn most_repeated(&self) -> Option<(FlowId, u64)> {
        let repeated = |sender: &Sender| sender.retransmissions.max(sender.timeouts);
        let each = self.flows.iter().zip(&self.senders);
        let most = each.max_by_key(|(_, sender)| repeated(sender));
        most.map(|(flow, sender)| (flow.id, repeated(sender)))
    }

    /// Sets the timer for the start of the flow at this place.
    fn arm_start(&self, index: usize, ctx: &mut Context<'_>) {
        let flow = &self.flows[index];
        ctx.timer_at(flow.source, flow.start, token(flow.id, token::START));
    }

    /// A segment of the flow at this place arrives.
    #[inline]
    pub(crate) fn on_segment(
        &mut self,
        index: usize,
        id: PacketId,
        packet: &Packet,
        ctx: &mut Context<'_>,
    ) {
        let header = &packet.header;
        let given = header.has_options().then(|| *ctx.options(id));
        let options = given.as_ref();
        if header.flags & FORWARD != 0 {
            let receiver = &mut self.receivers[index];
            let Shared { reception, sizes } = &self.groups[usize::from(receiver.group)];
            let end = &mut Endpoint::at_arrival(packet, sizes, ctx);
            let first = packet.envelope.sending == 1;
            receiver.on_segment(header, first, options, reception, end);
        } else {
            let sender = &mut self.senders[index];
            let sizes = &self.groups[usize::from(sender.group)].sizes;
            let end = &mut Endpoint::at_arrival(packet, sizes, ctx);
            sender.on_segment(header, options, end);
        }
    }

    /// A timer of the flow at this place expires.
    pub(crate) fn on_flow_timer(&mut self, index: usize, kind: u8, ctx: &mut Context<'_>) {
        let flow = &self.flows[index];
        let Shared { reception, sizes } = &self.groups[usize::from(flow.group)];
        let sender = &mut self.senders[index];
        let receiver = &mut self.receivers[index];
        let end = &mut match kind {
            token::RECEIVER | token::DELAY => Endpoint::destination(flow, sizes, ctx),
            _ => Endpoint::source(flow, sizes, ctx),
        };
        match kind {
            token::START => {
                sender.start(end);
                if let Some(next) = self.starts.after(index) {
                    self.arm_start(next, ctx);
                }
            }
            token::SENDER => sender.on_timer(reception.most_retransmissions, end),
            token::PACING => sender.on_pacing(end),
            token::RECEIVER => receiver.on_timer(reception, end),
            _ => receiver.on_delay(reception, end),
        }
    }
}

impl Hosts for TcpHosts {
    fn start(&mut self, ctx: &mut Context<'_>) {
        for index in self.starts.first() {
            self.arm_start(index, ctx);
        }
    }

    #[inline]
    fn on_packet(&mut self, id: PacketId, ctx: &mut Context<'_>) {
        let packet = ctx.deliver(id);
        debug_assert_eq!(packet.envelope.destination, ctx.node());
        self.on_segment(packet.envelope.flow.index(), id, &packet, ctx);
    }

    fn on_timer(&mut self, token: Token, ctx: &mut Context<'_>) {
        self.on_flow_timer(token::flow(token).index(), token.kind, ctx);
    }
}
