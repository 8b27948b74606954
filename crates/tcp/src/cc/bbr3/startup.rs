//! STARTUP and DRAIN (sections 5.3.1 and 5.3.2).

use super::{Bbr3, Heard, Phase, State, DRAIN_ROUNDS, FULL_LOSSES, UNIT};
use crate::measure::bbr::Plateau;
use crate::measure::rates::RateSample;

impl Bbr3 {
    /// Begins to look for a full pipe anew, from a bandwidth (section 5.3.1.2, ResetFullBW ()).
    pub(super) fn reset_full(&mut self, bandwidth: u64) {
        self.plateau = Plateau {
            bandwidth,
            rounds: 0,
        };
        self.full_now = false;
    }

    /// Looks for a full pipe at the end of a round that the application did not limit (section
    /// 5.3.1.2, CheckFullBWReached ()).
    pub(super) fn check_full(&mut self, heard: &Heard<'_>) {
        if self.full_now || !self.rounds.start || heard.is_limited() {
            return;
        }
        self.full_now = self.plateau.look(heard.bandwidth);
        self.full |= self.full_now;
    }

    /// CheckStartupDone (), section 5.3.1.1
    pub(super) fn check_startup(&mut self, heard: &Heard<'_>) {
        self.check_high_loss(heard);
        if self.state == State::Startup && self.full {
            self.enter_drain();
        }
    }

    /// Ends STARTUP after a round of a recovery with many losses, in separate ranges (section
    /// 5.3.1.3, CheckStartupHighLoss ()).
    fn check_high_loss(&mut self, heard: &Heard<'_>) {
        let ranges = self.signals.ranges;
        if self.signals.round_start {
            self.signals.ranges = 0;
        }
        if self.state != State::Startup || self.full || heard.sample.phase != Phase::Recovery {
            return;
        }
        let is_high = match self.selective {
            true => {
                self.signals.round_start
                    && ranges >= FULL_LOSSES
                    && heard
                        .rate
                        .is_some_and(|rate| self.is_too_high(rate.lost, rate.in_flight))
            }
            false => ranges > 0,
        };
        if is_high {
            self.undo.state = Some(State::Startup);
            // Appendix A.2 has full_bw_now as well.
            (self.full, self.full_now) = (true, true);
            self.longterm = self.bdp(self.bandwidth, UNIT).max(self.signals.in_flight);
        }
    }

    /// EnterStartup (), section 5.3.1.1
    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// EnterDrain (), section 5.3.2
    fn enter_drain(&mut self) {
        self.state = State::Drain;
        self.drain_round = self.rounds.count;
    }

    /// Ends DRAIN when the queue is gone, or after three rounds (section 5.3.2, CheckDrainDone ()).
    pub(super) fn check_drain(&mut self, sample: &RateSample) {
        if self.state == State::Drain
            && (sample.in_flight <= self.in_flight_at(self.bandwidth, UNIT)
                || self.rounds.count > self.drain_round + DRAIN_ROUNDS)
        {
            // EnterProbeBW (), section 5.3.3.9
            self.start_down();
        }
    }
}
