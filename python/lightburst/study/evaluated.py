"""Points of a search as runs: by the ordinary way of a study, so that each one is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from lightburst.errors import InputError, did_you_mean, show
from lightburst.expressions import Expression, parse, parse_all
from lightburst.study.executor import run_all
from lightburst.study.sweep import Point, Study
from lightburst.study.warned import warnings_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightburst.scenario import Scenario
    from lightburst.study.store import Store


@dataclass
class Evaluated:
    """Runs points, and gives some of their metrics.

    Parameters
    ----------
    base : Scenario
        What all points have in common.
    wanted : sequence of str
        Metrics: of runs, of the user's own, or expressions.
    own : mapping of str to str
        Metrics of the user's own, by name.
    store : Store
        Where finished runs are kept and looked up.
    how : mapping of str to object
        More for `lightburst.study.run_all`.
    """

    base: Scenario
    wanted: Sequence[str]
    own: Mapping[str, str | Expression]
    store: Store
    how: Mapping[str, Any]
    _runs: list[pd.DataFrame] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.metrics = dict(parse_all(self.own))
        for name in self.wanted:
            if name not in self.metrics and (expression := _expression(name)) is not None:
                self.metrics[name] = expression

    def __call__(self, points: Sequence[Point], seeds: Sequence[int]) -> NDArray[np.float64]:
        """Run points on seeds.

        Returns
        -------
        ndarray of float, shape (points, seeds, wanted)
            In SI base units; NaN for what a run does not have.
        """
        table = self.runs(points, seeds)
        columns = [
            table[name].to_numpy(dtype=np.float64) if name in table else np.full(len(table), np.nan)
            for name in self.wanted
        ]
        return np.stack(columns, axis=-1).reshape(len(points), len(seeds), -1)

    def runs(self, points: Sequence[Point], seeds: Sequence[int]) -> pd.DataFrame:
        """Run points on seeds; one row for each run, see `lightburst.execute`."""
        table = run_all(Study(self.base, points, seeds, self.metrics), self.store, **self.how)
        self._runs.append(table[["seed", "warnings"]])
        return table

    @property
    def number(self) -> int:
        """Runs that were asked for, those from the store among them."""
        return sum(map(len, self._runs))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the runs warn of, each kind once."""
        return warnings_of(pd.concat(self._runs, ignore_index=True)) if self._runs else ()

    def check(self, point: Point, seed: int, where: Mapping[str, str]) -> None:
        """Refuse metrics that runs do not have, after one run and not after the last.

        Parameters
        ----------
        point : mapping of str to object
            Where.
        seed : int
            Of the run.
        where : mapping of str to str
            The key that names each metric, for messages.

        Raises
        ------
        InputError
            With those that there are.
        """
        table = self.runs([point], [seed])
        known = [
            str(name)
            for name in table.loc[:, "seed":].columns[1:]
            if pd.api.types.is_numeric_dtype(table[name])
        ]
        for name in self.wanted:
            if name in known:
                continue
            if " " in name.strip():
                parse(name, where[name])  # says where it goes wrong
            # Those of groups and classes of size are the same again.
            names = ", ".join(one for one in known if "[" not in one)
            near = did_you_mean(name, known)
            allowed = f"a metric of the runs{near}, or an expression (docs/metrics.md): {names}"
            raise InputError(where[name], show(name), allowed)


def _expression(text: str) -> Expression | None:
    try:
        return parse(text)
    except InputError:
        return None
