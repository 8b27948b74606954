"""Sequential stopping: adds seeds to a point until its mean is known well enough.

A point is run with a few seeds, then with half as many more, and so on, until the interval of the
mean of one metric is narrow enough or the seeds of the study are used up. The seeds of a point
depend only on the results of its own earlier seeds, so that a second call with the same store gives
the same rows, and a call after Ctrl-C continues where the first one stopped.

References
----------
.. [1] A. M. Law, "Simulation Modeling and Analysis", 5th ed., McGraw-Hill, 2015, section 9.4.1
   (sequential procedure for a relative error).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.foundation.units import as_python
from lightburst.study.execution.executor import PLACE, opened, run_placed
from lightburst.study.execution.progress import progress_bar
from lightburst.study.runs import Study
from lightburst.study.statistics import mean_interval
from lightburst.study.store.failures import FailedRun, moved, settle
from lightburst.study.store.kept import Kept
from lightburst.study.store.store import Store
from lightburst.study.workers.where import workers_of

if TYPE_CHECKING:
    from lightburst.simulation.foretold import Foretold
    from lightburst.study.workers.where import Where


@dataclass(frozen=True, slots=True)
class Stopping:
    """Rule for the number of seeds of a point.

    Parameters
    ----------
    metric : str
        Column whose mean is to be estimated.
    precision : float
        Target for the half-width of the interval, as a fraction of the mean.
    first : int
        Number of seeds before the first check, at least 2.
    growth : float
        Factor, above 1, by which the seeds of a point grow from check to check. There should be few
        checks, because each one is another chance to stop too early: with ten first seeds and a
        factor of 1.5, the nominal 95 % interval covers the mean in 93 % to 94 % of cases.
    confidence : float
        Confidence of the interval.
    budget : int, optional
        Largest number of runs of all points together. When it runs short, the points with the
        widest intervals, relative to their means, are continued first.

    Raises
    ------
    InputError
        If a parameter is outside its range.
    """

    metric: str
    precision: float = 0.01
    first: int = 10
    growth: float = 1.5
    confidence: float = 0.95
    budget: int | None = None

    def __post_init__(self) -> None:
        for name, kind, above, below, allowed in (
            ("precision", float, 0, math.inf, "a number above 0"),
            ("first", int, 1, math.inf, "a whole number from 2"),
            ("growth", float, 1, math.inf, "a number above 1"),
            ("confidence", float, 0, 1, "a number between 0 and 1"),
        ):
            value = as_python(getattr(self, name))
            if not isinstance(value, kind | int) or not above < value < below:
                raise InputError(f"stopping.{name}", show(value), allowed)
        budget = as_python(self.budget)
        if budget is not None and (type(budget) is not int or budget < 1):
            raise InputError("stopping.budget", show(budget), "a whole number from 1")

    def looks(self, most: int) -> list[int]:
        """Return the numbers of seeds after which a point is checked.

        Parameters
        ----------
        most : int
            Number of seeds that a point may use.

        Returns
        -------
        list of int
            Strictly ascending; the last is `most`.
        """
        wanted = float(self.first)
        found = []
        while round(wanted) < most:
            found.append(round(wanted))
            wanted = max(wanted * self.growth, found[-1] + 1.0)
        return [*found, most]

    def enough(self, values: ArrayLike) -> bool:
        """Return whether the mean of the samples is known well enough.

        Parameters
        ----------
        values : array_like of float, shape (n,)
            Independent samples.

        Returns
        -------
        bool
            Whether the half-width of Student's interval is at most `precision` times the mean.
            Samples that are all equal are enough, whatever their mean.
        """
        return self.width(values) <= self.precision

    def missed(self, widths: Sequence[float]) -> Iterator[str]:
        """Yield a message on points that missed the target, given the widths of all intervals."""
        wide = [width for width in widths if width > self.precision]
        if wide:
            yield (
                f"{len(wide)} of {len(widths)} points have missed the target of "
                f"{100 * self.precision:.3g} % for {self.metric}: the widest has "
                f"{100 * max(wide):.3g} %; more runs (target.maximum, target.budget) narrow it"
            )

    def width(self, values: ArrayLike) -> float:
        """Return the half-width of the interval of the mean, as a fraction of the mean.

        Parameters
        ----------
        values : array_like of float, shape (n,)
            Independent samples; NaN, from runs without the metric, is ignored.

        Returns
        -------
        float
            Infinite for fewer than two samples or an infinite sample; 0 if all are equal.
        """
        x = np.asarray(values, dtype=np.float64)
        x = x[~np.isnan(x)]
        if x.size < 2:
            return math.inf
        interval = mean_interval(x, self.confidence)
        half = (interval.high - interval.low) / 2
        if half == 0:
            return 0.0
        mean = abs(interval.estimate)
        return half / mean if mean > 0 and math.isfinite(mean) else math.inf


def execute_until(
    study: Study,
    stopping: Stopping,
    store: Store | str | Path | None = None,
    *,
    workers: Where = None,
    progress: bool = True,
    kept: Kept | None = None,
    failed: list[FailedRun] | None = None,
    foretell: Foretold | None = None,
) -> pd.DataFrame:
    """Run each point of a study with as many of its seeds as the rule requires.

    Parameters
    ----------
    study : Study
        Points, and the seeds that a point may use, in the order of use.
    stopping : Stopping
        Rule that decides the number of seeds.
    store, workers, progress
        As for `lightburst.study.execute`.
    kept : Kept, optional
        Storage for tables of the runs.
    failed : list of FailedRun, optional
        Receives the failed runs; if None, the first error is raised after all other runs have
        ended. A point without any finished run gets no more seeds.
    foretell : Foretold, optional
        Tells what is known before the first run.

    Returns
    -------
    pandas.DataFrame
        As `lightburst.study.execute`, with fewer rows where fewer seeds were enough, and with a
        first column ``place``, the index of the point in the study, from 0.

    Raises
    ------
    InputError, KeyboardInterrupt
        As `lightburst.study.execute`.
    """
    missed: list[FailedRun] = []
    with workers_of(workers) as computing, opened(store) as found, progress_bar(progress) as bar:
        how: dict[str, Any] = {"workers": computing, "progress": bar, "kept": kept}
        how["foretell"] = foretell
        table = _rounds(study, stopping, found, missed, **how)
    settle(missed, len(table), failed)
    return table


def _rounds(
    study: Study, stopping: Stopping, store: Store, failed: list[FailedRun], **how: Any
) -> pd.DataFrame:
    found: list[list[pd.DataFrame]] = [[] for _ in study.points]
    active = list(range(len(study.points)))
    left = math.inf if stopping.budget is None else stopping.budget
    if left < (least := len(active) * stopping.looks(len(study.seeds))[0]):
        words = f"at least {least:,}, the first seeds of {len(active):,} points"
        raise InputError("stopping.budget", str(stopping.budget), words)
    for begin, end in _steps(stopping.looks(len(study.seeds))):
        if len(active) * (end - begin) > left:
            wide = {i: -stopping.width(_values(found[i], stopping.metric)) for i in active}
            active = sorted(sorted(active, key=lambda i: wide[i])[: int(left // (end - begin))])
            if not active:
                break
        left -= len(active) * (end - begin)
        points = [study.points[i] for i in active]
        part = Study(study.base, points, study.seeds[begin:end], study.metrics)
        now: list[FailedRun] = []
        table = run_placed(part, store, failed=now, **how)
        failed.extend(moved(now, active))
        if len(table) and stopping.metric not in table:
            known = table.loc[:, "seed":].columns
            allowed = f"a metric of a run{did_you_mean(stopping.metric, known)}"
            raise InputError("stopping.metric", show(stopping.metric), allowed)
        for place, i in enumerate(active):
            rows = table[table[PLACE] == place]
            if len(rows):
                found[i].append(rows)
        active = [
            i
            for i in active
            if found[i] and not stopping.enough(_values(found[i], stopping.metric))
        ]
        if not active:
            break
    tables = [rows.drop(columns=PLACE) for point in found for rows in point]
    whole = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame({"seed": []})
    # Concatenated rather than inserted: a table of runs may have hundreds of columns.
    places = np.repeat(np.arange(len(found)), [sum(map(len, point)) for point in found])
    return pd.concat([pd.Series(places, name=PLACE), whole], axis=1)


def _steps(looks: list[int]) -> Iterator[tuple[int, int]]:
    return itertools.pairwise([0, *looks])


def _values(tables: list[pd.DataFrame], metric: str) -> list[float]:
    return [float(value) for table in tables for value in table[metric]]
