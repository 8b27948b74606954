//! What was dropped of each flow, and which of its packets those were that a sender numbers.

use crate::{FlowId, Narrow, Packet};
use lightburst_des::Time;

/// A packet that was dropped, of which its sender counts how often it sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSending {
    /// First byte of its payload.
    pub sequence: u64,
    /// Which sending of it this was, from 1.
    pub sending: u32,
    /// What kind of segment it was.
    pub flags: u8,
    /// When it was dropped.
    pub at: Time,
}

/// What was dropped of each flow.
#[derive(Clone, Debug)]
pub struct Dropped {
    /// Packets, of both directions.
    packets: Narrow,
    /// Where the lost sendings of a flow are: 0 if there was none.
    places: Vec<u32>,
    /// Those with a number, in the order of time, until the sender has read of them. The first list
    /// is that of all flows without, and stays empty.
    sendings: Vec<Vec<LostSending>>,
    free: Vec<u32>,
}

impl Dropped {
    /// Nothing yet of so many flows.
    pub fn new(flows: usize) -> Dropped {
        Dropped {
            packets: Narrow::zeros(flows),
            places: vec![0; flows],
            sendings: vec![Vec::new()],
            free: Vec::new(),
        }
    }

    /// Counts a packet.
    #[inline]
    pub(crate) fn count(&mut self, packet: &Packet, now: Time) {
        let flow = packet.envelope.flow;
        self.packets.count(flow.index());
        if packet.envelope.sending > 0 {
            self.place(flow).push(LostSending {
                sequence: packet.header.sequence,
                sending: packet.envelope.sending,
                flags: packet.header.flags,
                at: now,
            });
        }
    }

    /// The list of a flow, made if there is none.
    fn place(&mut self, flow: FlowId) -> &mut Vec<LostSending> {
        let place = &mut self.places[flow.index()];
        if *place == 0 {
            *place = self.free.pop().unwrap_or(self.sendings.len() as u32);
            if *place as usize == self.sendings.len() {
                self.sendings.push(Vec::new());
            }
        }
        &mut self.sendings[*place as usize]
    }

    /// How many flows there are.
    pub fn flows(&self) -> usize {
        self.places.len()
    }

    /// How many packets of a flow were dropped.
    pub fn packets(&self, flow: FlowId) -> u64 {
        self.packets.get(flow.index())
    }

    /// The packets of a flow that were dropped and have a number, in the order of time.
    pub fn sendings(&self, flow: FlowId) -> &[LostSending] {
        &self.sendings[self.places[flow.index()] as usize]
    }

    /// The same; whoever counts sendings takes them out.
    #[inline]
    pub fn unread(&mut self, flow: FlowId) -> &mut Vec<LostSending> {
        &mut self.sendings[self.places[flow.index()] as usize]
    }

    /// A flow is over: nobody will read what was dropped of it.
    pub fn forget(&mut self, flow: FlowId) {
        let place = std::mem::take(&mut self.places[flow.index()]);
        if place > 0 {
            self.sendings[place as usize] = Vec::new();
            self.free.push(place);
        }
    }

    /// How many packets of each flow were dropped.
    pub fn column(&self) -> Narrow {
        self.packets.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Envelope, Header, NodeId};

    fn packet(flow: u32, sending: u32) -> Packet {
        let header = Header {
            sequence: u64::from(sending) * 100,
            ..Header::default()
        };
        let mut packet = Packet::new(FlowId(flow), NodeId(0), NodeId(1), 1, header);
        packet.envelope = Envelope {
            sending,
            ..packet.envelope
        };
        packet
    }

    #[test]
    fn a_list_is_that_of_its_flow_alone_and_goes_to_another_when_the_flow_is_over() {
        let mut dropped = Dropped::new(3);
        for (flow, sending) in [(1, 1), (1, 2), (0, 0), (2, 7)] {
            dropped.count(&packet(flow, sending), Time(5));
        }
        let seen = |dropped: &Dropped, flow| -> Vec<u32> {
            let sendings = dropped.sendings(FlowId(flow)).iter();
            sendings.map(|one| one.sending).collect()
        };
        assert_eq!(
            [0, 1, 2].map(|flow| dropped.packets(FlowId(flow))),
            [1, 2, 1]
        );
        assert_eq!(
            [0, 1, 2].map(|flow| seen(&dropped, flow)),
            [vec![], vec![1, 2], vec![7]]
        );
        dropped.forget(FlowId(1));
        dropped.forget(FlowId(0));
        dropped.count(&packet(0, 3), Time(6));
        assert_eq!(
            [0, 1, 2].map(|flow| seen(&dropped, flow)),
            [vec![3], vec![], vec![7]]
        );
        assert_eq!(dropped.sendings.len(), 3, "the place was used again");
        assert_eq!(dropped.packets(FlowId(1)), 2, "what is counted stays");
    }
}
