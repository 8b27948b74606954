//! Use of the window: growth only while it limits the sender (RFC 7661, as in `tcp_cwnd_validate`),
//! and restart after an idle time (RFC 5681, section 4.1).

use super::timer::Pending;
use super::{Permit, RackTlp, SenderState};
use crate::cc::Window;
use crate::flight::Flight;

/// Use of the window in the present round trip.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Whether the window limited the sender.
    limited: bool,
    /// Most segments outstanding.
    most_outstanding: u64,
    /// End of the data of the present round trip.
    end: u64,
    /// Time of the last transmission of new data in microseconds.
    last_sent: u64,
    /// New segments sent in the event in hand, and whether nothing was outstanding before.
    sent: u64,
    was_empty: bool,
    /// Window at the start of the connection in segments.
    initial: u64,
}

impl Usage {
    pub fn new(initial: u64, now: u64) -> Usage {
        Usage {
            initial,
            last_sent: now,
            ..Usage::default()
        }
    }

    /// Notes that a new segment was sent at `now`; `first` if nothing else is outstanding.
    pub fn sent(&mut self, first: bool, now: u64) {
        self.was_empty |= first;
        self.sent += 1;
        self.last_sent = now;
    }

    /// Returns whether the window may grow (`tcp_is_cwnd_limited`): in slow start up to twice the
    /// segments that were outstanding.
    pub fn is_limited(&self, cwnd: u64, window: &Window) -> bool {
        self.limited || (window.in_slow_start() && cwnd < 2 * self.most_outstanding)
    }

    /// Returns whether the window was used up at any time in the last round trip.
    pub fn is_used_up(&self) -> bool {
        self.limited
    }

    fn validate(&mut self, limited: bool, outstanding: u64, una: u64, next: u64) {
        let more = !self.limited && outstanding > self.most_outstanding;
        if una >= self.end || limited || more {
            (self.limited, self.most_outstanding) = (limited, outstanding);
            self.end = next;
        }
    }
}

impl RackTlp {
    /// Notes that all segments were sent that may be sent after an event: sets the timer and judges
    /// the use of the window (`tcp_write_xmit`).
    pub(super) fn end_sending(&mut self, sender: &mut SenderState<'_>) {
        let now = Self::microseconds(sender.now);
        let sent = std::mem::take(&mut self.usage.sent);
        let was_empty = std::mem::take(&mut self.usage.was_empty);
        let rearm = std::mem::take(&mut self.timer.rearm);
        let writes = !matches!(
            self.permit,
            Permit::Nothing | Permit::LostOnly | Permit::Head
        );
        if rearm {
            self.timer.set(Pending::Timeout, Self::rto(sender), now);
        }
        // RFC 5682, section 2.1, step 2b: without new data F-RTO ends, also if only pacing or the
        // interface holds it back (`tcp_xmit_recovery`).
        if self.permit == Permit::NewFirst && sender.flight.snd_max <= self.high_seq {
            self.frto = false;
        }
        if std::mem::take(&mut self.probe.due) {
            if sent > 0 {
                let cwnd = self.cwnd(sender);
                self.judge_use(true, cwnd, sender.flight);
            }
            if std::mem::take(&mut self.probe.sent) {
                self.probe.end = Some(sender.flight.snd_max);
                self.timer.pending = None;
            }
            self.permit = Permit::Nothing;
            self.rearm_timeout(sender);
        } else if std::mem::take(&mut self.timer.after_look) {
            if self.timer.pending != Some(Pending::Timeout) {
                self.rearm_timeout(sender);
            }
        } else if std::mem::take(&mut self.timer.after_timeout) {
            self.timer.set(Pending::Timeout, Self::rto(sender), now);
        } else if writes {
            // Without unsent data nothing is judged (`tcp_push_pending_frames`).
            if sent > 0 || self.has_written(sender.flight.snd_max, sender.flight) {
                let cwnd = self.cwnd(sender);
                self.judge_use(sent > 0, cwnd, sender.flight);
            }
            if sent > 0 && !self.schedule_probe(false, sender) {
                // The timeout counts from the first segment sent, also after a probe was due.
                if was_empty || self.timer.pending == Some(Pending::Probe) {
                    self.rearm_timeout(sender);
                }
            }
        }
    }

    /// Judges whether the window, of `cwnd` segments, limits the sender.
    pub(super) fn judge_use(&mut self, sent: bool, cwnd: u64, flight: &Flight) {
        let limited = self.board.in_flight() >= cwnd;
        if sent || limited {
            let outstanding = self.board.len();
            self.usage
                .validate(limited, outstanding, flight.snd_una, flight.snd_max);
        }
    }

    /// Halves the window for each timeout of an idle time (RFC 5681, section 4.1;
    /// `tcp_cwnd_restart`).
    pub(super) fn restart_after_idle(&mut self, sender: &mut SenderState<'_>) {
        let began = sender.flight.snd_max > 0;
        let applies = self.features.restart_after_idle && self.rates.is_none();
        if !applies || !self.board.is_empty() || !began {
            return;
        }
        let rto = sender.timeout.value().0 / super::MICROSECOND;
        let tick = self.timer.tick_of(Self::microseconds(sender.now));
        let last = self.timer.tick_of(self.usage.last_sent);
        let mut idle = self.timer.microseconds(tick - last);
        if idle <= rto {
            return;
        }
        let mut cwnd = self.cwnd(sender);
        let restart = self.usage.initial.min(cwnd);
        let ssthresh = self.current_ssthresh(sender);
        sender.congestion.set_ssthresh(self.threshold(ssthresh));
        while idle > rto && cwnd > restart {
            idle -= rto;
            cwnd >>= 1;
        }
        self.set_cwnd(cwnd.max(restart), sender);
    }
}
