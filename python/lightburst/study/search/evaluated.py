"""Evaluates the points of a search as ordinary runs of a study, stored like any other.

A failed run does not end a search: the failure is stored and reported, and no mean includes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from lightburst.expressions import Expression, parse, parse_all
from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.scenario.section import plain
from lightburst.study.execution.executor import PLACE, run_placed
from lightburst.study.execution.warned import warnings_of
from lightburst.study.runs import Point, Study
from lightburst.study.store.failures import FailedRun, failures_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightburst.scenario import Scenario
    from lightburst.study.store.store import Store


@dataclass
class Evaluated:
    """Runs points and returns selected metrics.

    Parameters
    ----------
    base : Scenario
        Base scenario of all points.
    wanted : mapping of str to str
        Metrics to return (built-in, user-defined, or expressions), each with the key that names it,
        for error messages.
    own : mapping of str to str
        User-defined metrics, by name.
    store : Store
        Store for finished runs, which are reused from there.
    how : mapping of str to object
        Further arguments of `lightburst.study.execution.executor.run_placed`.
    """

    base: Scenario
    wanted: Mapping[str, str]
    own: Mapping[str, str | Expression]
    store: Store
    how: Mapping[str, Any]
    _runs: list[pd.DataFrame] = field(default_factory=list)
    _points: list[Point] = field(default_factory=list)
    # By the point as text and the seed, because a run may be requested twice.
    _failed: dict[tuple[str, int], FailedRun] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.metrics = dict(parse_all(self.own))
        for name in self.wanted:
            if name not in self.metrics and (expression := _expression(name)) is not None:
                self.metrics[name] = expression

    def __call__(self, points: Sequence[Point], seeds: Sequence[int]) -> NDArray[np.float64]:
        """Run points on seeds and return the wanted metrics.

        Returns
        -------
        ndarray of float, shape (points, seeds, wanted)
            In SI base units; NaN where a run lacks a metric, and for all metrics of a failed run.

        Raises
        ------
        InputError
            If a metric does not exist; checked as soon as the first runs have finished.
        """
        table = self._ran(points, seeds)
        found = np.full((len(points), len(seeds), len(self.wanted)), np.nan)
        order = {seed: column for column, seed in enumerate(seeds)}
        if len(table):
            at = table[PLACE].to_numpy(), table["seed"].map(order).to_numpy()
            for place, name in enumerate(self.wanted):
                if name in table:
                    found[(*at, place)] = table[name].to_numpy(dtype=np.float64)
        return found

    def have_failed(self, points: Sequence[Point], seeds: Sequence[int]) -> NDArray[np.bool_]:
        """Return a mask of the failed runs, of shape (points, seeds)."""
        return np.array([[(repr(p), seed) in self._failed for seed in seeds] for p in points])

    @property
    def number(self) -> int:
        """Number of requested runs, including reused and failed ones."""
        return sum(map(len, self._runs)) + len(self._failed)

    @property
    def failures(self) -> tuple[FailedRun, ...]:
        """The failed runs; their indices refer to internal points, so use `failed` for reports."""
        return tuple(self._failed.values())

    @property
    def failed(self) -> tuple[dict[str, Any], ...]:
        """The failed runs in a form for JSON: settings of the point, seed and error."""
        return tuple(
            {"set": as_set(self._points[run.place]), "seed": run.seed, **asdict(run.failure)}
            for run in self.failures
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Messages on failed runs, and warnings of the others, each kind once."""
        failed = failures_of(self.failures, self.number, self._named)
        ran = [table for table in self._runs if len(table)]
        return (*failed, *(warnings_of(pd.concat(ran, ignore_index=True)) if ran else ()))

    def _ran(self, points: Sequence[Point], seeds: Sequence[int]) -> pd.DataFrame:
        failed: list[FailedRun] = []
        study = Study(self.base, points, seeds, self.metrics)
        table = run_placed(study, self.store, **self.how, failed=failed)
        if len(table) and not any(map(len, self._runs)):
            self._check(table)
        begin = len(self._points)
        self._points += points
        for run in failed:
            place = begin + run.place
            self._failed.setdefault(
                (repr(self._points[place]), run.seed), run._replace(place=place)
            )
        self._runs.append(table[["seed", "warnings"]] if len(table) else table)
        return table

    def _named(self, place: int) -> str:
        return ", ".join(f"{path} = {value}" for path, value in self._points[place].items())

    def _check(self, table: pd.DataFrame) -> None:
        """Refuse metrics that the runs do not have; the error lists the available ones."""
        known = [
            str(name)
            for name in table.loc[:, "seed":].columns[1:]
            if pd.api.types.is_numeric_dtype(table[name])
        ]
        for name, where in self.wanted.items():
            if name in known:
                continue
            if " " in name.strip():
                parse(name, where)  # raises an error that locates the mistake
            # Omit the metrics of groups and size classes, which repeat those of the whole run.
            names = ", ".join(one for one in known if "[" not in one)
            near = did_you_mean(name, known)
            allowed = f"a metric of the runs{near}, or an expression (docs/metrics.md): {names}"
            raise InputError(where, show(name), allowed)


def as_set(point: Point) -> dict[str, Any]:
    """Return the settings of a point in a form for JSON."""
    return {
        path: plain(value) if hasattr(value, "model_dump") else value  # type: ignore[arg-type]
        for path, value in point.items()
    }


def _expression(text: str) -> Expression | None:
    try:
        return parse(text)
    except InputError:
        return None
