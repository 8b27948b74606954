"""Comparison of two systems, metric by metric: differences, ratios and their significance.

Each system is given by a table of runs; runs with the same seed form pairs. Among many metrics and
points some differ by chance, so p-values and intervals are corrected with a single method
(Bonferroni). The p-value and the intervals of difference and ratio come from the same test and
never contradict each other: see `lightburst.study.statistics.several`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.foundation.formatting import html_list
from lightburst.foundation.support import is_support, supporting
from lightburst.study.statistics.fieller import fieller_ratio
from lightburst.study.statistics.intervals import BCA, STUDENT, Interval, checked_interval
from lightburst.study.statistics.paired import (
    Difference,
    difference_of_means,
    paired_difference,
    sign_test,
)
from lightburst.study.statistics.permuted import permutation_difference, permutation_ratio
from lightburst.study.statistics.sample_sizes import rests_on
from lightburst.study.statistics.several import bonferroni, confidence_of_each

HIGHER: Final = "higher"
LOWER: Final = "lower"
UNCLEAR: Final = "unclear"
SAME: Final = "same"
UNKNOWN: Final = "unknown"

#: Explanation of each verdict in the column ``verdict`` of `Comparison.table`.
VERDICTS: Final = {
    HIGHER: "the second is higher than the first, beyond chance",
    LOWER: "the second is lower than the first, beyond chance",
    UNCLEAR: "chance alone may have made the difference",
    SAME: "the same in every run of both",
    UNKNOWN: "too few runs to tell from chance",
}

#: Relative difference up to which two traffic volumes count as equal.
_ALIKE: Final = 0.01

#: Scenario paths, or prefixes of paths, that the ideal time of a flow depends on.
_OF_IDEAL: Final = (
    "topology.", "routing.", "switching.kind", "switching.layers", "switching.nodes",
    "switching.switching_time", "switching.header_processing_time", "transport.segment_size",
    "transport.header_size", "transport.kind",
)  # fmt: skip

#: Columns about the machine or the simulator, which are not metrics of a network.
NOT_COMPARED: Final = ("seed", "wall_s", "events")


@dataclass(frozen=True)
class Comparison:
    """Result of `compare_runs`.

    Attributes
    ----------
    first, second : str
        Names of the two systems.
    table : pandas.DataFrame
        One row per point and metric: the columns that name the point; ``metric``; ``first`` and
        ``second``, means over the compared runs; ``runs_first``, ``runs_second`` and ``pairs`` (0:
        not paired); ``difference`` (second minus first) with ``ci_low`` and ``ci_high``; ``ratio``
        (mean of second over mean of first) with ``ratio_low`` and ``ratio_high`` (infinite where
        the first may be 0); ``p``; ``p_adjusted``, corrected for the number of comparisons;
        ``verdict``, see `VERDICTS`: higher or lower if and only if the interval of the difference
        excludes 0 and that of the ratio excludes 1; ``samples``, number of flows behind the metric
        in the run with the fewest; and ``needed``, number of flows that a percentile needs. Missing
        entries are NaN.
    confidence : float
        Probability that all intervals together cover the quantities that they estimate.
    confidence_of_each : float
        Confidence of each single interval.
    compared : int
        Number of comparisons, over metrics and points, for which p-values are corrected.
    only_first, only_second : tuple of str
        Metrics that only the first, or only the second, system has.
    points_left_out : int
        Number of points that only one of the two systems has.
    offered : tuple of float
        Smallest and largest ratio over all points of the traffic offered to the second system to
        that offered to the first (means of ``offered_bps`` over common seeds); NaN if unknown.
    changes : mapping of str to tuple
        Differences between the two scenarios by path: the values of first and second, None where
        one has no such key. Empty if only tables of runs are known.
    """

    first: str
    second: str
    table: pd.DataFrame
    confidence: float
    confidence_of_each: float
    compared: int
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    points_left_out: int = 0
    offered: tuple[float, float] = (math.nan, math.nan)
    changes: Mapping[str, tuple[object, object]] = field(default_factory=dict)

    @property
    def points(self) -> list[str]:
        """The columns of the table that name a point."""
        return [str(name) for name in self.table.columns[: self.table.columns.get_loc("metric")]]

    @property
    def other_traffic(self) -> str | None:
        """Warning that the two systems were offered different traffic; None if they were not."""
        least, most = self.offered
        if not (least < 1 - _ALIKE or most > 1 + _ALIKE):
            return None
        times = f"{least:.3g}" if most - least < _ALIKE else f"{least:.3g} to {most:.3g}"
        return (
            f"{self.second} was offered {times} times the traffic of {self.first}: a 'load' is "
            "relative to the network, an 'arrival_rate' is not"
        )

    @property
    def other_ideal(self) -> str | None:
        """Warning that slowdowns refer to different ideal times; None if they do not.

        Requires that the scenarios are known and that a slowdown was compared.
        """
        moved = [path for path in self.changes if path.startswith(_OF_IDEAL)]
        if not moved or not self.table["metric"].str.startswith("slowdown").any():
            return None
        return (
            f"a slowdown is over the time of the flow alone on its own network, which {moved[0]} "
            "changes: completion times say which of the two is faster"
        )

    @property
    def cautions(self) -> tuple[str, ...]:
        """Warnings about metrics: different traffic, different ideal times, too few flows."""
        traffic = f"Not the same traffic: {self.other_traffic}." if self.other_traffic else ""
        ideal = f"Not the same ideal: {self.other_ideal}." if self.other_ideal else ""
        return tuple(filter(None, (traffic, ideal, self._few)))

    @property
    def _few(self) -> str:
        """Warning about percentiles that need more flows than the runs have, or empty."""
        few = self.table[self.table["samples"] < self.table["needed"]]
        if few.empty:
            return ""
        worst = few.iloc[int((few["samples"] / few["needed"]).argmin())]
        names = ", ".join(dict.fromkeys(few["metric"]))
        return (
            f"Beyond the sample: {names}: percentiles of as few as {worst['samples']:,.0f} flows, "
            f"where {worst['needed']:,.0f} are needed."
        )

    @property
    def differ(self) -> pd.DataFrame:
        """The rows of the table with a significant difference, smallest p-value first."""
        chosen = self.table[self.table["verdict"].isin([HIGHER, LOWER])]
        return chosen.sort_values("p", kind="stable")

    def records(self) -> list[dict[str, Any]]:
        """Return the table in a form for JSON: None for missing entries, ``"inf"`` for infinity."""
        rows = self.table.to_dict("records")
        return [{str(key): _plain(value) for key, value in row.items()} for row in rows]

    def as_dict(self) -> dict[str, Any]:
        """Return the whole comparison in a form for JSON."""
        return {
            "first": self.first,
            "second": self.second,
            "changes": {path: list(both) for path, both in self.changes.items()},
            "confidence": self.confidence,
            "confidence_of_each": self.confidence_of_each,
            "compared": self.compared,
            "metrics": self.records(),
            "only_first": list(self.only_first),
            "only_second": list(self.only_second),
            "points_left_out": self.points_left_out,
            "offered_ratio": [_plain(ratio) for ratio in self.offered],
        }

    def __str__(self) -> str:
        return "\n".join((self.table.to_string(index=False), *self.cautions))

    def _repr_html_(self) -> str:
        return f"{self.table.to_html(index=False)}{html_list(self.cautions)}"


def _plain(value: Any) -> Any:
    """Convert a cell for JSON."""
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else "inf"


class _Two(NamedTuple):
    """The values of one metric in two systems at one point.

    If `pairs` is above 0, values at the same index form a pair; 0 means that they are not paired.
    """

    point: tuple[object, ...]
    metric: str
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    pairs: int
    rests: Mapping[Any, float]


def compare_runs(
    first: pd.DataFrame,
    second: pd.DataFrame,
    metrics: Iterable[str] | str | None = None,
    *,
    by: Sequence[str] = (),
    names: tuple[str, str] = ("A", "B"),
    confidence: float = 0.95,
    interval: str = STUDENT,
) -> Comparison:
    """Compare two systems by tables of their runs.

    Parameters
    ----------
    first, second : pandas.DataFrame
        One row per run, from `lightburst.replicate` or a selection of rows from
        `lightburst.execute`: ``seed`` and, in columns after it, the metrics.
    metrics : iterable of str or str, optional
        Metrics to compare; fewer metrics give tighter intervals. Default: all metrics of whole runs
        that both tables have, without those of groups and size classes (``slowdown_p99[query]``).
    by : sequence of str
        Columns that name a point, if the tables have several points; points are compared
        separately.
    names : tuple of str
        Names of the two systems.
    confidence : float
        Joint confidence of all intervals, between 0 and 1.
    interval : str
        ``"t"``: Student's intervals, Fieller's for ratios, p of the t-test. ``"bca"``: those of the
        permutation test, for skewed metrics and many runs (docs/statistics.md).

    Returns
    -------
    Comparison
        Paired if both systems share at least two seeds; otherwise by Welch's method. If a run is
        infinite because flows did not finish, p and verdict are of the sign test, without interval.
        Metrics equal in every run of both are not tested and do not count in the correction.

    Raises
    ------
    InputError
        If a metric is not numeric or in one table only, a column of `by` does not exist, a point
        has several runs with one seed, or the tables share no point.
    ValueError
        If `confidence` is not between 0 and 1.
    """
    columns, tests = _points(by, first, second), _tests(interval)
    known = [_metrics_of(runs, columns) for runs in (first, second)]
    chosen = _chosen(metrics, *known)
    groups = [_by_point(runs, columns) for runs in (first, second)]
    shared = [point for point in groups[0] if point in groups[1]]
    if not shared:
        raise InputError("by", show(columns), "columns that name a point which both have")
    pairs = [(point, groups[0][point], groups[1][point]) for point in shared]
    cases = [_two(point, metric, *both) for point, *both in pairs for metric in chosen]
    rows, each, counted = _rows(cases, confidence, tests)
    points = pd.DataFrame([case.point for case in cases], columns=columns)
    table = pd.concat([points, pd.DataFrame(rows)[list(_ORDER)]], axis=1)
    return Comparison(
        *names,
        table,
        confidence,
        each,
        counted,
        tuple(name for name in known[0] if name not in known[1]),
        tuple(name for name in known[1] if name not in known[0]),
        len(groups[0]) + len(groups[1]) - 2 * len(shared),
        _offered([(one, other) for _, one, other in pairs]),
    )


_ORDER: Final = (
    "metric", "first", "second", "runs_first", "runs_second", "pairs", "difference", "ci_low",
    "ci_high", "ratio", "ratio_low", "ratio_high", "p", "p_adjusted", "verdict", "samples",
    "needed",
)  # fmt: skip


class _Tests(NamedTuple):
    """Functions that test a difference, paired or unpaired, and estimate a ratio of two means."""

    paired: Callable[..., Difference]
    apart: Callable[..., Difference]
    ratio: Callable[..., Interval]

    def difference(self, case: _Two, confidence: float = 0.95) -> Difference:
        test = self.paired if case.pairs else self.apart
        return test(case.first, case.second, confidence)


def _tests(interval: str) -> _Tests:
    if checked_interval(interval) == BCA:
        apart = partial(permutation_difference, shared_seeds=False)
        return _Tests(permutation_difference, apart, permutation_ratio)
    return _Tests(paired_difference, difference_of_means, fieller_ratio)


def _rows(
    cases: list[_Two], confidence: float, tests: _Tests
) -> tuple[list[dict[str, Any]], float, int]:
    """Return the rows of the table, the confidence per interval, and the number of comparisons."""
    rows = [_tested(case, tests) for case in cases]
    counted = max(1, sum(not math.isnan(row["p"]) for row in rows))
    each = confidence_of_each(confidence, counted)
    corrected = bonferroni([row["p"] for row in rows])
    for row, case, p in zip(rows, cases, corrected, strict=True):
        row |= _ends(case, each, tests)
        row["p_adjusted"] = float(p)
        row["verdict"] = row["verdict"] or _verdict(case, row, p <= 1 - confidence)
    return rows, each, counted


def _offered(pairs: list[tuple[pd.DataFrame, pd.DataFrame]]) -> tuple[float, float]:
    """Return the range over points of the second's offered traffic divided by the first's."""
    name, found = "offered_bps", []
    for one, other in pairs:
        if name in one and name in other:
            two = _two((), name, one, other)
            if two.pairs and two.first.mean() > 0:
                found.append(float(two.second.mean() / two.first.mean()))
    return (min(found), max(found)) if found else (math.nan, math.nan)


def _points(by: Sequence[str], first: pd.DataFrame, second: pd.DataFrame) -> list[str]:
    columns = [by] if isinstance(by, str) else list(by)
    for name in columns:
        for runs in (first, second):
            if name not in runs:
                known = [str(column) for column in runs.columns]
                raise InputError("by", show(name), f"columns of both{did_you_mean(name, known)}")
    return columns


def _metrics_of(runs: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return the metrics of a table of runs: its numeric columns after the seed."""
    if "seed" not in runs:
        raise InputError("runs", "a table without 'seed'", "one row for each run, with its seed")
    return [
        str(name)
        for name in runs.loc[:, "seed":].columns
        if name not in (*NOT_COMPARED, *columns)
        and not is_support(str(name))
        and pd.api.types.is_numeric_dtype(runs[name])
        and runs[name].notna().any()
    ]


