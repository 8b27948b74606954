"""The runs of the paper's sweeps, looked up by point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Self

from lightburst.papers.claims import UNKNOWN
from lightburst.papers.runs import by_point
from lightburst.study.statistics import Interval, mean_interval, paired_ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

POINT_COLUMNS: Final = ("link_length_m", "switch", "buffer_ports", "p", "arrival_rate_per_s")


class Point(NamedTuple):
    """One scenario of the sweeps.

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
    rate : float
        Arrival rate in requests per second.
    """

    length: float
    switch: str
    ports: int
    p: float
    rate: float


class Sweep:
    """Runs by point, with means and with ratios paired by seed.

    Parameters
    ----------
    runs : mapping of Point to pandas.DataFrame
        The runs of each point, indexed by seed, with the metrics as columns.
    """

    def __init__(self, runs: Mapping[Point, pd.DataFrame]) -> None:
        self._runs = runs

    @classmethod
    def of(cls, table: pd.DataFrame) -> Self:
        """Sort runs by point: one row for each run, `POINT_COLUMNS`, ``seed`` and the metrics."""
        grouped = by_point(table, Point, POINT_COLUMNS)
        return cls({point: rows.set_index("seed") for point, rows in grouped})

    @property
    def seeds_text(self) -> str:
        """The seeds in words: ``100 seeds (1 to 100)``."""
        seeds = sorted({int(seed) for group in self._runs.values() for seed in group.index})
        if not seeds:
            return "no runs"
        return f"{len(seeds)} seeds ({seeds[0]} to {seeds[-1]})"

    def with_length(self, length: float) -> Sweep:
        """Give the runs with links of one length, in metres, alone."""
        return Sweep({point: runs for point, runs in self._runs.items() if point.length == length})

    def rates(self, length: float) -> tuple[float, ...]:
        """Give the arrival rates that were run with links of a length, ascending."""
        return tuple(sorted({point.rate for point in self._runs if point.length == length}))

    def samples(self, point: Point, metric: str = "throughput_bps") -> pd.Series[float] | None:
        """Give the known values of a metric by seed; None where there are none."""
        group = self._runs.get(point)
        if group is None:
            return None
        values = group[metric].dropna().astype(float)
        return values if len(values) else None

    def mean(self, point: Point, metric: str = "throughput_bps") -> Interval:
        """Average a metric over the seeds of a point; `UNKNOWN` where there are no runs."""
        values = self.samples(point, metric)
        return UNKNOWN if values is None else mean_interval(values)

    def ratio(self, top: Point, bottom: Point, metric: str = "throughput_bps") -> Interval:
        """Compare two points by a positive metric over the seeds that both have.

        It is `lightburst.study.statistics.paired_ratio`; `UNKNOWN` where they have no seed in
        common.
        """
        numerator, denominator = self.samples(top, metric), self.samples(bottom, metric)
        if numerator is None or denominator is None:
            return UNKNOWN
        shared = numerator.index.intersection(denominator.index)
        if not len(shared):
            return UNKNOWN
        return paired_ratio(numerator.loc[shared], denominator.loc[shared])
