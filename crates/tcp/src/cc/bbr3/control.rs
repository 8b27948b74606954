//! Pace, quantum and window (section 5.6).

use super::{
    Bbr3, Phase, State, BUDGET_QUANTA, DOWN_PACING_GAIN, DRAIN_PACING_GAIN, LARGEST_QUANTUM,
    LEAST_QUANTUM, MICROSECOND, NOMINAL_ROUND_TRIP, PROBE_RTT_CWND_GAIN, QUANTA_PER_SECOND, SCALE,
    STARTUP_PACING_GAIN, UNBOUNDED, UNIT, UP_MORE_CWND, UP_PACING_GAIN,
};
use crate::measure::bbr::LEAST_WINDOW;
use crate::measure::rates::RateSample;
use lightburst_des::Duration;

impl Bbr3 {
    /// BBR.pacing_gain, by the table of section 5.6.1
    pub(super) fn pacing_gain(&self) -> u64 {
        match self.state {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain => DRAIN_PACING_GAIN,
            State::Down => DOWN_PACING_GAIN,
            State::Up => UP_PACING_GAIN,
            State::Cruise | State::Refill | State::ProbeRoundTrip => UNIT,
        }
    }

    /// BBR.cwnd_gain, by the table of section 5.6.1
    pub(super) fn cwnd_gain(&self) -> u64 {
        match self.state {
            State::Up => self.constants.cwnd_gain + UP_MORE_CWND,
            State::ProbeRoundTrip => PROBE_RTT_CWND_GAIN,
            _ => self.constants.cwnd_gain,
        }
    }

    /// Paces the initial window over a round trip, times the gain of STARTUP (section 5.6.2,
    /// InitPacingRate ()).
    pub(super) fn pace_from_rtt(&mut self, smoothed: Option<Duration>) {
        let rtt = smoothed.map(|rtt| (rtt.0 / MICROSECOND).max(1));
        self.seen_rtt |= rtt.is_some();
        let bandwidth = (self.initial << SCALE) / rtt.unwrap_or(NOMINAL_ROUND_TRIP);
        self.pacing_rate = self.constants.units.scaled(bandwidth, STARTUP_PACING_GAIN);
        self.set_quantum();
    }

    /// Paces at a gain times the bandwidth, less 1 %; before the pipe is full the rate never falls
    /// (section 5.6.2, SetPacingRateWithGain ()).
    pub(super) fn set_pacing_rate(&mut self, gain: u64, smoothed: Option<Duration>) {
        if !self.seen_rtt && smoothed.is_some() {
            self.pace_from_rtt(smoothed);
        }
        let rate = self.constants.units.pace(self.bandwidth, gain);
        if self.full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// SetSendQuantum (), section 5.6.3, in whole segments
    pub(super) fn set_quantum(&mut self) {
        let bytes = (self.pacing_rate / QUANTA_PER_SECOND).min(LARGEST_QUANTUM);
        self.quantum = (bytes / self.constants.units.mss).max(LEAST_QUANTUM);
    }

    /// BDPMultiple (), section 5.6.4.2
    pub(super) fn bdp(&self, bandwidth: u64, gain: u64) -> u64 {
        let units = self.constants.units;
        self.min_rtt
            .rtt
            .map_or(self.initial, |rtt| units.bdp(bandwidth, rtt, gain))
    }

    /// QuantizationBudget (), section 5.6.4.2
    pub(super) fn with_budget(&self, segments: u64) -> u64 {
        let least = segments.max(BUDGET_QUANTA * self.quantum).max(LEAST_WINDOW);
        least + if self.state == State::Up { 2 } else { 0 }
    }

    /// Inflight (), section 5.6.4.2
    pub(super) fn in_flight_at(&self, bandwidth: u64, gain: u64) -> u64 {
        self.with_budget(self.bdp(bandwidth, gain))
    }

    /// TargetInflight (), section 5.3.3.8
    pub(super) fn target_in_flight(&self) -> u64 {
        self.bdp(self.bandwidth, UNIT).min(self.cwnd)
    }

    /// ProbeRTTCwnd (), section 5.6.4.5
    pub(super) fn probe_rtt_cwnd(&self) -> u64 {
        self.bdp(self.bandwidth, PROBE_RTT_CWND_GAIN)
            .max(LEAST_WINDOW)
    }

    /// Moves the window towards its gain times the bandwidth and the least round trip (section
    /// 5.6.4.6, SetCwnd ()).
    pub(super) fn update_cwnd(&mut self, sample: &RateSample) {
        // UpdateMaxInflight (), section 5.6.4.2
        let target = self.bdp(self.bandwidth, self.cwnd_gain()) + self.excess.value();
        let most = self.with_budget(target);
        let grown = self.cwnd + sample.newly_delivered;
        if self.full {
            self.cwnd = grown.min(most);
        } else if self.cwnd < most || sample.delivered <= self.initial {
            // C.delivered < C.InitialCwnd: `delivered` has the SYN as well.
            self.cwnd = grown;
        }
        self.cwnd = self.cwnd.max(LEAST_WINDOW);
        // BoundCwndForProbeRTT (), section 5.6.4.5
        if self.state == State::ProbeRoundTrip {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.cwnd = self.cwnd.min(self.bound());
    }

    /// Returns the bound of the window by losses (section 5.6.4.7, BoundCwndForModel ()).
    pub(super) fn bound(&self) -> u64 {
        let longterm = match self.state {
            State::Down | State::Refill | State::Up => self.longterm,
            State::Cruise | State::ProbeRoundTrip => self.with_headroom(),
            State::Startup | State::Drain => UNBOUNDED,
        };
        longterm.min(self.short_term.in_flight).max(LEAST_WINDOW)
    }

    /// SaveCwnd (), section 5.6.4.4
    pub(super) fn save_cwnd(&mut self) {
        self.prior_cwnd = match self.phase == Phase::Open && self.state != State::ProbeRoundTrip {
            true => self.cwnd,
            false => self.prior_cwnd.max(self.cwnd),
        };
    }

    /// RestoreCwnd (), section 5.6.4.4
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}
