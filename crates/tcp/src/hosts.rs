//! The hosts: the two ends of every flow.

use crate::connections::Connections;
use crate::receiver::Receiver;
use crate::segment::{Endpoint, FORWARD, NIC};
use crate::sender::Sender;
use crate::starts::Starts;
use crate::token::{self, token};
use crate::transport::{Reception, Transport, TransportKind, TransportSettings};
use crate::{Flows, Outcome, Outcomes, Parameters, Progress, Sizes, Status};
use lightburst_des::{Duration, Ties, Time};
use lightburst_net::{Context, Departure, Dropped, FlowId, Hosts, Packet, PacketId, Token};
use std::collections::BTreeMap;

/// What the flows of a group are built from.
pub struct Group {
    /// Their transport.
    pub transport: TransportKind,
    /// Its settings.
    pub parameters: Parameters,
    /// Sizes on the wire.
    pub sizes: Sizes,
    /// Whether SYN+ACK and FIN+ACK have a timer of their own (RFC 9293).
    pub receiver_timers: bool,
}

/// What both ends of the flows of a group look up.
struct Shared {
    reception: Reception,
    sizes: Sizes,
    /// What their senders begin with, by the transmission time of a segment at their hosts. To
    /// build it is to read many settings by name, which takes longer than to copy it.
    transports: Vec<(Duration, Transport)>,
}

impl Shared {
    /// What a sender begins with whose host sends a segment in that time.
    fn transport(&mut self, group: &Group, segment_time: Duration) -> Transport {
        let mut known = self.transports.iter();
        if let Some((_, transport)) = known.find(|(time, _)| *time == segment_time) {
            return transport.clone();
        }
        let transport = (group.transport.build)(&TransportSettings {
            parameters: &group.parameters,
            sizes: &group.sizes,
            segment_time,
        });
        self.transports.push((segment_time, transport.clone()));
        transport
    }
}

/// Hosts that speak TCP.
pub struct TcpHosts {
    flows: Flows,
    connections: Connections,
    groups: Vec<Shared>,
    built_from: Vec<Group>,
    starts: Starts,
    /// Of the flows that are over.
    outcomes: Outcomes,
    /// How far those came that are over since the last look, if anybody looks.
    just_over: Option<BTreeMap<usize, Progress>>,
}

impl TcpHosts {
    /// Hosts for `flows` of these groups, out of so many flows.
    pub fn new(flows: Flows, of: usize, groups: Vec<Group>, ties: Ties) -> TcpHosts {
        let shared = groups.iter().map(|group| Shared {
            reception: (group.transport.reception)(&group.parameters),
            sizes: group.sizes,
            transports: Vec::new(),
        });
        TcpHosts {
            groups: shared.collect(),
            connections: Connections::new(flows.len()),
            starts: Starts::new(&flows, ties),
            outcomes: Outcomes::new(of),
            just_over: None,
            flows,
            built_from: groups,
        }
    }

    /// What became of each flow, of which these packets were dropped.
    pub fn outcomes(mut self, dropped: &Dropped) -> Outcomes {
        for index in 0..self.flows.len() {
            if !self.connections.is_over(index) {
                let flow = self.flows.id(index);
                let outcome = self.outcome(index, dropped);
                self.outcomes.set(flow, &outcome);
            }
        }
        self.outcomes
    }

    /// Useful bytes that have come in order, of all flows so far.
    pub fn delivered(&self) -> u64 {
        let of = |index| match self.connections.ends(index) {
            Some((_, receiver)) => receiver.received(),
            None => self.outcomes.get("delivered_bytes", self.flows.id(index)),
        };
        (0..self.flows.len()).map(of).sum()
    }

