//! Hosts with TCP connections: both endpoints of every flow.

pub(crate) mod connections;
pub mod datagram;
pub mod dependencies;
pub mod group;
pub mod matching;
pub mod mixed;
mod multipath;
pub mod outcomes;
pub mod parts;
mod pulls;
pub(crate) mod starts;

use crate::hosts::connections::{Connections, End};
use crate::hosts::dependencies::{Dependencies, Joins};
use crate::hosts::group::{Group, Shared};
use crate::hosts::multipath::{level_of, most_subflows, Multipath};
use crate::hosts::pulls::Pulls;
use crate::hosts::starts::Starts;
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::wire::host_timer::{self, HostTimer};
use crate::wire::segment::{Endpoint, FORWARD, NIC};
use crate::{Flows, Outcome, Outcomes, Progress, Status};
use lightburst_des::{Ties, Time};
use lightburst_net::{Context, Departure, Dropped, FlowId, Hosts, Packet, PacketId, TimerId};
use std::collections::BTreeMap;

/// Hosts with TCP connections.
pub struct TcpHosts {
    flows: Flows,
    connections: Connections,
    groups: Vec<Shared>,
    built_from: Vec<Group>,
    starts: Starts,
    /// Flows that wait for others; `None` if there are none.
    dependencies: Option<Box<Dependencies>>,
    /// Pull queues; `None` if no receiver pulls.
    pulls: Option<Box<Pulls>>,
    /// Connections with several subflows; `None` if there are none.
    multipath: Option<Box<Multipath>>,
    /// Outcomes of the flows that have ended.
    outcomes: Outcomes,
    /// Progress of the flows that have ended since it was last cleared, by their index; `None` if
    /// it is not kept.
    just_over: Option<BTreeMap<usize, Progress>>,
}

impl TcpHosts {
    /// Creates hosts for `flows` of these groups. `of` is the number of flows in the whole plan.
    pub fn new(flows: Flows, joins: Joins, of: usize, groups: Vec<Group>, ties: Ties) -> TcpHosts {
        let dependencies = Dependencies::new(joins, flows.len());
        let waits = |index| dependencies.as_ref().is_some_and(|it| it.waits(index));
        let shared = groups.iter().map(|group| Shared {
            reception: (group.transport.reception)(&group.parameters),
            sizes: group.sizes,
            transports: Vec::new(),
        });
        let shared = Vec::from_iter(shared);
        let pulls = shared.iter().any(|shared| shared.reception.pulls);
        let mut outcomes = Outcomes::new(of);
        if groups.iter().any(|group| group.data.reinjection) {
            outcomes.count_reinjections(of);
        }
        TcpHosts {
            pulls: pulls.then(Box::default),
            groups: shared,
            connections: Connections::new(flows.len() * most_subflows(&groups)),
            multipath: Multipath::new(&groups, flows.len(), of),
            starts: Starts::new(&flows, waits, ties),
            outcomes,
            just_over: None,
            dependencies,
            flows,
            built_from: groups,
        }
    }

    /// Returns the outcome of every flow; `dropped` records the packets dropped per flow.
    pub fn outcomes(mut self, dropped: &Dropped) -> Outcomes {
        for index in 0..self.flows.len() {
            if !self.connections.is_over(index) {
                let flow = self.flows.id(index);
                let outcome = self.outcome(index, dropped);
                self.outcomes.set(flow, &outcome);
            }
        }
        if let Some(dependencies) = &self.dependencies {
            let started = (0..self.flows.len()).map(|index| dependencies.started(index));
            self.outcomes.started(started);
            self.outcomes.begun(dependencies.begun());
            self.outcomes.taken(dependencies.taken());
        }
        self.outcomes
    }

    /// Returns the payload bytes that all flows have received in order so far.
    pub fn delivered(&self) -> u64 {
        let of = |index| match self.connections.ends(index) {
            Some(_) if self.multipath.is_some() => self.arrived(index).1,
            Some((_, receiver)) => receiver.received(),
            None => self.outcomes.get("delivered_bytes", self.flows.id(index)),
        };
        (0..self.flows.len()).map(of).sum()
    }

