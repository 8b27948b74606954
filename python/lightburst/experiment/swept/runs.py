"""Runs of a sweep: their means and comparisons, and the runs as a cube."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from dataclasses import replace as replaced
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
import pandas as pd

from lightburst.experiment.changes import changes
from lightburst.experiment.swept.cube import columns_of, cube_of
from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.foundation.formatting import html_list, html_text
from lightburst.foundation.provenance import of_study
from lightburst.foundation.support import supporting
from lightburst.result.metric_text import check_metric, unit_key
from lightburst.study import compare_runs, warnings_of
from lightburst.study.design.points import VARIANT
from lightburst.study.statistics import summarise
from lightburst.study.statistics.sample_sizes import rests_on
from lightburst.study.store.failures import failures_of
from lightburst.study.store.kept import SCENARIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import xarray as xr

    from lightburst.study import Comparison
    from lightburst.study.design.description import StudyDescription
    from lightburst.study.design.points import Design
    from lightburst.study.store.failures import FailedRun
    from lightburst.study.store.kept import Kept

# Metrics shown by default, as far as the runs have them.
_TIMES: Final = ("slowdown_p99", "completion_time_mean_s")
_USUAL: Final = (*_TIMES, "throughput_bps", "burst_loss", "unfinished")
# Maximum number of rows of a table in a notebook.
_MOST_ROWS: Final = 30
_POINT: Final = "place of the point"


@dataclass(frozen=True, eq=False, repr=False)
class SweptRuns:
    """Runs of a sweep, their means and comparisons; `lightburst.Sweep` documents the attributes."""

    study: StudyDescription
    runs: pd.DataFrame
    provenance: Mapping[str, Any]
    read_table: Callable[[str], pd.DataFrame]
    failed: Sequence[FailedRun] = ()

    @classmethod
    def of(
        cls,
        study: StudyDescription,
        runs: pd.DataFrame,
        kept: Kept | None = None,
        failed: Sequence[FailedRun] = (),
    ) -> Self:
        """Make a sweep from new runs and their kept tables."""
        scenario = study.scenario
        digests = "\n".join(runs["digest"].astype(str))
        about = {"name": scenario.name, **json.loads(scenario.canonical_json())}
        digest = hashlib.sha256(digests.encode()).hexdigest()
        provenance = {**of_study(about), "digest": digest}
        read = _nothing if kept is None else partial(kept.together, runs)
        shown = runs.drop(columns=SCENARIO, errors="ignore")
        return cls(study, shown, provenance, read, failed)

    def __repr__(self) -> str:
        points, runs = self.design.number, len(self.runs)
        if not self.design.columns:
            return f"<Sweep of one point, {runs:,} runs: nothing varies>"
        return f"<Sweep of {points:,} points, {runs:,} runs: {', '.join(self.design.columns)}>"

    def _repr_html_(self) -> str:
        table = self.table().to_html(index=False, max_rows=_MOST_ROWS, float_format="{:.4g}".format)
        return f"{html_text(repr(self))}{table}{html_list(self.warnings)}"

    @property
    def design(self) -> Design:
        """Points of the sweep."""
        return self.study.design

    @cached_property
    def metrics(self) -> list[str]:
        """Names of the numeric columns after the seed."""
        found = self.runs.loc[:, "seed":].columns[1:]
        return [str(name) for name in found if pd.api.types.is_numeric_dtype(self.runs[name])]

    @cached_property
    def failures(self) -> tuple[str, ...]:
        """Failed runs with their errors, one line per kind."""
        return tuple(failures_of(self.failed, len(self.runs) + len(self.failed), self._named))

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """`failures`, warnings of the runs by kind, missed targets, and axes given empty."""
        empty = [] if self.design.columns else self.study.given_empty
        alone = [f"nothing varies, as {name} is empty: one point was run" for name in empty]
        return (*self.failures, *warnings_of(self.runs), *self._missed(), *alone)

    def key(self, metric: str) -> str:
        """Return the key from which `readable` derives the unit of a metric."""
        return unit_key(metric, {name: str(one) for name, one in self.study.metrics.items()})

    def table(
        self, metrics: str | Sequence[str] | None = None, *, interval: str | None = None
    ) -> pd.DataFrame:
        """Return mean and 95 % interval of metrics at each point.

        Parameters
        ----------
        metrics : str or sequence of str, optional
            Columns of `runs`; by default a few common ones.
        interval : str, optional
            ``"t"`` for Student's interval, or ``"bca"`` for the bootstrap, for skewed metrics and
            many runs; see docs/statistics.md. By default that of the study, which is ``"t"``.

        Returns
        -------
        pandas.DataFrame
            One row per point and metric: ``variant``, the axes, ``metric``, ``n`` (number of runs
            with the metric), ``mean``, ``std``, ``ci_low`` and ``ci_high`` (95 %), all in the SI
            base unit, and the columns of `rests_on`. If a run is infinite, since flows did not
            finish, the mean is infinite and has no interval.

        Raises
        ------
        InputError
            If there is no such metric.
        """
        kind = self.study.interval if interval is None else interval
        runs = self.runs.assign(**{_POINT: self._points().ngroup()})
        named = runs.drop_duplicates(_POINT).set_index(_POINT)[self.labels]
        found = []
        for metric in self._known(metrics):
            means = summarise(runs, [_POINT], metric, interval=kind).set_index(_POINT)
            means.insert(0, "metric", metric)
            found.append(named.join(means.join(rests_on(runs, metric, _POINT)), how="inner"))
        return pd.concat(found, ignore_index=True)

    def compare(
        self,
        a: object,
        b: object,
        metrics: str | Sequence[str] | None = None,
        *,
        along: str = VARIANT,
        interval: str | None = None,
    ) -> Comparison:
        """Compare two variants at each point, seed by seed.

        Parameters
        ----------
        a, b : object
            Names of two variants; or two values of the axis `along`.
        metrics : str or sequence of str, optional
            As for `table`.
        along : str
            ``"variant"``, or the path of an axis.
        interval : str, optional
            As for `table`; with ``"bca"`` p-values are those of the permutation test.

        Returns
        -------
        Comparison
            ``table`` has one row per point and metric: the two means, their difference (b minus a)
            and ratio (b over a) with simultaneous intervals, and a p-value corrected for all points
            and metrics (Bonferroni). If an axis varies for only one of the two, each of its values
            is compared with the other.

        Raises
        ------
        InputError
            If there is no such variant, value or metric.
        """
        if along not in self.design.columns:
            known = self.design.columns
            allowed = f"one of {', '.join(known) or 'no axes'}{did_you_mean(along, known)}"
            raise InputError("along", show(along), allowed)
        values = list(dict.fromkeys(self.runs[along].dropna()))
        for name, value in (("a", a), ("b", b)):
            if value not in values:
                near = did_you_mean(value, map(str, values))
                raise InputError(name, show(value), f"one of {', '.join(map(show, values))}{near}")
        if a == b:
            raise InputError("b", show(b), f"another one than {show(a)}")
        sides = [self.runs[self.runs[along] == value] for value in (a, b)]
        # Columns of the compared axis differ by definition, and do not identify common points.
        axes = [axis for axis in self.design.axes if axis.name == along]
        apart = {along, *(name for axis in axes for name in columns_of(axis, self.runs))}
        own = [[n for n in self.labels if n not in apart and x[n].notna().any()] for x in sides]
        # An axis that only one side varies: the runs of the other are repeated at each value.
        for one, other in ((0, 1), (1, 0)):
            missing = [name for name in own[other] if name not in own[one]]
            if missing:
                values_there = sides[other][missing].drop_duplicates()
                sides[one] = sides[one].drop(columns=missing).merge(values_there, how="cross")
        by = [name for name in self.labels if any(name in names for names in own)]
        wanted = self._known(metrics)
        if metrics is None:
            wanted = [n for n in wanted if all(side[n].notna().any() for side in sides)]
        # The offered load and the support of a metric are reported with any comparison.
        more = ["offered_bps", *(name for metric in wanted for name in supporting(metric))]
        columns = dict.fromkeys([*wanted, *(name for name in more if name in self.runs)])
        first, second = (side[[*by, "seed", *columns]] for side in sides)
        kind = self.study.interval if interval is None else interval
        found = compare_runs(first, second, wanted, by=by, names=(str(a), str(b)), interval=kind)
        return replaced(found, changes=self._changes(along, a, b))

    def _changes(self, along: str, a: object, b: object) -> dict[str, tuple[object, object]]:
        """Return the differences between the scenarios of a and b, at one point each."""
        block = self.study.block
        places = [int((block.labels[along] == value).to_numpy().argmax()) for value in (a, b)]
        return changes(*(block.study.scenarios[place].in_use() for place in places))

    def kept(self, name: str) -> pd.DataFrame:
        """Return a table that the study keeps of its runs.

        Parameters
        ----------
        name : str
            One of the names in ``keep``.

        Returns
        -------
        pandas.DataFrame
            Tables of all runs concatenated, with variant, axes and seed as the first columns,
            followed by those of `lightburst.Result`. Runs without such a table have no rows. Nodes
            are text if they have names in some networks and numbers in others.

        Raises
        ------
        InputError
            If the table was not kept, or a file is damaged.
        """
        if name not in self.study.keep:
            known = ", ".join(map(show, self.study.keep)) or "(none: keep=['flows'] keeps them)"
            raise InputError("kept", show(name), f"one of {known}")
        table = self.read_table(name)
        for place in np.flatnonzero(table.dtypes == np.dtype("object")).tolist():
            column = table.iloc[:, place]
            if len(set(column.dropna().map(type))) > 1:
                table[table.columns[place]] = column.map(str, na_action="ignore")
        return table

    def cube(self, metrics: str | Sequence[str] | None = None) -> xr.Dataset:
        """Convert the runs to a data cube.

        Parameters
        ----------
        metrics : str or sequence of str, optional
            Columns of `runs`; by default all numeric ones.

        Returns
        -------
        xarray.Dataset
            One variable per metric over ``variant``, the axes by their paths, and ``seed``:
            ``cube["slowdown_p99"].sel({"workload.load": 0.4}).mean("seed")``. Coordinates of
            quantities are in SI units; for a sample the dimension ``sample`` replaces the axes. A
            run for which an axis does not vary is repeated at all values of the axis; missing runs
            are NaN.

        Raises
        ------
        InputError
            If there is no such metric.
        """
        wanted = self.metrics if metrics is None else self._known(metrics)
        return cube_of(self.design, self.runs, wanted)

    def comparisons(self) -> pd.DataFrame:
        """Return all comparisons of the study in one table, with the columns a and b."""
        found = []
        for a, b in self.study.compare:
            table = self.compare(a, b).table
            found.append(pd.concat([pd.DataFrame({"a": a, "b": b}, table.index), table], axis=1))
        return pd.concat(found, ignore_index=True) if found else pd.DataFrame()

    @property
    def labels(self) -> list[str]:
        """Columns before the seed: variant and axes, with their duplicates in SI units."""
        return [str(name) for name in self.runs.columns[: list(self.runs.columns).index("seed")]]

    def _known(self, metrics: str | Sequence[str] | None) -> list[str]:
        if metrics is None and self.study.show:
            metrics = list(self.study.show)
        if metrics is None:
            there = [name for name in _USUAL if name in self.metrics and self.runs[name].any()]
            usual = [name for name in there if self.runs[name].notna().any()]
            return [*self.study.metrics, *usual]
        wanted = [metrics] if isinstance(metrics, str) else list(metrics)
        for name in wanted:
            check_metric(self.metrics, "metrics", name)
        return wanted

    def _missed(self) -> Iterator[str]:
        """Report the points that missed the target precision, and by how much."""
        if self.study.target is None:
            return
        rule = self.study.target.stopping
        yield from rule.missed([rule.width(x) for _, x in self._points()[rule.metric]])

    def _named(self, place: int) -> str:
        """Describe the point at an index as text."""
        point = self.study.block.labels[self.design.columns].iloc[place].dropna()
        return ", ".join(f"{name} = {value}" for name, value in point.items())

    def _points(self) -> Any:
        """Group the runs by point."""
        names = self.design.columns
        by = [self.runs[name] for name in names] if names else np.zeros(len(self.runs))
        return self.runs.groupby(by, sort=False, dropna=False)


def _nothing(name: str) -> pd.DataFrame:
    raise AssertionError(f"{name} is asked for only where it was kept")
