"""Sender of Linux 6.18, in segments and microseconds, as the oracle of the core's Linux profile.

Written from RFC 8985 (RACK-TLP), RFC 6937 (PRR), RFC 5682 (F-RTO), RFC 9438 (CUBIC) and the
behaviour of ``net/ipv4/tcp_{input,output,timer,recovery,cubic}.c``, whose names of states and
variables are kept. Slow and plain: a list of segments is walked for every acknowledgement.

Left out: aggregates of segments (GSO), the search for the path's MTU, and the halving of the window
of an application that uses less of it for a retransmission timeout. With writes of 10 segments
every 50 ms and a window of 29 the recorded kernel keeps its window.
"""

from __future__ import annotations

from linux.reduction import Reduction
from linux.state import CWR, DISORDER, LOSS, OPEN, RECOVERY, Acknowledgement


class Sender(Reduction):
    """A connection of Linux: acknowledgements, timers and writes in, segments out."""

    def establish(self, rtt: int) -> None:
        """Ends the handshake, whose round trip was ``rtt`` us."""
        self.estimate(rtt)
        self.min_rtt.update(self.now, rtt)
        self.update_pacing()

    def on_ack(self, ack: Acknowledgement) -> None:
        if ack.upto > self.snd_nxt:
            return
        self.ack = ack
        self.flags = set()
        prior_una, prior_delivered, prior_lost = self.snd_una, self.delivered, self.lost
        self.prior_delivered_of_rate = 0
        self.last_end_of_rate = 0
        self.sack_delivered = 0
        self.first_sackt = self.last_sackt = None
        self.rexmit = None
        self.sampled = self.of_law = -1
        self.newly = 0
        if ack.upto < self.snd_una:
            self.on_old_ack(ack)
            return
        if ack.upto > self.snd_una:
            self.flags.add("advanced")
            self.retransmits = 0
        self.prior_fack = self.highest_sacked()
        self.snd_una = ack.upto
        if ack.blocks and self.o.sack:
            self.sacktag(ack, prior_una)
        if ack.echo and self.o.ecn:
            self.flags.add("ece")
        if not self.packets_out:
            self.window_known = True
            if "dsacking" in self.flags:
                self.fastretrans_alert(prior_una, 0)
            if self.tlp_high_seq is not None:
                self.process_tlp(ack.upto)
            self.heard()
            self.write()
            return
        self.clean()
        self.update_reo_wnd()
        if self.tlp_high_seq is not None:
            self.process_tlp(ack.upto)
        # The first segment from the peer after its SYN always updates the window.
        not_dup = "acked" in self.flags or "advanced" in self.flags or not self.window_known
        self.window_known = True
        alert = self.flags & {"sacked", "ece", "dsacking"}
        if not not_dup or alert or self.ca_state != OPEN:
            duplicates = int(not not_dup and "dsacking" not in self.flags)
            self.fastretrans_alert(prior_una, duplicates)
        if "timer" in self.flags:
            self.set_xmit_timer()
        newly, lost = self.delivered - prior_delivered, self.lost - prior_lost
        self.control(newly, lost)
        self.heard()
        self.xmit_recovery()
        self.write()

    def on_old_ack(self, ack: Acknowledgement) -> None:
        """Handles an acknowledgement below SND.UNA: only its SACK blocks count."""
        if ack.blocks:
            self.sacktag(ack, self.snd_una)
            self.fastretrans_alert(self.snd_una, 0)
        self.heard()
        self.xmit_recovery()
        self.write()

    def heard(self) -> None:
        """An acknowledgement is handled, and nothing sent yet."""

    def control(self, acked: int, lost: int) -> None:
        if self.reducing:
            self.reduce_cwnd(acked, lost, "advanced" in self.flags)
        else:
            wide = self.reordering > self.o.reordering
            progress = "acked" in self.flags or (wide and "sacked" in self.flags)
            if acked and progress and self.is_limited():
                self.law.avoid(acked)
        self.update_pacing()

    def fastretrans_alert(self, prior_una: int, duplicates: int) -> None:
        if not self.packets_out:
            self.sacked_out = 0
        if "ece" in self.flags:
            self.prior_ssthresh = 0
        if "advanced" in self.flags and self.queue and self.queue[0].sacked:
            self.set_timer("rto", max(self.srtt >> 4, 10_000))
            self.flags.discard("timer")
            return
        if not self.leave_state():
            return
        due = self.in_recovery if self.ca_state == RECOVERY else self.elsewhere
        if due(prior_una, duplicates):
            self.rexmit = "lost"

    def leave_state(self) -> bool:
        """Leaves a state whose data is acknowledged; returns whether to go on."""
        if self.ca_state == OPEN:
            self.retrans_stamp = None
        elif self.snd_una >= self.high_seq:
            if self.ca_state == CWR and self.snd_una != self.high_seq:
                self.end_reduction()
                self.set_state(OPEN)
            elif self.ca_state == RECOVERY:
                if not self.o.sack:
                    self.sacked_out = 0
                if self.try_undo_recovery():
                    return False
                self.end_reduction()
        return True

    def in_recovery(self, prior_una: int, duplicates: int) -> bool:
        """Goes on with a recovery; returns whether lost segments may be sent."""
        if "advanced" not in self.flags:
            if not self.o.sack:
                self.add_reno_sack(duplicates)
        elif self.try_undo_partial(prior_una):
            return False
        if self.try_undo_dsack():
            self.try_to_open()
        self.identify_loss()
        if self.ca_state != RECOVERY:
            if not self.lost_out:
                return False
            self.enter_recovery("ece" in self.flags)
        return True

    def elsewhere(self, prior_una: int, duplicates: int) -> bool:
        """Looks for losses outside of a recovery; returns whether lost segments may be sent."""
        if self.ca_state == LOSS:
            self.process_loss(duplicates)
            self.identify_loss()
            if not (self.ca_state == OPEN or "lost-retrans" in self.flags):
                return self.rexmit == "lost"
        if not self.o.sack:
            if "advanced" in self.flags:
                self.sacked_out = 0
            self.add_reno_sack(duplicates)
        if self.ca_state <= DISORDER:
            self.try_undo_dsack()
        self.identify_loss()
        if not self.lost_out:
            self.try_to_open()
            return False
        self.enter_recovery("ece" in self.flags)
        return True

    def process_loss(self, duplicates: int) -> None:
        flags = self.flags
        recovered = self.snd_una >= self.high_seq
        if "advanced" in flags and self.try_undo_loss(False):
            return
        if self.frto:
            if "orig" in flags and self.try_undo_loss(True):
                return
            if self.snd_nxt > self.high_seq:
                if "sacked" in flags or duplicates:
                    self.frto = False
            elif "advanced" in flags and not recovered:
                self.high_seq = self.snd_nxt
                if self.snd_nxt < self.written and self.advertised():
                    self.rexmit = "new"
                    return
                self.frto = False
        if recovered:
            self.try_undo_recovery()
            return
        if not self.o.sack:
            if self.snd_nxt > self.high_seq and duplicates:
                self.add_reno_sack(duplicates)
            elif "advanced" in flags:
                self.sacked_out = 0
        self.rexmit = "lost"

    def xmit_recovery(self) -> None:
        if self.rexmit is None:
            return
        if self.rexmit == "new":
            self.write(3)
            if self.snd_nxt > self.high_seq:
                return
            self.frto = False
        self.retransmit_queue()

    def on_timer(self) -> None:
        """The timer expires."""
        what, self.pending = self.pending, None
        if what == "reo":
            self.on_reordering_timer()
        elif what == "probe":
            self.pending = "probe"
            self.send_probe()
        elif what == "rto":
            self.on_rto()

    def on_paced(self) -> None:
        """Pacing permits the next segment."""
        if self.lost_out > self.retrans_out:
            self.retransmit_queue()
        self.write()

    def on_reordering_timer(self) -> None:
        before, lost = self.in_flight, self.lost
        self.newly = 0
        self.rack_detect()
        if before != self.in_flight:
            if self.ca_state != RECOVERY:
                self.enter_recovery(False)
                self.reduce_cwnd(1, self.lost - lost, False)
            self.retransmit_queue()
        if self.pending != "rto":
            self.rearm_rto()

    def send_head(self) -> None:
        self.retransmit(self.queue[0])

    def on_rto(self) -> None:
        if not self.packets_out:
            return
        self.enter_loss()
        self.retransmits += 1
        self.send_head()
        self.timeout.back_off()
        self.set_timer("rto", self.rto)
