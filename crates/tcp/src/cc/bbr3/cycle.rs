//! The cycle of PROBE_BW: DOWN, CRUISE, REFILL and UP (section 5.3.3).

use super::{
    AckPhase, Bbr3, Heard, ShortTerm, State, FIRST_ROUNDS, MOST_DOUBLINGS, PROBE_WAIT,
    PROBE_WAIT_DRAWN, RENO_ROUNDS, UNBOUNDED, UNIT,
};
use crate::measure::bbr::LEAST_WINDOW;

impl Bbr3 {
    /// StartProbeBW_DOWN (), section 5.3.3.9
    pub(super) fn start_down(&mut self) {
        self.reset_signals();
        self.probe.per_increase = UNBOUNDED;
        self.pick_wait();
        self.probe.began = self.now;
        self.probe.phase = AckPhase::Stopping;
        self.start_round();
        self.state = State::Down;
    }

    /// StartProbeBW_CRUISE (), section 5.3.3.9
    pub(super) fn start_cruise(&mut self) {
        self.state = State::Cruise;
    }

    /// StartProbeBW_REFILL (), section 5.3.3.9
    pub(super) fn start_refill(&mut self) {
        self.short_term = ShortTerm::UNBOUNDED;
        (self.probe.doublings, self.probe.acked) = (0, 0);
        self.probe.precautionary = false;
        self.probe.phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::Refill;
    }

    /// StartProbeBW_UP (), section 5.3.3.9
    fn start_up(&mut self, heard: &Heard<'_>) {
        self.probe.phase = AckPhase::Starting;
        self.start_round();
        self.reset_full(heard.bandwidth);
        self.state = State::Up;
        self.raise_slope();
    }

    /// Draws the time until the next probe, and the rounds that are spared of those that Reno would
    /// wait (section 5.3.3.8, PickProbeWait ()).
    fn pick_wait(&mut self) {
        self.rounds.since_up = u64::from(self.draw.below(FIRST_ROUNDS));
        self.probe.wait = PROBE_WAIT + u64::from(self.draw.below(PROBE_WAIT_DRAWN));
    }

    /// Moves on in the cycle (section 5.3.3.9, UpdateProbeBWCyclePhase ()).
    pub(super) fn update_cycle(&mut self, heard: &Heard<'_>) {
        if heard.rate.is_none() || !self.full || self.adapt_long_term(heard) {
            return;
        }
        match self.state {
            State::Down => {
                if !self.probes_in_time() && self.may_cruise(heard.sample.in_flight) {
                    self.start_cruise();
                }
            }
            State::Cruise => {
                self.probes_in_time();
            }
            State::Refill => {
                if self.rounds.start {
                    self.probe.samples = true;
                    self.start_up(heard);
                }
            }
            State::Up => {
                if self.must_go_down(heard) {
                    self.probe.too_high = false;
                    self.start_down();
                }
            }
            State::Startup | State::Drain | State::ProbeRoundTrip => {}
        }
    }

    /// Begins to probe if it is time; returns whether it is (section 5.3.3.8, IsTimeToProbeBW ()).
    pub(super) fn probes_in_time(&mut self) -> bool {
        // HasElapsedInPhase ()
        let waited = self.now > self.probe.began + self.probe.wait;
        // IsRenoCoexistenceProbeTime ()
        let rounds = self.target_in_flight().min(RENO_ROUNDS);
        let is_time = waited || self.rounds.since_up >= rounds;
        if is_time {
            self.start_refill();
        }
        is_time
    }

    /// IsTimeToCruise (), section 5.3.3.9
    fn may_cruise(&self, in_flight: u64) -> bool {
        in_flight <= self.with_headroom()
            && in_flight <= self.in_flight_at(self.max_bandwidth.value(), UNIT)
    }

    /// IsTimeToGoDown (), section 5.3.3.9
    fn must_go_down(&mut self, heard: &Heard<'_>) -> bool {
        if self.probe.too_high && heard.sample.in_flight >= self.longterm {
            self.probe.precautionary = true;
            return true;
        }
        if heard.sample.window_limited && self.cwnd >= self.longterm {
            self.reset_full(heard.bandwidth);
            return false;
        }
        self.full_now
    }

    /// Returns the segments in flight that leave room for others (section 5.3.3.9,
    /// InflightWithHeadroom ()).
    pub(super) fn with_headroom(&self) -> u64 {
        if self.longterm == UNBOUNDED {
            return UNBOUNDED;
        }
        let room = (self.longterm * self.constants.headroom / UNIT).max(1);
        self.longterm.saturating_sub(room).max(LEAST_WINDOW)
    }

    /// Doubles the growth of the long-term bound (section 5.3.3.9, RaiseInflightLongtermSlope ()).
    fn raise_slope(&mut self) {
        let growth = 1 << self.probe.doublings;
        self.probe.doublings = (self.probe.doublings + 1).min(MOST_DOUBLINGS);
        self.probe.per_increase = (self.cwnd / growth).max(1);
    }

    /// Raises the long-term bound, if it limits the sender (section 5.3.3.9,
    /// ProbeInflightLongtermUpward ()).
    fn raise_long_term(&mut self, heard: &Heard<'_>) {
        if !heard.sample.window_limited || self.cwnd < self.longterm {
            return;
        }
        self.probe.acked += heard.sample.newly_delivered;
        let delta = self.probe.acked / self.probe.per_increase;
        self.probe.acked -= delta * self.probe.per_increase;
        self.longterm += delta;
        if self.rounds.start {
            self.raise_slope();
        }
    }

    /// Follows a probe by its acknowledgements; returns whether a state was entered (section
    /// 5.3.3.9, AdaptLongTermModel ()).
    fn adapt_long_term(&mut self, heard: &Heard<'_>) -> bool {
        let begins = self.rounds.start;
        if self.probe.phase == AckPhase::Starting && begins {
            self.probe.phase = AckPhase::Feedback;
        }
        if self.probe.phase == AckPhase::Stopping && begins {
            self.probe.samples = false;
            self.probe.phase = AckPhase::Init;
            let probes = self.state.probes_bandwidth();
            if probes && !heard.is_limited() {
                // AdvanceMaxBwFilter (), section 5.5.6
                self.cycle += 1;
            }
            if probes && self.probe.precautionary && !self.probe.too_high {
                self.start_refill();
                return true;
            }
        }
        let Some(rate) = heard.rate else {
            return false;
        };
        if !self.is_too_high(rate.lost, rate.in_flight) && self.longterm != UNBOUNDED {
            self.longterm = self.longterm.max(rate.in_flight);
            if self.state == State::Up {
                self.raise_long_term(heard);
            }
        }
        false
    }
}
