//! The model after losses, and after those that were none (sections 5.5.10 and 5.5.11).

use super::{Bbr3, Heard, Phase, ShortTerm, Signals, State, Undo, UNBOUNDED, UNIT};
use crate::measure::rates::{Lost, RateSample};

impl Bbr3 {
    /// Follows the phase of the recovery (section 5.6.4.4).
    pub(super) fn note_recovery(&mut self, sample: &RateSample) {
        if std::mem::take(&mut self.reduced) {
            self.note_loss();
        }
        if std::mem::take(&mut self.restarts) {
            self.start_round();
        }
        let before = std::mem::replace(&mut self.phase, sample.phase);
        if before != Phase::Open && sample.phase == Phase::Open {
            self.restore_cwnd();
        }
    }

    /// Takes in the largest rate and volume delivered in the round (section 5.5.10.3,
    /// UpdateLatestDeliverySignals ()).
    pub(super) fn update_latest(&mut self, heard: &Heard<'_>) {
        let signals = &mut self.signals;
        signals.bandwidth = signals.bandwidth.max(heard.bandwidth);
        signals.in_flight = signals.in_flight.max(heard.delivered());
        signals.round_start = heard
            .rate
            .is_some_and(|rate| rate.prior_delivered >= signals.round_end);
        if signals.round_start {
            signals.round_end = self.delivered;
        }
    }

    /// AdvanceLatestDeliverySignals (), section 5.5.10.3
    pub(super) fn advance_latest(&mut self, heard: &Heard<'_>) {
        if self.signals.round_start {
            self.signals.bandwidth = heard.bandwidth;
            self.signals.in_flight = heard.delivered();
        }
    }

    /// ResetCongestionSignals (), section 5.5.10.3
    pub(super) fn reset_signals(&mut self) {
        self.signals = Signals {
            lossy: false,
            bandwidth: 0,
            in_flight: 0,
            ..self.signals
        };
    }

    /// Answers the losses of a round at its end (section 5.5.10.3, UpdateCongestionSignals ()).
    pub(super) fn update_signals(&mut self, heard: &Heard<'_>) {
        self.update_max_bandwidth(heard);
        if !self.signals.round_start {
            return;
        }
        // AdaptLowerBoundsFromCongestion ()
        if self.signals.lossy && !self.state.accelerates() {
            self.lower_bounds();
        }
        self.signals.lossy = false;
    }

    /// Lowers the short-term bounds towards the latest deliveries, by no more than beta (section
    /// 5.5.10.3, InitLowerBounds () and LossLowerBounds ()).
    fn lower_bounds(&mut self) {
        let lower = |bound: u64, first: u64, latest: u64, beta: u64| {
            let bound = if bound == UNBOUNDED { first } else { bound };
            latest.max(bound * beta / UNIT)
        };
        let beta = self.constants.beta;
        let (short, latest) = (self.short_term, self.signals);
        let max_bandwidth = self.max_bandwidth.value();
        self.short_term = ShortTerm {
            bandwidth: lower(short.bandwidth, max_bandwidth, latest.bandwidth, beta),
            in_flight: lower(short.in_flight, self.cwnd, latest.in_flight, beta),
        };
    }

    /// Notes the first loss of a round (section 5.5.10.2, NoteLoss ()).
    fn note_loss(&mut self) {
        if !self.signals.lossy {
            self.signals.round_end = self.delivered;
            self.save_state();
        }
        self.signals.lossy = true;
    }

    /// Lowers the long-term bound to what was in flight, if a probe loses too much (section
    /// 5.5.10.2, HandleLostPacket ()).
    pub(super) fn handle_lost(&mut self, lost: &Lost) {
        self.note_loss();
        // Section 5.3.1.3: "discontiguous sequence ranges"
        self.signals.ranges += u64::from(lost.number != self.signals.range_end);
        self.signals.range_end = lost.number + 1;
        if self.probe.samples && self.is_too_high(lost.lost, lost.in_flight) {
            let in_flight = self.in_flight_at_loss(lost);
            self.handle_too_high(in_flight, lost.application_limited);
        }
    }

    /// Returns whether more is lost of a round than BBR.LossThresh permits (section 5.5.10.2,
    /// IsInflightTooHigh ()).
    pub(super) fn is_too_high(&self, lost: u64, in_flight: u64) -> bool {
        lost * UNIT > in_flight * self.constants.loss_threshold || (lost > 0 && !self.selective)
    }

    /// Returns the segments in flight at which the losses exceeded BBR.LossThresh (section 5.5.10.2,
    /// InflightAtLoss ()).
    pub(super) fn in_flight_at_loss(&self, lost: &Lost) -> u64 {
        let threshold = self.constants.loss_threshold;
        let (in_flight, before) = (lost.in_flight - 1, lost.lost - 1);
        // lost_prefix = (LossThresh * inflight_prev - lost_prev) / (1 - LossThresh); a prefix is not
        // negative.
        let prefix = (threshold * in_flight).saturating_sub(before * UNIT) / (UNIT - threshold);
        in_flight + prefix
    }

    /// HandleInflightTooHigh (), section 5.5.10.2
    fn handle_too_high(&mut self, in_flight: u64, limited: bool) {
        self.probe.too_high = true;
        self.probe.samples = false;
        if !limited {
            let target = self.target_in_flight() * self.constants.beta / UNIT;
            self.longterm = in_flight.max(target);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down();
        }
    }

    /// SaveStateUponLoss (), section 5.5.11.1
    pub(super) fn save_state(&mut self) {
        self.save_cwnd();
        self.undo = Undo {
            state: None,
            short_term: self.short_term,
            longterm: self.longterm,
        };
    }

    /// Restores the model after a spurious recovery (section 5.5.11.2,
    /// HandleSpuriousLossDetection ()); the window comes back as the recovery ends.
    pub(super) fn handle_spurious(&mut self) {
        let undo = self.undo;
        self.signals.lossy = false;
        self.reset_full(0);
        let before = undo.short_term;
        self.short_term = ShortTerm {
            bandwidth: self.short_term.bandwidth.max(before.bandwidth),
            in_flight: self.short_term.in_flight.max(before.in_flight),
        };
        self.longterm = self.longterm.max(undo.longterm);
        let is_probe_rtt = self.state == State::ProbeRoundTrip;
        match undo.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full = false;
                if !is_probe_rtt {
                    self.enter_startup();
                }
            }
            Some(State::Up) if self.state != State::Up && !is_probe_rtt => {
                self.start_refill();
                self.restarts = true;
            }
            _ => {}
        }
        self.undo.state = None;
    }
}
