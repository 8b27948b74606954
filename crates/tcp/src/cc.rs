//! Congestion control: how much data may be in flight, and how fast it may be sent.
//!
//! Each law has a file of its own; [`REGISTRY`] lists them all.

mod bbr1;
mod bbr3;
mod cubic;
mod dctcp;
mod fast;
mod highspeed;
mod lia;
mod linux_cubic;
mod linux_reno;
mod olia;
mod reno;
mod scalable;
mod stop_and_wait;
mod vegas;

use crate::congestion::hystart_plus_plus;
use crate::congestion::subflows::Coupled;
use crate::measure::rates::{Established, Lost, PathModel, RateSample};
use crate::measure::told::Told;
use crate::recovery::Phase;
use crate::transport::parameters::FRACTION;
use crate::Parameters;
use lightburst_des::{Duration, Time};
use lightburst_net::{FlowId, Rate};

pub use crate::congestion::subflows::Subflow;
pub use crate::congestion::Congestion;
pub use reno::Reno;
pub use stop_and_wait::StopAndWait;

/// Inputs from which a congestion control is built.
pub struct CongestionControlSettings<'a> {
    /// Settings from the table of the congestion control.
    pub parameters: &'a Parameters,
    /// Payload of a full segment in bytes (SMSS of RFC 5681).
    pub mss: u32,
    /// Receive window in payload bytes (rwnd of RFC 5681).
    pub rwnd: f64,
    /// Whether the recovery paces.
    pub paced: bool,
    /// Seed of the run, for laws that draw.
    pub seed: u64,
}

impl CongestionControlSettings<'_> {
    /// Returns the factor on the window after an echo of a mark (beta_{ecn} of RFC 8511), by default
    /// `usual`; `None` if the law answers an echo like a loss.
    fn beta_ecn(&self, usual: f64) -> Option<f64> {
        let factor = self.parameters.optional("beta_ecn", FRACTION);
        let on = self.parameters.has("abe") && self.parameters.is("abe");
        on.then_some(factor.unwrap_or(usual))
    }
}

/// Registry entry of a congestion control.
pub struct CongestionControlKind {
    /// Name in the scenario.
    pub name: &'static str,
    /// Whether the receiver echoes congestion marks of the network for this law alone (ECN).
    pub ecn: bool,
    /// Builds the state of one connection.
    pub build: fn(&CongestionControlSettings) -> Box<dyn CongestionControl>,
}

/// All congestion controls of `tcp`. To add one, add a file and an entry here.
pub const REGISTRY: &[CongestionControlKind] = &[
    CongestionControlKind {
        name: "bbr1",
        ecn: false,
        build: |s| Box::new(bbr1::Bbr1::new(s)),
    },
    CongestionControlKind {
        name: "bbr3",
        ecn: false,
        build: |s| Box::new(bbr3::Bbr3::new(s)),
    },
    CongestionControlKind {
        name: "cubic",
        ecn: false,
        build: |s| hystart_plus_plus::wrap(s, cubic::Cubic::new(s)),
    },
    CongestionControlKind {
        name: "dctcp",
        ecn: true,
        build: |s| hystart_plus_plus::wrap(s, dctcp::Dctcp::new(s)),
    },
    CongestionControlKind {
        name: "fast",
        ecn: false,
        build: |s| Box::new(fast::Fast::new(s)),
    },
    CongestionControlKind {
        name: "highspeed",
        ecn: false,
        build: |s| hystart_plus_plus::wrap(s, highspeed::HighSpeed::new(s)),
    },
    CongestionControlKind {
        name: "lia",
        ecn: false,
        build: |s| Box::new(Coupled::new(s, lia::grown)),
    },
    CongestionControlKind {
        name: "linux-cubic",
        ecn: false,
        build: |s| Box::new(linux_cubic::LinuxCubic::new(s)),
    },
    CongestionControlKind {
        name: "linux-reno",
        ecn: false,
        build: |s| Box::new(linux_reno::LinuxReno::new(s)),
    },
    CongestionControlKind {
        name: "olia",
        ecn: false,
        build: |s| Box::new(Coupled::new(s, olia::grown)),
    },
    CongestionControlKind {
        name: "reno",
        ecn: false,
        build: |s| hystart_plus_plus::wrap(s, Reno::new(s)),
    },
    CongestionControlKind {
        name: "scalable",
        ecn: false,
        build: |s| hystart_plus_plus::wrap(s, scalable::Scalable::new(s)),
    },
    CongestionControlKind {
        name: "stop-and-wait",
        ecn: false,
        build: |s| Box::new(StopAndWait::new(s.mss)),
    },
    CongestionControlKind {
        name: "vegas",
        ecn: false,
        build: |s| Box::new(vegas::Vegas::new(s)),
    },
];