    /// Returns the outcome so far of a flow that has not ended; `dropped` records the packets
    /// dropped per flow.
    pub fn outcome(&self, index: usize, dropped: &Dropped) -> Outcome {
        match self.multipath {
            Some(_) => self.summed(index, dropped),
            None => self.part(index, self.flows.get(index).size, dropped),
        }
    }

    /// Returns the outcome so far of a flow that has not ended and has `size` bytes; or that of a
    /// subflow, which has taken so many.
    fn part(&self, index: usize, size: u64, dropped: &Dropped) -> Outcome {
        let Some((sender, receiver)) = self.connections.ends(index) else {
            return Outcome::not_started();
        };
        let finished = receiver.received() == size;
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
            reinjections: 0,
            repetitions: sender.repetitions(dropped.lost_transmissions(self.flow(index).id)),
            reordered: receiver.reordered(),
            status: match finished {
                true => Status::Finished,
                false if sender.gave_up() || receiver.gave_up() => Status::GaveUp,
                false => Status::TimeLimit,
            },
        }
    }

    /// Returns the flows in the order of their start times.
    pub fn flows(&self) -> &Flows {
        &self.flows
    }

    /// Returns the present progress of the flow at `index`. Panics if the flow has ended and its
    /// progress was not kept.
    pub fn progress(&self, index: usize) -> Progress {
        match self.connections.ends(index) {
            Some((sender, receiver)) => sender.progress(receiver.arrived()),
            None => self.just_over.as_ref().expect("kept")[&index],
        }
    }

    /// Discards the progress kept of ended flows, and sets whether it is kept from now on.
    pub fn keep_those_over(&mut self, kept: bool) {
        self.just_over = kept.then(BTreeMap::new);
    }

    /// Returns the flow whose sender repeated most (SYN, data or FIN) and the larger of its counts
    /// of retransmissions and timeouts; `None` if there are no flows.
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

    /// Creates the endpoints of the flow at `index`.
    fn begin(&mut self, index: usize, ctx: &mut Context<'_>) {
        // Of a network in parts, connections end between two windows.
        if self.connections.are_many() && !ctx.is_part() {
            self.end_those_over(ctx);
        }
        let flow = self.flow(index);
        let at = usize::from(flow.group);
        let subflows = usize::from(self.built_from[at].subflows);
        let (group, shared) = (&self.built_from[at], &mut self.groups[at]);
        let segment_time = ctx.first_transmission_time(NIC, group.sizes.segment);
        let transport = shared.transport(group, segment_time, ctx.rate(NIC));
        let timeout = group.receiver_timers.then(|| transport.timeout.clone());
        let mut sender = Sender::new(
            &flow,
            group.sizes.mss(),
            shared.reception.advertised,
            group.transport.fin_with_data,
            transport,
        );
        if let Some(writes) = group.writes {
            sender.write_in_parts(writes);
        }
        if subflows > 1 {
            sender.be_subflow();
        }
        let receiver = match group.transport.responds {
            true => Receiver::responder(&flow),
            false => Receiver::new(&flow, timeout),
        };
        self.connections.begin(index, sender, receiver);
        if subflows > 1 {
            self.share(index, flow.size, at);
        }
    }

    /// Records the outcomes of the connections that have ended and frees their slots.
    fn end_those_over(&mut self, ctx: &mut Context<'_>) {
        let under_way = ctx.flows_under_way();
        let over = self
            .connections
            .over(under_way.filter_map(|flow| self.index_of(flow)));
        let (over, parts) = self.wholly_over(over);
        for &index in &over {
            let flow = self.flows.id(index);
            let outcome = self.outcome(index, ctx.dropped());
            self.outcomes.set(flow, &outcome);
            let progress = self.just_over.is_some().then(|| self.progress(index));
            if let Some((kept, progress)) = self.just_over.as_mut().zip(progress) {
                kept.insert(index, progress);
            }
        }
        for &part in &parts {
            ctx.dropped().forget(self.flow(part).id);
        }
        self.connections.end(&parts);
        self.forget(&over);
    }

    /// Sets the timer for the start of the flow at `index`.
    fn arm_start(&self, index: usize, ctx: &mut Context<'_>) {
        let flow = self.flows.get(index);
        ctx.timer_at(flow.source, flow.start, HostTimer::Start.id(flow.id));
    }

    /// Handles the arrival of a segment of the flow at `index`.
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
            if !self.connections.has_begun(index) {
                self.begin_receiver(index, ctx);
            }
            let receiver = self.connections.receiver(index);
            let Shared {
                reception, sizes, ..
            } = &self.groups[usize::from(receiver.group)];
            let level = level_of(&mut self.multipath, index);
            let end = &mut Endpoint::at_arrival(packet, sizes, ctx).with(level);
            let first = packet.envelope.transmission == 1;
            let before = receiver.received();
            receiver.on_segment(header, first, options, reception, end);
            let pulls = reception.pulls;
            if self.dependencies.is_some() && receiver.received() > before {
                self.on_progress(index, ctx);
            }
            if pulls {
                self.add_pull(index, ctx);
            }
        } else {
            if self.multipath.is_some() {
                self.hear_data_ack(index, header, ctx.now());
                self.before_event(index);
            }
            let sender = self.connections.sender(index);
            let sizes = &self.groups[usize::from(sender.group)].sizes;
            let level = level_of(&mut self.multipath, index);
            let end = &mut Endpoint::at_arrival(packet, sizes, ctx).with(level);
            sender.on_segment(header, options, end);
            if self.multipath.is_some() {
                self.after_event(index, ctx);
            }
        }
    }

    /// Starts the flows that waited for the flow at `index`, if all its data has arrived.
    #[cold]
    fn on_progress(&mut self, index: usize, ctx: &mut Context<'_>) {
        let (index, received) = self.arrived(index);
        if received == self.flows.get(index).size && self.is_news(index) {
            let dependencies = self.dependencies.as_mut().expect("flows that wait");
            let flows = &self.flows;
            dependencies.arrive(index, ctx.now(), flows, &mut |node, at, timer_id| {
                ctx.timer_at(node, at, timer_id);
            });
        }
    }

    /// Handles the expiry of a timer of a join or of a pull queue.
    #[cold]
    fn on_other_timer(&mut self, timer_id: TimerId, ctx: &mut Context<'_>) {
        if timer_id == host_timer::PULL {
            return self.on_pull_timer(ctx);
        }
        let dependencies = self.dependencies.as_mut().expect("flows that wait");
        let (timer, now) = (HostTimer::of(timer_id), ctx.now());
        let set = &mut |node, at, timer_id| ctx.timer_at(node, at, timer_id);
        dependencies.on_timer(timer, timer_id.subject, now, &self.flows, set);
    }

    /// Handles the start of the transmission of a segment that waited at the interface of its host.
    pub(crate) fn on_flow_departure(
        &mut self,
        index: usize,
        departure: &Departure,
        ctx: &mut Context<'_>,
    ) {
        let of_sender = departure.packet.header.flags & FORWARD != 0;
        let is_event = of_sender && self.multipath.is_some();
        if is_event {
            self.before_event(index);
        }
        let Some((sender, receiver)) = self.connections.in_progress(index) else {
            unreachable!("the segment is under way");
        };
        let Departure { packet, wanted } = departure;
        let Shared {
            reception, sizes, ..
        } = &self.groups[usize::from(sender.group)];
        let level = level_of(&mut self.multipath, index);
        let end = &mut Endpoint::at_departure(packet, sizes, ctx).with(level);
        match of_sender {
            true => sender.on_departure(&packet.header, *wanted, end),
            false => receiver.on_departure(&packet.header, reception, end),
        }
        if is_event {
            self.after_event(index, ctx);
        }
    }

    /// Handles the expiry of a timer of the flow at `index`.
    pub(crate) fn on_flow_timer(&mut self, index: usize, timer_id: TimerId, ctx: &mut Context<'_>) {
        let timer = HostTimer::of(timer_id);
        if timer == HostTimer::Start {
            if let Some(dependencies) = &mut self.dependencies {
                dependencies.start(index, ctx.now());
            }
            self.begin(index, ctx);
        }
        let is_event =
            self.multipath.is_some() && !matches!(timer, HostTimer::Receiver | HostTimer::Delay);
        if is_event {
            self.before_event(index);
        }
        let Some((sender, receiver)) = self.connections.in_progress(index) else {
            // The flow has ended; the timer was cleared but its event remained.
            return;
        };
        // Accesses only the endpoint that owns the timer, to save cache misses.
        let (group, peer) = match timer {
            HostTimer::Receiver | HostTimer::Delay => (receiver.group, receiver.peer),
            _ => (sender.group, sender.peer),
        };
        let Shared {
            reception, sizes, ..
        } = &self.groups[usize::from(group)];
        let level = level_of(&mut self.multipath, index);
        let end = &mut Endpoint::at_timer(timer_id, peer, sizes, ctx).with(level);
        match timer {
            HostTimer::Start => {
                sender.start(self.built_from[usize::from(group)].handshake, end);
                if let Some(next) = self.starts.after(index) {
                    self.arm_start(next, ctx);
                }
            }
            HostTimer::Sender => sender.on_timer(reception.most_retransmissions, end),
            HostTimer::Receiver => receiver.on_timer(reception, end),
            HostTimer::Pacing => sender.on_pacing(end),
            HostTimer::Write => sender.on_write(end),
            HostTimer::Delay => receiver.on_delay(reception, end),
            HostTimer::Departure => unreachable!("the network handles departures"),
            HostTimer::JoinBegin
            | HostTimer::HandOver
            | HostTimer::JoinEnd
            | HostTimer::Pull
            | HostTimer::Taken => {
                unreachable!("joins and pull queues have their own timers")
            }
        }
        if is_event {
            self.after_event(index, ctx);
        }
    }
}

