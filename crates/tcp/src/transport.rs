//! Transports by name: which congestion control, loss recovery and timeout go
//! together, and what the receiver does.

use crate::cc::{self, Congestion, StopAndWait};
use crate::recovery::{self, GoBackN, LossRecovery};
use crate::timeout::{Rfc6298, SawTimeout, TimeoutPolicy};
use crate::{Parameters, Sizes};
use lightburst_des::Duration;

/// What a transport is built from.
pub struct TransportSettings<'a> {
    /// The transport's numbers and words.
    pub parameters: &'a Parameters,
    /// Sizes on the wire.
    pub sizes: &'a Sizes,
    /// Transmission time of a full segment on the host's link (tau).
    pub segment_time: Duration,
}

/// The choices that make the sender of a connection.
#[derive(Clone)]
pub struct Transport {
    /// How much may be in flight.
    pub congestion: Congestion,
    /// What is sent again.
    pub recovery: Box<dyn LossRecovery>,
    /// When to retransmit.
    pub timeout: Box<dyn TimeoutPolicy>,
    /// How it looks at the clock.
    pub clock: Clock,
}

/// From when on timers and round-trip times count, and which are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// From the beginning of the transmission on the network interface, every
    /// acknowledgement (minakhmetov2018, section 2).
    Transmission,
    /// From the hand-over to the interface, whose queue a host does not see;
    /// one segment at a time (RFC 6298, section 3).
    OneAtATime,
    /// The same, every acknowledgement of segments that were sent once.
    EveryAcknowledgement,
    /// The same, by time stamps (RFC 7323, section 4).
    Timestamps,
}

/// What a receiver does.
#[derive(Clone, Copy, Debug)]
pub struct Reception {
    /// Bytes that it has room for.
    pub advertised: u64,
    /// In-order segments for one acknowledgement (b).
    pub acknowledge_every: u32,
    /// How long an acknowledgement may wait for the next segment.
    pub delay: Duration,
    /// SACK blocks that an acknowledgement carries at most.
    pub blocks: usize,
    /// Whether it reports duplicates (RFC 2883).
    pub duplicate_sack: bool,
    /// Whether segments carry time stamps.
    pub timestamps: bool,
    /// Whether its timers count from the transmission, as [`Clock::Transmission`].
    pub from_transmission: bool,
    /// Whether it echoes the marks of the network.
    pub ecn: bool,
    /// How often either end repeats something by its timer before it gives up.
    pub most_retransmissions: u32,
}

impl Reception {
    /// Every segment is acknowledged at once.
    pub const PLAIN: Reception = Reception {
        advertised: u64::MAX,
        acknowledge_every: 1,
        delay: Duration::ZERO,
        blocks: 0,
        duplicate_sack: false,
        timestamps: false,
        from_transmission: true,
        ecn: false,
        most_retransmissions: u32::MAX,
    };
}

/// A transport by its name in the scenario.
#[derive(Clone, Copy)]
pub struct TransportKind {
    /// The name.
    pub name: &'static str,
    /// Builds the sender of one connection.
    pub build: fn(&TransportSettings) -> Transport,
    /// What the receiver does.
    pub reception: fn(&Parameters) -> Reception,
    /// Whether the FIN goes with the last data, or on its own once all data is acknowledged.
    pub fin_with_data: bool,
}

/// All transports.
pub const REGISTRY: &[TransportKind] = &[
    TransportKind {
        name: "saw",
        build: |s| stop_and_wait(s, 0.0),
        reception: plain,
        fin_with_data: false,
    },
    TransportKind {
        name: "sawl",
        build: |s| stop_and_wait(s, s.parameters.get("p")),
        reception: plain,
        fin_with_data: false,
    },
    TransportKind {
        name: "tcp",
        build: tcp,
        reception,
        fin_with_data: true,
    },
];