def _chosen(metrics: Iterable[str] | str | None, one: list[str], other: list[str]) -> list[str]:
    both = [name for name in one if name in other]
    whole = [name for name in both if "[" not in name]
    if metrics is None:
        if not whole:
            raise InputError("metrics", "no metric that both have", "runs with a metric in common")
        return whole
    wanted = [metrics] if isinstance(metrics, str) else list(metrics)
    if not wanted:
        raise InputError("metrics", "none", "at least one metric")
    for name in wanted:
        if name not in both:
            here = [words for words, known in (("first", one), ("second", other)) if name in known]
            given = show(name) + (f" (which only the {here[0]} has)" if here else "")
            near = did_you_mean(name, both)
            parts = (
                "" if len(whole) == len(both) else ", and the same of groups and classes of size"
            )
            raise InputError("metrics", given, f"{', '.join(whole)}{parts}{near}")
    return list(dict.fromkeys(wanted))


def _by_point(runs: pd.DataFrame, columns: list[str]) -> dict[tuple[object, ...], pd.DataFrame]:
    found: dict[tuple[object, ...], pd.DataFrame] = {}
    if columns:
        for key, table in runs.groupby(columns, sort=False, dropna=False):
            # A missing value becomes None: NaN does not equal itself and is useless as a key.
            point = tuple(None if isinstance(x, float) and math.isnan(x) else x for x in key)
            found[point] = table.set_index("seed")
    else:
        found[()] = runs.set_index("seed")
    for point, table in found.items():
        if not table.index.is_unique:
            twice = table.index[table.index.duplicated()][0]
            where = f" at {point}" if point else ""
            what = f"{show(columns)} with several runs of seed {twice}{where}"
            raise InputError("by", what, "columns that name a point, so that it has a seed once")
    return found


