"""Round-trip times and the timer: retransmission, tail loss probe or reordering."""

from __future__ import annotations

from linux.state import CWR, JIFFY, OPEN, RTO_MAX, RTO_MIN, State, jiffies


class Timers(State):
    """Smoothed round trip, its minimum, and the one timer of a connection."""

    def estimate(self, rtt: int) -> None:
        m = rtt
        srtt = self.srtt
        if srtt:
            m -= srtt >> 3
            srtt += m
            if m < 0:
                m = -m
                m -= self.mdev >> 2
                if m > 0:
                    m >>= 3
            else:
                m -= self.mdev >> 2
            self.mdev += m
            if self.mdev > self.mdev_max:
                self.mdev_max = self.mdev
                if self.mdev_max > self.rttvar:
                    self.rttvar = self.mdev_max
            if self.snd_una > self.rtt_seq:
                if self.mdev_max < self.rttvar:
                    self.rttvar -= (self.rttvar - self.mdev_max) >> 2
                self.rtt_seq = self.snd_nxt
                self.mdev_max = RTO_MIN
        else:
            srtt = m << 3
            self.mdev = m << 1
            self.rttvar = max(self.mdev, RTO_MIN)
            self.mdev_max = self.rttvar
            self.rtt_seq = self.snd_nxt
        self.srtt = max(1, srtt)
        self.rto = min(jiffies((self.srtt >> 3) + self.rttvar) * JIFFY, RTO_MAX)

    def update_min_rtt(self, rtt: int) -> None:
        """Minimum over 300 s."""
        self.min_rtt = [m for m in self.min_rtt if m[1] < rtt] + [(self.now, rtt)]
        while self.min_rtt[0][0] < self.now - 300_000_000:
            self.min_rtt.pop(0)

    def set_timer(self, what: str, ticks: int) -> None:
        self.pending, self.expires = what, (self.tick + ticks) * JIFFY

    def rto_delta(self) -> int:
        return self.queue[0].sent + self.rto - self.now

    def rearm_rto(self) -> None:
        if not self.packets_out:
            self.pending = None
            return
        rto = self.rto
        if self.pending in ("reo", "probe"):
            rto = max(self.rto_delta(), 1)
        self.set_timer("rto", jiffies(rto))

    def schedule_probe(self, advancing: bool) -> bool:
        if self.o.early_retransmit not in (3, 4) or not self.packets_out or not self.o.sack:
            return False
        if self.ca_state not in (OPEN, CWR):
            return False
        timeout = (self.srtt >> 2) + (RTO_MIN if self.packets_out == 1 else 2_000)
        ticks = jiffies(timeout)
        rto = self.rto if advancing else self.rto_delta()
        if rto > 0:
            ticks = min(ticks, jiffies(rto))
        self.set_timer("probe", ticks)
        return True

    def set_xmit_timer(self) -> None:
        if not self.schedule_probe(True):
            self.rearm_rto()
