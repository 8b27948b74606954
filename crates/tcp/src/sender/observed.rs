//! Observation of a sender: its window, its progress, and whether its retransmissions were
//! justified.

use super::{Sender, State};
use crate::cc::Window;
use crate::flight::truth::{Cause, FIN_AT, SYN_AT};
use crate::recovery::Phase;
use crate::wire::segment::Endpoint;
use crate::{Progress, Repetitions, Stage};
use lightburst_net::observe::{CongestionState, WindowState};
use lightburst_net::{Happening, Interest, LostSending};

impl Sender {
    /// Returns the counts of fast retransmissions and of unjustified repetitions; `lost` yields the
    /// losses of this flow that the sender has not read yet.
    pub fn repetitions(&self, lost: impl Iterator<Item = LostSending>) -> Repetitions {
        self.truth.counts(&self.flight, lost)
    }

    /// Records the decision that the first unacknowledged segment (or SYN or FIN) is lost.
    #[cold]
    pub(super) fn decide(&mut self, cause: Cause, end: &mut Endpoint<'_, '_>) {
        let (front, sendings) = match self.state {
            State::SynSent => (SYN_AT, self.attempts),
            State::FinWait => (FIN_AT, self.attempts),
            _ => {
                let first = self.flight.snd_una;
                (first, self.flight.sendings(first))
            }
        };
        self.truth.decide(cause, (front, sendings), end.lost());
        self.in_doubt = !self.truth.is_settled();
    }

    /// Records that a data segment is retransmitted; `sending` is the number of this transmission.
    pub(super) fn doubt(&mut self, sending: u32) {
        self.truth.on_sent_again(sending);
        self.in_doubt = true;
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
            reductions: self.truth.reductions(),
        }
    }

    /// Resolves open questions about data before `until`, the SYN or the FIN when it is
    /// acknowledged: by then all its losses are known.
    #[inline]
    pub(super) fn settle(&mut self, until: u64, end: &mut Endpoint<'_, '_>) {
        if self.in_doubt {
            self.end_doubts(until, end);
        }
    }

    #[inline(never)]
    fn end_doubts(&mut self, until: u64, end: &mut Endpoint<'_, '_>) {
        self.truth.read(end.lost());
        self.truth.acknowledge(until, &self.flight);
        self.in_doubt = !self.truth.is_settled();
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
        }
    }
}
