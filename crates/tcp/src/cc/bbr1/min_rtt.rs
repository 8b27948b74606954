//! The least round trip, and PROBE_RTT.

use super::{microseconds, Bbr1, Mode, LEAST_WINDOW, MICROSECOND, TICK};
use crate::cc::Window;
use crate::measure::rates::RateSample;

impl Bbr1 {
    /// Keeps the least round trip of the last seconds; when it is too old, few segments are kept in
    /// flight until it was measured again (`bbr_update_min_rtt`).
    pub(super) fn update_min_rtt(&mut self, sample: &RateSample, window: &mut Window) {
        let tick = microseconds(sample.at) / TICK;
        let expired = tick > self.min_rtt_at + self.constants.min_rtt_window;
        if let Some(rtt) = sample.rtt.map(|rtt| rtt.0 / MICROSECOND) {
            let least = self.min_rtt.map_or(true, |min_rtt| rtt <= min_rtt);
            if least || (expired && !sample.may_be_delayed) {
                (self.min_rtt, self.min_rtt_at) = (Some(rtt), tick);
            }
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRoundTrip {
            // The mode first: a window that a recovery has cut does not replace a larger one.
            self.mode = Mode::ProbeRoundTrip;
            self.save_cwnd(window);
            self.probe_done = None;
        }
        if self.mode == Mode::ProbeRoundTrip {
            self.probe_rtt(tick, sample, window);
        }
        if sample.rate.is_some_and(|rate| rate.delivered > 0) {
            self.idle_restart = false;
        }
    }

    /// Waits until few segments are in flight, and then for the time of PROBE_RTT and a round.
    fn probe_rtt(&mut self, tick: u64, sample: &RateSample, window: &mut Window) {
        match self.probe_done {
            None if sample.in_flight <= LEAST_WINDOW => {
                self.probe_done = Some(tick + self.constants.probe_rtt_time);
                self.probe_round_done = false;
                self.round_end = sample.delivered;
            }
            None => {}
            Some(_) => {
                self.probe_round_done |= self.round_start;
                if self.probe_round_done {
                    self.end_probe_of_rtt(tick, window);
                }
            }
        }
    }

    /// Ends PROBE_RTT when its time is over (`bbr_check_probe_rtt_done`).
    pub(super) fn end_probe_of_rtt(&mut self, tick: u64, window: &mut Window) {
        if self.probe_done.map_or(true, |done| tick <= done) {
            return;
        }
        self.min_rtt_at = tick;
        self.set_cwnd(self.cwnd(window).max(self.prior_cwnd), window);
        // `bbr_reset_mode`
        match self.full {
            true => self.probe_bandwidth(),
            false => self.mode = Mode::Startup,
        }
    }
}
