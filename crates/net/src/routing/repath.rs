//! Numbers of paths that senders choose: each packet has one, which goes into its hash at each node.

mod changes;
mod entropies;

pub use changes::{ChangeSettings, Changes};
pub use entropies::{Entropies, EntropySettings};

use crate::{Envelope, FlowId, Header, NodeId};

/// An acknowledgement, as the choice of the path sees it.
#[derive(Clone, Copy, Debug)]
pub struct PathNews {
    /// Bytes newly acknowledged.
    pub bytes: u64,
    /// Whether it tells of a mark.
    pub marked: bool,
    /// Next byte that the receiver expects.
    pub acknowledged: u64,
    /// End of the data sent.
    pub sent: u64,
    /// Count of marks in it, if the transport counts.
    pub count: Option<u8>,
    /// First byte of the packet whose header it answers, if that packet was trimmed.
    pub trimmed: Option<u64>,
}

/// When senders choose another number.
#[derive(Clone, Copy, Debug)]
pub enum RepathSettings {
    /// If the path of the flow is congested.
    Changes(ChangeSettings),
    /// At each packet.
    Entropies(EntropySettings),
}

/// Numbers of the paths of all flows.
#[derive(Debug)]
pub enum Repaths {
    /// Each flow has one number at a time.
    Changes(Changes),
    /// Each packet takes the next number.
    Entropies(Entropies),
}

impl Repaths {
    /// Creates the state of the flows from `sources` before any packet; `count` is the first count of
    /// marks.
    pub fn new(
        settings: RepathSettings,
        sources: impl Iterator<Item = NodeId>,
        count: u8,
    ) -> Repaths {
        match settings {
            RepathSettings::Changes(settings) => {
                Repaths::Changes(Changes::new(settings, sources, count))
            }
            RepathSettings::Entropies(settings) => {
                Repaths::Entropies(Entropies::new(settings, sources))
            }
        }
    }

    /// Returns the number in a new packet.
    pub(crate) fn number(&mut self, packet: &Envelope, header: &Header) -> u8 {
        match self {
            Repaths::Changes(changes) => changes.number(packet),
            Repaths::Entropies(entropies) => entropies.number(packet, header),
        }
    }

    /// Notes the number in a packet that has reached its destination.
    pub(crate) fn arrive(&mut self, packet: &Envelope) {
        if let Repaths::Entropies(entropies) = self {
            entropies.arrive(packet);
        }
    }

    /// Handles the acknowledgement of a flow that has just arrived.
    pub fn on_ack(&mut self, flow: FlowId, news: &PathNews) {
        match self {
            Repaths::Changes(changes) => changes.on_ack(flow, news),
            Repaths::Entropies(entropies) => entropies.on_ack(flow, news),
        }
    }

    /// Handles a notification of marks.
    pub fn on_notification(&mut self, flow: FlowId) {
        if let Repaths::Changes(changes) = self {
            changes.on_notification(flow);
        }
    }

    /// Handles a timeout: the path may be broken. With a number for each packet, each one that is sent
    /// again tells of its own.
    pub fn on_timeout(&mut self, flow: FlowId) {
        if let Repaths::Changes(changes) = self {
            changes.on_timeout(flow);
        }
    }
}
