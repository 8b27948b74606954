"""Reductions of the window by PRR (RFC 6937), and their undoing by DSACK, timestamps or F-RTO."""

from __future__ import annotations

from linux.evidence import Evidence
from linux.state import CWR, DISORDER, INFINITE, LOSS, OPEN, RECOVERY, RECOVERY_THRESHOLD


class Reduction(Evidence):
    """Entering and leaving the states in which the window is reduced."""

    def init_undo(self) -> None:
        self.undo_marker = self.snd_una
        self.undo_retrans = self.retrans_out
        if self.tlp_high_seq is not None and self.tlp_retrans:
            self.undo_retrans += 1
        if not self.undo_retrans:
            self.undo_retrans = -1

    def init_reduction(self) -> None:
        self.high_seq = self.snd_nxt
        self.tlp_high_seq = None
        self.cwnd_cnt = 0
        self.prior_cwnd = self.cwnd
        self.prr_base = {
            "linux": self.cwnd,
            "rfc6937": self.packets_out,
            "rfc9937": self.packets_out - self.sacked_out + self.newly,
        }[self.o.reduction]
        self.prr_delivered = self.prr_out = 0
        self.reduce_by_law()

    def reduce_by_law(self) -> None:
        self.ssthresh = self.law.reduced()

    def reduce_at_timeout(self, reduces: bool) -> None:
        if reduces:
            self.ssthresh = self.law.reduced()

    def reduce_cwnd(self, acked: int, lost: int, advanced: bool) -> None:
        """PRR with the slow-start reduction bound (RFC 6937), with the kernel's conditions."""
        target = self.target
        delta = target - self.in_flight
        if acked <= 0 or not self.prr_base:
            return
        self.prr_delivered += acked
        if delta < 0:
            due = (target * self.prr_delivered + self.prr_base - 1) // self.prr_base
            count = due - self.prr_out
        else:
            count = max(self.prr_delivered - self.prr_out, acked)
            if (advanced and not lost) or self.o.reduction == "rfc6937":
                count += 1
            count = min(delta, count)
        count = max(count, 0 if self.prr_out else 1)
        self.cwnd = self.in_flight + count

    def end_reduction(self) -> None:
        reduced = self.ca_state == CWR or self.undo_marker is not None
        if self.target < INFINITE and reduced:
            self.take_target()

    @property
    def target(self) -> int:
        """Window at the end of a reduction."""
        return self.ssthresh

    def take_target(self) -> None:
        self.cwnd = self.ssthresh

    def enter_recovery(self, echo: bool) -> None:
        if not self.any_retrans():
            self.retrans_stamp = None
        self.prior_ssthresh = 0
        self.init_undo()
        if not self.reducing:
            if not echo:
                self.prior_ssthresh = self.current_ssthresh()
            self.init_reduction()
        self.set_state(RECOVERY)

    def enter_cwr(self) -> None:
        self.prior_ssthresh = 0
        if self.ca_state < CWR:
            self.undo_marker = None
            self.init_reduction()
            self.set_state(CWR)

    def enter_loss(self) -> None:
        fresh = self.ca_state < RECOVERY
        head = self.queue[0]
        if head.sacked:
            for s in self.queue:
                s.sacked = False
            self.sacked_out = 0
        elif not self.o.sack:
            self.sacked_out = 0
        for s in list(self.queue):
            recent = self.rack_rtt - (self.now - s.sent) > 0
            if s is not head and recent:
                continue
            self.mark_lost(s)
        reduces = (
            self.ca_state <= DISORDER
            or self.high_seq <= self.snd_una
            or (self.ca_state == LOSS and not self.retransmits)
        )
        if reduces:
            self.prior_ssthresh = self.current_ssthresh()
            self.prior_cwnd = self.cwnd
            self.init_undo()
        self.reduce_at_timeout(reduces)
        self.cwnd, self.cwnd_cnt = self.in_flight + 1, 0
        if self.ca_state <= DISORDER and self.sacked_out >= self.o.reordering:
            self.reordering = min(self.reordering, self.o.reordering)
        self.set_state(LOSS)
        self.high_seq = self.snd_nxt
        self.tlp_high_seq = None
        self.frto = self.o.frto and (fresh or bool(self.retransmits))

    def packet_delayed(self) -> bool:
        echoed = self.ack.timestamp
        if self.retrans_stamp is not None:
            return echoed is not None and echoed < self.retrans_stamp // 1000
        # Without SACK the time of the first retransmission is cleared at the end of a recovery.
        return self.o.sack or self.snd_una < self.high_seq

    def may_undo(self) -> bool:
        return self.undo_marker is not None and (not self.undo_retrans or self.packet_delayed())

    def undo(self, unmark: bool) -> None:
        if unmark:
            for s in self.queue:
                s.lost = False
            self.lost_out = 0
        if self.prior_ssthresh:
            self.restore_window()
        self.undo_marker = None
        self.rack_advanced = True

    def restore_window(self) -> None:
        self.cwnd = self.law.undone()
        if self.prior_ssthresh > self.ssthresh:
            self.ssthresh = self.prior_ssthresh

    def preventing_reopen(self) -> bool:
        if self.snd_una == self.high_seq and not self.o.sack:
            if not self.any_retrans():
                self.retrans_stamp = None
            return True
        return False

    def try_undo_recovery(self) -> bool:
        if self.may_undo():
            self.undo(False)
        elif self.reo_persist:
            self.reo_persist -= 1
        if self.preventing_reopen():
            return True
        self.set_state(OPEN)
        return False

    def try_undo_dsack(self) -> bool:
        if self.undo_marker is not None and not self.undo_retrans:
            self.reo_persist = min(RECOVERY_THRESHOLD, self.reo_persist + 1)
            self.undo(False)
            return True
        return False

    def try_undo_partial(self, prior_una: int) -> bool:
        if self.undo_marker is not None and self.packet_delayed():
            self.check_reordering(prior_una)
            if self.retrans_out:
                return True
            if not self.any_retrans():
                self.retrans_stamp = None
            self.undo(True)
            self.try_keep_open()
        return False

    def try_undo_loss(self, frto: bool) -> bool:
        if frto or self.may_undo():
            self.undo(True)
            self.retransmits = 0
            if self.preventing_reopen():
                return True
            if frto or self.o.sack:
                self.set_state(OPEN)
            return True
        return False

    def try_keep_open(self) -> None:
        state = OPEN
        if self.sacked_out + self.lost_out or self.any_retrans():
            state = DISORDER
        if self.ca_state != state:
            self.set_state(state)
            self.high_seq = self.snd_nxt

    def try_to_open(self) -> None:
        if not self.any_retrans():
            self.retrans_stamp = None
        if "ece" in self.flags:
            self.enter_cwr()
        if self.ca_state != CWR:
            self.try_keep_open()

    def process_tlp(self, upto: int) -> None:
        assert self.tlp_high_seq is not None
        if upto < self.tlp_high_seq:
            return
        if not self.tlp_retrans or "dsack-tlp" in self.flags:
            self.tlp_high_seq = None
        elif upto > self.tlp_high_seq:
            self.init_reduction()
            self.set_state(CWR)
            self.end_reduction()
            self.try_keep_open()
        elif not self.flags & {"advanced", "acked", "sacked"}:
            self.tlp_high_seq = None
