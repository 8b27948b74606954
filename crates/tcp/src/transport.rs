//! Transports by name. A transport combines congestion control, loss recovery and timeout with the
//! behaviour of the receiver.

pub(crate) mod parameters;
pub mod rate;
pub mod rdma;

use crate::cc::{self, Congestion, StopAndWait};
use crate::recovery::{self, GoBackN, LossRecovery};
use crate::timeout::{Linux, Rfc6298, SawTimeout, TimeoutPolicy};
use crate::transport::parameters::{Parameters, Value, COUNT, TIME, WINDOW};
use crate::{Capable, Sizes};
use lightburst_des::Duration;
use lightburst_net::Rate;

/// Inputs from which a transport is built.
pub struct TransportSettings<'a> {
    /// Settings of the transport.
    pub parameters: &'a Parameters,
    /// Sizes on the wire.
    pub sizes: &'a Sizes,
    /// Transmission time of a full segment on the host's link (tau).
    pub segment_time: Duration,
    /// Rate of the host's link.
    pub line_rate: Rate,
    /// Seed of the run.
    pub seed: u64,
}

/// Components of the sender of a connection.
#[derive(Clone)]
pub struct Transport {
    /// Window and window law.
    pub congestion: Congestion,
    /// Loss recovery.
    pub recovery: Box<dyn LossRecovery>,
    /// Retransmission timeout.
    pub timeout: Box<dyn TimeoutPolicy>,
    /// Rule by which times are measured.
    pub clock: Clock,
    /// Whether an echo of a mark reduces the window like a loss (RFC 3168).
    pub ecn: bool,
    /// Whether acknowledgements count marked segments (RFC 9768).
    pub accurate: bool,
}

/// Start of the interval that timers and round-trip times measure, and the selection of the
/// segments measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Counts from the start of the transmission at the network interface, with a sample for every
    /// acknowledgement (minakhmetov2018, section 2).
    Transmission,
    /// Counts from the hand-over to the interface, so the queueing there is included; one segment
    /// is timed at a time (RFC 6298, section 3).
    OneAtATime,
    /// Counts from the hand-over, with a sample for every acknowledgement of segments that were
    /// sent once.
    EveryAcknowledgement,
    /// Counts from the hand-over, by timestamps (RFC 7323, section 4).
    Timestamps,
}

/// Echo of the congestion marks on data segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// Marks are ignored.
    None,
    /// Each acknowledgement says whether the data that it acknowledges was marked (RFC 8257, section
    /// 3.2).
    Each,
    /// From a mark on until the sender has reduced its window (RFC 3168, section 6.1.3).
    UntilReduced,
    /// Each acknowledgement counts the marked data segments so far (RFC 9768).
    Counted,
}

/// Behaviour of a receiver.
#[derive(Clone, Copy, Debug)]
pub struct Reception {
    /// Receive window in bytes.
    pub advertised: u64,
    /// Number of in-order segments per acknowledgement (b).
    pub acknowledge_every: u32,
    /// Longest delay of an acknowledgement that waits for a further segment.
    pub delay: Duration,
    /// Maximum number of SACK blocks in an acknowledgement.
    pub blocks: usize,
    /// Whether duplicates are reported by SACK blocks (RFC 2883).
    pub duplicate_sack: bool,
    /// Whether segments carry timestamps.
    pub timestamps: bool,
    /// Whether timers count from the start of the transmission, as with [`Clock::Transmission`].
    pub from_transmission: bool,
    /// Echo of congestion marks of the network.
    pub echo: Echo,
    /// Least time from one congestion notification to the next, if there are any.
    pub notify: Option<Duration>,
    /// Whether the receiver pulls the packets of the sender.
    pub pulls: bool,
    /// Number of repetitions of a segment after which either endpoint gives up.
    pub most_retransmissions: u32,
}

impl Reception {
    /// A receiver that acknowledges every segment at once.
    pub const PLAIN: Reception = Reception {
        advertised: u64::MAX,
        acknowledge_every: 1,
        delay: Duration::ZERO,
        blocks: 0,
        duplicate_sack: false,
        timestamps: false,
        from_transmission: true,
        echo: Echo::None,
        notify: None,
        pulls: false,
        most_retransmissions: u32::MAX,
    };
}

