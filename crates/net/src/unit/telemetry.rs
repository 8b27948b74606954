//! Telemetry in the headers of packets: what each output of a switch told when the transmission of
//! the packet began. Only packets of flows that ask for it carry any.

use crate::{FlowId, LinkId, PacketId, Rate};
use lightburst_des::Time;

/// What an output tells: its load at the begin of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Link of the output.
    pub link: LinkId,
    /// Begin of the transmission.
    pub at: Time,
    /// Bytes that wait in the queue of the output, behind the packet.
    pub queue: u64,
    /// Bytes that left the queue before the packet.
    pub sent: u64,
    /// Rate of the link.
    pub rate: Rate,
}

/// Readings in a packet.
#[derive(Clone, Debug, Default)]
struct Stack {
    /// Whether the outputs add to it: a data packet of a flow that asks.
    grows: bool,
    readings: Vec<Reading>,
}

/// Readings in all packets of a network.
#[derive(Debug)]
pub struct Telemetry {
    /// Whether a flow asks for telemetry, by flow.
    asks: Vec<bool>,
    /// Readings in each packet, by its handle; valid for packets of flows that ask.
    stacks: Vec<Stack>,
    /// Bytes that left the queue of each output.
    sent: Vec<u64>,
    /// Readings of the packet that has just arrived.
    arrived: Vec<Reading>,
}

impl Telemetry {
    /// Creates the state before any packet, for a number of links.
    pub fn new(asks: Vec<bool>, links: usize) -> Telemetry {
        Telemetry {
            asks,
            stacks: Vec::new(),
            sent: vec![0; links],
            arrived: Vec::new(),
        }
    }

    /// Begins the readings of a new packet: none in a packet with data; an answer, which is made while
    /// its packet arrives, has those of that packet.
    pub(crate) fn begin(&mut self, packet: PacketId, flow: FlowId, data: bool) {
        if packet.index() >= self.stacks.len() {
            self.stacks.resize(packet.index() + 1, Stack::default());
        }
        let stack = &mut self.stacks[packet.index()];
        stack.grows = data && self.asks[flow.index()];
        stack.readings.clear();
        if !data && self.asks[flow.index()] {
            stack.readings.extend_from_slice(&self.arrived);
        }
    }

    /// Counts a packet that leaves the queue of an output, and adds a reading to those that it has.
    pub(crate) fn pass(&mut self, packet: PacketId, bytes: u32, output: &Reading) {
        let sent = &mut self.sent[output.link.index()];
        let stack = &mut self.stacks[packet.index()];
        if stack.grows {
            stack.readings.push(Reading {
                sent: *sent,
                ..*output
            });
        }
        *sent += u64::from(bytes);
    }

    /// Takes the readings of a packet that arrives at its destination.
    pub(crate) fn arrive(&mut self, packet: PacketId) {
        std::mem::swap(&mut self.arrived, &mut self.stacks[packet.index()].readings);
    }

    /// Returns the readings of the packet that has just arrived.
    pub fn arrived(&self) -> &[Reading] {
        &self.arrived
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_the_readings_of_its_packet_and_none_of_other_flows() {
        let mut telemetry = Telemetry::new(vec![true, false], 2);
        let output = |link, at| Reading {
            link: LinkId(link),
            at: Time(at),
            queue: 10 * at,
            sent: 0,
            rate: Rate::from_bps(1),
        };
        let [data, other, answer] = [0, 1, 2].map(PacketId);
        telemetry.begin(data, FlowId(0), true);
        telemetry.begin(other, FlowId(1), true);
        telemetry.pass(other, 100, &output(0, 1));
        telemetry.pass(data, 50, &output(0, 2));
        telemetry.pass(data, 50, &output(1, 3));
        telemetry.arrive(data);
        telemetry.begin(answer, FlowId(0), false);
        telemetry.pass(answer, 7, &output(1, 4));
        telemetry.arrive(other);
        assert_eq!(telemetry.arrived(), []);
        telemetry.arrive(answer);
        let first = Reading {
            sent: 100,
            ..output(0, 2)
        };
        assert_eq!(telemetry.arrived(), [first, output(1, 3)]);
    }
}
