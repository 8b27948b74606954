"""Transmissions: new data, retransmissions and probes, as window and pacing permit."""

from __future__ import annotations

from linux.state import Segment
from linux.timers import Timers


class Sending(Timers):
    """What is sent, and how far it uses the window."""

    def put(self, segment: Segment) -> None:
        if not self.packets_out or (not self.queue):
            self.first_tx = self.now
        self.stamp(segment)
        segment.sent = self.now
        segment.delivered, segment.counted = self.delivered, False
        self.places += 1
        segment.place = self.places
        self.transmit(segment)
        self.pace_on(segment)

    def stamp(self, segment: Segment) -> None:
        """Notes the state of the connection as a segment is sent."""

    def pace_on(self, segment: Segment) -> None:
        """Delays the next segment after this one."""
        if self.o.pacing and self.pacing_rate and self.sent_segments >= 10:
            length = self.paced_bytes(segment) * 10**9 // self.pacing_rate
            prior, self.pace = self.pace, max(self.pace, self.now_ns)
            length -= min(length // 2, self.pace - prior)
            self.pace += length
        self.sent_segments += 1

    def paced_bytes(self, _segment: Segment) -> int:
        return self.o.mss + self.o.header

    @property
    def now_ns(self) -> int:
        return self.now * 1000

    def paced(self) -> bool:
        return self.o.pacing and self.pace > self.now_ns

    def hold(self) -> None:
        """Notes that pacing holds a segment back."""

    def retransmit_one(self, segment: Segment) -> None:
        self.put(segment)
        segment.ever = True
        self.total_retrans += 1

    def retransmit(self, segment: Segment) -> None:
        self.retransmit_one(segment)
        segment.retransmitted = True
        self.retrans_out += 1
        if self.retrans_stamp is None:
            self.retrans_stamp = self.now
        self.undo_retrans = max(self.undo_retrans, 0) + 1

    def retransmit_queue(self) -> None:
        rearm = False
        for segment in list(self.queue):
            if self.cwnd <= self.in_flight:
                break
            if self.retrans_out >= self.lost_out:
                break
            if not segment.lost or segment.sacked or segment.retransmitted:
                continue
            if self.paced():
                self.hold()
                break
            if not self.room():
                break
            self.retransmit(segment)
            if self.reducing:
                self.prr_out += 1
            if segment is self.queue[0] and self.pending != "reo":
                rearm = True
        if rearm:
            self.set_timer("rto", self.rto)

    def write(self, push: int = 0) -> None:
        """Sends what the window permits; ``push`` 2 sends one segment as a probe.

        Without unsent data the kernel does not get here (`tcp_push_pending_frames`), unless it
        sends new data first after a timeout (``push`` 3).
        """
        if self.snd_nxt < self.written or push == 3:
            self.write_out(push)

    def write_out(self, push: int) -> None:
        sent = 0
        while self.snd_nxt < self.written:
            if (self.cwnd <= self.in_flight and push != 2) or not self.advertised():
                break
            if self.paced():
                self.hold()
                break
            if not self.room():
                break
            if self.in_flight == 0:
                self.law.on_start()
            self.lsndtime = self.now
            segment = Segment(self.snd_nxt)
            self.put(segment)
            before = self.packets_out
            self.queue.append(segment)
            self.snd_nxt += 1
            self.packets_out += 1
            if not before or self.pending == "probe":
                self.rearm_rto()
            sent += 1
            if push == 2:
                break
        limited = self.in_flight >= self.cwnd
        if sent or limited:
            self.validate(limited)
        if sent:
            if self.reducing:
                self.prr_out += sent
            if push != 2:
                self.schedule_probe(False)

    def send_probe(self) -> None:
        sent = False
        if self.tlp_high_seq is None:
            self.tlp_retrans = False
            if self.snd_nxt < self.written:
                before = self.packets_out
                if self.advertised():
                    self.write(2)
                    sent = self.packets_out > before
            elif self.queue and self.room():
                self.retransmit_one(self.queue[-1])
                self.tlp_retrans = sent = True
        if sent:
            self.tlp_high_seq = self.snd_nxt
            self.pending = None
        self.rearm_rto()

    def on_write(self, segments: int) -> None:
        """The application writes. Its first segment leaves before it adds the second."""
        self.will_write()
        if self.o.slow_start_after_idle and not self.packets_out and self.snd_nxt:
            ticks = self.tick_of(self.now) - self.tick_of(self.lsndtime)
            delta = ticks * self.timeout.tick
            if delta > self.rto:
                self.restart(delta)
        self.written += segments
        self.write()

    def will_write(self) -> None:
        """The application is about to write."""

    def restart(self, delta: int) -> None:
        restart = min(self.o.initial_window, self.cwnd)
        self.ssthresh = self.current_ssthresh()
        cwnd = self.cwnd
        while (delta := delta - self.rto) > 0 and cwnd > restart:
            cwnd >>= 1
        self.cwnd = max(cwnd, restart)

    def validate(self, limited: bool) -> None:
        if (
            self.snd_una >= self.usage_seq
            or limited
            or (not self.limited and self.packets_out > self.max_packets_out)
        ):
            self.limited, self.max_packets_out = limited, self.packets_out
            self.usage_seq = self.snd_nxt

    def is_limited(self) -> bool:
        if self.limited:
            return True
        return self.in_slow_start and self.cwnd < 2 * self.max_packets_out

    def update_pacing(self) -> None:
        rate = self.o.mss * 8 * 10_000
        rate *= 200 if self.cwnd < self.ssthresh // 2 else 120
        rate *= max(self.cwnd, self.packets_out)
        self.pacing_rate = rate // self.srtt if self.srtt else rate