/// Registry entry of a transport.
#[derive(Clone, Copy)]
pub struct TransportKind {
    /// Name in the scenario.
    pub name: &'static str,
    /// Builds the sender of one connection.
    pub build: fn(&TransportSettings) -> Transport,
    /// Returns the behaviour of the receiver.
    pub reception: fn(&Parameters) -> Reception,
    /// Whether the FIN is sent with the last data; otherwise it is sent separately after all data
    /// is acknowledged.
    pub fin_with_data: bool,
    /// Whether the receiver is a responder, which never opens or closes a connection.
    pub responds: bool,
}

/// All transports.
pub const REGISTRY: &[TransportKind] = &[
    TransportKind {
        name: "saw",
        build: |s| stop_and_wait(s, 0.0),
        reception: plain,
        fin_with_data: false,
        responds: false,
    },
    TransportKind {
        name: "rdma",
        build: rdma::build,
        reception: rdma::reception,
        // The flag marks the last packet of a message.
        fin_with_data: true,
        responds: true,
    },
    TransportKind {
        name: "sawl",
        build: |s| stop_and_wait(s, s.parameters.get("p", 0.0..=1e6)),
        reception: plain,
        fin_with_data: false,
        responds: false,
    },
    TransportKind {
        name: "tcp",
        build: tcp,
        reception,
        fin_with_data: true,
        responds: false,
    },
];

/// Returns the transport called `name`.
pub fn find(name: &str) -> Option<&'static TransportKind> {
    REGISTRY.iter().find(|entry| entry.name == name)
}

/// Returns an error that describes the first invalid setting of a transport, if there is one.
pub fn check(entry: &TransportKind, parameters: &Parameters, sizes: &Sizes) -> Result<(), String> {
    let (law, own) = (
        parameters.kind("congestion_control"),
        parameters.kind("recovery"),
    );
    let recovery = own.and_then(recovery::find);
    let missing = match entry.name {
        "tcp" => law.and_then(cc::find).is_none() || recovery.is_none(),
        "rdma" => law.and_then(rate::find).is_none() || own.and_then(rdma::find_recovery).is_none(),
        _ => false,
    };
    if missing {
        let name = entry.name;
        return Err(format!(
            "a congestion_control or recovery of {name} is missing"
        ));
    }
    // Building reads every setting with its expected type and range, and records faults.
    let built = (entry.build)(&TransportSettings {
        parameters,
        sizes,
        segment_time: Duration(1),
        line_rate: Rate::from_bps(1),
        seed: 0,
    });
    if built.congestion.wants().rates {
        let paces = recovery.is_some_and(|recovery| recovery.timed)
            && parameters.table("recovery").is("pacing");
        if !paces {
            return Err("a law of rates needs a recovery that hears times and paces".to_string());
        }
    }
    (entry.reception)(parameters);
    parameters.fault().map_or(Ok(()), Err)
}

/// Choices of the rule for the retransmission timeout.
const TIMEOUTS: &[&str] = &["rfc6298", "linux"];

/// Choices of the segments whose round-trip times are measured.
const RTT_SAMPLES: &[&str] = &["one-at-a-time", "every-acknowledgement"];

/// Returns stop-and-wait; the timer exceeds the estimated timeout by `p` segment times.
fn stop_and_wait(setting: &TransportSettings, p: f64) -> Transport {
    let margin = Duration::nearest(p * setting.segment_time.0 as f64);
    let mss = setting.sizes.mss();
    Transport {
        congestion: Congestion::new(
            Box::new(StopAndWait::new(mss)),
            f64::from(mss),
            f64::INFINITY,
        ),
        recovery: Box::<GoBackN>::default(),
        timeout: Box::new(SawTimeout::new(setting.parameters, margin)),
        clock: Clock::Transmission,
        ecn: false,
        accurate: false,
    }
}

fn tcp(setting: &TransportSettings) -> Transport {
    let parameters = setting.parameters;
    let (law, recovery) = (law_of(parameters), recovery_of(parameters));
    let rwnd = parameters.get("advertised_window_bytes", WINDOW);
    let law = (law.build)(&cc::CongestionControlSettings {
        parameters: parameters.table("congestion_control"),
        mss: setting.sizes.mss(),
        rwnd,
        paced: {
            let recovery = parameters.table("recovery");
            recovery.has("pacing") && recovery.is("pacing")
        },
        seed: setting.seed,
    });
    let initial = parameters.get("initial_window_bytes", WINDOW);
    let ecn = negotiated(parameters);
    Transport {
        congestion: Congestion::new(law, initial, rwnd),
        recovery: (recovery.build)(parameters.table("recovery")),
        timeout: match parameters.optional_word("timeout", TIMEOUTS) {
            Some("linux") => Box::new(Linux::new(parameters)),
            _ => Box::new(Rfc6298::new(parameters)),
        },
        clock: match parameters.word("rtt_samples", RTT_SAMPLES) {
            _ if parameters.is("timestamps") => Clock::Timestamps,
            "every-acknowledgement" => Clock::EveryAcknowledgement,
            _ => Clock::OneAtATime,
        },
        ecn: ecn != Ecn::None && !law_of(parameters).ecn,
        accurate: ecn == Ecn::Accurate,
    }
}

