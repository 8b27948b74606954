//! Events at nodes: arrivals of units and timers.

use crate::{BurstHeaderId, BurstId, FlowId, LinkId, NodeId, PacketId, Unit};
use lightburst_des::queue::{self, Class};

/// An event in readable form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A unit arrives at a node.
    Arrival {
        /// Node at which the unit arrives.
        to: NodeId,
        /// Link over which it arrives.
        link: LinkId,
        /// The arriving unit.
        unit: Unit,
    },
    /// A timer expires.
    Timer {
        /// Node that set the timer.
        node: NodeId,
        /// Timer of that node.
        timer_id: TimerId,
    },
}

/// An event, packed into two words that are written and copied as a whole. A copy of many small
/// fields immediately after they were written would wait for every single store.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Link of an arrival in the high half, node in the low half.
    place: u64,
    /// Timer flag and kind of the unit or timer in the high half; number of the unit or subject of
    /// the timer in the low half.
    what: u64,
}

const LOW: u32 = 32;
const TIMER: u64 = 1 << 40;

fn packed(high: u32, low: u32) -> u64 {
    u64::from(high) << LOW | u64::from(low)
}

impl Event {
    /// Creates the arrival of a unit at a node.
    #[inline(always)]
    pub fn arrival(to: NodeId, link: LinkId, unit: Unit) -> Event {
        let (kind, number) = match unit {
            Unit::Packet(packet) => (0, packet.0),
            Unit::Burst(burst) => (1, burst.0),
            Unit::BurstHeader(header) => (2, header.0),
        };
        Event {
            place: packed(link.0, to.0),
            what: packed(kind, number),
        }
    }

    /// Creates the expiry of a timer of a node.
    #[inline(always)]
    pub fn timer(node: NodeId, timer_id: TimerId) -> Event {
        Event {
            place: packed(0, node.0),
            what: TIMER | packed(u32::from(timer_id.kind), timer_id.subject),
        }
    }

    /// Unpacks the event. A packet's arrival, the most frequent event, is recognised by one
    /// comparison.
    #[inline(always)]
    pub fn unpack(self) -> EventKind {
        let node = NodeId(self.place as u32);
        let number = self.what as u32;
        let unit = match self.what >> LOW {
            0 => Unit::Packet(PacketId(number)),
            1 => Unit::Burst(BurstId(number)),
            2 => Unit::BurstHeader(BurstHeaderId(number)),
            timer => {
                let timer_id = TimerId {
                    kind: timer as u8,
                    subject: number,
                };
                return EventKind::Timer { node, timer_id };
            }
        };
        EventKind::Arrival {
            to: node,
            link: LinkId((self.place >> LOW) as u32),
            unit,
        }
    }
}

/// Identifies a timer among those of its node. It must not depend on events at other nodes, because
/// it determines the order of timers that expire at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerId {
    /// Purpose of the timer. Hosts, edges and switches each have their own numbering.
    pub kind: u8,
    /// Object of the timer: a flow, a queue or a link.
    pub subject: u32,
}

impl TimerId {
    /// Kind of an edge's timer for the next burst of a flow that enters here.
    pub const ENTRY: u8 = 5;

    /// Kind of the timer of any node for the arrival of a pause frame; greater than those of all other
    /// timers.
    pub const PAUSE: u8 = 16;
    /// Kind of the timer for the arrival of a frame that ends a pause.
    pub const RESUME: u8 = 17;

    /// Timer of a host: its fair interface may send the next segment.
    pub const DEPARTURE: TimerId = TimerId {
        kind: 5,
        subject: 0,
    };

    /// Returns the timer of an edge for the next burst of a flow that enters here.
    #[inline]
    pub fn entry(flow: FlowId) -> TimerId {
        TimerId {
            kind: TimerId::ENTRY,
            subject: flow.0,
        }
    }
}

impl queue::Event for Event {
    #[inline(always)]
    fn class(self) -> Class {
        match self.what & TIMER {
            0 => Class::Arrival,
            _ => Class::Timer,
        }
    }

    #[inline(always)]
    fn node(self) -> u32 {
        self.place as u32
    }

    #[inline(always)]
    fn place(self) -> u32 {
        match self.class() {
            Class::Arrival => (self.place >> LOW) as u32,
            Class::Timer => self.node(),
        }
    }

    /// Subject of a timer; 0 for an arrival, because two units never arrive over the same link at
    /// the same instant.
    #[inline(always)]
    fn subject(self) -> u32 {
        match self.class() {
            Class::Arrival => 0,
            Class::Timer => self.what as u32,
        }
    }

    #[inline(always)]
    fn kind(self) -> u8 {
        match self.class() {
            Class::Arrival => 0,
            Class::Timer => (self.what >> LOW) as u8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Any number, the least and the greatest more often.
    fn numbers() -> impl Strategy<Value = u32> {
        prop_oneof![Just(0), Just(u32::MAX), Just(1 << 31), any::<u32>()]
    }

    fn units() -> impl Strategy<Value = Unit> {
        prop_oneof![
            numbers().prop_map(|number| Unit::Packet(PacketId(number))),
            numbers().prop_map(|number| Unit::Burst(BurstId(number))),
            numbers().prop_map(|number| Unit::BurstHeader(BurstHeaderId(number))),
        ]
    }

    proptest! {
        #[test]
        fn an_arrival_is_what_it_was_made_of(
            to in numbers().prop_map(NodeId),
            link in numbers().prop_map(LinkId),
            unit in units(),
        ) {
            let event = Event::arrival(to, link, unit);
            prop_assert_eq!(event.unpack(), EventKind::Arrival { to, link, unit });
            prop_assert_eq!(queue::Event::class(event), Class::Arrival);
            prop_assert_eq!(queue::Event::node(event), to.0);
            prop_assert_eq!(queue::Event::place(event), link.0);
        }

        #[test]
        fn a_timer_is_what_it_was_made_of(
            node in numbers().prop_map(NodeId),
            kind in any::<u8>(),
            subject in numbers(),
        ) {
            let timer_id = TimerId { kind, subject };
            let event = Event::timer(node, timer_id);
            prop_assert_eq!(event.unpack(), EventKind::Timer { node, timer_id });
            prop_assert_eq!(queue::Event::class(event), Class::Timer);
            prop_assert_eq!(queue::Event::node(event), node.0);
            prop_assert_eq!(queue::Event::place(event), node.0);
            prop_assert_eq!(queue::Event::subject(event), subject);
            prop_assert_eq!(queue::Event::kind(event), kind);
        }
    }
}
