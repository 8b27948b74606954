"""Runs of a paper's studies, indexed by point."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, get_type_hints

from lightburst.papers.claims import UNKNOWN, known
from lightburst.study.statistics import Interval, mean_interval, paired_ratio, ratio_of_means

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd

P = TypeVar("P", bound=tuple[Any, ...])
K = TypeVar("K")

THROUGHPUT = "throughput_bps"


def paired(top: pd.Series[float], bottom: pd.Series[float]) -> Interval:
    """Compare runs of equal seeds by `paired_ratio`; `UNKNOWN` if no seed is shared."""
    shared = top.index.intersection(bottom.index)
    return paired_ratio(top.loc[shared], bottom.loc[shared]) if len(shared) else UNKNOWN


def of_means(top: pd.Series[float], bottom: pd.Series[float]) -> Interval:
    """Compare the means of all runs by `ratio_of_means`; `UNKNOWN` if one of them is zero."""
    return ratio_of_means(top, bottom) if min(top.mean(), bottom.mean()) > 0 else UNKNOWN


class Runs(Generic[P]):
    """Runs by point, with means and ratios of their metrics.

    Parameters
    ----------
    rows : mapping of point to DataFrame
        Runs of each point, indexed by seed, one column per metric.
    metric : str
        Default metric.
    compare : callable
        Comparison of the values of two points: `paired` or `of_means`.
    """

    def __init__(
        self,
        rows: Mapping[P, pd.DataFrame],
        metric: str = THROUGHPUT,
        compare: Callable[[pd.Series[float], pd.Series[float]], Interval] = paired,
    ) -> None:
        self._rows = rows
        self._metric = metric
        self._compare = compare
        self._samples: dict[tuple[P, str], pd.Series[float] | None] = {}

    @classmethod
    def of(
        cls,
        table: pd.DataFrame,
        kind: type[P],
        columns: Sequence[str],
        metric: str = THROUGHPUT,
        compare: Callable[[pd.Series[float], pd.Series[float]], Interval] = paired,
    ) -> Self:
        """Group a table of runs by point.

        Parameters
        ----------
        table : pandas.DataFrame
            One row per run: the labels of its point, ``seed`` and the metrics.
        kind : type
            Class of a point, a named tuple. The labels are converted to its annotated types,
            because a stored file may have others.
        columns : sequence of str
            Labels, in the order of the fields of `kind`.
        metric, compare
            As for the class.
        """
        types = get_type_hints(kind).values()
        rows = {}
        ordered = table.sort_values("seed", kind="stable")
        for key, group in ordered.groupby(list(columns), sort=False):
            values = (make(value) for make, value in zip(types, key, strict=True))
            rows[kind(*values)] = group.set_index("seed")
        return cls(rows, metric, compare)

    @property
    def points(self) -> tuple[P, ...]:
        """All points with runs."""
        return tuple(self._rows)

    def __contains__(self, point: object) -> bool:
        return point in self._rows

    def only(self, wanted: Callable[[P], bool]) -> Runs[P]:
        """Return the runs of the points that satisfy a predicate."""
        rows = {point: group for point, group in self._rows.items() if wanted(point)}
        return Runs(rows, self._metric, self._compare)

    def under(self, name: Callable[[P], P]) -> Runs[P]:
        """Return the runs under other points: `name` maps each point to its new one."""
        rows = {name(point): group for point, group in self._rows.items()}
        return Runs(rows, self._metric, self._compare)

    @property
    def seeds_text(self) -> str:
        """Seeds in words: ``100 seeds (1 to 100)``."""
        seeds = sorted({int(seed) for group in self._rows.values() for seed in group.index})
        return f"{len(seeds)} seeds ({seeds[0]} to {seeds[-1]})" if seeds else "no runs"

    def numbers_text(self, points: Iterable[P]) -> str:
        """Write the number of runs per point: ``2 to 16 runs a point (seeds from 1 on)``."""
        numbers = [self.number(point) for point in points if point in self]
        return f"{_span(numbers)} runs a point (seeds from 1 on)" if numbers else "no runs"

    def lengths_text(self, points: Iterable[P]) -> str:
        """Write the simulated time: ``1,000 simulated seconds a point, in 3 to 10 runs``."""
        run = [point for point in points if point in self]
        lengths = _span([self.total(point, "makespan_s") for point in run])
        return f"{lengths} simulated seconds a point, in {_span([*map(self.number, run)])} runs"

    def number(self, point: P) -> int:
        """Return the number of runs of a point."""
        return len(self._rows[point])

    def total(self, point: P, metric: str) -> float:
        """Sum a metric over the runs of a point; NaN if it is unknown."""
        group = self._rows.get(point)
        return math.nan if group is None or metric not in group else float(group[metric].sum())

    def samples(self, point: P, metric: str = "") -> pd.Series[float] | None:
        """Return the known values of a metric by seed; None if there are none."""
        key = point, metric or self._metric
        if key not in self._samples:
            group = self._rows.get(point)
            values = None if group is None else group[key[1]].dropna().astype(float)
            self._samples[key] = values if values is not None and len(values) else None
        return self._samples[key]

    def mean(self, point: P, metric: str = "") -> Interval:
        """Average a metric over the runs of a point; `UNKNOWN` without runs."""
        values = self.samples(point, metric)
        return UNKNOWN if values is None else mean_interval(values)

    def means(self, points: Mapping[K, P], metric: str = "") -> dict[K, Interval]:
        """Average a metric at each of several points; points without runs are dropped."""
        found = {at: self.mean(point, metric) for at, point in points.items()}
        return {at: mean for at, mean in found.items() if known(mean)}

    def best(self, points: Iterable[P], metric: str = "") -> P:
        """Find the point with the highest mean; an arbitrary one if nothing was run."""
        means = {point: self.mean(point, metric) for point in points}
        return max(means, key=lambda point: (known(means[point]), means[point].estimate))

    def ratio(self, top: P, bottom: P, metric: str = "") -> Interval:
        """Compare two points by a positive metric; `UNKNOWN` if a value is missing."""
        above, below = self.samples(top, metric), self.samples(bottom, metric)
        return UNKNOWN if above is None or below is None else self._compare(above, below)

    def ratios(self, pairs: Mapping[K, tuple[P, P]], metric: str = "") -> dict[K, Interval]:
        """Compare pairs of points; pairs that cannot be compared are dropped."""
        found = {at: self.ratio(top, bottom, metric) for at, (top, bottom) in pairs.items()}
        return {at: ratio for at, ratio in found.items() if known(ratio)}

    def over(self, top: Mapping[K, P], bottom: Mapping[K, P]) -> dict[K, Interval]:
        """Compare two sets of points key by key, where both have the key."""
        return self.ratios({at: (point, bottom[at]) for at, point in top.items() if at in bottom})

    def chance(self, top: P, bottom: P, length_s: float) -> float:
        """Estimate the chance deviation of a ratio of two means, each over `length_s` seconds.

        Half-width of the 95 % interval of its logarithm, from the spread of our runs; NaN with
        fewer than two runs of a point. The two points are assumed to share no losses, which gives
        the wider interval.
        """
        variance = 0.0
        for point in (top, bottom):
            samples = self.samples(point)
            if samples is None or len(samples) < 2 or samples.mean() <= 0:
                return math.nan
            values = samples.to_numpy()
            each_s = self.total(point, "makespan_s") / values.size
            variance += float(values.var(ddof=1) / values.mean() ** 2) * each_s / length_s
        return 1.96 * math.sqrt(variance)


def _span(values: Sequence[float]) -> str:
    least, most = f"{min(values):,.0f}", f"{max(values):,.0f}"
    return least if least == most else f"{least} to {most}"
