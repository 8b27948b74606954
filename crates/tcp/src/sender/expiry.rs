//! Expiries of the retransmission timer.

use super::{Sender, State};
use crate::flight::audit::Cause;
use crate::measure::Beside;
use crate::recovery::SenderState;
use crate::wire::host_timer::HostTimer;
use crate::wire::segment::{Endpoint, FIN, SYN};
use lightburst_des::Time;

impl Sender {
    /// Counts an expiry of the retransmission timer. Returns whether nothing was acknowledged since
    /// the previous expiry for data or FIN.
    fn count_timeout(&mut self) -> bool {
        self.timeouts += 1;
        if self.state == State::SynSent {
            self.attempts += 1;
            return false;
        }
        let first = self.flight.snd_una;
        let repeated = std::mem::replace(&mut self.timed_out_at, first) == first;
        self.attempts = if repeated { self.attempts + 1 } else { 1 };
        repeated
    }

    /// Handles the event of the retransmission timer; `most` is the maximum number of repetitions
    /// of a segment.
    pub fn on_timer(&mut self, most: u32, end: &mut Endpoint<'_, '_>) {
        if !self.timer.expired(HostTimer::Sender, end) {
            return;
        }
        if self.measure.by_recovery && self.state == State::Established && self.on_look(end) {
            return;
        }
        if end
            .level
            .as_ref()
            .is_some_and(|it| it.sending.is_acknowledged())
            && self.reset()
        {
            return;
        }
        let repeated = self.count_timeout();
        if let Some(repaths) = end.ctx.repaths() {
            repaths.on_timeout(end.id);
        }
        self.decide(Cause::Timeout, end);
        // RFC 9293, section 3.8.3, (b): the connection is closed after R2 retransmissions.
        if self.attempts > most {
            self.state = State::GaveUp;
            self.pacing.clear();
            return;
        }
        self.timeout.on_timeout();
        match self.state {
            State::SynSent => {
                self.syn_sent = Time::NEVER;
                self.control(SYN, self.attempts + 1, end);
            }
            State::FinWait => {
                self.control(FIN, self.attempts + 1, end);
            }
            State::Established => {
                let state = &mut SenderState::new(
                    &mut self.flight,
                    &mut self.congestion,
                    &mut *self.timeout,
                    end.now(),
                );
                self.recovery.on_expiry(repeated, state);
                self.note_reduction();
                self.owed = u64::MAX;
                if self.measure.beside == Beside::Pulls {
                    self.wait_for_pull();
                }
                // RFC 6298, section 5, (5.6): the timer is restarted.
                self.resume(end);
                self.tell_window(end);
            }
            State::Idle | State::Closed | State::GaveUp => {
                unreachable!("no timer runs in this state")
            }
        }
    }
}
