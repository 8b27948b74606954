//! The one timer of the sender: retransmission, tail loss probe (RFC 8985, section 7) or reordering.

use super::evidence::LEAST_TIMEOUT;
use super::{Permit, RackTlp, SenderState, State, MICROSECOND};
use lightburst_des::{Duration, Time};

/// Timeout of a probe before the first round trip in microseconds (TCP_TIMEOUT_INIT).
const NO_ROUND_TRIP: u64 = 1_000_000;

/// Purpose for which the timer is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    Timeout,
    Probe,
    Reordering,
}

/// The timer, whose expiries fall on ticks.
#[derive(Clone, Copy, Debug)]
pub struct TimerState {
    pub pending: Option<Pending>,
    /// Time at which the timer was set, and the duration, in microseconds.
    set_at: u64,
    after: u64,
    /// Length of a tick in microseconds, and the time of the first.
    tick: u64,
    origin: u64,
    /// Whether the first segment was retransmitted, so that its timeout starts anew.
    pub rearm: bool,
    /// Whether the event in hand is an expiry of the reordering timer, or a timeout.
    pub after_look: bool,
    pub after_timeout: bool,
}

/// State of the tail loss probe.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbeState {
    /// End of the data sent when the probe was sent (TLP.end_seq); `None` without an episode.
    pub end: Option<u64>,
    /// Whether the probe repeated a segment (TLP.is_retrans).
    pub retransmitted: bool,
    /// Whether the timer of a probe expired, and whether the probe was sent.
    pub due: bool,
    pub sent: bool,
}

impl TimerState {
    pub fn new(tick: Duration) -> TimerState {
        TimerState {
            pending: None,
            set_at: 0,
            after: 0,
            tick: tick.0.div_ceil(MICROSECOND).max(1),
            origin: 0,
            rearm: false,
            after_look: false,
            after_timeout: false,
        }
    }

    /// Counts ticks from `now`. The clocks of real hosts are not in step; so those of connections
    /// are not.
    pub fn start(&mut self, now: u64) {
        self.origin = now;
    }

    pub fn tick_of(&self, now: u64) -> u64 {
        match self.tick {
            // Exact timers, without a division.
            1 => now - self.origin,
            tick => (now - self.origin) / tick,
        }
    }

    /// Returns the microseconds of a number of ticks.
    pub fn microseconds(&self, ticks: u64) -> u64 {
        ticks * self.tick
    }

    /// Sets the timer `after` microseconds from `now`.
    pub fn set(&mut self, pending: Pending, after: u64, now: u64) {
        (self.pending, self.set_at, self.after) = (Some(pending), now, after);
    }

    /// Returns the time of the expiry.
    pub fn deadline(&self) -> Time {
        if self.pending.is_none() {
            return Time::NEVER;
        }
        let set_at = self.tick_of(self.set_at);
        let ticks = match self.tick {
            1 => set_at + self.after,
            tick => bucket_end(set_at, self.after.div_ceil(tick)),
        };
        Time((self.origin + ticks * self.tick) * MICROSECOND)
    }
}

/// Returns the tick at which the kernel's timer wheel expires a timer that is set `after` ticks from
/// the tick `now`: the end of its bucket, so that no timer is early. Buckets are eight times as wide
/// from 63 ticks on, and again from 504 ticks on, and so forth (`calc_index`, kernel/time/timer.c).
fn bucket_end(now: u64, after: u64) -> u64 {
    let mut shift = 0;
    while after >= 63 << shift {
        shift += 3;
    }
    (((now + after) >> shift) + 1) << shift
}

impl RackTlp {
    pub(super) fn rto(sender: &SenderState<'_>) -> u64 {
        sender.timeout.value().0 / MICROSECOND
    }

    /// Returns the time left until the first segment is due for its timeout, in microseconds.
    fn rto_left(&self, sender: &SenderState<'_>) -> i64 {
        let sent = self.board.head().map_or(0, |head| head.sent);
        (sent + Self::rto(sender)) as i64 - Self::microseconds(sender.now) as i64
    }

    /// Sets the timer for a timeout, or turns it off if nothing is outstanding (`tcp_rearm_rto`).
    pub(super) fn rearm_timeout(&mut self, sender: &SenderState<'_>) {
        if self.board.is_empty() {
            self.timer.pending = None;
            return;
        }
        let left = match self.timer.pending {
            // A probe or a look has not moved the time at which the first segment was sent.
            Some(Pending::Reordering | Pending::Probe) => self.rto_left(sender).max(1) as u64,
            _ => Self::rto(sender),
        };
        let now = Self::microseconds(sender.now);
        self.timer.set(Pending::Timeout, left, now);
    }

    /// Sets the timer for a tail loss probe where one may be sent; returns whether it did
    /// (`tcp_schedule_loss_probe`).
    pub(super) fn schedule_probe(&mut self, advancing: bool, sender: &SenderState<'_>) -> bool {
        let features = &self.features;
        if !features.tail_loss_probe || !features.sack || self.board.is_empty() {
            return false;
        }
        if !matches!(self.state, State::Open | State::Cwr) {
            return false;
        }
        // RFC 8985, section 7.2: PTO = 2 * SRTT, with a margin for a delayed acknowledgement if one
        // segment is outstanding.
        let margin = match self.board.len() {
            1 => sender.timeout.minimum().0 / MICROSECOND,
            _ => LEAST_TIMEOUT,
        };
        let mut after = match sender.timeout.smoothed() {
            Some(srtt) => srtt.0 * 2 / MICROSECOND + margin,
            None => NO_ROUND_TRIP,
        };
        let left = match advancing {
            true => Self::rto(sender) as i64,
            false => self.rto_left(sender),
        };
        if left > 0 {
            after = after.min(left as u64);
        }
        let now = Self::microseconds(sender.now);
        self.timer.set(Pending::Probe, after, now);
        true
    }

    /// Sets the timer after an acknowledgement (`tcp_set_xmit_timer`).
    pub(super) fn set_timer_anew(&mut self, sender: &SenderState<'_>) {
        if !self.schedule_probe(true, sender) {
            self.rearm_timeout(sender);
        }
    }

    /// Looks for losses again when the reordering window has passed (`tcp_rack_reo_timeout`).
    pub(super) fn on_reordering_timer(&mut self, sender: &mut SenderState<'_>) {
        let (before, lost) = (self.board.in_flight(), self.lost);
        self.flags = super::Flags::default();
        self.evidence.begin();
        self.detect_loss(sender);
        self.permit = Permit::Nothing;
        if before != self.board.in_flight() {
            if self.state != State::Recovery {
                self.enter_recovery(sender);
                if self.rates.is_none() {
                    self.reduce(1, self.lost - lost, false, sender);
                }
            }
            self.permit = Permit::LostOnly;
        }
        self.tell_lost(sender);
        self.timer.after_look = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_of_the_kernel_expire_at_the_end_of_their_bucket() {
        // Level 0: one tick; level 1 from 63 ticks on: eight; level 2 from 504 on: 64.
        let ends = [1, 62, 63, 503, 504].map(|after| bucket_end(100, after));
        assert_eq!(ends, [102, 163, 168, 608, 640]);
    }

    #[test]
    fn exact_timers_are_on_time() {
        let mut timer = TimerState::new(Duration::ZERO);
        timer.start(5);
        timer.set(Pending::Timeout, 300_000, 1_007);
        assert_eq!(timer.deadline(), Time(301_007 * MICROSECOND));
    }
}
