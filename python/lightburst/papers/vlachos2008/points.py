"""The points of the paper's studies: how bursts are assembled, what is sent, and over what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from lightburst.papers.design import seconds
from lightburst.papers.paper import packaged
from lightburst.papers.runs import Runs, paired
from lightburst.papers.vlachos2008 import metrics

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.scenario import Scenario

#: The laws of the sizes, by the prototype's names; `scenario.toml` says why there are several.
SIZES: Final[dict[str, dict[str, object]]] = {
    "S2": {"kind": "pareto", "minimum": "40 kB", "mean": "700 kB", "max": "1 GB"},
    "S4": {"kind": "pareto", "minimum": "40 kB", "truncated_mean": "700 kB", "max": "1 GB"},
}
#: Queues for an egress that stand for one for each flow.
PER_FLOW: Final = 0
#: Flows are dealt to queues anew in each cycle, or only those that lost data in one burst.
A_PRIORI: Final = "a-priori"
A_POSTERIORI: Final = "a-posteriori"
#: Seconds in which flows begin that count: the paper's, and of a preview. The warm-up before and
#: the time that they have to end after are half as long each.
MEASURED: Final = 20.0
PREVIEW: Final = 6.0
#: The same where the law of the sizes has so heavy a tail that the number of active flows still
#: rises after a minute: S4.
SETTLING: Final = 60.0
#: The same of long flows through one burstifier, of which each loss is followed by a long cycle.
LONG: Final = 100.0
LONG_PREVIEW: Final = 24.0
#: One burstifier: two edges with a fibre between them, about as long as the mean way of NSFNET.
_FIBRE: Final = "13.5 ms"


class Point(NamedTuple):
    """One scenario of the studies, times in seconds; the defaults are those of its file."""

    time: float = 5e-3  # T, or that of a cycle of several queues; 0 where the window decides
    slow: int = 0  # B: flows with a window below so many segments are slow; 0 for timers
    fast: int = 0  # C: and from so many on fast
    queues: int = 1  # for an egress; `PER_FLOW` for one for each flow
    allocation: str = A_PRIORI  # how flows come to several queues, in the scenario's words
    recovery: str = "sack"  # of losses, in the scenario's words
    sizes: str = "S2"  # one of `SIZES`
    ingress: str = "delay"  # a burst that collides where it is made, or "lose"
    long_flows: int = 0  # without end through one burstifier; 0 for NSFNET
    p: float = 0.0  # probability that a burst with data is lost by chance
    measured: float = MEASURED  # how long flows begin that count, or one burstifier is looked at

    def settings(self) -> dict[str, object]:
        """Say in the scenario's words what a point is: values by path."""
        return {
            "switching.assembly": self._assembly(),
            "switching.ingress": self.ingress,
            "transport.recovery": {"kind": self.recovery},
            **(self._one_burstifier() if self.long_flows else self._nsfnet()),
        }

    def _assembly(self) -> dict[str, object]:
        if self.fast:
            return {"kind": "window-based", "medium_window": self.slow, "fast_window": self.fast}
        if self.queues == 1:
            return {"kind": "timer", "time": seconds(self.time)}
        several = {"kind": self.allocation, "queues": self.queues}
        allocation = {"kind": "per-flow"} if self.queues == PER_FLOW else several
        return {"kind": "multi-queue", "time": seconds(self.time), "allocation": allocation}

    def _nsfnet(self) -> dict[str, object]:
        half, end = self.measured / 2, seconds(2 * self.measured)
        return {
            "workload.size": SIZES[self.sizes],
            "workload.duration": end,
            "measurement.warm_up": seconds(half),
            "measurement.until": seconds(half + self.measured),
            "measurement.time_limit": end,
        }

    def _one_burstifier(self) -> dict[str, object]:
        """Flows that begin within a second, and are looked at from half of the time on."""
        half = seconds(self.measured / 2)
        path = {"kind": "obs-path", "host_pairs": self.long_flows, "core_nodes": 0}
        access = {"access_rate": "100 Mb/s", "access_delay": "0 s"}
        return {
            "topology": {**path, **access, "fibre_rate": "10 Gb/s", "fibre_delay": _FIBRE},
            "workload": {"kind": "pairs", "size": "1000 TB", "spread": "1 s"},
            "loss.probability": self.p,
            "measurement.warm_up": "0 s",
            "measurement.until": None,
            "measurement.time_limit": seconds(1.5 * self.measured),
            "measurement.bursts.begin": half,
            "measurement.synchronisation.begin": half,
        }

    @property
    def words(self) -> str:
        """How bursts are assembled, for legends and notes."""
        if self.fast:
            return f"({self.slow}, {self.fast})"
        if self.queues == PER_FLOW:
            return "a queue for each flow"
        queues = "" if self.queues == 1 else f", {self.queues} queues"
        how = "" if self.allocation == A_PRIORI else f", {self.allocation.replace('-', ' ')}"
        return f"T = {self.time * 1e3:g} ms{queues}{how}"

    def in_full(self) -> Point:
        """Give the point as the paper runs it, and not a preview."""
        alone = SETTLING if self.sizes == "S4" else MEASURED
        return self._replace(measured=LONG if self.long_flows else alone)

    def shortened(self) -> Point:
        """Give the point as a preview runs it."""
        return self._replace(measured=LONG_PREVIEW if self.long_flows else PREVIEW)


def window_based(slow: int, fast: int) -> Point:
    """Give the point with (B, C)."""
    return Point(time=0.0, slow=slow, fast=fast)


def base() -> Scenario:
    """Read the paper's scenario: a timer of 5 ms, sizes S2."""
    return packaged(__package__)


def runs_of(table: pd.DataFrame) -> Runs[Point]:
    """Sort runs by point: a row for each run, the fields of `Point`, ``seed`` and the metrics.

    Runs of a preview stand under the points of the paper. Runs of the same seed have the same
    flows, and are compared seed by seed.
    """
    more = {}
    if metrics.MEAN in table:
        deviation = table[metrics.VARIANCE] ** 0.5
        more = {metrics.DEVIATION: deviation, metrics.VARIATION: deviation / table[metrics.MEAN]}
    runs = Runs.of(table.assign(**more), Point, Point._fields, metrics.MEAN, paired)
    return runs.under(Point.in_full)


def measured_s(runs: Runs[Point], point: Point) -> float:
    """Tell how long a point was measured, in full or for a preview; NaN where it was not run."""
    return runs.mean(point, "measured").estimate
