//! Reductions of the window by PRR (RFC 6937), and their undoing by duplicate reports (RFC 3708),
//! timestamps (RFC 3522) or F-RTO (RFC 5682).

use super::evidence::{milliseconds, PERSIST};
use super::{Arrival, RackTlp, SenderState, State};
use crate::cc::{Loss, Timeout, Window};
use lightburst_net::Block;

/// Standard or system whose proportional rate reduction is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Linux 6.18: as RFC 9937, but relative to the window before the loss.
    Linux,
    /// RFC 6937 with the slow-start reduction bound (PRR-SSRB).
    Rfc6937,
    Rfc9937,
}

impl Rule {
    pub const NAMES: &'static [&'static str] = &["linux", "rfc6937", "rfc9937"];

    /// Returns the rule of one of the [names](Rule::NAMES).
    pub fn called(name: &str) -> Rule {
        match name {
            "rfc6937" => Rule::Rfc6937,
            "rfc9937" => Rule::Rfc9937,
            _ => Rule::Linux,
        }
    }
}

/// Proportional rate reduction, in segments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prr {
    /// Window before the reduction.
    prior_cwnd: u64,
    /// Segments in relation to which the reduction goes (RecoverFS).
    base: u64,
    /// Window of the law after the loss, towards which the reduction goes, in bytes.
    target: f64,
    delivered: u64,
    pub out: u64,
}

/// Evidence that a reduction was not needed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    /// SND.UNA when the reduction began; `None` if it cannot be undone.
    pub marker: Option<u64>,
    /// Retransmissions since, without those reported as duplicates; -1 before the first.
    retransmissions: i64,
    /// Time of the first retransmission in microseconds.
    pub retransmitted_at: Option<u64>,
    /// ssthresh to restore in segments; 0 for none.
    pub prior_ssthresh: u64,
    /// Number of reductions undone.
    pub count: u32,
}

impl Undo {
    pub fn retransmit(&mut self, now: u64) {
        self.retransmitted_at.get_or_insert(now);
        self.retransmissions = self.retransmissions.max(0) + 1;
    }

    /// Notes that a block below the acknowledgement was reported as a duplicate.
    pub fn on_duplicate(&mut self, arrival: &Arrival<'_>, block: Block, mss: u64) {
        let below = block.end <= arrival.before;
        let since = self.marker.is_some_and(|marker| block.end > marker);
        if below && since && self.retransmissions > 0 {
            let count = (block.end - block.start).div_ceil(mss) as i64;
            self.retransmissions = (self.retransmissions - count).max(0);
        }
    }

    /// Notes that an outstanding segment, which ends at `end`, was reported as a duplicate.
    pub fn on_duplicate_segment(&mut self, end: u64) {
        let since = self.marker.is_some_and(|marker| end > marker);
        if since && self.retransmissions > 0 {
            self.retransmissions -= 1;
        }
    }
}

impl RackTlp {
    /// Returns the ssthresh to restore (`tcp_current_ssthresh`): outside of a reduction at least
    /// three quarters of the window.
    pub(super) fn current_ssthresh(&mut self, sender: &SenderState<'_>) -> u64 {
        let (ssthresh, cwnd) = (self.ssthresh(sender), self.cwnd(sender));
        match self.reducing() {
            true => ssthresh,
            false => ssthresh.max((cwnd >> 1) + (cwnd >> 2)),
        }
    }

    fn start_undo(&mut self, sender: &SenderState<'_>) {
        let probed = self.probe.end.is_some() && self.probe.retransmitted;
        let count = self.board.retransmitted + u64::from(probed);
        self.undo.marker = Some(sender.flight.snd_una);
        self.undo.retransmissions = if count == 0 { -1 } else { count as i64 };
    }

