//! The transport `rdma`: a reliable connected queue pair of RoCEv2, one message for each flow.
//!
//! The requester is a [`Sender`](crate::sender::Sender) without handshake and close, whose window
//! law is a rate law ([`super::rate`]); the responder is a
//! [`Receiver`](crate::receiver::Receiver) that answers sequence errors with NAKs.

use crate::cc::Congestion;
use crate::recovery::{GoBackN, RecoveryKind, SelectiveRepeat};
use crate::timeout::Fixed;
use crate::transport::parameters::{Parameters, COUNT, POSITIVE_TIME, WINDOW};
use crate::transport::rate::{self, RateLawKind, RateLawSettings};
use crate::transport::{
    most_retransmissions, Clock, Echo, Reception, Transport, TransportSettings,
};

/// Largest number of packets by which one may be overtaken and is not taken for lost.
const MOST_OVERTAKING: f64 = 1e6;

/// All loss recoveries of `rdma`. To add one, add a file and an entry here.
pub const RECOVERIES: &[RecoveryKind] = &[
    RecoveryKind {
        name: "go-back-n",
        selective: false,
        timed: false,
        build: |_| Box::<GoBackN>::default(),
    },
    RecoveryKind {
        name: "selective-repeat",
        selective: true,
        timed: false,
        build: |own| {
            let most = own.optional("reordering", 0.0..=MOST_OVERTAKING);
            Box::new(SelectiveRepeat::new(most.unwrap_or(0.0) as u64))
        },
    },
];

/// Returns the loss recovery of `rdma` called `name`.
pub fn find_recovery(name: &str) -> Option<&'static RecoveryKind> {
    RECOVERIES.iter().find(|entry| entry.name == name)
}

/// Returns the rate law, whose name the plan's check has looked up.
fn law(parameters: &Parameters) -> &'static RateLawKind {
    let law = parameters.kind("congestion_control").and_then(rate::find);
    law.expect("a known rate law")
}

/// Returns the loss recovery, whose name the plan's check has looked up.
fn recovery(parameters: &Parameters) -> &'static RecoveryKind {
    let recovery = parameters.kind("recovery").and_then(find_recovery);
    recovery.expect("a known loss recovery")
}

/// Returns whether each answer echoes the mark of its packet.
fn echoes_marks(parameters: &Parameters) -> bool {
    parameters.has("echo_marks") && parameters.is("echo_marks")
}

/// Returns whether the data packets are capable of ECN: if the rate law answers marks, or answers
/// echo them. The name of the law may be unknown.
pub fn is_capable(parameters: &Parameters) -> bool {
    if echoes_marks(parameters) {
        return true;
    }
    let law = parameters.kind("congestion_control").and_then(rate::find);
    law.is_some_and(|law| law.notified)
}

/// Returns whether outputs add telemetry to its packets. The name of the rate law may be unknown.
pub fn asks_for_telemetry(parameters: &Parameters) -> bool {
    let law = parameters.kind("congestion_control").and_then(rate::find);
    law.is_some_and(|law| law.telemetry)
}

/// Returns whether a trimmed packet is repaired: by the recovery that repeats single packets. The
/// name of the recovery may be unknown.
pub fn is_trimmable(parameters: &Parameters) -> bool {
    let recovery = parameters.kind("recovery").and_then(find_recovery);
    recovery.is_some_and(|recovery| recovery.selective)
}

/// Builds the sender of one message.
pub fn build(setting: &TransportSettings) -> Transport {
    let parameters = setting.parameters;
    let law = (law(parameters).build)(&RateLawSettings {
        parameters: parameters.table("congestion_control"),
        line_rate: setting.line_rate,
        sizes: setting.sizes,
    });
    let timeout = parameters.duration("acknowledgement_timeout_ps", POSITIVE_TIME);
    Transport {
        congestion: Congestion::new(law, f64::INFINITY, f64::INFINITY),
        recovery: (recovery(parameters).build)(parameters.table("recovery")),
        timeout: Box::new(Fixed(timeout)),
        clock: Clock::EveryAcknowledgement,
        ecn: false,
        accurate: false,
    }
}

/// Returns the behaviour of the receiver.
pub fn reception(parameters: &Parameters) -> Reception {
    let inflight = parameters.optional("max_inflight_bytes", WINDOW);
    let own = parameters.table("congestion_control");
    let notified = law(parameters).notified;
    Reception {
        advertised: inflight.map_or(u64::MAX, |bytes| bytes as u64),
        acknowledge_every: parameters.get("acknowledge_every", COUNT) as u32,
        // One block names the packet that a negative acknowledgement answers.
        blocks: usize::from(recovery(parameters).selective),
        notify: notified.then(|| own.duration("notification_interval_ps", POSITIVE_TIME)),
        pulls: law(parameters).pulls,
        from_transmission: false,
        echo: match echoes_marks(parameters) {
            true => Echo::Each,
            false => Echo::None,
        },
        most_retransmissions: most_retransmissions(parameters),
        ..Reception::PLAIN
    }
}