def _two(point: tuple[object, ...], metric: str, first: pd.DataFrame, second: pd.DataFrame) -> _Two:
    one, other = (runs[metric].dropna() for runs in (first, second))
    seeds = one.index.intersection(other.index)
    paired = len(seeds) > 1 or len(seeds) == len(one) == len(other) == 1
    if paired:
        one, other = one[seeds], other[seeds]
    values = [np.asarray(x, dtype=np.float64) for x in (one, other)]
    columns = [metric, *dict.fromkeys(supporting(metric))]
    both = [runs[[name for name in columns if name in runs]] for runs in (first, second)]
    rests = rests_on(pd.concat(both).assign(all=0), metric, "all")
    told = rests.iloc[0].to_dict() if len(rests) else dict.fromkeys(rests, math.nan)
    return _Two(point, metric, values[0], values[1], len(seeds) if paired else 0, told)


def _tested(case: _Two, tests: _Tests) -> dict[str, Any]:
    """Return the entries of a row that do not depend on the number of comparisons."""
    one, other = case.first, case.second
    means = [float(x.mean()) if x.size else math.nan for x in (one, other)]
    row: dict[str, Any] = {
        "metric": case.metric,
        "first": means[0],
        "second": means[1],
        "runs_first": one.size,
        "runs_second": other.size,
        "pairs": case.pairs,
        "p": math.nan,
        "verdict": "",
        "samples": case.rests["samples"],
        "needed": case.rests["needed"],
    }
    if min(one.size, other.size) == 0:
        row["verdict"] = UNKNOWN
    elif _is_same(case):
        row["verdict"] = SAME
    elif np.isfinite(means).all():
        row["p"] = tests.difference(case).p
    elif case.pairs > 1:
        row["p"] = sign_test(one, other)
    if math.isnan(row["p"]):
        row["verdict"] = row["verdict"] or UNKNOWN
    return row


