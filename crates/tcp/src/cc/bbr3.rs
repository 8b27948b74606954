//! BBR, version 3, by draft-ietf-ccwg-bbr-06 (N. Cardwell, I. Swett, J. Beshay, "BBR Congestion
//! Control", 2026), whose sections and names stand above each line: window and pace follow a
//! long-term model of the path, which probes find, and a short-term one, which losses bound.
//!
//! Windows are in segments, times in microseconds, bandwidths in segments per microsecond times
//! 2^24, and gains and other fractions in thousandths, so that those of the draft are exact.
//! Divisions round down, those of [`Units::bdp`] up.

mod congestion;
mod control;
mod cycle;
mod probe_rtt;
mod startup;
mod state;
#[cfg(test)]
mod tests;

use self::state::{AckPhase, Heard, Least, Probe, Rounds, ShortTerm, Signals, State, Undo};
use super::{Ack, CongestionControl, CongestionControlSettings, Loss, Timeout, Wants, Window};
use crate::measure::bbr::{self, microseconds, Epoch, Plateau, NOMINAL_ROUND_TRIP, SCALE};
use crate::measure::rates::{Established, Lost, PathModel, RateSample, Rated};
use crate::measure::windowed::WindowedMaximum;
use crate::recovery::Phase;
use crate::timeout::MICROSECOND;
use crate::transport::parameters::POSITIVE_TIME;
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::{FlowId, Rate};

/// A gain or fraction of 1.
const UNIT: u64 = 1_000;
/// Stands for Infinity in a bound.
const UNBOUNDED: u64 = u64::MAX;
/// Gain of the pace in STARTUP: 4 ln 2 (section 2.5, BBR.StartupPacingGain = 2.77).
const STARTUP_PACING_GAIN: u64 = 2_770;
/// Gain of the pace in DRAIN (section 2.5, BBR.DrainPacingGain = 0.5).
const DRAIN_PACING_GAIN: u64 = 500;
/// Gains of the pace in PROBE_BW (section 5.6.1: DOWN 0.90, UP 1.25).
const DOWN_PACING_GAIN: u64 = 900;
const UP_PACING_GAIN: u64 = 1_250;
/// Gain of the window in UP beyond that of the other states (section 5.6.1: 2.25 and 2).
const UP_MORE_CWND: u64 = 250;
/// Gain of the window in PROBE_RTT (section 2.16.2, BBR.ProbeRTTCwndGain = 0.5).
const PROBE_RTT_CWND_GAIN: u64 = 500;
/// Rounds after which DRAIN ends in any case (section 5.3.2, CheckDrainDone ()).
const DRAIN_ROUNDS: u64 = 3;
/// Separate ranges of segments that a round of STARTUP has to lose for its end (section 5.3.1.3,
/// BBRStartupFullLossCnt = 6).
const FULL_LOSSES: u64 = 6;
/// Cycles of PROBE_BW over which the bandwidth is a maximum, the present one included (section
/// 2.11, BBR.MaxBwFilterLen = 2).
const BANDWIDTH_CYCLES: u64 = 2;
/// Rounds over which the excess of acknowledgements is a maximum, the present one included, and
/// those of STARTUP (section 2.12, BBR.ExtraAckedFilterLen = 10; section 5.5.9).
const EXCESS_ROUNDS: u64 = 10;
const EXCESS_ROUNDS_OF_STARTUP: u64 = 1;
/// Least wait for a probe of the bandwidth, and the part of it that is drawn, in microseconds
/// (section 5.3.3.8, PickProbeWait ()).
const PROBE_WAIT: u64 = 2_000_000;
const PROBE_WAIT_DRAWN: u32 = 1_000_000;
/// Rounds after which a probe follows in any case, so that Reno's share is not larger (section
/// 5.3.3.8, IsRenoCoexistenceProbeTime ()), and the number of first counts that are drawn.
const RENO_ROUNDS: u64 = 63;
const FIRST_ROUNDS: u32 = 2;
/// Doublings of the growth of the long-term bound (section 5.3.3.9, RaiseInflightLongtermSlope ()).
const MOST_DOUBLINGS: u32 = 30;
/// Part of a second of pacing that is sent at once, and its most bytes and least segments (section
/// 5.6.3, SetSendQuantum ()).
const QUANTA_PER_SECOND: u64 = 1_000;
const LARGEST_QUANTUM: u64 = 64 * 1024;
const LEAST_QUANTUM: u64 = 2;
/// Quanta that hosts keep busy (section 5.5.8.1, UpdateOffloadBudget ()).
const BUDGET_QUANTA: u64 = 3;

