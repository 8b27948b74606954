//! What happens at a node.

use crate::{LinkId, NodeId, Unit};
use lightburst_des::queue::{self, Class};

/// What happens.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A unit arrives at a node.
    Arrive {
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

const _: () = assert!(std::mem::size_of::<Event>() <= 16);

/// Tells the timers of a node apart. It must not depend on what happened elsewhere: the order of
/// timers that expire at one instant follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What the timer is for: the node's own list.
    pub kind: u8,
    /// What it is about: a flow, a queue, a link.
    pub subject: u32,
}

impl queue::Event for Event {
    fn class(&self) -> Class {
        match self {
            Event::Arrive { .. } => Class::Arrival,
            Event::Timer { .. } => Class::Timer,
        }
    }

    fn node(&self) -> u32 {
        match *self {
            Event::Arrive { to: node, .. } | Event::Timer { node, .. } => node.0,
        }
    }

    fn place(&self) -> u32 {
        match *self {
            Event::Arrive { link, .. } => link.0,
            Event::Timer { node, .. } => node.0,
        }
    }

    /// Two units never arrive over one link at one instant.
    fn subject(&self) -> u32 {
        match *self {
            Event::Arrive { .. } => 0,
            Event::Timer { token, .. } => token.subject,
        }
    }

    fn kind(&self) -> u8 {
        match *self {
            Event::Arrive { .. } => 0,
            Event::Timer { token, .. } => token.kind,
        }
    }
}
