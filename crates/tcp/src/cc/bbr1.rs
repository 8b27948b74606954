//! BBR, version 1, as in Linux 6.18 (`net/ipv4/tcp_bbr.c`; Cardwell et al., "BBR: Congestion-Based
//! Congestion Control", 2016): window and pace follow a model of the path, the bandwidth of its
//! bottleneck and its least round trip. Losses are no signal by themselves.
//!
//! As there, windows are in segments, times in microseconds, bandwidths in segments per microsecond
//! times 2^24, and gains in 256ths.

mod aggregation;
mod cycle;
mod long_term;
mod min_rtt;
#[cfg(test)]
mod tests;
mod window;

use self::aggregation::Aggregation;
use self::long_term::{Evidence, LongTerm, Totals};
use super::{Ack, CongestionControl, CongestionControlSettings, Loss, Timeout, Wants, Window};
use crate::measure::bbr::{
    self, microseconds, product, Plateau, LEAST_WINDOW, NOMINAL_ROUND_TRIP, SCALE,
};
use crate::measure::rates::{Established, PathModel, RateSample, Rated};
use crate::measure::windowed::WindowedMaximum;
use crate::recovery::Phase;
use crate::timeout::{MICROSECOND, TICK};
use crate::transport::parameters::POSITIVE_TIME;
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::{FlowId, Rate};

/// A gain of 1 (`BBR_UNIT`).
const UNIT: u64 = 1 << 8;
/// Rounds over which the bandwidth is a maximum (`bbr_bw_rtts`): a cycle and two more.
const BANDWIDTH_ROUNDS: u64 = 10;
/// Gain of STARTUP (`bbr_high_gain`): 2 / ln 2, the least that doubles the rate in a round trip.
const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
/// Gain of pacing in DRAIN (`bbr_drain_gain`): its inverse.
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
/// Longest time of excess acknowledgements that the window provides for, in microseconds
/// (`bbr_extra_acked_max_us`).
const LONGEST_EXCESS: u64 = 100_000;
/// Window before any round trip is known, and segments up to whose delivery it grows in any case
/// (`TCP_INIT_CWND`).
const INITIAL: u64 = 10;
/// Pacing rate in bytes per second below which single segments are sent (`bbr_min_tso_rate`).
const LEAST_BUNCHED: u64 = 1_200_000 / 8;
/// Part of a second of pacing that is sent at once, as a shift (`sk_pacing_shift`), its most bytes
/// (GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER) and segments (`bbr_tso_segs_goal`).
const BUNCH_SHIFT: u32 = 10;
const LARGEST_BUNCH: u64 = 65_536 - 1 - 320;
const MOST_BUNCHED: u64 = 0x7f;

/// Units of a connection, with gains in 256ths.
type Units = bbr::Units<UNIT>;

/// Stage of a connection (`enum bbr_mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Doubles the rate each round trip, to fill the pipe.
    Startup,
    /// Removes the queue of STARTUP.
    Drain,
    /// Looks for more bandwidth in one of eight phases.
    ProbeBandwidth,
    /// Keeps few segments in flight, to see the round trip without a queue.
    ProbeRoundTrip,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Startup => "STARTUP",
            Mode::Drain => "DRAIN",
            Mode::ProbeBandwidth => "PROBE_BW",
            Mode::ProbeRoundTrip => "PROBE_RTT",
        }
    }
}

/// Settings of the law.
#[derive(Clone, Copy, Debug)]
struct Constants {
    units: Units,
    /// Gain of the window in PROBE_BW in 256ths (`bbr_cwnd_gain`).
    cwnd_gain: u64,
    /// Time for which a minimum of the round trip counts, and of PROBE_RTT, in ticks
    /// (`bbr_min_rtt_win_sec`, `bbr_probe_rtt_mode_ms`).
    min_rtt_window: u64,
    probe_rtt_time: u64,
    /// Whether policers are looked for, and whether the window provides for acknowledgements that
    /// come in bunches.
    policers: bool,
    aggregation: bool,
}