impl Hosts for TcpHosts {
    fn start(&mut self, ctx: &mut Context<'_>) {
        for index in self.starts.first() {
            self.arm_start(index, ctx);
        }
        if let Some(dependencies) = &mut self.dependencies {
            let set = &mut |node, at, timer_id| ctx.timer_at(node, at, timer_id);
            dependencies.open_first(&self.flows, set);
        }
    }

    #[inline]
    fn on_packet(&mut self, id: PacketId, ctx: &mut Context<'_>) {
        let packet = ctx.deliver(id);
        debug_assert_eq!(packet.envelope.destination, ctx.node());
        self.on_segment(packet.envelope.flow.index(), id, &packet, ctx);
    }

    fn prepare_packet(&self, packet: &Packet, stage: usize) {
        let forward = packet.header.flags & FORWARD != 0;
        let end = if forward { End::Receiver } else { End::Sender };
        self.connections
            .prepare(packet.envelope.flow.index(), end, stage);
    }

    fn prepare_timer(&self, timer_id: TimerId, stage: usize) {
        if host_timer::is_of_no_flow(timer_id) {
            return;
        }
        let end = match HostTimer::of(timer_id) {
            HostTimer::Departure => return,
            HostTimer::Receiver | HostTimer::Delay => End::Receiver,
            _ => End::Timer,
        };
        self.connections
            .prepare(host_timer::flow(timer_id).index(), end, stage);
    }

    fn on_departure(&mut self, departure: &Departure, ctx: &mut Context<'_>) {
        self.on_flow_departure(departure.packet.envelope.flow.index(), departure, ctx);
    }

    fn on_timer(&mut self, timer_id: TimerId, ctx: &mut Context<'_>) {
        if host_timer::is_of_no_flow(timer_id) {
            return self.on_other_timer(timer_id, ctx);
        }
        self.on_flow_timer(host_timer::flow(timer_id).index(), timer_id, ctx);
    }
}
