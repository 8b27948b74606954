//! A burst of which only a part goes on.

use super::Context;
use crate::{BurstId, Cut, HeaderId, Packet, PortId, Unit};
use lightburst_des::Time;

impl Context<'_> {
    /// The packets of a burst that is here, or whose header is, in their order.
    pub fn packets_of(&self, burst: BurstId) -> impl Iterator<Item = &Packet> {
        let packets = self.fabric.units.packets_of(Unit::Burst(burst));
        packets.map(|(_, packet)| packet)
    }

    /// Cuts the first packets off the burst of a header, for want of a channel of a port. What is left comes at
    /// `rest`, if the burst was not made here.
    pub fn cut(&mut self, header: HeaderId, port: PortId, cut: &Cut, rest: Option<Time>) {
        let place = self.place(port);
        let now = self.scheduler.now();
        self.fabric.cut(header, place, cut, rest, now);
    }
}
