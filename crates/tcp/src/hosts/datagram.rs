//! Open-loop traffic: datagrams leave at given times and are not acknowledged.

use crate::wire::host_timer::{self, HostTimer};
use crate::wire::segment::{Endpoint, FORWARD};
use crate::{Flow, Outcome, Outcomes, Reordered, Repetitions, Sizes, Status};
use lightburst_des::Time;
use lightburst_net::unit::arena::prefetch;
use lightburst_net::{Context, Dropped, FlowId, Header, Hosts, Packet, PacketId, TimerId};

/// Distance of the prefetch in departures, one cache line. The departure lists of all flows are
/// read interleaved, more lists than a hardware prefetcher follows.
const AHEAD: usize = 8;

#[derive(Clone, Debug)]
struct State {
    sent: u64,
    received: u64,
    last_arrival: Time,
    transmissions: u64,
}

/// Settings shared by the flows of a group.
#[derive(Clone, Copy, Debug)]
pub struct Datagrams {
    /// Sizes on the wire.
    pub sizes: Sizes,
    /// Whether the datagrams enter the network as bursts at an edge node, which is then the source
    /// of each flow. Otherwise hosts send them.
    pub at_edge: bool,
    /// Size in bytes of the packets in such a burst, except the last; `None` if a burst is a single
    /// packet.
    pub packet: Option<u32>,
}

impl Datagrams {
    /// Returns the number of packets of a datagram with this payload in bytes.
    fn packets(&self, payload: u32) -> u64 {
        let bytes = payload + self.sizes.header;
        self.packet
            .map_or(1, |packet| u64::from(bytes.div_ceil(packet)))
    }
}

/// Hosts that send datagrams.
pub struct DatagramHosts {
    flows: Vec<Flow>,
    states: Vec<State>,
    /// Times at which datagrams are handed over, grouped by flow.
    departures: Vec<Time>,
    /// Index in `departures` of the first departure of each flow, and finally the total number.
    offsets: Vec<usize>,
    groups: Vec<Datagrams>,
}

impl DatagramHosts {
    /// Creates hosts for `flows` of these groups. Flow `f` sends at the times
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

    /// Writes the outcome of every flow to `outcomes`; `dropped` counts the datagrams dropped per
    /// flow.
    pub fn tell(&self, dropped: &Dropped, outcomes: &mut Outcomes) {
        for (index, flow) in self.flows.iter().enumerate() {
            let outcome = self.outcome(index, dropped.packets(flow.id));
            outcomes.set(flow.id, &outcome);
        }
    }

    /// Returns the payload bytes that all flows have received so far.
    pub fn delivered(&self) -> u64 {
        self.states.iter().map(|state| state.received).sum()
    }

    /// Returns the outcome of one flow, `dropped` of whose datagrams were dropped.
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
            transmissions: self.packets_sent(index),
            retransmissions: 0,
            timeouts: 0,
            duplicates: 0,
            reinjections: 0,
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

    /// Returns the number of packets that a flow has sent.
    fn packets_sent(&self, index: usize) -> u64 {
        let state = &self.states[index];
        let group = &self.groups[usize::from(self.flows[index].group)];
        if group.packet.is_none() {
            return state.transmissions;
        }
        let most = group.sizes.mss();
        // Only the last datagram of a flow is smaller than the others.
        let rest = (state.sent % u64::from(most)) as u32;
        let last = if rest > 0 { group.packets(rest) } else { 0 };
        state.sent / u64::from(most) * group.packets(most) + last
    }

    fn arm(&self, index: usize, ctx: &mut Context<'_>) {
        let due = self.offsets[index] + self.states[index].transmissions as usize;
        if due < self.offsets[index + 1] {
            if let Some(later) = self.departures.get(due + AHEAD) {
                prefetch(later);
            }
            let flow = &self.flows[index];
            let timer_id = match self.groups[usize::from(flow.group)].at_edge {
                true => TimerId::entry(flow.id),
                false => HostTimer::Sender.id(flow.id),
            };
            ctx.timer_at(flow.source, self.departures[due], timer_id);
        }
    }

    /// Handles the arrival of a datagram.
    #[inline]
    pub(crate) fn on_datagram(&mut self, index: usize, packet: &Packet, ctx: &Context<'_>) {
        let state = &mut self.states[index];
        state.received += u64::from(packet.header.payload);
        state.last_arrival = ctx.now();
    }

    /// Sends the next datagram of a flow from its host.
    #[inline]
    pub(crate) fn on_flow_timer(&mut self, index: usize, ctx: &mut Context<'_>) {
        let header = self.next(index);
        let flow = &self.flows[index];
        let sizes = &self.groups[usize::from(flow.group)].sizes;
        Endpoint::source(flow, sizes, ctx).send(header, None, 0);
        self.arm(index, ctx);
    }

    /// Sends the next datagram of a flow that enters at an edge node. Returns the first of its
    /// packets, which form a linked list.
    #[inline]
    pub(crate) fn enter(&mut self, index: usize, ctx: &mut Context<'_>) -> PacketId {
        let header = self.next(index);
        let flow = &self.flows[index];
        let Datagrams { sizes, packet, .. } = &self.groups[usize::from(flow.group)];
        let bytes = sizes.wire(header.payload);
        let whole = Packet::new(flow.id, flow.source, flow.destination, bytes, header);
        let first = match *packet {
            None => ctx.enter(whole),
            Some(size) => enter_in_packets(&whole, sizes.header, size, ctx),
        };
        self.arm(index, ctx);
        first
    }

    /// Returns the header of the next datagram of a flow and advances the flow.
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

/// Enters a datagram into the network as packets of `size` bytes and returns the first, which
/// contains the header. The last packet holds the remainder and the padding up to the minimum size
/// of a datagram.
fn enter_in_packets(whole: &Packet, header: u32, size: u32, ctx: &mut Context<'_>) -> PacketId {
    let bytes = header + whole.header.payload;
    let useful = |upto: u32| upto.saturating_sub(header);
    let mut ends: Option<(PacketId, PacketId)> = None;
    let mut from = 0;
    while from < bytes {
        let until = bytes.min(from + size);
        let mut packet = *whole;
        packet.envelope.bytes = until - from;
        if until == bytes {
            packet.envelope.bytes += whole.envelope.bytes - bytes;
        }
        packet.header.sequence += u64::from(useful(from));
        packet.header.payload = useful(until) - useful(from);
        let packet = ctx.enter(packet);
        ctx.append(ends.map(|(_, last)| last), packet);
        ends = Some((ends.map_or(packet, |(first, _)| first), packet));
        from = until;
    }
    ends.expect("a datagram has bytes").0
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
    fn on_timer(&mut self, timer_id: TimerId, ctx: &mut Context<'_>) {
        self.on_flow_timer(host_timer::flow(timer_id).index(), ctx);
    }

    #[inline]
    fn on_entry(&mut self, flow: FlowId, ctx: &mut Context<'_>) -> PacketId {
        self.enter(flow.index(), ctx)
    }
}