/// Returns the congestion control called `name`.
pub fn find(name: &str) -> Option<&'static CongestionControlKind> {
    REGISTRY.iter().find(|entry| entry.name == name)
}

/// A segment that was handed to the network interface.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Time from which the segment's timer and round trip are counted. [`Time::NEVER`] if they are
    /// counted from the start of its transmission and it still waits at a fair interface.
    pub at: Time,
    /// Payload in bytes.
    pub bytes: u64,
    /// Payload bytes in flight, this segment included: those in the network, if the recovery knows.
    pub in_flight: u64,
    /// Whether the segment was sent before.
    pub retransmission: bool,
}

/// An acknowledgement, as the window law sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// Arrival time.
    pub at: Time,
    /// Payload bytes newly acknowledged; 0 for a duplicate.
    pub bytes: u64,
    /// Payload bytes still in flight.
    pub in_flight: u64,
    /// Round-trip time, if this acknowledgement yields one. Covers every such acknowledgement if
    /// the law [wants](Wants::round_trips) it, otherwise only the samples of the retransmission
    /// timeout.
    pub rtt: Option<Duration>,
    /// Whether the acknowledgement echoes a congestion mark (ECE of RFC 3168), or tells of a marked
    /// segment.
    pub ecn_echo: bool,
    /// Marked segments of which it tells, if they are counted (RFC 9768); in reports of all
    /// recoveries.
    pub marks: Option<u32>,
    /// Delivery rate over the last round trip, if the law [wants](Wants::delivery_rates) it.
    pub delivery_rate: Option<DeliveryRate>,
}

/// Full information from an acknowledgement, new or duplicate. Built after the loss recovery has
/// handled the acknowledgement, and also during a recovery.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// The acknowledgement.
    pub ack: Ack,
    /// Payload bytes newly known to have reached the receiver, by the cumulative acknowledgement or
    /// by SACK blocks.
    pub delivered: u64,
    /// Payload bytes newly taken for lost by the recovery. Losses inferred from a timeout are not
    /// included; the law learns of them in `on_timeout`.
    pub lost: u64,
    /// Phase of the recovery after this acknowledgement.
    pub phase: Phase,
    /// Whether no data is left to send although the window has room.
    pub application_limited: bool,
}

/// Optional inputs of a window law. Inputs that no law requests are not computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// A round-trip time for every acknowledgement that yields one, not only for the samples of the
    /// timeout.
    pub round_trips: bool,
    /// A [`Report`] for every acknowledgement.
    pub reports: bool,
    /// A delivery rate for every acknowledgement of new data; costs one record per segment in
    /// flight.
    pub delivery_rates: bool,
    /// A [`RateSample`] for every acknowledgement, from which the law sets the window itself, also in
    /// a recovery; costs a stamp per segment in flight. Only of recoveries that go by times of
    /// sending, which have to pace.
    pub rates: bool,
    /// A [`Sample`] of every round trip, with the pacing rate in slow start.
    pub samples: bool,
    /// A [`Sent`] for every segment.
    pub transmissions: bool,
    /// The number of switches on the path.
    pub path: bool,
    /// Telemetry of the outputs on the path, with every acknowledgement.
    pub telemetry: bool,
    /// The pulls of the receiver, without which nothing may be sent after a while; with
    /// `transmissions`.
    pub pulls: bool,
}