/// State of one connection, with the meanings of `struct bbr`.
#[derive(Clone)]
pub struct Bbr1 {
    constants: Constants,
    seed: u64,
    draw: Stream,
    mode: Mode,
    /// Maximum of the bandwidth, and the number of the round.
    bandwidth: WindowedMaximum,
    round: u64,
    /// Segments delivered at which the round ends, and whether one begins.
    round_end: u64,
    round_start: bool,
    long_term: LongTerm,
    aggregation: Aggregation,
    /// Least round trip, and the tick at which it was seen.
    min_rtt: Option<u64>,
    min_rtt_at: u64,
    /// Tick at which PROBE_RTT may end, once its window is reached, and whether a round has passed.
    probe_done: Option<u64>,
    probe_round_done: bool,
    /// Phase of PROBE_BW, and its begin.
    phase: usize,
    phase_start: u64,
    pacing_gain: u64,
    cwnd_gain: u64,
    /// Pacing rate in bytes per second.
    pacing_rate: u64,
    seen_rtt: bool,
    /// Bandwidth of STARTUP, and whether the pipe is full.
    plateau: Plateau,
    full: bool,
    /// Whether the sender begins anew after an idle time.
    idle_restart: bool,
    /// Phase of the recovery at the last acknowledgement, and the window to restore after it.
    before: Phase,
    prior_cwnd: u64,
    conserves: bool,
    totals: Totals,
}

impl Bbr1 {
    /// Creates the state of one connection.
    pub fn new(settings: &CongestionControlSettings) -> Bbr1 {
        let parameters = settings.parameters;
        let ticks = |name| {
            let time = parameters.duration(name, POSITIVE_TIME);
            (time.0 / MICROSECOND).div_ceil(TICK)
        };
        let constants = Constants {
            units: Units::new(settings.mss),
            cwnd_gain: (parameters.get("cwnd_gain", 1.0..=16.0) * UNIT as f64).round() as u64,
            min_rtt_window: ticks("min_rtt_window_ps"),
            probe_rtt_time: ticks("probe_rtt_time_ps"),
            policers: parameters.is("policer_detection"),
            aggregation: parameters.is("ack_aggregation"),
        };
        Bbr1::with(constants, settings.seed)
    }

    fn with(constants: Constants, seed: u64) -> Bbr1 {
        Bbr1 {
            constants,
            seed,
            draw: Stream::new(seed, "law"),
            mode: Mode::Startup,
            bandwidth: WindowedMaximum::default(),
            round: 0,
            round_end: 0,
            round_start: false,
            long_term: LongTerm::default(),
            aggregation: Aggregation::default(),
            min_rtt: None,
            min_rtt_at: 0,
            probe_done: None,
            probe_round_done: false,
            phase: 0,
            phase_start: 0,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            pacing_rate: 1,
            seen_rtt: false,
            plateau: Plateau::default(),
            full: false,
            idle_restart: false,
            before: Phase::Open,
            prior_cwnd: 0,
            conserves: false,
            totals: Totals::default(),
        }
    }

    fn cwnd(&self, window: &Window) -> u64 {
        self.constants.units.cwnd(window)
    }

    fn set_cwnd(&self, segments: u64, window: &mut Window) {
        window.cwnd = self.constants.units.bytes(segments);
    }

    /// Returns the estimated bandwidth: that of a policer, if there seems to be one (`bbr_bw`).
    fn estimate(&self) -> u64 {
        match self.long_term.used {
            true => self.long_term.bandwidth,
            false => self.bandwidth.value(),
        }
    }

    /// Paces the initial window over a round trip, times the gain of STARTUP
    /// (`bbr_init_pacing_rate_from_rtt`).
    fn pace_from_rtt(&mut self, smoothed: Option<Duration>, window: &Window) {
        let rtt = smoothed.map(|rtt| (rtt.0 / MICROSECOND).max(1));
        self.seen_rtt |= rtt.is_some();
        let cwnd = self.cwnd(window);
        let bandwidth = (cwnd << SCALE) / rtt.unwrap_or(NOMINAL_ROUND_TRIP);
        self.pacing_rate = self.constants.units.pace(bandwidth, HIGH_GAIN);
    }

