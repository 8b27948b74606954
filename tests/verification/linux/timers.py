"""Round-trip times and the timer: retransmission, tail loss probe or reordering."""

from __future__ import annotations

from linux.state import CWR, OPEN, State


def bucket_end(now: int, after: int) -> int:
    """Tick at which the timer wheel expires a timer that is set `after` ticks from `now`."""
    width = 1
    while after >= 63 * width:
        width *= 8
    return ((now + after) // width + 1) * width


class Timers(State):
    """Smoothed round trip, its minimum, and the one timer of a connection."""

    def estimate(self, rtt: int) -> None:
        self.timeout.sample(rtt, self.snd_una, self.snd_nxt)

    def set_timer(self, what: str, us: int) -> None:
        tick = self.timeout.tick
        now, after = self.tick_of(self.now), -(-us // tick)
        ticks = now + after if tick == 1 else bucket_end(now, after)
        self.pending, self.expires = what, self.origin + ticks * tick

    def rto_delta(self) -> int:
        return self.queue[0].sent + self.rto - self.now

    def rearm_rto(self) -> None:
        if not self.packets_out:
            self.pending = None
            return
        rto = self.rto
        if self.pending in ("reo", "probe"):
            rto = max(self.rto_delta(), 1)
        self.set_timer("rto", rto)

    def schedule_probe(self, advancing: bool) -> bool:
        if self.o.early_retransmit not in (3, 4) or not self.packets_out or not self.o.sack:
            return False
        if self.ca_state not in (OPEN, CWR):
            return False
        margin = self.timeout.minimum if self.packets_out == 1 else 2_000
        timeout = (self.srtt >> 2) + margin if self.srtt else 1_000_000
        rto = self.rto if advancing else self.rto_delta()
        self.set_timer("probe", min(timeout, rto) if rto > 0 else timeout)
        return True

    def set_xmit_timer(self) -> None:
        if not self.schedule_probe(True):
            self.rearm_rto()