def _is_same(case: _Two) -> bool:
    """Return whether no run differs from a run that it is compared with."""
    if case.pairs:
        return bool(np.array_equal(case.first, case.second))
    return np.unique(np.concatenate([case.first, case.second])).size == 1


def _ends(case: _Two, confidence: float, tests: _Tests) -> dict[str, float]:
    """Return the difference and the ratio with their intervals."""
    one, other = case.first, case.second
    found = dict.fromkeys(
        ("difference", "ci_low", "ci_high", "ratio", "ratio_low", "ratio_high"), math.nan
    )
    if min(one.size, other.size) == 0 or not np.isfinite([*one.tolist(), *other.tolist()]).all():
        return found
    gap = tests.difference(case, confidence)
    # Without any spread the interval has zero width, however few the runs are.
    known = not (_sign(gap.low, gap.high) and gap.p > 1 - confidence)
    found["difference"] = gap.estimate
    if known:
        found |= {"ci_low": gap.low, "ci_high": gap.high}
    if one.mean() > 0 and other.mean() > 0:
        ratio = tests.ratio(other, one, confidence, shared_seeds=bool(case.pairs))
        found["ratio"] = ratio.estimate
        if known:
            found |= {"ratio_low": ratio.low, "ratio_high": ratio.high}
    return found


def _sign(low: float, high: float) -> int:
    """Return the side of 0 on which an interval lies; 0 if it contains 0 or is undefined."""
    return (low > 0) - (high < 0)


def _verdict(case: _Two, row: dict[str, Any], significant: bool) -> str:
    if not math.isnan(row["difference"]):
        sign = _sign(row["ci_low"], row["ci_high"])
        return UNCLEAR if sign == 0 else HIGHER if sign > 0 else LOWER
    if not significant:
        return UNCLEAR
    one, other = case.first, case.second
    return HIGHER if (other > one).sum() > (other < one).sum() else LOWER