    /// Has the law set ssthresh, and begins to reduce the window towards it
    /// (`tcp_init_cwnd_reduction`); `echo`: because of an ECN echo.
    pub(super) fn start_reduction(&mut self, echo: bool, sender: &mut SenderState<'_>) {
        self.reduced = true;
        self.high_seq = sender.flight.snd_max;
        self.probe.end = None;
        let cwnd = self.cwnd(sender);
        let outstanding = self.board.len();
        self.prr = Prr {
            prior_cwnd: cwnd,
            base: match self.features.reduction {
                Rule::Linux => cwnd,
                // RFC 6937, section 3: RecoverFS = snd.nxt - snd.una
                Rule::Rfc6937 => outstanding,
                // RFC 9937, section 6: without data SACKed before, and with data acknowledged now.
                Rule::Rfc9937 => outstanding - self.board.sacked + self.evidence.delivered_now(),
            },
            ..Prr::default()
        };
        let cwnd = sender.congestion.window().cwnd;
        sender.congestion.on_loss(&Loss {
            at: sender.now,
            in_flight: sender.flight.flight_size(),
            echo,
        });
        self.prr.target = sender.congestion.window().cwnd;
        sender.congestion.set_cwnd(cwnd);
    }

    /// Sets the window by PRR with the slow-start reduction bound (`tcp_cwnd_reduction`).
    pub(super) fn reduce(
        &mut self,
        delivered: u64,
        lost: u64,
        advanced: bool,
        sender: &mut SenderState<'_>,
    ) {
        let (pipe, mss) = (self.board.in_flight(), self.mss as f64);
        let prr = &mut self.prr;
        let target = (prr.target / mss) as u64;
        if delivered == 0 || prr.base == 0 {
            return;
        }
        prr.delivered += delivered;
        let mut count = if pipe > target {
            // RFC 9937, section 6: SndCnt = CEIL (prr_delivered * ssthresh / RecoverFS) - prr_out,
            // with the window of the law after the loss for ssthresh: most laws have both alike.
            let due = (target * prr.delivered).div_ceil(prr.base);
            due as i64 - prr.out as i64
        } else {
            // SndCnt = MAX (prr_delivered - prr_out, DeliveredData), and one MSS more if the
            // acknowledgement is safe: SND.UNA advances, and no further loss is seen. RFC 6937,
            // section 3, has one more in any case.
            let delivered = delivered as i64;
            let limit = (prr.delivered as i64 - prr.out as i64).max(delivered);
            let safe = advanced && lost == 0;
            let more = i64::from(safe || self.features.reduction == Rule::Rfc6937);
            // SndCnt = MIN (ssthresh - inflight, SndCnt)
            (limit + more).min((target - pipe) as i64)
        };
        // If prr_out is 0 and SndCnt is 0, SndCnt = MSS: a fast retransmit at the begin.
        count = count.max(i64::from(prr.out == 0));
        self.set_cwnd(pipe + count as u64, sender);
    }

    /// Ends a reduction with the window that the law aimed at (`tcp_end_cwnd_reduction`).
    pub(super) fn end_reduction(&mut self, sender: &mut SenderState<'_>) {
        let reduced = self.state == State::Cwr || self.undo.marker.is_some();
        if reduced && self.rates.is_none() {
            sender.congestion.set_cwnd(self.prr.target);
        }
    }

    /// Begins a fast recovery (`tcp_enter_recovery`).
    pub(super) fn enter_recovery(&mut self, sender: &mut SenderState<'_>) {
        if !self.any_retransmission() {
            self.undo.retransmitted_at = None;
        }
        self.undo.prior_ssthresh = 0;
        self.start_undo(sender);
        if !self.reducing() {
            if !self.flags.echo {
                self.undo.prior_ssthresh = self.current_ssthresh(sender);
            }
            self.start_reduction(false, sender);
        }
        self.state = State::Recovery;
        self.entered = true;
    }

    /// Begins a reduction after an ECN echo (`tcp_enter_cwr`).
    fn enter_cwr(&mut self, sender: &mut SenderState<'_>) {
        self.undo.prior_ssthresh = 0;
        if self.state < State::Cwr {
            self.undo.marker = None;
            self.start_reduction(true, sender);
            self.state = State::Cwr;
        }
    }