    /// pacing_rate = pacing_gain * bandwidth * 0.99; before the pipe is full it never falls
    /// (`bbr_set_pacing_rate`).
    fn set_pacing_rate(&mut self, gain: u64, smoothed: Option<Duration>, window: &Window) {
        let rate = self.constants.units.pace(self.estimate(), gain);
        if !self.seen_rtt && smoothed.is_some() {
            self.pace_from_rtt(smoothed, window);
        }
        if self.full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Returns the segments that a host sends at once (`bbr_tso_segs_goal`).
    fn bunch(&self) -> u64 {
        let least = if self.pacing_rate < LEAST_BUNCHED {
            1
        } else {
            2
        };
        let bytes = (self.pacing_rate >> BUNCH_SHIFT).min(LARGEST_BUNCH);
        (bytes / self.constants.units.mss)
            .max(least)
            .min(MOST_BUNCHED)
    }

    /// bdp = ceil (gain * bandwidth * min_rtt) (`bbr_bdp`).
    fn bdp(&self, bandwidth: u64, gain: u64) -> u64 {
        let units = self.constants.units;
        self.min_rtt
            .map_or(INITIAL, |rtt| units.bdp(bandwidth, rtt, gain))
    }

    /// Adds room for the bunches of both hosts, and for delayed acknowledgements
    /// (`bbr_quantization_budget`).
    fn with_budget(&self, segments: u64) -> u64 {
        let even = (segments + 3 * self.bunch()).next_multiple_of(2);
        let probes = self.mode == Mode::ProbeBandwidth && self.phase == 0;
        even + if probes { 2 } else { 0 }
    }

    /// Returns the segments in flight at a gain (`bbr_inflight`).
    fn in_flight_at(&self, bandwidth: u64, gain: u64) -> u64 {
        self.with_budget(self.bdp(bandwidth, gain))
    }

    /// Returns the segments in the network when the next one leaves
    /// (`bbr_packets_in_net_at_edt`): `in_flight` without those delivered until then.
    fn in_flight_then(&self, in_flight: u64, ahead: Duration) -> u64 {
        let delivered = product(self.estimate(), ahead.0 / MICROSECOND);
        let more = match self.pacing_gain > UNIT {
            true => self.bunch(),
            false => 0,
        };
        (in_flight + more).saturating_sub(delivered)
    }

    /// Estimates the bandwidth from a sample of the delivery rate (`bbr_update_bw`).
    fn update_bandwidth(&mut self, sample: &RateSample) {
        self.round_start = false;
        let Some((rate, interval)) = sample.rate.and_then(|rate| Some((rate, rate.interval?)))
        else {
            return;
        };
        // A round ends when a segment is delivered that was sent after its begin.
        if rate.prior_delivered >= self.round_end {
            self.round_end = sample.delivered;
            self.round += 1;
            self.round_start = true;
            self.conserves = false;
        }
        self.look_for_policer(sample.newly_lost > 0, rate.application_limited);
        let bandwidth = (rate.delivered << SCALE) / (interval.0 / MICROSECOND);
        // What the application limits says nothing about the path, unless it is more than known.
        if !rate.application_limited || bandwidth >= self.bandwidth.value() {
            self.bandwidth
                .update(self.round, bandwidth, BANDWIDTH_ROUNDS);
        }
    }

    /// See [`LongTerm`] (`bbr_lt_bw_sampling`).
    fn look_for_policer(&mut self, losses: bool, application_limited: bool) {
        if !self.constants.policers {
            return;
        }
        if self.long_term.used {
            let counts = self.mode == Mode::ProbeBandwidth && self.round_start;
            if counts && self.long_term.expires() {
                self.long_term.reset(&self.totals);
                self.probe_bandwidth();
            }
            return;
        }
        let units = self.constants.units;
        let evidence = Evidence {
            round_start: self.round_start,
            losses,
            application_limited,
        };
        let bytes = |bandwidth| units.pace(bandwidth, UNIT);
        if self.long_term.sample(evidence, &self.totals, bytes) {
            self.pacing_gain = UNIT;
        }
    }

    /// Estimates whether STARTUP has filled the pipe: the bandwidth grew by less than a quarter in
    /// each of three rounds (`bbr_check_full_bw_reached`).
    fn check_full(&mut self, rate: Option<Rated>) {
        let limited = rate.is_some_and(|rate| rate.application_limited);
        if self.full || !self.round_start || limited {
            return;
        }
        self.full = self.plateau.look(self.bandwidth.value());
    }

    /// Begins DRAIN when the pipe is full, and ends it when the queue is gone (`bbr_check_drain`).
    fn check_drain(&mut self, sample: &RateSample, window: &mut Window) {
        let bandwidth = self.bandwidth.value();
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            window.ssthresh = self
                .constants
                .units
                .bytes(self.in_flight_at(bandwidth, UNIT));
        }
        if self.mode == Mode::Drain
            && self.in_flight_then(sample.in_flight, sample.ahead)
                <= self.in_flight_at(bandwidth, UNIT)
        {
            self.probe_bandwidth();
        }
    }
}

