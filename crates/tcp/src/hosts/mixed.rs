//! Hosts with both kinds of flows: connections and datagrams.

use crate::wire::host_timer;
use crate::{DatagramHosts, Outcomes, TcpHosts};
use lightburst_net::{Context, Departure, Dropped, FlowId, Hosts, PacketId, TimerId};

/// Kind of a flow, and its index among the flows of that kind.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// Index among the connections.
    Connection(u32),
    /// Index among the flows of datagrams.
    Datagrams(u32),
}

/// Hosts that have TCP connections and send datagrams.
pub struct MixedHosts {
    tcp: TcpHosts,
    datagrams: DatagramHosts,
    /// Kind and index of each flow, by its number.
    places: Vec<Place>,
}

impl MixedHosts {
    /// Creates the hosts; `places` gives the kind and index of each flow.
    pub fn new(tcp: TcpHosts, datagrams: DatagramHosts, places: Vec<Place>) -> MixedHosts {
        MixedHosts {
            tcp,
            datagrams,
            places,
        }
    }

    /// Returns the hosts with connections.
    pub fn connections(&self) -> &TcpHosts {
        &self.tcp
    }

    /// Returns the hosts with connections, mutably.
    pub fn connections_mut(&mut self) -> &mut TcpHosts {
        &mut self.tcp
    }

    /// Returns the payload bytes that all flows have received so far; those of connections count
    /// once they are in order.
    pub fn delivered(&self) -> u64 {
        self.tcp.delivered() + self.datagrams.delivered()
    }

    /// Returns the outcome of every flow; `dropped` records the packets dropped per flow.
    pub fn outcomes(self, dropped: &Dropped) -> Outcomes {
        let mut outcomes = self.tcp.outcomes(dropped);
        self.datagrams.tell(dropped, &mut outcomes);
        outcomes
    }
}

impl Hosts for MixedHosts {
    fn start(&mut self, ctx: &mut Context<'_>) {
        self.tcp.start(ctx);
        self.datagrams.start(ctx);
    }

    #[inline]
    fn on_packet(&mut self, id: PacketId, ctx: &mut Context<'_>) {
        let packet = ctx.deliver(id);
        match self.places[packet.envelope.flow.index()] {
            Place::Connection(index) => self.tcp.on_segment(index as usize, id, &packet, ctx),
            Place::Datagrams(index) => self.datagrams.on_datagram(index as usize, &packet, ctx),
        }
    }

    fn on_departure(&mut self, departure: &Departure, ctx: &mut Context<'_>) {
        if let Place::Connection(index) = self.places[departure.packet.envelope.flow.index()] {
            self.tcp.on_flow_departure(index as usize, departure, ctx);
        }
    }

    fn on_timer(&mut self, timer_id: TimerId, ctx: &mut Context<'_>) {
        if host_timer::is_of_no_flow(timer_id) {
            return self.tcp.on_timer(timer_id, ctx);
        }
        match self.places[host_timer::flow(timer_id).index()] {
            Place::Connection(index) => self.tcp.on_flow_timer(index as usize, timer_id, ctx),
            Place::Datagrams(index) => self.datagrams.on_flow_timer(index as usize, ctx),
        }
    }

    fn on_entry(&mut self, flow: FlowId, ctx: &mut Context<'_>) -> PacketId {
        let Place::Datagrams(index) = self.places[flow.index()] else {
            unreachable!("a connection has hosts");
        };
        self.datagrams.enter(index as usize, ctx)
    }
}
