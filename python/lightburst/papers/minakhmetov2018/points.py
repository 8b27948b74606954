"""Points of the paper's studies: length of the links, switch, sender and load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from lightburst.papers.published import by_point
from lightburst.papers.runs import Runs

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.study.statistics import Interval

POINT_COLUMNS: Final = ("link_length_m", "switch", "buffer_ports", "p", "arrival_rate_per_s")

PORTS: Final = (0, 2, 5)
HYBRID_PORTS: Final = (2, 5)
WAITS: Final = (0.0, 1.0, 4.0)

#: By link length in metres: the length in words, and the published maximum in Gb/s.
PUBLISHED_MAXIMA: Final = {1000.0: ("1 km", 16.6), 10000.0: ("10 km", 1.9)}


class Point(NamedTuple):
    """One scenario of the studies.

    Parameters
    ----------
    length : float
        Length of every link in metres.
    switch : str
        Kind of switching: ``"hybrid"`` (all-optical where it has no ports) or ``"electronic"``.
    ports : int
        Ports of the buffer, ``ne``; 0 for the electronic switch.
    p : float
        How many packet times the sender waits longer; 0 is SAW.
    Extra waiting time of the sender in packet times; 0 is SAW.
        Arrival rate in requests per second.
    """

    length: float
    switch: str
    ports: int
    p: float
    rate: float

    def settings(self) -> dict[str, object]:
        """Return the point as settings of a scenario, by path; SAWL with p = 0 is SAW."""
        values: dict[str, object] = {
            "topology.link_length": f"{self.length:g} m",
            "switching.kind": self.switch,
            "transport.p": self.p,
            "workload.arrival_rate": f"{rate_text(self.rate)} /s",
        }
        if self.switch == "hybrid":
            values["switching.buffer_ports"] = self.ports
        return values


def hybrid(length: float, ports: int, p: float, rate: float = 0.0) -> Point:
    """Return a point with hybrid switches."""
    return Point(length, "hybrid", ports, p, rate)


#: Mean throughput of the independent prototype in Gb/s.
PROTOTYPE: Final = {
    point: float(row["throughput_gbps"]) for point, row in by_point(__package__, Point)
}


def runs_of(table: pd.DataFrame) -> Runs[Point]:
    """Group runs by point: one row per run, with `POINT_COLUMNS`, ``seed`` and the metrics."""
    return Runs.of(table, Point, POINT_COLUMNS)


def rates(runs: Runs[Point], length: float) -> tuple[float, ...]:
    """Return the arrival rates that were run at a link length, ascending."""
    return tuple(sorted({point.rate for point in runs.points if point.length == length}))


def ratios(
    runs: Runs[Point], top: Point, bottom: Point, metric: str = "throughput_bps"
) -> dict[float, Interval]:
    """Compare two curves at each arrival rate that both have; the points' own rates are ignored."""
    pairs = {
        rate: (top._replace(rate=rate), bottom._replace(rate=rate))
        for rate in rates(runs, top.length)
    }
    return runs.ratios(pairs, metric)


def along(runs: Runs[Point], point: Point, metric: str) -> dict[float, Interval]:
    """Average a metric at each arrival rate; the point's own rate is ignored."""
    at = rates(runs, point.length)
    return runs.means({rate: point._replace(rate=rate) for rate in at}, metric)


def rate_text(rate: float) -> str:
    """Write an arrival rate as on the paper's axis: ``3e7``."""
    mantissa, exponent = f"{rate:.6e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"
