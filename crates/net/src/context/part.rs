//! Nodes of a network that is run in parts.

use super::Context;
use crate::link::Transit;
use crate::unit::units::Behind;
use crate::{Fabric, FlowId, LinkId, NodeId, PortId, Unit};
use lightburst_des::Time;

impl Context<'_> {
    /// Returns whether this network is a part of one: a sender then learns the losses of a window at
    /// its end.
    #[inline]
    pub fn is_part(&self) -> bool {
        self.fabric.part.is_some()
    }

    /// Notes that the sender of a flow has postponed a question about its losses.
    pub fn ask_later(&mut self, flow: FlowId) {
        if let Some(part) = &mut self.fabric.part {
            part.ask_later(flow);
        }
    }

    /// Returns the context of a host of the network at the present time.
    pub fn of_host(&mut self, host: NodeId) -> Context<'_> {
        let nic = self.fabric.link_id(host, PortId(0));
        Context::new(host, nic, LinkId::NONE, self.fabric, self.agenda)
    }

    /// Returns whether a link leads to another part.
    #[inline]
    pub(super) fn crosses(&self, link: LinkId) -> bool {
        let part = self.fabric.part.as_ref();
        part.is_some_and(|part| !part.owns(self.fabric.links.to(link)))
    }

    /// Transmits a unit at `from` or later on a link to another part, where it arrives. Returns the
    /// start of the transmission.
    pub(super) fn cross(&mut self, unit: Unit, link: LinkId, from: Time) -> Time {
        let Unit::Packet(id) = unit else {
            unreachable!("only packets cross between parts");
        };
        let now = self.agenda.now();
        let fabric = &mut *self.fabric;
        if from > now {
            fabric.links.postpone(link, from, now);
        }
        let mut packet = fabric.units.packets.remove(id);
        let (transit, _) = fabric.links.transmit(link, packet.envelope.bytes, from);
        let Transit {
            start, arrival, to, ..
        } = transit;
        packet.envelope.behind = Behind {
            unit: None,
            due: arrival,
        };
        let Fabric { part, options, .. } = fabric;
        let carried = packet.header.has_options().then(|| options[id.index()]);
        let part = part.as_mut().expect("a part");
        part.send(packet, (link, to), carried);
        start
    }
}