/// Units of a connection, with gains in thousandths.
type Units = bbr::Units<UNIT>;

/// Settings of the law; fractions in thousandths and times in microseconds.
#[derive(Clone, Copy, Debug)]
struct Constants {
    units: Units,
    /// BBR.DefaultCwndGain (section 2.6).
    cwnd_gain: u64,
    /// BBR.LossThresh, BBR.Beta and BBR.Headroom (section 2.8).
    loss_threshold: u64,
    beta: u64,
    headroom: u64,
    /// BBR.MinRTTFilterLen (section 2.16.1).
    min_rtt_window: u64,
    /// BBR.ProbeRTTInterval and BBR.ProbeRTTDuration (section 2.16.2).
    probe_rtt_interval: u64,
    probe_rtt_time: u64,
    aggregation: bool,
}

/// State of one connection (section 2).
#[derive(Clone)]
pub struct Bbr3 {
    constants: Constants,
    seed: u64,
    draw: Stream,
    /// C.has_selective_acks and C.InitialCwnd
    selective: bool,
    initial: u64,
    /// Time, window and deliveries of the event in hand.
    now: u64,
    cwnd: u64,
    delivered: u64,
    state: State,
    rounds: Rounds,
    /// BBR.max_bw, BBR.cycle_count and BBR.bw
    max_bandwidth: WindowedMaximum,
    cycle: u64,
    bandwidth: u64,
    epoch: Epoch,
    /// BBR.extra_acked
    excess: WindowedMaximum,
    /// BBR.min_rtt; BBR.probe_rtt_min_delay and BBR.probe_rtt_expired
    min_rtt: Least,
    probe_rtt: Least,
    probe_rtt_expired: bool,
    /// BBR.probe_rtt_done_stamp and BBR.probe_rtt_round_done
    probe_rtt_done: Option<u64>,
    probe_rtt_round_done: bool,
    /// BBR.full_bw and BBR.full_bw_count; BBR.full_bw_now and BBR.full_bw_reached
    plateau: Plateau,
    full_now: bool,
    full: bool,
    /// BBR.drain_start_round
    drain_round: u64,
    probe: Probe,
    signals: Signals,
    short_term: ShortTerm,
    /// BBR.inflight_longterm
    longterm: u64,
    undo: Undo,
    /// Phase of the recovery, and whether it began by a reduction that no round knows yet.
    phase: Phase,
    reduced: bool,
    /// Whether a round begins with the acknowledgement in hand, after a spurious recovery.
    restarts: bool,
    /// BBR.prior_cwnd
    prior_cwnd: u64,
    /// BBR.idle_restart
    idle_restart: bool,
    /// C.pacing_rate in bytes per second, whether it knows a round trip, and C.send_quantum in
    /// segments.
    pacing_rate: u64,
    seen_rtt: bool,
    quantum: u64,
}