    /// What became so far of one flow that is not over, of which these packets were dropped.
    pub fn outcome(&self, index: usize, dropped: &Dropped) -> Outcome {
        let Some((sender, receiver)) = self.connections.ends(index) else {
            return Outcome::not_started();
        };
        let finished = receiver.received() == self.flows.get(index).size;
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
            repetitions: sender.repetitions(dropped.sendings(self.flows.id(index))),
            reordered: receiver.reordered(),
            status: match finished {
                true => Status::Finished,
                false if sender.gave_up() || receiver.gave_up() => Status::GaveUp,
                false => Status::TimeLimit,
            },
        }
    }

    /// The flows, in the order of their starts.
    pub fn flows(&self) -> &Flows {
        &self.flows
    }

    /// How far the flow at this place is now. If it is over that must be kept.
    pub fn progress(&self, index: usize) -> Progress {
        match self.connections.ends(index) {
            Some((sender, receiver)) => sender.progress(receiver.arrived()),
            None => self.just_over.as_ref().expect("kept")[&index],
        }
    }

    /// From now on how far flows came is kept when they are over, or is not.
    pub fn keep_those_over(&mut self, kept: bool) {
        self.just_over = kept.then(BTreeMap::new);
    }

    /// The flow whose sender repeated most, SYN, data or FIN, and how often; none without flows.
    pub fn most_repeated(&self) -> Option<(FlowId, u64)> {
        let repeated = |index: usize| {
            let flow = self.flows.id(index);
            let counted = match self.connections.ends(index) {
                Some((sender, _)) => [sender.retransmissions, sender.timeouts],
                None => ["retransmissions", "timeouts"].map(|of| self.outcomes.get(of, flow)),
            };
            (flow, counted[0].max(counted[1]))
        };
        let each = (0..self.flows.len()).map(repeated);
        each.max_by_key(|(_, number)| *number)
    }

    /// The flow at this place begins: its ends are made.
    fn begin(&mut self, index: usize, ctx: &mut Context<'_>) {
        if self.connections.are_many() {
            self.end_those_over(ctx);
        }
        let flow = self.flows.get(index);
        let at = usize::from(flow.group);
        let (group, shared) = (&self.built_from[at], &mut self.groups[at]);
        let segment_time = ctx.transmission_time(NIC, group.sizes.segment);
        let transport = shared.transport(group, segment_time);
        let timeout = group.receiver_timers.then(|| transport.timeout.clone());
        let sender = Sender::new(
            &flow,
            group.sizes.mss(),
            shared.reception.advertised,
            group.transport.fin_with_data,
            transport,
        );
        let receiver = Receiver::new(&flow, timeout);
        self.connections.begin(index, sender, receiver);
    }

    /// Writes down what became of the connections that are over, and frees their places.
    fn end_those_over(&mut self, ctx: &mut Context<'_>) {
        let under_way = ctx.flows_under_way();
        let over = self
            .connections
            .over(under_way.filter_map(|flow| self.flows.index(flow)));
        for &index in &over {
            let flow = self.flows.id(index);
            let outcome = self.outcome(index, ctx.dropped());
            self.outcomes.set(flow, &outcome);
            ctx.dropped().forget(flow);
            let progress = self.just_over.is_some().then(|| self.progress(index));
            if let Some((kept, progress)) = self.just_over.as_mut().zip(progress) {
                kept.insert(index, progress);
            }
        }
        self.connections.end(&over);
    }

    /// Sets the timer for the start of the flow at this place.
    fn arm_start(&self, index: usize, ctx: &mut Context<'_>) {
        let flow = self.flows.get(index);
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
            let receiver = self.connections.receiver(index);
            let Shared {
                reception, sizes, ..
            } = &self.groups[usize::from(receiver.group)];
            let end = &mut Endpoint::at_arrival(packet, sizes, ctx);
            let first = packet.envelope.sending == 1;
            receiver.on_segment(header, first, options, reception, end);
        } else {
            let sender = self.connections.sender(index);
            let sizes = &self.groups[usize::from(sender.group)].sizes;
            let end = &mut Endpoint::at_arrival(packet, sizes, ctx);
            sender.on_segment(header, options, end);
        }
    }

    /// A segment of the flow at this place leaves the interface of its host.
    pub(crate) fn on_flow_departure(
        &mut self,
        index: usize,
        departure: &Departure,
        ctx: &mut Context<'_>,
    ) {
        let Some((sender, receiver)) = self.connections.in_progress(index) else {
            unreachable!("the segment is under way");
        };
        let Departure { packet, wanted } = departure;
        let Shared {
            reception, sizes, ..
        } = &self.groups[usize::from(sender.group)];
        let end = &mut Endpoint::at_departure(packet, sizes, ctx);
        match packet.header.flags & FORWARD != 0 {
            true => sender.on_departure(&packet.header, *wanted, end),
            false => receiver.on_departure(&packet.header, reception, end),
        }
    }

    /// A timer of the flow at this place expires.
    pub(crate) fn on_flow_timer(&mut self, index: usize, token: Token, ctx: &mut Context<'_>) {
        if token.kind == token::START {
            self.begin(index, ctx);
        }
        let Some((sender, receiver)) = self.connections.in_progress(index) else {
            // It is over, and the timer was not wanted any more.
            return;
        };
        // Only the end whose timer it is is looked at.
        if matches!(token.kind, token::RECEIVER | token::DELAY) {
            let shared = &self.groups[usize::from(receiver.group)];
            let end = &mut Endpoint::at_timer(token, receiver.peer, &shared.sizes, ctx);
            return match token.kind {
                token::RECEIVER => receiver.on_timer(&shared.reception, end),
                _ => receiver.on_delay(&shared.reception, end),
            };
        }
        let shared = &self.groups[usize::from(sender.group)];
        let end = &mut Endpoint::at_timer(token, sender.peer, &shared.sizes, ctx);
        match token.kind {
            token::START => {
                sender.start(end);
                if let Some(next) = self.starts.after(index) {
                    self.arm_start(next, ctx);
                }
            }
            token::SENDER => sender.on_timer(shared.reception.most_retransmissions, end),
            _ => sender.on_pacing(end),
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

    fn on_departure(&mut self, departure: &Departure, ctx: &mut Context<'_>) {
        self.on_flow_departure(departure.packet.envelope.flow.index(), departure, ctx);
    }

    fn on_timer(&mut self, token: Token, ctx: &mut Context<'_>) {
        self.on_flow_timer(token::flow(token).index(), token, ctx);
    }
}
