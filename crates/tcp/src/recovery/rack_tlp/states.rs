//! States of the sender towards congestion, and the transitions between them.

use super::{Arrival, Counts, Pending, Permit, RackTlp, SenderState, State, MICROSECOND};
use lightburst_des::Duration;

/// Least time for a receiver that seems to have discarded data, in microseconds.
const LEAST_PATIENCE: u64 = 10_000;

impl RackTlp {
    pub(super) fn present_counts(&self) -> Counts {
        let least = self.evidence.min_rtt.value();
        Counts {
            state: self.state.name(),
            sacked: self.board.sacked,
            lost: self.board.lost,
            retransmitted: self.board.retransmitted,
            outstanding: self.board.len(),
            reordering: self.reordering,
            reordering_seen: self.evidence.reordering_seen,
            duplicates: self.evidence.duplicates,
            delivered: self.delivered,
            least_round_trip: (least < u64::MAX).then(|| Duration(least * MICROSECOND)),
        }
    }

    /// Handles evidence of losses, duplicates or marks, and leaves states that are over
    /// (`tcp_fastretrans_alert`).
    pub(super) fn on_alert(
        &mut self,
        arrival: &Arrival<'_>,
        duplicates: u64,
        sender: &mut SenderState<'_>,
    ) {
        if self.board.is_empty() {
            self.board.sacked = 0;
        }
        if self.flags.echo {
            self.undo.prior_ssthresh = 0;
        }
        if self.awaits_discarded(sender) || !self.leave_state(arrival, sender) {
            return;
        }
        let may_retransmit = match self.state {
            State::Recovery => self.in_recovery(arrival, duplicates, sender),
            _ => self.elsewhere(arrival, duplicates, sender),
        };
        if may_retransmit {
            self.rexmit = Some(Permit::Lost);
        }
    }

    /// Gives a receiver half a round trip, and at least 10 ms, whose acknowledgement ends at a segment
    /// that it has SACKed: it seems to have discarded that one (RFC 2018, section 8). Returns whether
    /// it is so (`tcp_check_sack_reneging`).
    fn awaits_discarded(&mut self, sender: &SenderState<'_>) -> bool {
        let discarded = self.flags.advanced && self.board.head().is_some_and(|head| head.sacked());
        if discarded {
            let round_trip = sender.timeout.smoothed().unwrap_or_default();
            let after = (round_trip.0 / MICROSECOND / 2).max(LEAST_PATIENCE);
            let now = Self::microseconds(sender.now);
            self.timer.set(Pending::Timeout, after, now);
            self.flags.timer = false;
        }
        discarded
    }

    /// Leaves a state whose data is acknowledged; returns whether the evidence is to be looked at
    /// further.
    fn leave_state(&mut self, arrival: &Arrival<'_>, sender: &mut SenderState<'_>) -> bool {
        let acknowledged = sender.flight.snd_una;
        if self.state == State::Open {
            self.undo.retransmitted_at = None;
        } else if acknowledged >= self.high_seq {
            if self.state == State::Cwr && acknowledged != self.high_seq {
                self.end_reduction(sender);
                self.state = State::Open;
            } else if self.state == State::Recovery {
                if !self.features.sack {
                    self.board.sacked = 0;
                }
                if self.try_undo_recovery(arrival, sender) {
                    return false;
                }
                self.end_reduction(sender);
            }
        }
        true
    }

    /// Continues a recovery; returns whether lost segments may be sent.
    fn in_recovery(
        &mut self,
        arrival: &Arrival<'_>,
        duplicates: u64,
        sender: &mut SenderState<'_>,
    ) -> bool {
        if !self.flags.advanced {
            if !self.features.sack {
                self.add_duplicates(duplicates);
            }
        } else if self.try_undo_partial(arrival, sender) {
            return false;
        }
        if self.try_undo_by_duplicates(sender) {
            self.try_to_open(sender);
        }
        self.identify_loss(sender);
        if self.state != State::Recovery {
            if self.board.lost == 0 {
                return false;
            }
            self.enter_recovery(sender);
        }
        true
    }

    /// Looks for losses outside of a recovery; returns whether lost segments may be sent.
    fn elsewhere(
        &mut self,
        arrival: &Arrival<'_>,
        duplicates: u64,
        sender: &mut SenderState<'_>,
    ) -> bool {
        if self.state == State::Loss {
            self.in_loss(arrival, duplicates, sender);
            self.identify_loss(sender);
            if self.state != State::Open && !self.flags.lost_again {
                return self.rexmit == Some(Permit::Lost);
            }
        }
        if !self.features.sack {
            if self.flags.advanced {
                self.board.sacked = 0;
            }
            self.add_duplicates(duplicates);
        }
        if self.state <= State::Disorder {
            self.try_undo_by_duplicates(sender);
        }
        self.identify_loss(sender);
        if self.board.lost == 0 {
            self.try_to_open(sender);
            return false;
        }
        self.enter_recovery(sender);
        true
    }

    /// Handles an acknowledgement after a timeout (`tcp_process_loss`).
    fn in_loss(&mut self, arrival: &Arrival<'_>, duplicates: u64, sender: &mut SenderState<'_>) {
        let flags = self.flags;
        let recovered = sender.flight.snd_una >= self.high_seq;
        if flags.advanced && self.try_undo_loss(false, arrival, sender) {
            return;
        }
        if self.frto {
            // RFC 5682, section 3.1, step 3b: data that was not retransmitted is acknowledged.
            if flags.original && self.try_undo_loss(true, arrival, sender) {
                return;
            }
            if sender.flight.snd_max > self.high_seq {
                // Step 3a.
                if flags.sacked || duplicates > 0 {
                    self.frto = false;
                }
            } else if flags.advanced && !recovered {
                // Step 2b: new data is sent.
                self.high_seq = sender.flight.snd_max;
                let next = sender.flight.snd_max;
                if self.has_written(next, sender.flight) && sender.flight.is_advertised_from(next) {
                    self.rexmit = Some(Permit::NewFirst);
                    return;
                }
                self.frto = false;
            }
        }
        if recovered {
            self.try_undo_recovery(arrival, sender);
            return;
        }
        if !self.features.sack {
            if sender.flight.snd_max > self.high_seq && duplicates > 0 {
                self.add_duplicates(duplicates);
            } else if flags.advanced {
                self.board.sacked = 0;
            }
        }
        self.rexmit = Some(Permit::Lost);
    }
}
