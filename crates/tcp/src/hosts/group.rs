//! Groups of flows of one transport.

use crate::sender::Writes;
use crate::transport::{Reception, Transport, TransportKind, TransportSettings};
use crate::wire::data_level::DataRules;
use crate::{Parameters, Sizes};
use lightburst_des::Duration;
use lightburst_net::Rate;

/// Settings from which the flows of a group are built.
pub struct Group {
    /// Transport of the flows.
    pub transport: TransportKind,
    /// Settings of the transport.
    pub parameters: Parameters,
    /// Sizes on the wire.
    pub sizes: Sizes,
    /// Seed of the run, for window laws that draw.
    pub seed: u64,
    /// Whether SYN+ACK and FIN+ACK have a retransmission timer of their own (RFC 9293).
    pub receiver_timers: bool,
    /// Whether SYN and SYN+ACK precede the data.
    pub handshake: bool,
    /// Writes of the application; `None` if it writes all data at once.
    pub writes: Option<Writes>,
    /// Number of subflows of each connection, from 1.
    pub subflows: u16,
    /// Rules of the data level of a connection with several subflows.
    pub data: DataRules,
}

/// State of a group that its endpoints read.
pub(super) struct Shared {
    /// What its receivers do.
    pub reception: Reception,
    /// Sizes on the wire.
    pub sizes: Sizes,
    /// Initial transport of a sender, by the transmission time of a segment and the rate of the link
    /// at its host. Cloning one is faster than building it, which reads many settings by name.
    pub transports: Vec<(Duration, Rate, Transport)>,
}

impl Shared {
    /// Returns the initial transport of a sender whose host takes `segment_time` to transmit a
    /// segment, and has a link of `line_rate`.
    pub fn transport(
        &mut self,
        group: &Group,
        segment_time: Duration,
        line_rate: Rate,
    ) -> Transport {
        let mut known = self.transports.iter();
        let same = |time: Duration, rate: Rate| time == segment_time && rate == line_rate;
        if let Some((.., transport)) = known.find(|(time, rate, _)| same(*time, *rate)) {
            return transport.clone();
        }
        let transport = (group.transport.build)(&TransportSettings {
            parameters: &group.parameters,
            sizes: &group.sizes,
            segment_time,
            line_rate,
            seed: group.seed,
        });
        self.transports
            .push((segment_time, line_rate, transport.clone()));
        transport
    }
}
