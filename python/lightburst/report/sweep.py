"""A sweep: a question of one's own, from the points that are visited to a comparison."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from lightburst.errors import InputError, did_you_mean, show, warn
from lightburst.folder import replace
from lightburst.provenance import MODEL_VERSION, source_commit
from lightburst.report.files import RUNS
from lightburst.scenario.load import as_scenario
from lightburst.shown import html_list, html_text
from lightburst.study import compare_runs, warnings_of
from lightburst.study.description import StudyDescription
from lightburst.study.design import VARIANT
from lightburst.study.statistics import summarise

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike
    from pathlib import Path

    from lightburst.scenario import Scenario
    from lightburst.study import Comparison, Store
    from lightburst.study.design import Design
    from lightburst.study.sweep import Seeds

# What is shown where nobody has said what: those of them that the runs have.
_USUAL: Final = (
    "slowdown_p99", "completion_time_mean_s", "throughput_bps", "burst_loss", "unfinished",
)  # fmt: skip
_SEEDS: Final = 10
# Of a table in a notebook.
_MOST_ROWS: Final = 30
_POINT: Final = "place of the point"


@dataclass(frozen=True, eq=False)
class Sweep:
    """What came of a sweep; `lightburst.sweep` makes it.

    Attributes
    ----------
    study : StudyDescription
        What was asked.
    runs : pandas.DataFrame
        One row for each run, point by point and seed by seed: ``variant``, the value of each axis
        as it was given and, of a quantity, as a number in the SI unit
        (``topology.link_length`` and ``topology.link_length_m``), ``seed``, and the row of the
        run, see `lightburst.execute`. An axis that does not vary at a point is missing there.
    """

    study: StudyDescription
    runs: pd.DataFrame

    @property
    def design(self) -> Design:
        """Which points were visited."""
        return self.study.design

    def __repr__(self) -> str:
        points, runs = self.design.number, len(self.runs)
        return f"<Sweep of {points:,} points, {runs:,} runs: {', '.join(self.design.columns)}>"

    def _repr_html_(self) -> str:
        table = self.table().to_html(index=False, max_rows=_MOST_ROWS, float_format="{:.4g}".format)
        return f"{html_text(repr(self))}{table}{html_list(self.warnings)}"

    @cached_property
    def metrics(self) -> list[str]:
        """What can be asked of the runs: the columns with numbers."""
        found = self.runs.loc[:, "seed":].columns[1:]
        return [str(name) for name in found if pd.api.types.is_numeric_dtype(self.runs[name])]

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What the runs warn of, each kind once, see `lightburst.study.warnings_of`."""
        return warnings_of(self.runs)

    def table(self, metrics: str | Sequence[str] | None = None) -> pd.DataFrame:
        """Give mean and 95 % interval of metrics at each point.

        Parameters
        ----------
        metrics : str or sequence of str, optional
            Columns of `runs`. Without them a few that are asked for often.

        Returns
        -------
        pandas.DataFrame
            One row for each point and metric: ``variant``, the axes, ``metric``, ``n`` (runs that
            have it), ``mean``, ``std``, ``ci_low`` and ``ci_high`` (Student's, 95 %), all in the
            SI base unit. A mean with a run that is infinite, because flows did not finish, is
            infinite and has no interval.

        Raises
        ------
        InputError
            If there is no such metric.
        """
        names = self.design.columns
        runs = self.runs.assign(
            **{_POINT: self.runs.groupby(names, sort=False, dropna=False).ngroup() if names else 0}
        )
        named = runs.drop_duplicates(_POINT).set_index(_POINT)[self._labels]
        found = []
        for metric in self._known(metrics):
            means = summarise(runs, [_POINT], metric).set_index(_POINT)
            means.insert(0, "metric", metric)
            found.append(named.join(means, how="inner"))
        return pd.concat(found, ignore_index=True)

    def compare(
        self,
        a: object,
        b: object,
        metrics: str | Sequence[str] | None = None,
        *,
        along: str = VARIANT,
    ) -> Comparison:
        """Compare two variants at each point, seed by seed.

        Parameters
        ----------
        a, b : object
            Names of two variants; of two values, if `along` is an axis.
        metrics : str or sequence of str, optional
            As for `table`.
        along : str
            What they are values of: ``"variant"``, or the path of an axis.

        Returns
        -------
        Comparison
            Its ``table`` has a row for each point and metric: the two means, their difference (b
            less a) and ratio (b over a) with intervals that hold together, and a p-value that is
            corrected for all points and metrics (Holm). An axis that varies for one of the two
            alone has each of its values compared with the other.

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
        # The axis itself, and where it is a quantity its number in the SI unit.
        beside = [n for n in self._labels if n.startswith(f"{along}_")]
        apart = {along, *(n for n in beside if n not in self.design.columns)}
        own = [[n for n in self._labels if n not in apart and x[n].notna().any()] for x in sides]
        # An axis that one side has not: its runs stand beside each value of the other.
        for one, other in ((0, 1), (1, 0)):
            missing = [name for name in own[other] if name not in own[one]]
            if missing:
                values_there = sides[other][missing].drop_duplicates()
                sides[one] = sides[one].drop(columns=missing).merge(values_there, how="cross")
        by = [name for name in self._labels if any(name in names for names in own)]
        chosen = [[*by, "seed", *self._known(metrics)]] * 2
        first, second = (side[names] for side, names in zip(sides, chosen, strict=True))
        return compare_runs(first, second, by=by, names=(str(a), str(b)))

    def save(self, directory: str | Path) -> Path:
        """Write the runs as Parquet, the table of means as CSV, and ``sweep.json``.

        Parameters
        ----------
        directory : str or Path
            Made if it does not exist; an earlier result in it is replaced, all or nothing.

        Returns
        -------
        Path
            The directory.

        Raises
        ------
        InputError
            If the directory cannot be written or holds something else.
        """
        return replace(directory, self._write)

    def as_dict(self) -> dict[str, Any]:
        """Give the means, the warnings and the provenance as JSON can hold them."""
        from lightburst.report.words import records

        return {
            "points": self.design.number,
            "runs": len(self.runs),
            "table": records(self.table()),
            "warnings": list(self.warnings),
            "provenance": {
                "version": metadata.version("lightburst"),
                "model_version": MODEL_VERSION,
                "commit": source_commit(),
                "python": platform.python_version(),
                "machine": f"{platform.system()} {platform.machine()}",
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "scenario": json.loads(self.design.base.canonical_json()),
                "digest": hashlib.sha256("\n".join(self.runs["digest"]).encode()).hexdigest(),
            },
        }

    def _write(self, directory: Path) -> None:
        self.runs.to_parquet(directory / RUNS, index=False)
        self.table().to_csv(directory / "table.csv", index=False)
        text = json.dumps(self.as_dict(), indent=2, ensure_ascii=False)
        (directory / "sweep.json").write_text(text + "\n", encoding="utf-8")

    @property
    def _labels(self) -> list[str]:
        """All columns in front of the seed."""
        return [str(name) for name in self.runs.columns[: self.runs.columns.get_loc("seed")]]

    def _known(self, metrics: str | Sequence[str] | None) -> list[str]:
        if metrics is None and self.study.metrics:
            metrics = list(self.study.metrics)
        if metrics is None:
            usual = [name for name in _USUAL if name in self.metrics and self.runs[name].any()]
            return [name for name in usual if self.runs[name].notna().any()]
        wanted = [metrics] if isinstance(metrics, str) else list(metrics)
        for name in wanted:
            if name not in self.metrics:
                near = did_you_mean(name, self.metrics)
                allowed = f"a metric of the runs{near}: {', '.join(self.metrics)}"
                raise InputError("metrics", show(name), allowed)
        return wanted


def sweep(
    scenario: Scenario | str | PathLike[str],
    over: Mapping[str, Any] | None = None,
    *,
    linked: Iterable[Mapping[str, Any]] = (),
    variants: Mapping[str, Mapping[str, object]] | None = None,
    seeds: Seeds = _SEEDS,
    store: Store | str | Path | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Sweep:
    """Run a scenario at all points of some axes, for some variants, with several seeds.

    Parameters
    ----------
    scenario : Scenario, str or path-like
        What all runs have in common, or the name of its file.
    over : mapping of str to iterable or mapping, optional
        Values for each varied path of the scenario: a list, a range
        ``{"from": 0.2, "to": 0.8, "step": 0.2}`` (or ``"number": 4`` in place of the step), or one
        of equal ratios, ``{"from": "1 ms", "to": "100 ms", "number": 5, "scale": "log"}``. All
        combinations are visited. Where a variant has no such field, or sets it itself, the axis
        does not vary.
    linked : iterable of mapping
        Paths that move together: ``[{"topology.k": [4, 8], "workload.flows": [100, 800]}]``.
    variants : mapping of str to mapping, optional
        Changes by name, as `Scenario.with_` takes them:
        ``{"Reno": {"transport.recovery": "reno"}, "SACK": {"transport.recovery": "sack"}}``.
    seeds : iterable of int, or int
        Different seeds, the same for all points; a number n alone stands for those from 1 to n.
    store : Store, str or Path, optional
        Where finished runs are kept, so that a second call goes on where the first one stopped.
        Without one nothing is kept.
    workers : int, optional
        Number of threads, all cores by default.
    progress : bool
        Show a progress bar with the time left, if standard error is a terminal.

    Returns
    -------
    Sweep
        Runs, means with intervals, and paired comparisons.

    Raises
    ------
    InputError
        If anything of this cannot be used.
    KeyboardInterrupt
        On Ctrl-C, within a second. What was finished is in the store.

    Warns
    -----
    RunWarning
        Of what the runs warn of, each kind once.

    Examples
    --------
    >>> found = sweep("tcp.toml", {"workload.load": [0.2, 0.4]}, seeds=20)  # doctest: +SKIP
    >>> found.table("slowdown_p99")  # doctest: +SKIP
    """
    study = StudyDescription(
        scenario=as_scenario(scenario),
        over=over or {},
        linked=tuple(linked),
        variants=variants or {},
        seeds=seeds,
    )
    found = sweep_all(study, store, workers=workers, progress=progress)
    warn(found.warnings, stacklevel=2)
    return found


def sweep_all(
    study: StudyDescription,
    store: Store | str | Path | None = None,
    *,
    workers: int | None = None,
    progress: bool = True,
) -> Sweep:
    """Do what `sweep` does with a study that is described, but issue no warnings."""
    return Sweep(study, study.block.run(store, workers=workers, progress=progress))