impl Wants {
    /// Inputs of a delay-based law: a report of every acknowledgement, with its round-trip time.
    pub const DELAYS: Wants = Wants {
        round_trips: true,
        reports: true,
        delivery_rates: false,
        rates: false,
        samples: false,
        transmissions: false,
        path: false,
        telemetry: false,
        pulls: false,
    };
}

/// A sample of the delivery rate (draft-ietf-ccwg-bbr, section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryRate {
    /// Payload bytes delivered between the transmission of a segment and its acknowledgement.
    pub delivered: u64,
    /// Length of the sampling interval: the longer of the send interval and the acknowledgement
    /// interval.
    pub interval: Duration,
}

/// A sample of the round-trip time, with the state of the sender.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Time of the acknowledgement.
    pub at: Time,
    /// Round-trip time of the newest segment that gives one.
    pub rtt: Duration,
    /// First unacknowledged byte.
    pub acknowledged: u64,
    /// End of the data sent.
    pub sent: u64,
    /// Pacing rate in bytes per second, before this acknowledgement; 0 outside of slow start, where
    /// no law needs it.
    pub pacing_rate: u64,
    /// Whether segments are paced.
    pub paced: bool,
}

/// An expiry of the retransmission timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timeout {
    /// Time of the expiry.
    pub at: Time,
    /// Payload bytes in flight before the expiry.
    pub in_flight: u64,
    /// Whether nothing was acknowledged since the previous timeout.
    pub repeated: bool,
    /// End of the data sent.
    pub sent: u64,
    /// Segments taken for lost so far, by a recovery that goes by times of sending; otherwise 0.
    pub lost: u64,
}

/// A loss detected without a timeout, or the echo of a mark.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loss {
    /// Time of the detection.
    pub at: Time,
    /// Payload bytes in flight before the detection (FlightSize).
    pub in_flight: u64,
    /// Whether an echo of a congestion mark stands for the loss (RFC 3168, section 6.1.2).
    pub echo: bool,
}

/// Window of one connection in payload bytes; floating-point, because it grows by fractions of a
/// byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Limit of the data in flight (cwnd of RFC 5681). The first unacknowledged segment may always
    /// be sent.
    pub cwnd: f64,
    /// Window below which the connection is in slow start (ssthresh of RFC 5681).
    pub ssthresh: f64,
}

impl Window {
    /// Returns whether cwnd < ssthresh (RFC 5681, section 3.1).
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows by RFC 5681, equation 2: cwnd += min (N, SMSS).
    #[inline]
    pub fn slow_start(&mut self, ack: &Ack, mss: f64) {
        self.cwnd += (ack.bytes as f64).min(mss);
    }

    /// Sets ssthresh to `bytes`, but at least 2*SMSS (RFC 5681, equation 4).
    pub fn lower_threshold(&mut self, bytes: f64, mss: f64) {
        self.ssthresh = bytes.max(2.0 * mss);
    }

    /// Handles a timeout (RFC 5681, section 3.1): cwnd becomes the loss window of one segment, and
    /// ssthresh becomes `bytes` unless the same segment timed out before (`repeated`).
    pub fn restart(&mut self, bytes: f64, repeated: bool, mss: f64) {
        if !repeated {
            self.lower_threshold(bytes, mss);
        }
        self.cwnd = mss;
    }
}

/// A window law: changes the window of one connection on acknowledgements, losses and timeouts. It
/// never sends anything itself.
///
/// The sender owns the window. It cuts growth beyond the receive window, and lowers the window
/// where RFC 5681 and RFC 6582 require it.
pub trait CongestionControl: CopiedLaw + Send {
    /// Returns the window after the handshake; `initial` is the initial window of the scenario, in
    /// payload bytes.
    fn start(&self, initial: f64) -> Window {
        Window {
            cwnd: initial,
            // RFC 5681, section 3.1: ssthresh is arbitrarily high at first.
            ssthresh: f64::INFINITY,
        }
    }

