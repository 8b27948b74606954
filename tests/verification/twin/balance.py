"""Paths by load: the load offered to links in intervals, and the choice of an ingress."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Pair = tuple[int, int]


class Fibre(Protocol):
    """A link, with the attributes used here."""

    index: int
    rate: int
    channels: int


@dataclass
class Balance:
    """The load that all edges know, and the path of each pair of edges."""

    interval_ps: int
    delay_ps: int
    threshold: float
    threshold_on: str
    capacity_bps: int | None
    uncongested: str = "present"

    def __post_init__(self) -> None:
        # Transmission times offered, by link and interval.
        self.offered: Counter[Pair] = Counter()
        # For each pair the number of reports at its last choice, and its label.
        self.chosen: dict[Pair, Pair] = {}
        # Changes of path: time, pair, old and new label.
        self.switches: list[dict[str, int]] = []

    def offer(self, link: int, tx: int, now: int) -> None:
        """A burst is handed to a link, or lost for lack of it."""
        self.offered[link, now // self.interval_ps] += tx

    def choose(self, pair: Pair, paths: Sequence[Sequence[Sequence[Fibre]]], now: int) -> int:
        """The path of a new burst, of `paths` by fibres of parallel links."""
        known = max(0, now - self.delay_ps) // self.interval_ps
        reports, label = self.chosen.get(pair, (0, 0))
        if len(paths) < 2 or known == reports:
            return label
        loads = [[self.load(fibre, known - 1) for fibre in path] for path in paths]
        sums = [sequential_sum(load) for load in loads]
        compared = sums if self.threshold_on == "path" else [max(load) for load in loads]
        best = label
        if compared[label] > self.threshold and min(sums) < sums[label]:
            best = sums.index(min(sums))
        if self.uncongested == "primary" and max(compared) <= self.threshold:
            best = 0
        self.chosen[pair] = known, best
        if best != label:
            ends = {"node": pair[0], "egress": pair[1]}
            self.switches.append({"time_ps": now, **ends, "before": label, "label": best})
        return best

    def load(self, fibre: Sequence[Fibre], interval: int) -> float:
        """The load offered in an interval as a share of the fibre's capacity."""
        offered = sum(self.offered[link.index, interval] for link in fibre)
        rate = float(fibre[0].rate)
        if self.capacity_bps is None:
            capacity = rate * sum(link.channels for link in fibre)
        else:
            capacity = float(self.capacity_bps)
        return float(offered) * rate / (capacity * float(self.interval_ps))


def sequential_sum(values: Sequence[float]) -> float:
    """Add up one after the other, each sum rounded, unlike `sum` since Python 3.12."""
    total = 0.0
    for value in values:
        total += value
    return total


def make_balance(settings: dict[str, Any]) -> Balance | None:
    """The balance of a plan, if labels follow the load."""
    own = settings.get("balance")
    return None if own is None else Balance(**own)
