//! Observation of a sender: its window, its progress, and whether its retransmissions were
//! justified.

use super::{Sender, State};
use crate::cc::Window;
use crate::flight::audit::{repeated_before, Cause, Step, FIN_AT, SYN_AT};
use crate::recovery::Phase;
use crate::wire::segment::Endpoint;
use crate::{Progress, Repetitions, Stage};
use lightburst_des::Duration;
use lightburst_net::observe::{CongestionState, WindowState};
use lightburst_net::{Dropped, FlowId, Happening, Interest, LostTransmission};

impl Sender {
    /// Returns the counts of fast retransmissions and of unjustified repetitions; `lost` yields the
    /// losses of this flow that the sender has not read yet.
    pub fn repetitions(&self, lost: impl Iterator<Item = LostTransmission>) -> Repetitions {
        self.audit.counts(&self.flight, lost)
    }

    /// Reports a round-trip time to observers.
    #[inline]
    pub(super) fn tell_round_trip(&self, rtt: Duration, end: &mut Endpoint<'_, '_>) {
        let flow = end.id;
        end.tell(Interest::ROUND_TRIP, || Happening::RoundTrip { flow, rtt });
    }

    /// Records the decision that the first unacknowledged segment (or SYN or FIN) is lost.
    #[cold]
    pub(super) fn decide(&mut self, cause: Cause, end: &mut Endpoint<'_, '_>) {
        let (front, transmissions) = match self.state {
            State::SynSent => (SYN_AT, self.attempts),
            State::FinWait => (FIN_AT, self.attempts),
            _ => {
                let first = self.flight.snd_una;
                (first, self.flight.transmissions(first))
            }
        };
        if end.ctx.is_part() {
            return self.postpone(Step::Decision(cause, (front, transmissions)), end);
        }
        self.audit.decide(cause, (front, transmissions), end.lost());
        self.audit_open = !self.audit.is_complete();
    }

    /// Counts a retransmission of a data segment: its `transmission`-th transmission.
    pub(super) fn count_retransmission(&mut self, transmission: u32, end: &mut Endpoint<'_, '_>) {
        if end.ctx.is_part() {
            return self.postpone(Step::Retransmission(transmission), end);
        }
        self.audit.count_retransmission(transmission);
        self.audit_open = true;
    }

    /// Postpones a step of the audit to the end of the window, when all losses before the step are
    /// known. Until then the audit counts as open.
    #[cold]
    fn postpone(&mut self, step: Step, end: &mut Endpoint<'_, '_>) {
        self.audit.postpone(end.now(), step);
        self.audit_open = true;
        end.ctx.ask_later(end.id);
    }

    /// Takes the postponed steps of the audit of `flow`, at the end of a window.
    pub fn end_window(&mut self, flow: FlowId, dropped: &mut Dropped) {
        let mut open = self.audit_open;
        for (at, step) in self.audit.postponed() {
            open = self.audit.take(step, open, dropped.take(flow, at));
        }
        self.audit_open = open;
    }

    /// Returns the present progress; `arrived` is the number of payload bytes at the receiver.
    pub fn progress(&self, arrived: u64) -> Progress {
        Progress {
            stage: match self.state {
                State::Idle | State::SynSent => Stage::Opening,
                State::Established => Stage::Open,
                State::FinWait | State::Closed | State::GaveUp => Stage::Over,
            },
            window: self.congestion.cwnd().saturating_mul(1000) / u64::from(self.flight.mss),
            arrived,
            reductions: self.audit.reductions(),
        }
    }

    /// Resolves open questions about data before `until`, the SYN or the FIN when it is
    /// acknowledged: by then all its losses are known.
    #[inline]
    pub(super) fn audit_acknowledged(&mut self, until: u64, end: &mut Endpoint<'_, '_>) {
        if self.audit_open {
            self.update_audit(until, end);
        }
    }

    #[inline(never)]
    fn update_audit(&mut self, until: u64, end: &mut Endpoint<'_, '_>) {
        if end.ctx.is_part() {
            let repeated = repeated_before(until, &self.flight).collect();
            return self.postpone(Step::Acknowledgement(until, repeated), end);
        }
        self.audit.read(end.lost());
        let repeated = repeated_before(until, &self.flight);
        self.audit.acknowledge(until, repeated);
        self.audit_open = !self.audit.is_complete();
    }

    /// Reports the window to observers.
    #[inline]
    pub(super) fn tell_window(&self, end: &mut Endpoint<'_, '_>) {
        if end.observed(Interest::WINDOW_MOVED) {
            let (flow, window) = (end.id, self.window_state());
            end.tell(Interest::WINDOW_MOVED, || Happening::WindowMoved {
                flow,
                window,
            });
        }
    }

    #[cold]
    fn window_state(&self) -> WindowState {
        let Window { cwnd, ssthresh } = *self.congestion.window();
        WindowState {
            window: cwnd,
            inflation: self.recovery.inflation(),
            threshold: ssthresh,
            in_flight: self.flight.flight_size(),
            rto: self.timeout.value(),
            state: match self.recovery.phase(&self.flight) {
                Phase::Recovery => CongestionState::Recovery,
                Phase::Loss => CongestionState::Loss,
                Phase::Open if cwnd < ssthresh => CongestionState::SlowStart,
                Phase::Open => CongestionState::Avoidance,
            },
            pacing: {
                let of_law = || Some(self.congestion.pacing_rate()?.bps() / 8);
                self.recovery.pacing().or_else(of_law)
            },
            reordering_window: self.recovery.reordering_window(self.timeout.smoothed()),
            undone: self.recovery.undone(),
        }
    }
}
