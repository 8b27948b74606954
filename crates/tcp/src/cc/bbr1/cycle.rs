//! The gains, and the cycle of PROBE_BW.

use super::{microseconds, Bbr1, Mode, DRAIN_GAIN, HIGH_GAIN, UNIT};
use crate::measure::rates::RateSample;

/// Gains of pacing in the phases of PROBE_BW in 256ths (`bbr_pacing_gain`): one looks for more
/// bandwidth, one removes the queue of it, six use what is there.
const GAINS: [u64; 8] = [
    UNIT * 5 / 4,
    UNIT * 3 / 4,
    UNIT,
    UNIT,
    UNIT,
    UNIT,
    UNIT,
    UNIT,
];
/// Number of phases among which the first is drawn (`bbr_cycle_rand`): all but that of 3/4.
const FIRST_PHASES: u32 = 7;

impl Bbr1 {
    /// Enters PROBE_BW in a random phase, so that flows do not probe in step
    /// (`bbr_reset_probe_bw_mode`).
    pub(super) fn probe_bandwidth(&mut self) {
        self.mode = Mode::ProbeBandwidth;
        self.phase = GAINS.len() - 1 - self.draw.below(FIRST_PHASES) as usize;
        self.next_phase();
    }

    /// `bbr_advance_cycle_phase`
    fn next_phase(&mut self) {
        self.phase = (self.phase + 1) % GAINS.len();
        self.phase_start = self.totals.delivered_at;
    }

    /// `bbr_update_cycle_phase`
    pub(super) fn update_phase(&mut self, sample: &RateSample) {
        if self.mode == Mode::ProbeBandwidth && self.phase_is_over(sample) {
            self.next_phase();
        }
    }

    /// Returns whether a phase has lasted a round trip, and reached what it aims at
    /// (`bbr_is_next_cycle_phase`).
    fn phase_is_over(&self, sample: &RateSample) -> bool {
        let lasted = microseconds(sample.delivered_at) - self.phase_start;
        let is_long = self.min_rtt.is_some_and(|rtt| lasted > rtt);
        if self.pacing_gain == UNIT {
            return is_long;
        }
        let in_flight = self.in_flight_then(sample.prior_in_flight, sample.ahead);
        let reached = |gain| self.in_flight_at(self.bandwidth.value(), gain);
        match self.pacing_gain > UNIT {
            // Losses show that the path holds no more.
            true => is_long && (sample.newly_lost > 0 || in_flight >= reached(self.pacing_gain)),
            false => is_long || in_flight <= reached(UNIT),
        }
    }

    /// `bbr_update_gains`
    pub(super) fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBandwidth if self.long_term.used => (UNIT, self.constants.cwnd_gain),
            Mode::ProbeBandwidth => (GAINS[self.phase], self.constants.cwnd_gain),
            Mode::ProbeRoundTrip => (UNIT, UNIT),
        };
    }
}