    /// Takes segments for lost after a timeout (`tcp_enter_loss`).
    pub(super) fn enter_loss(&mut self, sender: &mut SenderState<'_>) {
        let fresh = self.state < State::Recovery;
        let now = Self::microseconds(sender.now);
        let head = self.board.first();
        if self.board.head().is_some_and(|head| head.sacked()) {
            // RFC 2018, section 8: the receiver discarded SACKed data.
            self.board.forget_sacked();
            self.scoreboard.clear();
        } else if !self.features.sack {
            self.board.sacked = 0;
        }
        for number in head..self.board.end() {
            // RFC 8985, section 6.3: segments sent within RACK.rtt may still arrive.
            let recent = self.evidence.rack_rtt + self.board.get(number).sent > now;
            if number == head || !recent {
                self.lose(number, sender.now);
            }
        }
        let reduces = self.state <= State::Disorder
            || self.high_seq <= sender.flight.snd_una
            || (self.state == State::Loss && self.retransmits == 0);
        if reduces {
            self.undo.prior_ssthresh = self.current_ssthresh(sender);
            self.prr.prior_cwnd = self.cwnd(sender);
            self.start_undo(sender);
        }
        sender.congestion.on_timeout(&Timeout {
            at: sender.now,
            in_flight: sender.flight.flight_size(),
            repeated: !reduces,
            sent: sender.flight.snd_max,
            lost: self.lost,
        });
        self.tell_lost(sender);
        self.set_cwnd(self.board.in_flight() + 1, sender);
        if self.state <= State::Disorder && self.board.sacked >= self.features.reordering {
            self.reordering = self.reordering.min(self.features.reordering);
        }
        self.state = State::Loss;
        self.high_seq = sender.flight.snd_max;
        self.probe.end = None;
        // RFC 5682, section 2.1, step 1: not within a recovery.
        self.frto = self.features.frto && (fresh || self.retransmits > 0);
    }

    /// Returns whether the acknowledgement was caused by a first transmission (RFC 3522).
    fn is_delayed(&self, arrival: &Arrival<'_>, sender: &SenderState<'_>) -> bool {
        match self.undo.retransmitted_at {
            Some(at) => arrival
                .timestamp
                .is_some_and(|echoed| milliseconds(echoed) < at / 1000),
            // Without SACK the time is cleared at the end of a recovery.
            None => self.features.sack || sender.flight.snd_una < self.high_seq,
        }
    }

    fn may_undo(&self, arrival: &Arrival<'_>, sender: &SenderState<'_>) -> bool {
        self.undo.marker.is_some()
            && (self.undo.retransmissions == 0 || self.is_delayed(arrival, sender))
    }

    /// Restores the window before the reduction (`tcp_undo_cwnd_reduction`).
    fn undo(&mut self, found: bool, sender: &mut SenderState<'_>) {
        if found {
            self.board.forget_lost();
        }
        if self.undo.prior_ssthresh > 0 {
            self.undo.count += 1;
            let ssthresh = sender.congestion.window().ssthresh;
            sender.congestion.undo(Window {
                // A law that sets the window itself restores it as well.
                cwnd: match self.rates {
                    Some(_) => 0.0,
                    None => (self.prr.prior_cwnd * self.mss) as f64,
                },
                ssthresh: ssthresh.max(self.threshold(self.undo.prior_ssthresh)),
            });
        }
        self.undo.marker = None;
        self.evidence.rack_advanced = true;
    }

    /// Without SACK a recovery stays until more than `high_seq` is acknowledged, so that duplicates
    /// of its end begin no second one (RFC 6582, section 3.2).
    fn holds_state(&mut self, sender: &SenderState<'_>) -> bool {
        let holds = sender.flight.snd_una == self.high_seq && !self.features.sack;
        if holds && !self.any_retransmission() {
            self.undo.retransmitted_at = None;
        }
        holds
    }

