//! What is seen of a sender from outside: its trace, and the truth about what it sends again.

use super::{Sender, State};
use crate::cc::Window;
use crate::recovery::Phase;
use crate::segment::Endpoint;
use crate::truth::{Cause, FIN_AT, SYN_AT};
use crate::{Progress, Repetitions, Stage};
use lightburst_net::trace::{State as TraceState, Window as TraceWindow};
use lightburst_net::LostSending;

impl Sender {
    /// What it took for lost, as far as it was not, if these packets of its flow were lost and it
    /// has not read of them.
    pub fn repetitions(&self, lost: impl Iterator<Item = LostSending>) -> Repetitions {
        self.truth.counts(&self.flight, lost)
    }

    /// It takes for lost what it has sent first of all that is not acknowledged.
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

    /// A segment of data was sent again, for that time.
    pub(super) fn doubt(&mut self, sending: u32) {
        self.truth.on_sent_again(sending);
        self.in_doubt = true;
    }

    /// Where it is now, if its receiver has `arrived` bytes.
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

    /// All before `until` is acknowledged, or the SYN or the FIN is: what was lost of it by now
    /// is known.
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

    /// Notes the window, if the flow is traced.
    #[inline]
    pub(super) fn trace(&self, end: &mut Endpoint<'_, '_>) {
        let (id, now) = (end.id, end.now());
        let Some(trace) = end.trace() else {
            return;
        };
        let Window { cwnd, ssthresh } = *self.congestion.window();
        trace.windows.push(TraceWindow {
            time: now,
            flow: id,
            window: cwnd,
            inflation: self.recovery.inflation(),
            threshold: ssthresh,
            in_flight: self.flight.flight_size(),
            rtt: trace.newest_sample(id),
            rto: self.timeout.value(),
            state: match self.recovery.phase(&self.flight) {
                Phase::Recovery => TraceState::Recovery,
                Phase::Loss => TraceState::Loss,
                Phase::Open if cwnd < ssthresh => TraceState::SlowStart,
                Phase::Open => TraceState::Avoidance,
            },
        });
    }
}