impl CongestionControl for Bbr1 {
    fn on_flow(&mut self, flow: FlowId) {
        self.draw = Stream::new(self.seed, &format!("law/{}", flow.0));
    }

    /// `bbr_init`
    fn on_established(&mut self, established: &Established, window: &mut Window) {
        let now = microseconds(established.at);
        self.min_rtt = established.rtt.map(|rtt| rtt.0 / MICROSECOND);
        self.min_rtt_at = now / TICK;
        self.totals.delivered_at = now;
        self.long_term.reset(&self.totals);
        self.aggregation.restart(now);
        self.pace_from_rtt(established.rtt, window);
    }

    /// `bbr_main`
    fn on_rate(&mut self, sample: &RateSample, window: &mut Window) -> bool {
        self.totals = Totals {
            delivered: sample.delivered,
            lost: sample.lost,
            delivered_at: microseconds(sample.delivered_at),
        };
        self.update_bandwidth(sample);
        if self.constants.aggregation {
            let (bandwidth, cwnd) = (self.estimate(), self.cwnd(window));
            self.aggregation
                .update(sample, self.round_start, bandwidth, cwnd);
        }
        self.update_phase(sample);
        self.check_full(sample.rate);
        self.check_drain(sample, window);
        self.update_min_rtt(sample, window);
        self.update_gains();
        self.set_pacing_rate(self.pacing_gain, sample.smoothed, window);
        self.update_cwnd(sample, window);
        // Rates of few segments in flight say nothing about the path.
        self.mode == Mode::ProbeRoundTrip
    }

    /// Never called: this law sets its window in `on_rate`.
    fn on_ack(&mut self, _ack: &Ack, _window: &mut Window) {}

    /// `bbr_ssthresh`
    fn on_loss(&mut self, _loss: &Loss, window: &mut Window) {
        self.save_cwnd(window);
    }

    /// `bbr_ssthresh`, `bbr_set_state`: a timeout counts as the end of a round.
    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if !timeout.repeated {
            self.save_cwnd(window);
        }
        self.before = Phase::Loss;
        self.plateau.bandwidth = 0;
        self.round_start = true;
        self.totals.lost = timeout.lost;
        self.look_for_policer(true, false);
    }

    /// `bbr_undo_cwnd`
    fn on_spurious(&mut self) {
        self.plateau = Plateau::default();
        self.long_term.reset(&self.totals);
    }

    /// `bbr_cwnd_event`: begins anew after the application had nothing to send.
    fn on_restart(&mut self, at: Time, window: &mut Window) {
        let now = microseconds(at);
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            // No more than the known bandwidth: a queue would be pointless.
            Mode::ProbeBandwidth => self.set_pacing_rate(UNIT, None, window),
            Mode::ProbeRoundTrip => self.end_probe_of_rtt(now / TICK, window),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bps(8 * self.pacing_rate.max(1)))
    }

    fn wants(&self) -> Wants {
        Wants {
            rates: true,
            ..Wants::default()
        }
    }

    fn model(&self) -> Option<PathModel> {
        Some(PathModel {
            mode: self.mode.name(),
            bandwidth: self.constants.units.scaled(self.estimate(), UNIT),
            pacing_rate: self.pacing_rate,
            min_rtt: self.min_rtt.map(|rtt| Duration(rtt * MICROSECOND)),
            pacing_gain: self.pacing_gain as f64 / UNIT as f64,
            cwnd_gain: self.cwnd_gain as f64 / UNIT as f64,
        })
    }
}
