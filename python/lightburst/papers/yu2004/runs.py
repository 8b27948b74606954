"""The runs of the paper's studies, looked up by point."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Self

from lightburst.papers.claims import UNKNOWN
from lightburst.papers.runs import by_point
from lightburst.papers.yu2004.points import PAYLOAD_BITS, Point
from lightburst.study.statistics import Interval, log_ratio_error, mean_interval, ratio_of_means

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


# "The throughput is obtained over a period of approximately 10^6 s", section V.
PAPER_TIME_S: Final = 1e6


class Runs:
    """Throughput by point, in segments a second, with its interval.

    Parameters
    ----------
    samples : mapping of Point to ndarray
        Throughput of each run of a point, in segments a second, from the first seed on.
    simulated_s : mapping of Point to float
        Simulated time of all runs of a point, in seconds.
    totals : mapping of Point to Series, optional
        Sum over the runs of a point of each metric.
    """

    def __init__(
        self,
        samples: Mapping[Point, NDArray[np.float64]],
        simulated_s: Mapping[Point, float],
        totals: Mapping[Point, pd.Series[float]] | None = None,
    ) -> None:
        self._samples = samples
        self.simulated_s = simulated_s
        self._totals = totals or {}

    @classmethod
    def of(cls, table: pd.DataFrame) -> Self:
        """Sort runs by point: a row for each run, the fields of `Point`, ``seed`` and the metrics.

        Throughput is what arrived in order at the receiver, without headers, over the whole time
        of the run, in segments of 960 useful bytes; what is sent again counts once. Set-up and the
        first slow start are not cut off: they cost a few round trips, under 0.1 % of a run of
        10,000 s, and under 0.5 % of one of 100,000 s at 1.25 kB/s.
        """
        samples, simulated, totals = {}, {}, {}
        for point, rows in by_point(table, Point, Point._fields):
            samples[point] = rows["throughput_bps"].to_numpy(dtype=float) / PAYLOAD_BITS
            simulated[point] = float(rows["makespan_s"].sum())
            totals[point] = rows.sum(numeric_only=True)
        return cls(samples, simulated, totals)

    @property
    def points(self) -> tuple[Point, ...]:
        """Every point that has runs."""
        return tuple(self._samples)

    def __contains__(self, point: object) -> bool:
        return point in self._samples

    def number(self, point: Point) -> int:
        """Give the number of runs of a point."""
        return len(self._samples[point])

    def total(self, point: Point, metric: str) -> float:
        """Sum a metric over the runs of a point; NaN where it is not known."""
        return (
            float(self._totals[point].get(metric, math.nan)) if point in self._totals else math.nan
        )

    def mean(self, point: Point) -> Interval:
        """Throughput of a point in segments a second; `UNKNOWN` where it was not run."""
        values = self._samples.get(point)
        return UNKNOWN if values is None else mean_interval(values)

    def ratio(self, top: Point, bottom: Point) -> Interval:
        """Throughput of a point over that of another, by `ratio_of_means`.

        Runs of the same seed draw the same losses, burst by burst: senders that do the same have
        the same throughput, others soon meet them with other segments. So they are paired, which is
        right in both cases. `UNKNOWN` where one was not run or carried nothing.
        """
        above, below = self._samples.get(top), self._samples.get(bottom)
        if above is None or below is None or above.mean() <= 0 or below.mean() <= 0:
            return UNKNOWN
        return ratio_of_means(above, below)

    def ratio_error(self, top: Point, bottom: Point) -> float:
        """Give the standard error of the logarithm of `ratio`, for two points that were run."""
        return log_ratio_error(self._samples[top], self._samples[bottom])[0]

    def paper_half(self, top: Point, bottom: Point) -> float:
        """Give how far a ratio of the paper's may be from the truth by chance alone.

        Half of the 95 % interval of the logarithm of a ratio of two means over 1e6 s each, as the
        paper ran them, from the spread of our runs; NaN where there are fewer than two. Whether the
        paper's runs had losses in common is not known; the wider reading is taken, that they had
        not.
        """
        variance = 0.0
        for point in (top, bottom):
            values = self._samples.get(point)
            if values is None or values.size < 2 or values.mean() <= 0:
                return math.nan
            length = self.simulated_s[point] / values.size
            variance += float(values.var(ddof=1) / values.mean() ** 2) * length / PAPER_TIME_S
        return 1.96 * math.sqrt(variance)
