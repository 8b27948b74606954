//! Interfaces of switches and hosts: their reactions to arrivals and timers.

use crate::{
    Ahead, Context, Counted, Departure, FlowId, Packet, PacketId, PortId, Readiness, TimerId, Unit,
};
use lightburst_des::Time;

/// Behaviour of a switch.
pub trait Switch: Send {
    /// Handles the arrival of a unit: of its head at a cut-through node, of its tail at other
    /// nodes.
    fn on_unit(&mut self, unit: Unit, ctx: &mut Context<'_>);

    /// Handles the expiry of a timer of this node.
    fn on_timer(&mut self, timer_id: TimerId, ctx: &mut Context<'_>);

    /// Asks for memory that an event will need: the arrival of `unit`, or a timer. See
    /// [`Model::prepare`](lightburst_des::Model::prepare).
    fn prepare(&self, _unit: Option<Unit>, _readiness: Readiness, _ahead: &Ahead<'_>) {}

    /// Handles a burst that enters the network at this node instead of a host. `packet` is the
    /// first of its linked packets.
    fn on_entry(&mut self, _packet: PacketId, _ctx: &mut Context<'_>) {
        unreachable!("only an edge makes bursts");
    }

    /// Lets go of the next hops of buffered units, before the routes change.
    fn before_change(&mut self, _ctx: &mut Context<'_>) {}

    /// Finds the next hops of buffered units anew, after the routes have changed. Units all of whose
    /// links are down are lost, unless `reroute` is set.
    fn after_change(&mut self, _reroute: bool, _ctx: &mut Context<'_>) {}

    /// Takes out the units that wait in an explicit queue of `port`, when the routes learn that its
    /// link is down.
    fn on_down(&mut self, _port: PortId, _ctx: &mut Context<'_>) -> Vec<Unit> {
        Vec::new()
    }

    /// Handles a unit that waited for `port` when the routes learned that its link is down: it takes
    /// the new route if `reroute` is set, otherwise it is lost.
    fn on_stranded(&mut self, _unit: Unit, _port: PortId, _reroute: bool, _ctx: &mut Context<'_>) {
        unreachable!("only output queues can be taken back");
    }

    /// Returns the counters up to `end`.
    fn counted(&self, end: Time) -> Counted;

    /// Starts a measurement window: maxima count from now on.
    fn begin_window(&mut self) {}

    /// Returns the bytes buffered at the node. `queued` is the number of bytes waiting at its
    /// outputs; it counts only for nodes that buffer in their output queues.
    fn held(&self, _queued: u64) -> u64 {
        0
    }
}

/// Behaviour of all hosts. They are one component because both endpoints of a flow share its data.
pub trait Hosts {
    /// Sets the first timer.
    fn start(&mut self, ctx: &mut Context<'_>);

    /// Handles the arrival of a packet at the host `ctx.node()`.
    fn on_packet(&mut self, packet: PacketId, ctx: &mut Context<'_>);

    /// Handles the expiry of a timer of the host `ctx.node()`.
    fn on_timer(&mut self, timer_id: TimerId, ctx: &mut Context<'_>);

    /// Asks for memory that the arrival of a packet at a host will need, in stages from 0 on; see
    /// [`Model::prepare`](lightburst_des::Model::prepare).
    fn prepare_packet(&self, _packet: &Packet, _stage: usize) {}

    /// Asks for memory that a timer of a host will need.
    fn prepare_timer(&self, _timer_id: TimerId, _stage: usize) {}

    /// Handles the departure of a segment that waited in the fair interface of the host
    /// `ctx.node()`.
    fn on_departure(&mut self, _departure: &Departure, _ctx: &mut Context<'_>) {}

    /// Creates the next burst of a flow that enters at the edge `ctx.node()`, after its timer
    /// [`TimerId::ENTRY`] has expired. Returns the first of its linked packets. They are delivered
    /// to [`Hosts::on_packet`] at the edge where the burst ends.
    fn on_entry(&mut self, _flow: FlowId, _ctx: &mut Context<'_>) -> PacketId {
        unreachable!("only datagrams enter at an edge");
    }
}
