//! Open loop: datagrams leave at given times and nobody answers.

use crate::segment::{Endpoint, FORWARD};
use crate::token::{self, token};
use crate::{Flow, Outcome, Outcomes, Reordered, Repetitions, Sizes, Status};
use lightburst_des::Time;
use lightburst_net::arena::prefetch;
use lightburst_net::{Context, Dropped, FlowId, Header, Hosts, Packet, PacketId, Token};

/// So many departures ahead one is prefetched, a line of the cache: the lists of more flows are read
/// side by side than a processor foresees.
const AHEAD: usize = 8;

#[derive(Clone, Debug)]
struct State {
    sent: u64,
    received: u64,
    last_arrival: Time,
    transmissions: u64,
}

/// What the flows of a group have in common.
#[derive(Clone, Copy, Debug)]
pub struct Datagrams {
    /// Sizes on the wire.
    pub sizes: Sizes,
    /// Whether they enter at an edge, which is then the source of each, as bursts; otherwise their
    /// hosts send them.
    pub at_edge: bool,
}

/// Hosts that send datagrams.
pub struct DatagramHosts {
    flows: Vec<Flow>,
    states: Vec<State>,
    /// Times at which datagrams are handed over, flow by flow.
    departures: Vec<Time>,
    /// The first departure of each flow, and the number of all.
    offsets: Vec<usize>,
    groups: Vec<Datagrams>,
}

impl DatagramHosts {
    /// Hosts for `flows` of these groups; the flow at place `f` sends at
    /// `departures[offsets[f]..offsets[f + 1]]`.
    pub fn new(
        flows: Vec<Flow>,
        departures: Vec<Time>,
        offsets: Vec<usize>,
        groups: Vec<Datagrams>,
    ) -> DatagramHosts {
        assert_eq!(
            offsets.len(),
            flows.len() + 1,
            "an offset for each flow and the end"
        );
        let state = State {
            sent: 0,
            received: 0,
            last_arrival: Time::NEVER,
            transmissions: 0,
        };
        DatagramHosts {
            states: vec![state; flows.len()],
            flows,
            departures,
            offsets,
            groups,
        }
    }

    /// Writes down what became of each flow, of which these datagrams were dropped.
    pub fn tell(&self, dropped: &Dropped, outcomes: &mut Outcomes) {
        for (index, flow) in self.flows.iter().enumerate() {
            let outcome = self.outcome(index, dropped.packets(flow.id));
            outcomes.set(flow.id, &outcome);
        }
    }

    /// Useful bytes that have come, of all flows so far.
    pub fn delivered(&self) -> u64 {
        self.states.iter().map(|state| state.received).sum()
    }

    /// What became of one flow, of which so many datagrams were dropped.
    fn outcome(&self, index: usize, dropped: u64) -> Outcome {
        let state = &self.states[index];
        let finished = state.received == self.flows[index].size;
        let received = if finished {
            state.last_arrival
        } else {
            Time::NEVER
        };
        Outcome {
            received,
            acknowledged: received,
            delivered: state.received,
            transmissions: state.transmissions,
            retransmissions: 0,
            timeouts: 0,
            duplicates: 0,
            repetitions: Repetitions::default(),
            reordered: Reordered::default(),
            status: match state.transmissions {
                0 => Status::NotStarted,
                _ if finished => Status::Finished,
                _ if dropped > 0 => Status::Lost,
                _ => Status::TimeLimit,
            },
        }
    }

    fn arm(&self, index: usize, ctx: &mut Context<'_>) {
        let due = self.offsets[index] + self.states[index].transmissions as usize;
        if due < self.offsets[index + 1] {
            if let Some(later) = self.departures.get(due + AHEAD) {
                prefetch(later);
            }
            let flow = &self.flows[index];
            let kind = match self.groups[usize::from(flow.group)].at_edge {
                true => Token::ENTRY,
                false => token::SENDER,
            };
            ctx.timer_at(flow.source, self.departures[due], token(flow.id, kind));
        }
    }

    /// A datagram of the flow at this place arrives.
    #[inline]
    pub(crate) fn on_datagram(&mut self, index: usize, packet: &Packet, ctx: &Context<'_>) {
        let state = &mut self.states[index];
        state.received += u64::from(packet.header.payload);
        state.last_arrival = ctx.now();
    }

    /// The flow at this place sends.
    #[inline]
    pub(crate) fn on_flow_timer(&mut self, index: usize, ctx: &mut Context<'_>) {
        let header = self.next(index);
        let flow = &self.flows[index];
        let sizes = &self.groups[usize::from(flow.group)].sizes;
        Endpoint::source(flow, sizes, ctx).send(header, None, 0);
        self.arm(index, ctx);
    }

    /// The next datagram of the flow at this place, which enters at an edge.
    #[inline]
    pub(crate) fn enter(&mut self, index: usize, ctx: &mut Context<'_>) -> PacketId {
        let header = self.next(index);
        let flow = &self.flows[index];
        let bytes = self.groups[usize::from(flow.group)]
            .sizes
            .wire(header.payload);
        let packet = Packet::new(flow.id, flow.source, flow.destination, bytes, header);
        let packet = ctx.enter(packet);
        self.arm(index, ctx);
        packet
    }

    /// What the flow at this place sends next.
    #[inline]
    fn next(&mut self, index: usize) -> Header {
        let flow = &self.flows[index];
        let most = self.groups[usize::from(flow.group)].sizes.mss();
        let state = &mut self.states[index];
        let sequence = state.sent;
        let payload = (flow.size - sequence).min(u64::from(most)) as u32;
        state.sent += u64::from(payload);
        state.transmissions += 1;
        Header {
            sequence,
            payload,
            flags: FORWARD,
            ..Header::default()
        }
    }
}

impl Hosts for DatagramHosts {
    fn start(&mut self, ctx: &mut Context<'_>) {
        for index in 0..self.flows.len() {
            self.arm(index, ctx);
        }
    }

    #[inline]
    fn on_packet(&mut self, packet: PacketId, ctx: &mut Context<'_>) {
        let packet = ctx.deliver(packet);
        self.on_datagram(packet.envelope.flow.index(), &packet, ctx);
    }

    #[inline]
    fn on_timer(&mut self, token: Token, ctx: &mut Context<'_>) {
        self.on_flow_timer(token::flow(token).index(), ctx);
    }

    #[inline]
    fn on_entry(&mut self, flow: FlowId, ctx: &mut Context<'_>) -> PacketId {
        self.enter(flow.index(), ctx)
    }
}
