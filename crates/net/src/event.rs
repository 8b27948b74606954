//! What happens at a node.

use crate::{BurstId, HeaderId, LinkId, NodeId, PacketId, Unit};
use lightburst_des::queue::{self, Class};

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A unit arrives at a node.
    Arrival {
        /// The node.
        to: NodeId,
        /// The link over which it comes.
        link: LinkId,
        /// The unit.
        unit: Unit,
    },
    /// A timer expires.
    Timer {
        /// The node that set it.
        node: NodeId,
        /// Which of its timers.
        token: Token,
    },
}

/// What happens, packed into two words, which are written and copied whole. A copy of many small
/// fields right after they were written would wait for each of these stores.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// The link over which a unit comes, and the node.
    place: u64,
    /// Whether a timer expires; the kind of the unit or of the timer; the number of the unit or
    /// the subject of the timer.
    what: u64,
}

const LOW: u32 = 32;
const TIMER: u64 = 1 << 40;

fn packed(high: u32, low: u32) -> u64 {
    u64::from(high) << LOW | u64::from(low)
}

impl Event {
    /// A unit arrives at a node.
    #[inline(always)]
    pub fn arrival(to: NodeId, link: LinkId, unit: Unit) -> Event {
        let (kind, number) = match unit {
            Unit::Packet(packet) => (0, packet.0),
            Unit::Burst(burst) => (1, burst.0),
            Unit::Header(header) => (2, header.0),
        };
        Event {
            place: packed(link.0, to.0),
            what: packed(kind, number),
        }
    }

    /// A timer of a node expires.
    #[inline(always)]
    pub fn timer(node: NodeId, token: Token) -> Event {
        Event {
            place: packed(0, node.0),
            what: TIMER | packed(u32::from(token.kind), token.subject),
        }
    }

    /// What it is. One comparison tells that a packet arrives, which is what most events are.
    #[inline(always)]
    pub fn unpack(self) -> EventKind {
        let node = NodeId(self.place as u32);
        let number = self.what as u32;
        let unit = match self.what >> LOW {
            0 => Unit::Packet(PacketId(number)),
            1 => Unit::Burst(BurstId(number)),
            2 => Unit::Header(HeaderId(number)),
            timer => {
                let token = Token {
                    kind: timer as u8,
                    subject: number,
                };
                return EventKind::Timer { node, token };
            }
        };
        EventKind::Arrival {
            to: node,
            link: LinkId((self.place >> LOW) as u32),
            unit,
        }
    }
}

/// Tells the timers of a node apart. It must not depend on what happened elsewhere: the order of
/// timers that expire at one instant follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What the timer is for: the node's own list.
    pub kind: u8,
    /// What it is about: a flow, a queue, a link.
    pub subject: u32,
}

impl Token {
    /// Of an edge: the next burst of a flow enters here. What its switch uses itself is below.
    pub const ENTRY: u8 = 5;

    /// Of a host: the next segment may leave its fair interface.
    pub const DEPARTURE: Token = Token {
        kind: 5,
        subject: 0,
    };
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

    /// Two units never arrive over one link at one instant.
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

    #[test]
    fn an_event_is_what_it_was_made_of() {
        let (node, link, most) = (NodeId(7), LinkId(u32::MAX - 1), u32::MAX);
        for unit in [
            Unit::Packet(PacketId(0)),
            Unit::Burst(BurstId(most)),
            Unit::Header(HeaderId(1 << 31)),
        ] {
            let to = node;
            let event = Event::arrival(to, link, unit);
            assert_eq!(event.unpack(), EventKind::Arrival { to, link, unit });
            assert_eq!(queue::Event::place(event), link.0);
        }
        for (kind, subject) in [(0, most), (u8::MAX, 0), (1, 1 << 31)] {
            let token = Token { kind, subject };
            let event = Event::timer(node, token);
            assert_eq!(event.unpack(), EventKind::Timer { node, token });
            assert_eq!(queue::Event::place(event), node.0);
        }
    }
}
