"""What an acknowledgement shows: segments delivered, reordering, and losses by time (RFC 8985)."""

from __future__ import annotations

from linux.sending import Sending
from linux.state import (
    LOSS,
    MAX_REORDERING,
    RECOVERY,
    RECOVERY_THRESHOLD,
    Acknowledgement,
    Segment,
)


class Evidence(Sending):
    """Scoreboard, reordering and RACK."""

    def sacktag(self, ack: Acknowledgement, prior_una: int) -> None:
        self.reord = self.snd_nxt
        blocks = list(ack.blocks)
        dsack = None
        start, end = blocks[0]
        if start < ack.upto or (len(blocks) > 1 and end <= blocks[1][1] and start >= blocks[1][0]):
            dsack = (start, end)
            if self.see_dsack(start, end):
                if (
                    self.undo_marker is not None
                    and self.undo_retrans > 0
                    and end <= prior_una
                    and end > self.undo_marker
                ):
                    self.undo_retrans = max(0, self.undo_retrans - (end - start))
            else:
                dsack = None
        if not self.packets_out:
            self.delivered += self.sack_delivered
            return
        used = [(b, b == dsack and i == 0) for i, b in enumerate(blocks) if b[1] > prior_una]
        for (start, end), dup in sorted(used, key=lambda b: b[0]):
            for segment in self.queue:
                if start <= segment.sequence < end:
                    self.sacktag_one(segment, dup)
        # In a recovery by timeout an old block is no sign of reordering.
        if self.ca_state != LOSS or self.undo_marker is not None:
            self.check_reordering(self.reord)
        self.delivered += self.sack_delivered

    def see_dsack(self, start: int, end: int) -> bool:
        if end - start == 1 and self.tlp_high_seq == end:
            self.flags.add("dsack-tlp")
        self.dsack_dups += end - start
        if self.dsack_dups > self.total_retrans:
            return False
        if self.reord_seen and "dsack-tlp" not in self.flags:
            self.dsack_seen = True
        self.flags.add("dsacking")
        self.sack_delivered += end - start
        return True

    def sacktag_one(self, s: Segment, dup: bool) -> None:
        """Notes that a block covers a segment; ``dup`` for the block of a DSACK."""
        if dup and (s.retransmitted or s.ever):
            marker = self.undo_marker
            if marker is not None and self.undo_retrans > 0 and s.sequence + 1 > marker:
                self.undo_retrans -= 1
            if s.sacked:
                self.reord = min(self.reord, s.sequence)
        if s.sequence < self.snd_una:
            return
        if not s.sacked:
            self.sack(s)
        if dup and s.retransmitted:
            s.retransmitted = False
            self.retrans_out -= 1

    def sack(self, s: Segment) -> None:
        """Notes that a segment has arrived beyond a hole."""
        self.rack_advance(s)
        if not s.ever:
            if s.sequence < self.highest_sacked():
                self.reord = min(self.reord, s.sequence)
            if s.sequence + 1 <= self.high_seq:
                self.flags.add("orig")
            if self.first_sackt is None:
                self.first_sackt = s.sent
            self.last_sackt = s.sent
        # A retransmission of a segment that is not marked lost is believed to be in flight still.
        if s.lost:
            self.lost_out -= 1
            self.retrans_out -= s.retransmitted
            s.lost = s.retransmitted = False
        s.sacked = True
        s.place = 0
        self.flags.add("sacked")
        self.sacked_out += 1
        self.sack_delivered += 1
        self.newly += 1
        self.rate_delivered(s)

    def rate_delivered(self, s: Segment) -> None:
        if s.counted:
            return
        key = (s.sent, s.sequence)
        if not self.prior_delivered_of_rate or key > (self.first_tx, self.last_end_of_rate):
            self.prior_delivered_of_rate = s.delivered
            self.last_end_of_rate = s.sequence
            self.first_tx = s.sent
        if s.sacked:
            s.counted = True

    def check_reordering(self, low: int) -> None:
        fack = self.highest_sacked()
        if low >= fack:
            return
        self.reordering = max(self.reordering, min(fack - low, MAX_REORDERING))
        self.reord_seen += 1

    def clean(self) -> None:
        """Removes the segments below SND.UNA, and takes a sample of the round trip."""
        acked = []
        while self.queue and self.queue[0].sequence < self.snd_una:
            acked.append(self.queue.pop(0))
            self.clean_one(acked[-1])
        fresh = [s for s in acked if not s.ever and not s.sacked]
        if any(s.sequence + 1 <= self.high_seq for s in fresh):
            self.flags.add("orig")
        if acked:
            self.flags.add("acked")
        retransmitted = any(s.ever for s in acked)
        sampled = self.sample([] if retransmitted else fresh, bool(acked))
        if acked:
            self.flags.add("timer")
            if not self.o.sack:
                self.remove_reno_sacks(len(acked))
                if retransmitted:
                    self.flags.discard("orig")
            elif fresh and fresh[0].sequence < self.prior_fack:
                self.check_reordering(fresh[0].sequence)
        elif self.queue and sampled and self.sacked_before(self.queue[0]):
            self.flags.add("timer")

    def sacked_before(self, head: Segment) -> bool:
        """Whether SACKed data was sent before the first segment, so that its timer may move."""
        return self.first_sackt is not None and self.first_sackt < head.sent

    def clean_one(self, s: Segment) -> None:
        self.retrans_out -= s.retransmitted
        self.sacked_out -= s.sacked
        self.lost_out -= s.lost
        self.packets_out -= 1
        if self.o.sack and not s.sacked:
            self.delivered += 1
            self.newly += 1
            if not self.spurious(s):
                self.rack_advance(s)
        self.rate_delivered(s)

    def sample(self, fresh: list[Segment], acked: bool) -> bool:
        """Samples the round trip, of segments sent once or by timestamp; returns whether it did."""
        rtt = of_law = -1
        if fresh:
            rtt, of_law = self.now - fresh[0].sent, self.now - fresh[-1].sent
        if self.first_sackt is not None and self.last_sackt is not None:
            of_law = self.now - self.last_sackt
            if rtt < 0:
                rtt = self.now - self.first_sackt
        if rtt < 0 and self.ack.timestamp is not None and acked:
            rtt = of_law = (self.now // 1000 - self.ack.timestamp) * 1000 or 1000
        self.sampled, self.of_law = rtt, of_law
        if rtt >= 0:
            self.min_rtt.update(self.now, of_law or 1)
            self.estimate(rtt)
        self.law.on_acked(of_law)
        return rtt >= 0

    def spurious(self, s: Segment) -> bool:
        echoed = self.ack.timestamp
        return s.ever and echoed is not None and echoed < s.sent // 1000

    def rack_advance(self, s: Segment) -> None:
        rtt = self.now - s.sent
        if rtt < self.min_rtt.value and (s.ever or s.retransmitted):
            return
        self.rack_advanced, self.rack_rtt = True, rtt
        if (s.sent, s.sequence + 1) > (self.rack_time, self.rack_end):
            self.rack_time, self.rack_end = s.sent, s.sequence + 1

    def reo_wnd(self) -> int:
        if not self.reord_seen:
            if self.ca_state >= RECOVERY:
                return 0
            if self.sacked_out >= self.reordering and not self.o.recovery & 4:
                return 0
        return min((self.min_rtt.value >> 2) * self.reo_steps, self.srtt >> 3)

    def rack_detect(self) -> int:
        window, timeout = self.reo_wnd(), 0
        for s in sorted((s for s in self.queue if s.place), key=lambda s: s.place):
            if s.lost and not s.retransmitted:
                continue
            if not (self.rack_time, self.rack_end) > (s.sent, s.sequence + 1):
                break
            remaining = self.rack_rtt + window - (self.now - s.sent)
            if remaining <= 0:
                self.mark_lost(s)
                s.place = 0
            else:
                timeout = max(timeout, remaining)
        return timeout

    def rack_mark_lost(self) -> bool:
        if not self.rack_advanced:
            return False
        self.rack_advanced = False
        timeout = self.rack_detect()
        if timeout:
            self.set_timer("reo", timeout + 2_000)
        return timeout > 0

    def update_reo_wnd(self) -> None:
        if self.o.recovery & 2 or not self.prior_delivered_of_rate:
            return
        if self.prior_delivered_of_rate < self.last_delivered:
            self.dsack_seen = False
        if self.dsack_seen:
            self.reo_steps = min(255, self.reo_steps + 1)
            self.dsack_seen = False
            self.last_delivered = self.delivered
            self.reo_persist = RECOVERY_THRESHOLD
        elif not self.reo_persist:
            self.reo_steps = 1

    def mark_lost(self, s: Segment) -> None:
        if s.sacked:
            return
        if s.lost:
            if s.retransmitted:
                s.retransmitted = False
                self.retrans_out -= 1
                self.lost += 1
        else:
            s.lost = True
            self.lost_out += 1
            self.lost += 1

    def limit_reno_sacked(self) -> bool:
        holes = min(max(self.lost_out, 1), self.packets_out)
        if self.sacked_out + holes > self.packets_out:
            self.sacked_out = self.packets_out - holes
            return True
        return False

    def check_reno_reordering(self, addend: int) -> None:
        if self.limit_reno_sacked():
            self.reordering = min(self.packets_out + addend, MAX_REORDERING)
            self.reord_seen += 1

    def add_reno_sack(self, duplicates: int) -> None:
        if duplicates:
            prior = self.sacked_out
            self.sacked_out += duplicates
            self.check_reno_reordering(0)
            self.delivered += max(0, self.sacked_out - prior)

    def remove_reno_sacks(self, acked: int) -> None:
        self.delivered += max(acked - self.sacked_out, 1)
        self.sacked_out = max(0, self.sacked_out - (acked - 1))
        self.check_reno_reordering(acked)

    def identify_loss(self) -> None:
        if not self.queue:
            return
        if not self.o.sack:
            enough = self.ca_state < RECOVERY and self.sacked_out >= self.reordering
            partial = self.ca_state == RECOVERY and "advanced" in self.flags
            if (enough or partial) and not self.queue[0].lost:
                self.mark_lost(self.queue[0])
            return
        prior = self.retrans_out
        if self.rack_mark_lost():
            self.flags.discard("timer")
        if prior > self.retrans_out:
            self.flags.add("lost-retrans")
