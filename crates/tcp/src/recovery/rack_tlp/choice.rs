//! Choice of the next segment to send.

use super::{Permit, RackTlp};
use crate::flight::Flight;
use crate::recovery::{Candidate, Reason};

impl RackTlp {
    /// Returns whether the application has written data from `sequence` on.
    pub(super) fn has_written(&self, sequence: u64, flight: &Flight) -> bool {
        sequence < flight.size.min(self.written)
    }

    /// Returns the next new segment, if the window and the receiver permit it.
    #[inline]
    fn new_segment(&self, flight: &Flight, cwnd: u64, reason: Reason) -> Option<Candidate> {
        let sequence = flight.snd_max;
        let open = reason == Reason::Probe || cwnd > self.board.in_flight();
        (open && self.has_written(sequence, flight) && flight.is_advertised_from(sequence))
            .then_some(Candidate { sequence, reason })
    }

    /// Returns the tail loss probe: a new segment, or the last one again if there is none (RFC 8985,
    /// section 7.3).
    fn probe_segment(&self, flight: &Flight) -> Option<Candidate> {
        if self.has_written(flight.snd_max, flight) {
            return self.new_segment(flight, 0, Reason::Probe);
        }
        let last = self.board.end().checked_sub(1)?;
        Some(Candidate {
            sequence: last * self.mss,
            reason: Reason::Probe,
        })
    }

    /// Returns the next segment to send, given the window in bytes.
    #[inline(always)]
    pub(super) fn choose(&mut self, flight: &Flight, window: u64) -> Option<Candidate> {
        let cwnd = self.whole_window(window);
        // By far the most frequent case.
        if self.permit == Permit::New {
            return self.new_segment(flight, cwnd, Reason::Next);
        }
        self.choose_after_event(flight, cwnd)
    }

    /// Returns the next segment to send after a loss, a timeout or a look.
    #[inline(never)]
    fn choose_after_event(&mut self, flight: &Flight, cwnd: u64) -> Option<Candidate> {
        loop {
            match self.permit {
                Permit::Nothing => return None,
                Permit::New => return self.new_segment(flight, cwnd, Reason::Next),
                Permit::Lost | Permit::LostOnly => {
                    if cwnd <= self.board.in_flight() {
                        return None;
                    }
                    if let Some(number) = self.board.next_lost() {
                        return Some(Candidate::hole(number * self.mss));
                    }
                    if self.permit == Permit::LostOnly {
                        return None;
                    }
                    self.permit = Permit::New;
                }
                Permit::NewFirst => {
                    let candidate = self.new_segment(flight, cwnd, Reason::Next);
                    if candidate.is_some() || flight.snd_max > self.high_seq {
                        return candidate;
                    }
                    if !self.has_written(flight.snd_max, flight) {
                        // `tcp_xmit_recovery` judges the use even if nothing is left to send.
                        self.judge_use(false, cwnd, flight);
                    }
                    self.frto = false;
                    self.permit = Permit::Lost;
                }
                Permit::Head => return Some(Candidate::hole(flight.snd_una)),
                Permit::Probe => return self.probe_segment(flight),
            }
        }
    }
}
