//! The least round trip, and PROBE_RTT (section 5.3.4).

use super::{AckPhase, Bbr3, Heard, Least, ShortTerm, State, MICROSECOND};
use crate::measure::rates::RateSample;

impl Bbr3 {
    /// Keeps the least round trip of the last seconds, from those of the last probes (section
    /// 5.3.4.3, UpdateMinRTT ()).
    pub(super) fn update_min_rtt(&mut self, sample: &RateSample) {
        let now = self.now;
        self.probe_rtt_expired = now > self.probe_rtt.at + self.constants.probe_rtt_interval;
        if let Some(rtt) = sample.rtt.map(|rtt| rtt.0 / MICROSECOND) {
            let is_less = self.probe_rtt.rtt.map_or(true, |least| rtt < least);
            if is_less || self.probe_rtt_expired {
                self.probe_rtt = Least {
                    rtt: Some(rtt),
                    at: now,
                };
            }
        }
        let expired = now > self.min_rtt.at + self.constants.min_rtt_window;
        let value = |least: Least| least.rtt.unwrap_or(u64::MAX);
        if value(self.probe_rtt) < value(self.min_rtt) || expired {
            self.min_rtt = self.probe_rtt;
        }
    }

    /// Enters PROBE_RTT when the last round trip as short is too old (section 5.3.4.3,
    /// CheckProbeRTT ()).
    pub(super) fn check_probe_rtt(&mut self, heard: &Heard<'_>) {
        let due = self.probe_rtt_expired && !self.idle_restart;
        if self.state != State::ProbeRoundTrip && due {
            // EnterProbeRTT () first: a window that a recovery has cut does not replace a larger one.
            self.state = State::ProbeRoundTrip;
            self.save_cwnd();
            self.probe_rtt_done = None;
            self.probe.phase = AckPhase::Stopping;
            self.start_round();
        }
        if self.state == State::ProbeRoundTrip {
            self.handle_probe_rtt(heard.sample);
        }
        if heard.delivered() > 0 {
            self.idle_restart = false;
        }
    }

    /// Waits until few segments are in flight, and then for a time and a round (section 5.3.4.3,
    /// HandleProbeRTT ()).
    fn handle_probe_rtt(&mut self, sample: &RateSample) {
        match self.probe_rtt_done {
            None if sample.in_flight <= self.probe_rtt_cwnd() => {
                self.probe_rtt_done = Some(self.now + self.constants.probe_rtt_time);
                self.probe_rtt_round_done = false;
                self.start_round();
            }
            None => {}
            Some(_) => {
                self.probe_rtt_round_done |= self.rounds.start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done();
                }
            }
        }
    }

    /// CheckProbeRTTDone (), section 5.3.4.3
    pub(super) fn check_probe_rtt_done(&mut self) {
        if self.probe_rtt_done.map_or(true, |done| self.now <= done) {
            return;
        }
        self.probe_rtt.at = self.now;
        self.restore_cwnd();
        // ExitProbeRTT (), section 5.3.4.4
        self.short_term = ShortTerm::UNBOUNDED;
        if self.full {
            self.start_down();
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }
}