    pub(super) fn try_undo_recovery(
        &mut self,
        arrival: &Arrival<'_>,
        sender: &mut SenderState<'_>,
    ) -> bool {
        if self.may_undo(arrival, sender) {
            self.undo(false, sender);
        } else {
            self.evidence.persist = self.evidence.persist.saturating_sub(1);
        }
        if self.holds_state(sender) {
            return true;
        }
        self.state = State::Open;
        false
    }

    /// Undoes the reduction if all retransmissions were reported as duplicates.
    pub(super) fn try_undo_by_duplicates(&mut self, sender: &mut SenderState<'_>) -> bool {
        let undone = self.undo.marker.is_some() && self.undo.retransmissions == 0;
        if undone {
            self.evidence.persist = (self.evidence.persist + 1).min(PERSIST);
            self.undo(false, sender);
        }
        undone
    }

    /// Undoes the reduction at a partial acknowledgement by a first transmission; returns whether
    /// nothing more is to be done while retransmissions are in flight.
    pub(super) fn try_undo_partial(
        &mut self,
        arrival: &Arrival<'_>,
        sender: &mut SenderState<'_>,
    ) -> bool {
        if self.undo.marker.is_some() && self.is_delayed(arrival, sender) {
            self.check_reordering(arrival.before / self.mss, sender);
            if self.board.retransmitted > 0 {
                return true;
            }
            if !self.any_retransmission() {
                self.undo.retransmitted_at = None;
            }
            self.undo(true, sender);
            self.try_keep_open(sender);
        }
        false
    }

    /// Undoes the reduction of a timeout, by F-RTO or by the other evidence.
    pub(super) fn try_undo_loss(
        &mut self,
        frto: bool,
        arrival: &Arrival<'_>,
        sender: &mut SenderState<'_>,
    ) -> bool {
        if !frto && !self.may_undo(arrival, sender) {
            return false;
        }
        self.undo(true, sender);
        self.retransmits = 0;
        if !self.holds_state(sender) && (frto || self.features.sack) {
            self.state = State::Open;
        }
        true
    }

    pub(super) fn try_keep_open(&mut self, sender: &SenderState<'_>) {
        let unclear = self.board.sacked + self.board.lost > 0 || self.any_retransmission();
        let state = if unclear {
            State::Disorder
        } else {
            State::Open
        };
        if self.state != state {
            self.state = state;
            self.high_seq = sender.flight.snd_max;
        }
    }

    pub(super) fn try_to_open(&mut self, sender: &mut SenderState<'_>) {
        if !self.any_retransmission() {
            self.undo.retransmitted_at = None;
        }
        if self.flags.echo {
            self.enter_cwr(sender);
        }
        if self.state != State::Cwr {
            self.try_keep_open(sender);
        }
    }

    /// Ends the episode of a tail loss probe: if the probe repaired a loss, the window is reduced
    /// (RFC 8985, section 7.4.2).
    #[inline]
    pub(super) fn end_probe(&mut self, sender: &mut SenderState<'_>) {
        let acknowledged = sender.flight.snd_una;
        if let Some(end) = self.probe.end.filter(|end| acknowledged >= *end) {
            self.end_episode(end, sender);
        }
    }

    #[inline(never)]
    fn end_episode(&mut self, end: u64, sender: &mut SenderState<'_>) {
        let acknowledged = sender.flight.snd_una;
        let flags = self.flags;
        if !self.probe.retransmitted || flags.duplicate_probe {
            self.probe.end = None;
        } else if acknowledged > end {
            self.start_reduction(false, sender);
            self.state = State::Cwr;
            self.end_reduction(sender);
            self.try_keep_open(sender);
        } else if !flags.advanced && !flags.acked && !flags.sacked {
            self.probe.end = None;
        }
    }
}
