"""Results of a search as tables: its trials, and the comparison on fresh seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.study.design.points import VARIANT, Place
from lightburst.study.runs import parameters_of
from lightburst.study.search.racing import COMPLETE
from lightburst.study.search.search import Trial, best_of
from lightburst.study.statistics import (
    confidence_of_each,
    mean_interval,
    paired_difference,
    ratio_of_means,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightburst.scenario import Scenario
    from lightburst.study.search.wanted import Aim

#: Verdicts on a complete trial; other trials have `GIVEN_UP` or `UNUSABLE`.
BEST: Final = "best"
AS_GOOD: Final = "as good"
WORSE: Final = "worse"

#: Verdicts on a point compared with the default on fresh seeds (or `WORSE`).
BETTER, UNCLEAR, SAME, UNKNOWN = "better", "unclear", "same", "unknown"

#: Name of the base scenario among the compared points.
DEFAULT: Final = "default"

_CONFIDENCE: Final = 0.95


def trial_table(base: Scenario, aims: Sequence[Aim], trials: Sequence[Trial]) -> pd.DataFrame:
    """Return the trials as a table.

    Parameters
    ----------
    base : Scenario
        Base scenario of all trials.
    aims : sequence of Aim
        Objectives of the search.
    trials : sequence of Trial
        Trials, at least one of them complete.

    Returns
    -------
    pandas.DataFrame
        One row per trial and objective: ``trial``; the variant and the axes (a quantity also as a
        number in SI units); ``seeds``; ``verdict``; ``metric``; ``mean`` on these seeds with
        ``ci_low`` and ``ci_high`` (Student's 95 % interval). With one objective also
        ``difference``, the paired difference from the best on these seeds, with ``difference_low``
        and ``difference_high``. These intervals hold jointly for the complete trials; a trial whose
        interval contains zero is ``"as good"`` as the best, as far as these seeds show.
    """
    complete = [trial for trial in trials if trial.state == COMPLETE]
    best = [complete[i] for i in best_of(complete)]
    each = confidence_of_each(_CONFIDENCE, max(1, len(complete) - 1))
    rows = []
    for trial in trials:
        labels = {"trial": trial.number, **labels_of(base, trial.place)}
        labels["seeds"] = len(trial.outcome)
        for place, aim in enumerate(aims):
            row = {**labels, "verdict": trial.state, "metric": aim.metric}
            row |= _mean(trial.outcome[:, place])
            if len(aims) == 1:
                row |= _gap(best[0].outcome[: len(trial.outcome), 0], trial.outcome[:, 0], each)
            row["verdict"] = _verdict(trial, best, aim, row)
            rows.append(row)
    return pd.DataFrame(rows)


def _verdict(trial: Trial, best: Sequence[Trial], aim: Aim, row: Mapping[str, Any]) -> str:
    if trial.state != COMPLETE:
        return trial.state
    if any(trial is one for one in best):
        return BEST
    # Worse only if the whole interval is on the worse side of 0; NaN (a single seed) is not.
    low, high = (row.get(f"difference_{end}", math.nan) for end in ("low", "high"))
    apart = low > 0 if aim.sign > 0 else high < 0
    return WORSE if apart or "difference" not in row else AS_GOOD


def labels_of(base: Scenario, place: Place) -> dict[str, object]:
    """Return the labels of a point: variant and settings of its axes, quantities also in SI."""
    return labels_in(base.with_(dict(place.point)), place)


def labels_in(scenario: Scenario, place: Place) -> dict[str, object]:
    """Return the labels of a point whose scenario is already built, as `labels_of`."""
    named = {} if place.variant is None else {VARIANT: place.variant}
    return {**named, **parameters_of(scenario, place.settings)}


def confirmed(
    base: Scenario,
    aims: Sequence[Aim],
    places: Mapping[str, Place],
    values: NDArray[np.float64],
    failed: NDArray[np.bool_],
) -> pd.DataFrame:
    """Compare points with the default, seed by seed.

    Parameters
    ----------
    base : Scenario
        The default scenario.
    aims : sequence of Aim
        Objectives of the search.
    places : mapping of str to Place
        Points by name; the first is the default.
    values : ndarray of float, shape (points, seeds, objectives)
        Objectives of the points, on seeds that the search has not used.
    failed : ndarray of bool, shape (points, seeds)
        Mask of failed runs, which are excluded from means and differences.

    Returns
    -------
    pandas.DataFrame
        One row per point and objective: ``point``; the variant and the axes; ``metric``; ``n``, the
        number of runs that did not fail; ``mean`` with ``ci_low`` and ``ci_high`` (Student's 95 %
        interval); ``difference`` from the default (paired) and ``ratio`` to it (of the means,
        paired), each with ``_low`` and ``_high``, intervals that hold with 95 % jointly for all
        points and objectives; and ``verdict``: ``"better"``, ``"worse"``, ``"unclear"``,
        ``"same"``, or ``"unknown"`` if runs of the point or the default failed or have no finite
        value.
    """
    each = confidence_of_each(_CONFIDENCE, max(1, (len(places) - 1) * len(aims)))
    rows: list[dict[str, Any]] = []
    for (name, place), ran, ended in zip(places.items(), values, ~failed, strict=True):
        both = ended & ~failed[0]
        for column, aim in enumerate(aims):
            row = {"point": name, **labels_of(base, place), "metric": aim.metric}
            row |= {"n": int(ended.sum()), **_mean(ran[ended, column])}
            if name != DEFAULT:
                before, x = values[0][both, column], ran[both, column]
                row |= _gap(before, x, each) | _ratio(before, x, each)
                row["verdict"] = _judged(before, x, row, aim.sign)
            rows.append(row)
    return pd.DataFrame(rows)


def _judged(
    before: NDArray[np.float64], x: NDArray[np.float64], row: Mapping[str, Any], sign: float
) -> str:
    if not len(x) or not (np.isfinite(before).all() and np.isfinite(x).all()):
        return UNKNOWN
    if np.array_equal(before, x):
        return SAME
    low, high = sorted(sign * row[f"difference_{end}"] for end in ("low", "high"))
    return BETTER if high < 0 else WORSE if low > 0 else UNCLEAR


def _mean(x: NDArray[np.float64]) -> dict[str, float]:
    found = dict.fromkeys(("mean", "ci_low", "ci_high"), math.nan)
    if len(x) and not np.isnan(x).any() and not np.isneginf(x).any():
        interval = mean_interval(x, _CONFIDENCE)
        found = {"mean": interval.estimate, "ci_low": interval.low, "ci_high": interval.high}
    return found


def _gap(
    one: NDArray[np.float64], other: NDArray[np.float64], confidence: float
) -> dict[str, float]:
    """Return the paired difference, second minus first, and its interval."""
    names = ("difference", "difference_low", "difference_high")
    if not len(one) or not (np.isfinite(one).all() and np.isfinite(other).all()):
        return dict.fromkeys(names, math.nan)
    gap = paired_difference(one, other, confidence)
    return dict(zip(names, (gap.estimate, gap.low, gap.high), strict=True))


def _ratio(
    one: NDArray[np.float64], other: NDArray[np.float64], confidence: float
) -> dict[str, float]:
    """Return the ratio of the means, second over first, and its interval."""
    names = ("ratio", "ratio_low", "ratio_high")
    finite = np.isfinite(one).all() and np.isfinite(other).all()
    if not len(one) or not finite or one.mean() <= 0 or other.mean() <= 0:
        return dict.fromkeys(names, math.nan)
    ratio = ratio_of_means(other, one, confidence)
    return dict(zip(names, (ratio.estimate, ratio.low, ratio.high), strict=True))


def in_state(state: str, trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials in a given state, see `lightburst.study.search.racing`."""
    return [trial for trial in trials if trial.state == state]
