"""Points of the paper's studies: assembly, flows and network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from lightburst.papers.design import seconds
from lightburst.papers.paper import packaged
from lightburst.papers.runs import Runs, paired
from lightburst.papers.vlachos2008 import metrics

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.scenario import Scenario

#: Size distributions by the prototype's names; `scenario.toml` gives the reason for several.
SIZES: Final[dict[str, dict[str, object]]] = {
    "S2": {"kind": "pareto", "minimum": "40 kB", "mean": "700 kB", "max": "1 GB"},
    "S4": {"kind": "pareto", "minimum": "40 kB", "truncated_mean": "700 kB", "max": "1 GB"},
}
#: Value of `queues` that stands for one queue per flow.
PER_FLOW: Final = 0
#: Allocation to queues: of all flows in each cycle, or only of flows that shared a lost burst.
A_PRIORI: Final = "a-priori"
A_POSTERIORI: Final = "a-posteriori"
#: Length in seconds of the interval in which counted flows begin, in full and for a preview. The
#: warm-up before it and the time for flows to end after it are each half as long.
MEASURED: Final = 20.0
PREVIEW: Final = 6.0
#: The same for S4, whose tail is so heavy that the number of active flows still rises after a
#: minute.
SETTLING: Final = 60.0
#: The same for long flows through one burstifier, where a long cycle follows each loss.
LONG: Final = 100.0
LONG_PREVIEW: Final = 24.0
#: Fibre between the two edges of one burstifier, about as long as the mean path in NSFNET.
_FIBRE: Final = "13.5 ms"


class Point(NamedTuple):
    """One scenario of the studies, times in seconds; defaults are those of `scenario.toml`."""

    time: float = 5e-3  # assembly time T, or cycle of several queues; 0 for window-based assembly
    slow: int = 0  # B in segments: flows with a smaller window are slow; 0 for timers
    fast: int = 0  # C in segments: flows with at least this window are fast; 0 for timers
    queues: int = 1  # queues per egress; `PER_FLOW` for one per flow
    allocation: str = A_PRIORI  # allocation of flows to several queues, as in the scenario
    recovery: str = "sack"  # recovery from losses, as in the scenario
    sizes: str = "S2"  # one of `SIZES`
    ingress: str = "delay"  # or "lose": fate of a burst without a free channel at its ingress
    long_flows: int = 0  # number of endless flows through one burstifier; 0 for NSFNET
    p: float = 0.0  # probability of random loss of a burst with data
    measured: float = MEASURED  # start interval of counted flows, or measured time of long ones

    def settings(self) -> dict[str, object]:
        """Return the point as settings of a scenario, by path."""
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
        """Return settings of flows that start within 1 s, measured from half of `measured` on."""
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
        """Assembly in words, for legends and notes."""
        if self.fast:
            return f"({self.slow}, {self.fast})"
        if self.queues == PER_FLOW:
            return "a queue for each flow"
        queues = "" if self.queues == 1 else f", {self.queues} queues"
        how = "" if self.allocation == A_PRIORI else f", {self.allocation.replace('-', ' ')}"
        return f"T = {self.time * 1e3:g} ms{queues}{how}"

    def in_full(self) -> Point:
        """Return the point with the measured time of the full plan."""
        alone = SETTLING if self.sizes == "S4" else MEASURED
        return self._replace(measured=LONG if self.long_flows else alone)

    def shortened(self) -> Point:
        """Return the point with the measured time of a preview."""
        return self._replace(measured=LONG_PREVIEW if self.long_flows else PREVIEW)


def window_based(slow: int, fast: int) -> Point:
    """Return the point with the given (B, C)."""
    return Point(time=0.0, slow=slow, fast=fast)


def base() -> Scenario:
    """Load the paper's scenario: a timer of 5 ms, sizes S2."""
    return packaged(__package__)


def runs_of(table: pd.DataFrame) -> Runs[Point]:
    """Group runs by point: one row per run, with the fields of `Point`, ``seed`` and the metrics.

    Runs of a preview are stored under the points of the full plan. Runs of equal seeds have the
    same flows and are compared seed by seed.
    """
    more = {}
    if metrics.MEAN in table:
        deviation = table[metrics.VARIANCE] ** 0.5
        more = {metrics.DEVIATION: deviation, metrics.VARIATION: deviation / table[metrics.MEAN]}
    runs = Runs.of(table.assign(**more), Point, Point._fields, metrics.MEAN, paired)
    return runs.under(Point.in_full)


def measured_s(runs: Runs[Point], point: Point) -> float:
    """Return the measured time of a point in seconds; NaN where it was not run."""
    return runs.mean(point, "measured").estimate