/// The transport called `name`.
pub fn find(name: &str) -> Option<&'static TransportKind> {
    REGISTRY.iter().find(|entry| entry.name == name)
}

/// Says what is wrong with the settings of a transport, if anything is.
pub fn check(entry: &TransportKind, parameters: &Parameters, sizes: &Sizes) -> Result<(), String> {
    let law = parameters.kind("congestion_control").and_then(cc::find);
    let recovery = parameters.kind("recovery").and_then(recovery::find);
    if entry.name == "tcp" && (law.is_none() || recovery.is_none()) {
        return Err("a congestion_control or recovery of tcp is missing".to_string());
    }
    // Building reads each setting as what it must be, and so finds what is wrong with one.
    (entry.build)(&TransportSettings {
        parameters,
        sizes,
        segment_time: Duration(1),
    });
    (entry.reception)(parameters);
    parameters.fault().map_or(Ok(()), Err)
}

/// The settings of `tcp` that are a word and no policy, and what each can be.
pub const WORDS: &[(&str, &[&str])] = &[
    ("rtt_samples", &["one-at-a-time", "every-acknowledgement"]),
    ("halving", &["flight-size", "window"]),
    ("reduces", &["flight-size", "window"]),
    ("partial_acknowledgement", &["impatient", "slow-but-steady"]),
    ("full_acknowledgement", &["flight-size", "ssthresh"]),
];

/// Waits `p` segment times longer than the timeout that it estimates.
fn stop_and_wait(setting: &TransportSettings, p: f64) -> Transport {
    let margin = Duration::nearest(p * setting.segment_time.0 as f64);
    let mss = setting.sizes.mss();
    Transport {
        congestion: Congestion::new(
            Box::new(StopAndWait::new(mss)),
            f64::from(mss),
            f64::INFINITY,
        ),
        recovery: Box::new(GoBackN),
        timeout: Box::new(SawTimeout::new(setting.parameters, margin)),
        clock: Clock::Transmission,
    }
}

fn tcp(setting: &TransportSettings) -> Transport {
    let parameters = setting.parameters;
    let (law, recovery) = (
        parameters.table("congestion_control"),
        parameters.table("recovery"),
    );
    let build_law = cc::find(law.word("kind"))
        .expect("a known congestion control")
        .build;
    let build_recovery = recovery::find(recovery.word("kind"))
        .expect("a known loss recovery")
        .build;
    let rwnd = parameters.get("advertised_window_bytes");
    let law = build_law(&cc::CongestionControlSettings {
        parameters: law,
        mss: setting.sizes.mss(),
        rwnd,
    });
    Transport {
        congestion: Congestion::new(law, parameters.get("initial_window_bytes"), rwnd),
        recovery: build_recovery(recovery),
        timeout: Box::new(Rfc6298::new(parameters)),
        clock: match parameters.word("rtt_samples") {
            _ if parameters.is("timestamps") => Clock::Timestamps,
            "every-acknowledgement" => Clock::EveryAcknowledgement,
            _ => Clock::OneAtATime,
        },
    }
}

fn most_retransmissions(parameters: &Parameters) -> u32 {
    let most = parameters.optional("max_retransmissions");
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
    let kind = recovery::find(recovery.word("kind")).expect("a known loss recovery");
    let law = parameters.table("congestion_control").word("kind");
    let law = cc::find(law).expect("a known congestion control");
    Reception {
        advertised: parameters.get("advertised_window_bytes") as u64,
        acknowledge_every: parameters.get("acknowledge_every") as u32,
        delay: Duration(parameters.get("acknowledgement_delay_ps") as u64),
        blocks: match kind.selective {
            true => recovery.get("sack_blocks") as usize,
            false => 0,
        },
        duplicate_sack: kind.selective && recovery.is("duplicate_sack"),
        timestamps: parameters.is("timestamps"),
        from_transmission: false,
        ecn: law.ecn,
        most_retransmissions: most_retransmissions(parameters),
    }
}