/// Returns which data segments of the transport called `kind` are capable of ECN. The name of its
/// window law may be unknown.
pub fn capable(kind: &str, parameters: &Parameters) -> Capable {
    let law = match kind {
        "rdma" if rdma::is_capable(parameters) => return Capable::All,
        "tcp" => parameters.kind("congestion_control").and_then(cc::find),
        _ => None,
    };
    match law {
        Some(law) if law.ecn => Capable::All,
        Some(_) if negotiated(parameters) != Ecn::None => Capable::New,
        _ => Capable::None,
    }
}

/// Returns whether the transport called `kind` repairs a data segment that lost its payload as soon
/// as the header arrives. The name of its recovery may be unknown.
pub fn trimmable(kind: &str, parameters: &Parameters) -> bool {
    kind == "rdma" && rdma::is_trimmable(parameters)
}

/// Returns whether outputs add telemetry to the packets of the transport called `kind`. The name of
/// its rate law may be unknown.
pub fn asks_for_telemetry(kind: &str, parameters: &Parameters) -> bool {
    kind == "rdma" && rdma::asks_for_telemetry(parameters)
}

/// Feedback of marks on which the endpoints agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ecn {
    /// None, unless the window law has its own.
    None,
    /// RFC 3168.
    Classic,
    /// RFC 9768.
    Accurate,
}

/// Returns the feedback of marks, a switch or the word for the accurate one; absent where there is
/// none.
fn negotiated(parameters: &Parameters) -> Ecn {
    match parameters.values.get("ecn") {
        None => Ecn::None,
        Some(Value::Word(_)) => {
            parameters.word("ecn", &["accurate"]);
            Ecn::Accurate
        }
        Some(_) if parameters.is("ecn") => Ecn::Classic,
        Some(_) => Ecn::None,
    }
}

/// Returns the congestion control of `tcp`, whose name the plan's check has looked up.
fn law_of(parameters: &Parameters) -> &'static cc::CongestionControlKind {
    let law = parameters.kind("congestion_control").and_then(cc::find);
    law.expect("a known congestion control")
}

/// Returns the loss recovery of `tcp`, whose name the plan's check has looked up.
fn recovery_of(parameters: &Parameters) -> &'static recovery::RecoveryKind {
    let recovery = parameters.kind("recovery").and_then(recovery::find);
    recovery.expect("a known loss recovery")
}

pub(crate) fn most_retransmissions(parameters: &Parameters) -> u32 {
    let most = parameters.optional("max_retransmissions", COUNT);
    most.map_or(u32::MAX, |most| most as u32)
}

fn plain(parameters: &Parameters) -> Reception {
    Reception {
        most_retransmissions: most_retransmissions(parameters),
        ..Reception::PLAIN
    }
}

fn reception(parameters: &Parameters) -> Reception {
    let recovery = parameters.table("recovery");
    let selective = recovery_of(parameters).selective && recovery.is_or_absent("sack");
    Reception {
        advertised: parameters.get("advertised_window_bytes", WINDOW) as u64,
        acknowledge_every: parameters.get("acknowledge_every", COUNT) as u32,
        delay: parameters.duration("acknowledgement_delay_ps", TIME),
        blocks: match selective {
            true => recovery.get("sack_blocks", 1.0..=4.0) as usize,
            false => 0,
        },
        duplicate_sack: selective && recovery.is("duplicate_sack"),
        timestamps: parameters.is("timestamps"),
        from_transmission: false,
        echo: match (negotiated(parameters), law_of(parameters).ecn) {
            (Ecn::Accurate, _) => Echo::Counted,
            (_, true) => Echo::Each,
            (Ecn::Classic, false) => Echo::UntilReduced,
            (Ecn::None, false) => Echo::None,
        },
        notify: None,
        pulls: false,
        most_retransmissions: most_retransmissions(parameters),
    }
}
