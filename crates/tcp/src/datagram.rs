//! Open loop: datagrams leave at given times and nobody answers.

use crate::segment::{Endpoint, FORWARD};
use crate::{Flow, Outcome, Sizes, Status};
use lightburst_des::{Agenda, Time};
use lightburst_net::{Effects, Event, FlowId, Header, Hosts, UnitId};

#[derive(Clone, Debug)]
struct State {
    sent: u64,
    received: u64,
    last_arrival: Time,
    transmissions: u64,
}

/// Hosts that send datagrams.
pub struct DatagramHosts {
    flows: Vec<Flow>,
    states: Vec<State>,
    /// Times at which datagrams are handed over, flow by flow.
    departures: Vec<Time>,
    /// The first departure of each flow, and the number of all.
    offsets: Vec<usize>,
    sizes: Sizes,
}

impl DatagramHosts {
    /// Hosts for `flows`; flow `f` sends at `departures[offsets[f]..offsets[f + 1]]`.
    pub fn new(
        flows: Vec<Flow>,
        departures: Vec<Time>,
        offsets: Vec<usize>,
        sizes: Sizes,
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
            sizes,
        }
    }

    /// What became of each flow, of which so many datagrams were dropped.
    pub fn outcomes<'a>(&'a self, dropped: &'a [u64]) -> impl Iterator<Item = Outcome> + 'a {
        let flows = self.flows.iter().zip(&self.states).zip(dropped);
        flows.map(|((flow, state), &dropped)| {
            let finished = state.received == flow.size;
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
                status: match state.transmissions {
                    0 => Status::NotStarted,
                    _ if finished => Status::Finished,
                    _ if dropped > 0 => Status::Lost,
                    _ => Status::TimeLimit,
                },
            }
        })
    }

    fn arm<A: Agenda<Event>>(&self, flow: usize, fx: &mut Effects<'_, A>) {
        let due = self.offsets[flow] + self.states[flow].transmissions as usize;
        if due < self.offsets[flow + 1] {
            fx.timer_at(self.flows[flow].source, self.departures[due], flow as u64);
        }
    }
}

impl Hosts for DatagramHosts {
    fn start<A: Agenda<Event>>(&mut self, fx: &mut Effects<'_, A>) {
        for flow in 0..self.flows.len() {
            self.arm(flow, fx);
        }
    }

    #[inline]
    fn on_unit<A: Agenda<Event>>(&mut self, unit: UnitId, fx: &mut Effects<'_, A>) {
        let packet = fx.deliver(unit);
        let state = &mut self.states[packet.flow.index()];
        state.received += u64::from(packet.header.payload);
        state.last_arrival = fx.now();
    }

    #[inline]
    fn on_timer<A: Agenda<Event>>(&mut self, token: u64, fx: &mut Effects<'_, A>) {
        let id = FlowId(token as u32);
        let flow = &self.flows[id.index()];
        let state = &mut self.states[id.index()];
        let payload = (flow.size - state.sent).min(u64::from(self.sizes.payload())) as u32;
        let header = Header {
            sequence: state.sent,
            payload,
            flags: FORWARD,
            ..Header::default()
        };
        Endpoint::source(id, flow, &self.sizes).send(header, None, false, fx);
        state.sent += u64::from(payload);
        state.transmissions += 1;
        self.arm(id.index(), fx);
    }
}
