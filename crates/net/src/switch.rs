//! What a node does when a unit arrives or a timer expires.

use crate::{Context, Counted, Departure, FlowId, PacketId, Token, Unit};
use lightburst_des::Time;

/// A switch.
pub trait Switch: Send {
    /// A unit arrives: its head at a cut-through node, its tail at the others.
    fn on_unit(&mut self, unit: Unit, ctx: &mut Context<'_>);

    /// A timer of this node expires.
    fn on_timer(&mut self, token: Token, ctx: &mut Context<'_>);

    /// A packet enters here that no host has sent, with those that are linked to it: a burst.
    fn on_entry(&mut self, _packet: PacketId, _ctx: &mut Context<'_>) {
        unreachable!("only an edge makes bursts");
    }

    /// What it has counted up to `end`.
    fn counted(&self, end: Time) -> Counted;

    /// Maxima are from now on those of what comes.
    fn begin_window(&mut self) {}

    /// Bytes that it keeps, of which it has given `queued` to its outputs already.
    fn held(&self, _queued: u64) -> u64 {
        0
    }
}

/// The hosts: one component, because the two ends of a flow share its table.
pub trait Hosts {
    /// Sets the first timer.
    fn start(&mut self, ctx: &mut Context<'_>);

    /// A packet arrives at the host `ctx.node()`.
    fn on_packet(&mut self, packet: PacketId, ctx: &mut Context<'_>);

    /// A timer of the host `ctx.node()` expires.
    fn on_timer(&mut self, token: Token, ctx: &mut Context<'_>);

    /// A segment of the host `ctx.node()` leaves its fair interface, where it has waited.
    fn on_departure(&mut self, _departure: &Departure, _ctx: &mut Context<'_>) {}

    /// What enters next of a flow at the edge `ctx.node()`, whose timer [`Token::ENTRY`] has expired:
    /// the first of the packets of a burst, which are linked. They come to [`Hosts::on_packet`] where
    /// their burst ends.
    fn on_entry(&mut self, _flow: FlowId, _ctx: &mut Context<'_>) -> PacketId {
        unreachable!("only datagrams enter at an edge");
    }
}