impl Bbr3 {
    /// Creates the state of one connection.
    pub fn new(settings: &CongestionControlSettings) -> Bbr3 {
        let parameters = settings.parameters;
        let time = |name| parameters.duration(name, POSITIVE_TIME).0 / MICROSECOND;
        let part = |name, range| (parameters.get(name, range) * UNIT as f64).round() as u64;
        let constants = Constants {
            units: Units::new(settings.mss),
            cwnd_gain: part("cwnd_gain", 1.0..=16.0),
            loss_threshold: part("loss_threshold", 0.001..=0.999),
            beta: part("beta", 0.001..=1.0),
            headroom: part("headroom", 0.0..=0.999),
            min_rtt_window: time("min_rtt_window_ps"),
            probe_rtt_interval: time("probe_rtt_interval_ps"),
            probe_rtt_time: time("probe_rtt_time_ps"),
            aggregation: parameters.is("ack_aggregation"),
        };
        Bbr3::with(constants, settings.seed)
    }

    /// OnInit (), section 5.2.1
    fn with(constants: Constants, seed: u64) -> Bbr3 {
        Bbr3 {
            constants,
            seed,
            draw: Stream::new(seed, "law"),
            selective: true,
            initial: 0,
            now: 0,
            cwnd: 0,
            delivered: 0,
            state: State::Startup,
            rounds: Rounds::default(),
            max_bandwidth: WindowedMaximum::default(),
            cycle: 0,
            bandwidth: 0,
            epoch: Epoch::default(),
            excess: WindowedMaximum::default(),
            min_rtt: Least::default(),
            probe_rtt: Least::default(),
            probe_rtt_expired: false,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            plateau: Plateau::default(),
            full_now: false,
            full: false,
            drain_round: 0,
            probe: Probe {
                phase: AckPhase::Init,
                samples: false,
                per_increase: UNBOUNDED,
                acked: 0,
                doublings: 0,
                too_high: false,
                precautionary: false,
                began: 0,
                wait: 0,
            },
            signals: Signals::default(),
            short_term: ShortTerm::UNBOUNDED,
            longterm: UNBOUNDED,
            undo: Undo {
                state: None,
                short_term: ShortTerm {
                    bandwidth: 0,
                    in_flight: 0,
                },
                longterm: 0,
            },
            phase: Phase::Open,
            reduced: false,
            restarts: false,
            prior_cwnd: 0,
            idle_restart: false,
            pacing_rate: 1,
            seen_rtt: false,
            quantum: LEAST_QUANTUM,
        }
    }

    /// Notes the time and the window of an event.
    fn begin(&mut self, at: Time, window: &Window) {
        self.now = microseconds(at);
        self.cwnd = self.constants.units.cwnd(window);
    }

    /// Counts a round when a segment is delivered that was sent after its begin (section 5.5.1,
    /// UpdateRound ()).
    fn update_round(&mut self, heard: &Heard<'_>) {
        let ends = |rate: Rated| rate.prior_delivered >= self.rounds.end;
        self.rounds.start = heard.rate.is_some_and(ends);
        if self.rounds.start {
            self.start_round();
            self.rounds.count += 1;
            self.rounds.since_up += 1;
        }
    }

    /// StartRound (), section 5.5.1
    fn start_round(&mut self) {
        self.rounds.end = self.delivered;
    }

    /// Learns the largest bandwidth of the cycle, also from a sample that the application limits if
    /// it is larger than all (section 5.5.5, UpdateMaxBw ()).
    fn update_max_bandwidth(&mut self, heard: &Heard<'_>) {
        self.update_round(heard);
        let largest = heard.bandwidth >= self.max_bandwidth.value();
        if heard.bandwidth > 0 && (largest || !heard.is_limited()) {
            self.max_bandwidth
                .update(self.cycle, heard.bandwidth, BANDWIDTH_CYCLES - 1);
        }
    }

    /// Learns how many segments are acknowledged beyond those expected (section 5.5.9,
    /// UpdateACKAggregation ()).
    fn update_excess(&mut self, sample: &RateSample) {
        if !self.constants.aggregation {
            return;
        }
        let newly = sample.newly_delivered;
        let excess = self.epoch.excess(self.now, newly, self.bandwidth, u64::MAX);
        let rounds = match self.full {
            true => EXCESS_ROUNDS,
            false => EXCESS_ROUNDS_OF_STARTUP,
        };
        let excess = excess.min(self.cwnd);
        self.excess.update(self.rounds.count, excess, rounds - 1);
    }
}

