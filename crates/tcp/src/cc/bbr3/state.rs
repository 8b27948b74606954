//! Parts of the state of a connection.

use super::{MICROSECOND, SCALE, UNBOUNDED};
use crate::measure::rates::{RateSample, Rated};

/// State of a connection (section 5.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Doubles the rate each round trip, to fill the pipe.
    Startup,
    /// Removes the queue of STARTUP.
    Drain,
    /// Sends less than is delivered, to leave room in queues.
    Down,
    /// Sends as much as is delivered.
    Cruise,
    /// Fills the pipe for a round before it probes.
    Refill,
    /// Sends more than is delivered, to look for more bandwidth.
    Up,
    /// Keeps few segments in flight, to see the round trip without a queue.
    ProbeRoundTrip,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Startup => "STARTUP",
            State::Drain => "DRAIN",
            State::Down => "PROBE_BW_DOWN",
            State::Cruise => "PROBE_BW_CRUISE",
            State::Refill => "PROBE_BW_REFILL",
            State::Up => "PROBE_BW_UP",
            State::ProbeRoundTrip => "PROBE_RTT",
        }
    }

    /// IsInAProbeBWState (), section 5.3.3.9
    pub fn probes_bandwidth(self) -> bool {
        matches!(
            self,
            State::Down | State::Cruise | State::Refill | State::Up
        )
    }

    /// IsProbingBW (), section 5.3.3.9
    pub fn accelerates(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
}

/// Meaning of the acknowledgements with regard to a probe (section 2.14, BBR.ack_phase).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPhase {
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// An acknowledgement and its rate sample (section 4.1.2.1.3, RS).
#[derive(Clone, Copy)]
pub struct Heard<'a> {
    pub sample: &'a RateSample,
    pub rate: Option<Rated>,
    /// RS.delivery_rate; 0 without a reliable one.
    pub bandwidth: u64,
}

impl<'a> Heard<'a> {
    pub fn new(sample: &'a RateSample) -> Heard<'a> {
        let rate = sample.rate;
        let reliable = rate.and_then(|rate| Some((rate.delivered, rate.interval?)));
        Heard {
            sample,
            rate,
            bandwidth: reliable.map_or(0, |(delivered, interval)| {
                (delivered << SCALE) / (interval.0 / MICROSECOND)
            }),
        }
    }

    /// RS.delivered
    pub fn delivered(&self) -> u64 {
        self.rate.map_or(0, |rate| rate.delivered)
    }

    /// RS.is_app_limited
    pub fn is_limited(&self) -> bool {
        self.rate.is_some_and(|rate| rate.application_limited)
    }
}

/// Rounds of packets (section 5.5.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// BBR.round_count
    pub count: u64,
    /// BBR.rounds_since_probe_up
    pub since_up: u64,
    /// BBR.next_round_delivered
    pub end: u64,
    /// BBR.round_start
    pub start: bool,
}

/// A least round trip, `None` for Infinity, and the time at which it was seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Least {
    pub rtt: Option<u64>,
    pub at: u64,
}

/// Bounds by recent losses (section 2.9, BBR.bw_shortterm and BBR.inflight_shortterm).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortTerm {
    pub bandwidth: u64,
    pub in_flight: u64,
}

impl ShortTerm {
    /// ResetShortTermModel (), section 5.5.10.3
    pub const UNBOUNDED: ShortTerm = ShortTerm {
        bandwidth: UNBOUNDED,
        in_flight: UNBOUNDED,
    };
}

/// Signals of congestion in a round (sections 2.10 and 5.5.10.3).
#[derive(Clone, Copy, Debug, Default)]
pub struct Signals {
    /// BBR.bw_latest and BBR.inflight_latest
    pub bandwidth: u64,
    pub in_flight: u64,
    /// BBR.is_loss_in_round, BBR.loss_round_delivered and BBR.loss_round_start
    pub lossy: bool,
    pub round_end: u64,
    pub round_start: bool,
    /// Separate ranges of segments lost in the round, and the number after the last one.
    pub ranges: u64,
    pub range_end: u64,
}

/// State to restore after a spurious recovery (section 2.15).
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    pub state: Option<State>,
    pub short_term: ShortTerm,
    pub longterm: u64,
}

/// A probe of the bandwidth (section 2.14).
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    pub phase: AckPhase,
    /// BBR.is_bw_probe_sample
    pub samples: bool,
    /// BBR.probe_up_acked_per_inc, BBR.bw_probe_up_acked and BBR.bw_probe_up_rounds
    pub per_increase: u64,
    pub acked: u64,
    pub doublings: u32,
    /// BBR.prev_probe_too_high and BBR.prev_probe_precautionary
    pub too_high: bool,
    pub precautionary: bool,
    /// BBR.cycle_stamp and BBR.bw_probe_wait
    pub began: u64,
    pub wait: u64,
}
