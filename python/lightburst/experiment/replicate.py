"""A scenario with several seeds: runs, means and files."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst.foundation.files.directory import replace
from lightburst.foundation.formatting import html_list, html_table
from lightburst.foundation.provenance import MODEL_VERSION, source_commit
from lightburst.foundation.support import as_json, weak
from lightburst.result import metrics
from lightburst.result.files import REPLICATIONS, RUNS, STORE
from lightburst.result.metric_text import readable_interval
from lightburst.study import Study, run_all, warnings_of
from lightburst.study.statistics import mean_interval, number
from lightburst.study.statistics.shares import is_share, share_of
from lightburst.study.store.failures import failures_of
from lightburst.study.store.failures import records as records_of

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from lightburst.expressions import Expression
    from lightburst.foundation.support import Support
    from lightburst.scenario import Scenario
    from lightburst.simulation.foretold import Foretold
    from lightburst.study.store.failures import FailedRun

# Columns that are not numeric.
_WORDS: Final = ("digest", "warnings")


@dataclass(frozen=True, repr=False)
class Replications:
    """Runs of one scenario with different seeds.

    Parameters
    ----------
    scenario : Scenario
        Scenario of the runs.
    seeds : sequence of int
        Seeds of the runs.
    runs : pandas.DataFrame
        One row per seed: ``seed`` and the row of the run, see `lightburst.study.execute`.
    own : mapping of str to Expression
        User-defined metrics among the columns, by name.
    failed : sequence of FailedRun
        Failed runs, with seeds and errors; they have no row in `runs`.
    """

    scenario: Scenario
    seeds: Sequence[int]
    runs: pd.DataFrame
    own: Mapping[str, Expression] = field(default_factory=dict)
    failed: Sequence[FailedRun] = ()

    def summary(self) -> dict[str, dict[str, float | str | None]]:
        """Average every metric over the seeds.

        Returns
        -------
        dict of str to dict
            ``mean``, ``ci_low`` and ``ci_high`` (95 %; Student's, for a share
            `lightburst.study.share_interval`) of each metric in its SI base unit, over the runs
            that have it; None if there is no value, ``"inf"`` for a mean with an infinite run, in
            which flows did not finish.
        """
        found: dict[str, dict[str, float | str | None]] = {}
        for key in self.runs.columns.drop(["seed", *_WORDS]):
            values = self.runs[key].astype(float).to_numpy()
            values = values[~np.isnan(values)]
            if len(values) == 0:
                found[str(key)] = dict.fromkeys(("mean", "ci_low", "ci_high"))
                continue
            shared = is_share(self.runs, str(key))
            mean = share_of(self.runs, str(key)) if shared else mean_interval(values)
            ends = {"ci_low": number(mean.low), "ci_high": number(mean.high)}
            found[str(key)] = metrics.to_json({"mean": mean.estimate, **ends})
        return found

    @cached_property
    def weak(self) -> dict[str, Support]:
        """Metrics with too few or excluded flows; see docs/statistics.md."""
        return weak(self.runs)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Failed runs, and the warnings of the others, one per kind.

        See `lightburst.study.warnings_of`.
        """
        failed = failures_of(self.failed, len(self.seeds), lambda _: "")
        return (*failed, *warnings_of(self.runs))

    def __repr__(self) -> str:
        name, seeds = self.scenario.name, self.seeds
        return f"<Replications of {name!r}: {len(seeds)} seeds, {seeds[0]} to {seeds[-1]}>"

    def _repr_html_(self) -> str:
        known = ((key, row) for key, row in self.summary().items() if row["mean"] is not None)
        rows = [(key, readable_interval(key, row)) for key, row in known if "[" not in key]
        title = f"{repr(self).strip('<>')}: mean, 95 %"
        return html_table(title, rows) + html_list(self.warnings)

    def records(self) -> list[dict[str, Any]]:
        """Return the runs as JSON-compatible dictionaries; None if a value is missing."""
        rows = self.runs.astype(object).where(self.runs.notna(), None).to_dict("records")
        return [metrics.to_json({str(key): value for key, value in row.items()}) for row in rows]

    def as_dict(self) -> dict[str, Any]:
        """Return all results as JSON-compatible values: seeds, summary, runs, warnings, provenance.

        If there are any, also the expressions of user-defined metrics, as ``metrics``, and the
        ``failed`` runs.
        """
        own = {name: expression.written for name, expression in self.own.items()}
        return {
            "seeds": [int(seed) for seed in self.seeds],
            **({"metrics": own} if own else {}),
            "summary": self.summary(),
            "weak": as_json(self.weak),
            "runs": self.records(),
            "warnings": list(self.warnings),
            **({"failed": records_of(self.failed)} if self.failed else {}),
            "provenance": {
                "version": metadata.version("lightburst"),
                "model_version": MODEL_VERSION,
                "commit": source_commit(),
                "python": platform.python_version(),
                "numpy": np.__version__,
                "machine": f"{platform.system()} {platform.machine()}",
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "scenario": {
                    "name": self.scenario.name,
                    **json.loads(self.scenario.canonical_json()),
                },
            },
        }

    def save(self, directory: str | Path) -> Path:
        """Write the runs as Parquet and ``replications.json`` with summary and provenance.

        Parameters
        ----------
        directory : str or Path
            Created if it does not exist; an existing result in it is replaced atomically.

        Returns
        -------
        Path
            Path of the directory.

        Raises
        ------
        InputError
            If the directory cannot be written or contains foreign files.
        """
        return replace(directory, self._write)

    def _write(self, directory: Path) -> None:
        self.runs.to_parquet(directory / RUNS, index=False)
        text = json.dumps(self.as_dict(), indent=2, allow_nan=False, ensure_ascii=False)
        (directory / REPLICATIONS).write_text(text + "\n", encoding="utf-8")


def replicate(
    scenario: Scenario,
    seeds: Sequence[int],
    own: Mapping[str, Expression] | None = None,
    *,
    foretell: Foretold | None = None,
) -> Replications:
    """Run a scenario with several seeds on all cores, and store each run when it finishes.

    Parameters
    ----------
    scenario : Scenario
        Scenario to run.
    seeds : sequence of int
        Distinct seeds.
    own : mapping of str to Expression, optional
        User-defined metrics, by name.
    foretell : Foretold, optional
        Tells what is known before the first run.

    Returns
    -------
    Replications
        Runs and their summary.

    Raises
    ------
    InputError, KeyboardInterrupt
        As for `lightburst.study.execute`.
    """
    failed: list[FailedRun] = []
    runs = run_all(Study(scenario, {}, seeds, own), STORE, failed=failed, foretell=foretell)
    return Replications(scenario, seeds, runs, own or {}, failed)