impl CongestionControl for Bbr3 {
    fn on_flow(&mut self, flow: FlowId) {
        self.draw = Stream::new(self.seed, &format!("law/{}", flow.0));
    }

    /// OnInit (), section 5.2.1
    fn on_established(&mut self, established: &Established, window: &mut Window) {
        self.begin(established.at, window);
        self.selective = established.selective;
        self.initial = self.cwnd;
        // BBR.min_rtt = C.srtt ? C.srtt : Infinity
        self.min_rtt = Least {
            rtt: established.rtt.map(|rtt| rtt.0 / MICROSECOND),
            at: self.now,
        };
        self.probe_rtt = self.min_rtt;
        self.epoch.restart(self.now);
        self.pace_from_rtt(established.rtt);
    }

    /// UpdateOnACK (), section 5.2.3
    fn on_rate(&mut self, sample: &RateSample, window: &mut Window) -> bool {
        self.begin(sample.at, window);
        self.delivered = sample.delivered;
        self.note_recovery(sample);
        let heard = Heard::new(sample);
        // UpdateModelAndState ()
        self.update_latest(&heard);
        self.update_signals(&heard);
        self.update_excess(sample);
        self.check_full(&heard);
        self.check_startup(&heard);
        self.check_drain(sample);
        self.update_cycle(&heard);
        self.update_min_rtt(sample);
        self.check_probe_rtt(&heard);
        self.advance_latest(&heard);
        // BoundBWForModel ()
        self.bandwidth = self.max_bandwidth.value().min(self.short_term.bandwidth);
        // UpdateControlParameters ()
        self.set_pacing_rate(self.pacing_gain(), sample.smoothed);
        self.set_quantum();
        self.update_cwnd(sample);
        window.cwnd = self.constants.units.bytes(self.cwnd);
        // MarkConnectionAppLimited () of HandleProbeRTT (), section 5.3.4.3
        self.state == State::ProbeRoundTrip
    }

    /// Never called: this law sets its window in `on_rate`.
    fn on_ack(&mut self, _ack: &Ack, _window: &mut Window) {}

    /// OnEnterFastRecovery (), section 5.6.4.4. Also a reduction without a lost segment counts as a
    /// loss: after an echo of a congestion mark (section 3.7: marks are congestion) or a repaired
    /// tail.
    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        self.begin(loss.at, window);
        self.save_state();
        (self.phase, self.reduced) = (Phase::Recovery, true);
    }

    /// OnEnterRTO (), section 5.6.4.4; the recovery sets the window.
    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        self.begin(timeout.at, window);
        if !timeout.repeated {
            self.save_state();
        }
        self.phase = Phase::Loss;
    }

    fn on_lost(&mut self, lost: &Lost, window: &mut Window) {
        self.begin(lost.at, window);
        self.delivered = lost.delivered;
        self.handle_lost(lost);
    }

    fn on_spurious(&mut self) {
        self.handle_spurious();
    }

    /// HandleRestartFromIdle (), section 5.4.1
    fn on_restart(&mut self, at: Time, window: &mut Window) {
        self.begin(at, window);
        self.idle_restart = true;
        self.epoch.restart(self.now);
        if self.state.probes_bandwidth() {
            self.set_pacing_rate(UNIT, None);
        } else if self.state == State::ProbeRoundTrip {
            self.check_probe_rtt_done();
            window.cwnd = self.constants.units.bytes(self.cwnd);
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
            mode: self.state.name(),
            bandwidth: self.constants.units.scaled(self.bandwidth, UNIT),
            pacing_rate: self.pacing_rate,
            min_rtt: self.min_rtt.rtt.map(|rtt| Duration(rtt * MICROSECOND)),
            pacing_gain: self.pacing_gain() as f64 / UNIT as f64,
            cwnd_gain: self.cwnd_gain() as f64 / UNIT as f64,
        })
    }
}
