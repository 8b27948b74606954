"""Window laws that couple the subflows of a connection: LIA (RFC 6356) and OLIA (Khalili 2013)."""

from dataclasses import dataclass, replace
from typing import Any

from twin.laws import Reno


@dataclass(frozen=True)
class Subflow:
    """One subflow after its last event: bytes, ps, and bytes between losses."""

    cwnd: float
    rtt: int
    between_losses: int


class Coupled(Reno):
    """Reno whose growth in congestion avoidance depends on all `subflows`; it is number `own`."""

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        self.own = 0
        self.subflows: list[Subflow | None] = []

    def avoid(self) -> None:
        present = self.subflows[self.own]
        if present is None:
            self.cwnd += self.acknowledged * self.m / self.cwnd
            return
        here = replace(present, cwnd=self.cwnd)
        others = [here if i == self.own else one for i, one in enumerate(self.subflows)]
        self.couple(here, [one for one in others if one is not None])

    def couple(self, here: Subflow, known: list[Subflow]) -> None:
        """Grow as the subflow `here` among those that are known."""
        raise NotImplementedError


class Lia(Coupled):
    """RFC 6356, section 3."""

    def couple(self, here: Subflow, known: list[Subflow]) -> None:
        total = rates = 0.0
        for one in known:
            total += one.cwnd
            rates += one.cwnd / float(one.rtt)
        best = max(one.cwnd / (float(one.rtt) * float(one.rtt)) for one in known)
        alpha = total * best / (rates * rates)
        together = alpha * self.acknowledged * self.m / total
        self.cwnd += min(together, self.acknowledged * self.m / self.cwnd)


class Olia(Coupled):
    """The sets B of best paths, M of those with largest windows, and alpha."""

    def couple(self, here: Subflow, known: list[Subflow]) -> None:
        def quality(one: Subflow) -> float:
            return float(one.between_losses) / (float(one.rtt) * float(one.rtt))

        rates = 0.0
        for one in known:
            rates += one.cwnd / float(one.rtt)
        largest = max(one.cwnd for one in known)
        best = max(map(quality, known))
        full = [one for one in known if one.cwnd == largest]
        collected = [one for one in known if quality(one) == best and one.cwnd < largest]
        alpha = 0.0
        if collected and here in collected:
            alpha = 1 / (len(known) * len(collected))
        elif collected and here in full:
            alpha = -1 / (len(known) * len(full))
        rtt = float(here.rtt)
        own = self.cwnd / (rtt * rtt) / (rates * rates) + alpha / self.cwnd
        self.cwnd = max(self.cwnd + self.acknowledged * self.m * own, self.m)