    /// Handles an acknowledgement of new data; the window may grow. Not called while a recovery
    /// keeps the window constant.
    fn on_ack(&mut self, ack: &Ack, window: &mut Window);

    /// Handles any acknowledgement, if the law [wants](Wants::reports) reports. Called after the
    /// `on_ack` or `on_loss` that the same acknowledgement causes, and before anything is sent.
    fn on_report(&mut self, _report: &Report, _window: &mut Window) {}

    /// Handles the telemetry in any acknowledgement, if the law [wants](Wants::telemetry) it.
    fn on_told(&mut self, _told: &Told<'_>, _window: &mut Window) {}

    /// Handles a sample of the round-trip time, before the window grows; only of recoveries that
    /// take the samples themselves.
    fn on_sample(&mut self, _sample: &Sample, _window: &mut Window) {}

    /// Handles a loss that is repaired without a timeout, or an echo that counts as one.
    fn on_loss(&mut self, loss: &Loss, window: &mut Window);

    /// Handles an expiry of the retransmission timer.
    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window);

    /// Handles the discovery that the last loss was spurious; the sender has already restored the
    /// window. A law with further state restores it here (RFC 9438, section 4.9).
    fn on_spurious(&mut self) {}

    /// Handles a notification of the receiver that the network has marked data: only of receivers that
    /// notify apart from acknowledgements.
    fn on_notification(&mut self, _at: Time) {}

    /// Notes the number of packets of the message, before any of them is sent, if the law
    /// [wants](Wants::pulls) pulls.
    fn on_message(&mut self, _packets: u64) {}

    /// Handles a pull, the `number`-th that the receiver has sent, if the law [wants](Wants::pulls)
    /// pulls.
    fn on_pull(&mut self, _number: u64) {}

    /// Handles the return of a packet's header, to which no pull belongs, if the law
    /// [wants](Wants::pulls) pulls.
    fn on_return(&mut self) {}

    /// Returns whether a packet may be sent, if the law [wants](Wants::pulls) pulls.
    fn may_send(&self) -> bool {
        true
    }

    /// Notes the subflows of the connection, before each event of its subflow `own`, if it has
    /// several. They are in the order of their numbers; `None` if one has no round-trip time yet, or
    /// has ended.
    fn on_subflows(&mut self, _own: usize, _subflows: &[Option<Subflow>]) {}

    /// Notes the flow, before anything else: a law that draws has a random stream for each.
    fn on_flow(&mut self, _flow: FlowId) {}

    /// Notes the number of switches on a shortest path to the receiver, if the law
    /// [wants](Wants::path) it; before the first segment of data.
    fn on_path(&mut self, _switches: u32) {}

    /// Handles the end of the handshake, if the law [wants](Wants::rates) rates.
    fn on_established(&mut self, _established: &Established, _window: &mut Window) {}

    /// Sets the window at an acknowledgement, if the law [wants](Wants::rates) rates. Returns whether
    /// the data in flight counts as limited by the application.
    fn on_rate(&mut self, _sample: &RateSample, _window: &mut Window) -> bool {
        false
    }

    /// Handles a segment that is marked lost, if the law [wants](Wants::rates) rates; before the
    /// `on_rate` of the acknowledgement that shows the loss, and after the `on_loss` or `on_timeout`
    /// of the same event.
    fn on_lost(&mut self, _lost: &Lost, _window: &mut Window) {}

    /// Handles the first transmission after an idle time in which the application limited the
    /// sender, if the law [wants](Wants::rates) rates.
    fn on_restart(&mut self, _at: Time, _window: &mut Window) {}

    /// Returns the law's model of the path, if it has one.
    fn model(&self) -> Option<PathModel> {
        None
    }

    /// Notes that a segment was sent, if the law [wants](Wants::transmissions) to know.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// Returns the rate at which segments may leave; `None` for no pacing.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Returns the optional inputs that the law needs. Called once, before the first segment.
    fn wants(&self) -> Wants {
        Wants::default()
    }
}

crate::boxed::copied_in_box!(CongestionControl, CopiedLaw);
