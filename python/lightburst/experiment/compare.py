"""Comparison of two results of any kind: a run, runs with several seeds, a sweep."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Final

import pandas as pd

from lightburst.experiment.changes import changes
from lightburst.experiment.replicate import Replications
from lightburst.experiment.swept.runs import SweptRuns
from lightburst.foundation.errors import InputError, show
from lightburst.foundation.files.checksums import verify
from lightburst.foundation.files.parquet import read_frame
from lightburst.foundation.provenance import MODEL_VERSION
from lightburst.result.files import REPLICATIONS, RUN, RUNS, SWEEP
from lightburst.result.metrics import from_json
from lightburst.result.result import Result
from lightburst.scenario import Scenario
from lightburst.study import Comparison, compare_runs

# Files that identify the kind of result; the runs of several seeds or points are in `RUNS`.
_KNOWN: Final = (RUN, REPLICATIONS, SWEEP)
_WRITTEN: Final = "a directory written by 'run --out' or 'sweep --out'"
_KINDS: Final = f"{_WRITTEN}, a Result, a Sweep, or a table of runs"

Source = str | PathLike[str] | Result | Replications | SweptRuns | pd.DataFrame


@dataclass(frozen=True)
class Side:
    """One of the two compared results.

    Attributes
    ----------
    runs : pandas.DataFrame
        One row per run; the columns before ``seed`` identify its point.
    scenario : mapping or None
        Scenario, if known.
    model_version : int or None
        Model version, if known.
    """

    runs: pd.DataFrame
    scenario: Mapping[str, Any] | None = None
    model_version: int | None = None


def compare(
    a: Source,
    b: Source,
    metrics: Iterable[str] | str | None = None,
    *,
    confidence: float = 0.95,
) -> Comparison:
    """Compare two results: which metrics differ, by how much, and with which certainty.

    Parameters
    ----------
    a, b : str, path-like, Result, Sweep or pandas.DataFrame
        Directories written by ``lightburst run --out`` or ``sweep --out``, results, or tables of
        runs as returned by `lightburst.replicate`. Columns before ``seed`` that both have identify
        points, and each point is compared separately.
    metrics : iterable of str or str, optional
        Names of metrics; by default all metrics of whole runs. Fewer metrics give narrower
        intervals: name only those of interest.
    confidence : float
        Simultaneous coverage probability of all intervals, between 0 and 1.

    Returns
    -------
    Comparison
        ``table`` has differences (b minus a) and ratios (b over a) with intervals, p-values and
        verdicts, paired by seed if both have at least two seeds in common; ``differ`` the
        significant differences; ``changes`` the differing settings of the scenarios. See
        `lightburst.study.compare_runs` for the method. Single runs only give differences, without
        intervals or p-values.

    Raises
    ------
    InputError
        If an argument is no result, the model versions differ, or a metric is missing from one of
        the results.
    ValueError
        If `confidence` is not between 0 and 1.
    """
    sides = side_of("A", a), side_of("B", b)
    versions = [side.model_version for side in sides]
    if None not in versions and versions[0] != versions[1]:
        given = f"a result of version {versions[1]} of the model, where A is of {versions[0]}"
        raise InputError("B", given, "results of one version: run the older one again")
    by = _points(sides[0].runs, sides[1].runs)
    names = _name(a, "A"), _name(b, "B")
    if names[0] == names[1]:
        names = str(a), str(b)
    found = compare_runs(
        sides[0].runs, sides[1].runs, metrics, by=by, names=names, confidence=confidence
    )
    scenarios = [side.scenario for side in sides]
    if scenarios[0] is None or scenarios[1] is None:
        return found
    return replace(found, changes=changes(scenarios[0], scenarios[1]))


def side_of(path: str, source: object) -> Side:
    """Read one of the two results.

    Parameters
    ----------
    path : str
        ``"A"`` or ``"B"``, for the message.
    source : object
        Argument of `compare`.

    Returns
    -------
    Side

    Raises
    ------
    InputError
        If it is no result, or a file is missing or damaged.
    """
    if isinstance(source, str | PathLike):
        return _saved(path, Path(source))
    if isinstance(source, pd.DataFrame):
        return Side(source)
    if isinstance(source, Result):
        row = pd.DataFrame([{"seed": source.seed, **source.record}])
        return Side(row, source.scenario.in_use(), MODEL_VERSION)
    if isinstance(source, Replications):
        return Side(source.runs, source.scenario.in_use(), MODEL_VERSION)
    if isinstance(source, SweptRuns):
        return Side(source.runs, source.design.base.in_use(), MODEL_VERSION)
    raise InputError(path, show(source), _KINDS)


def _saved(path: str, directory: Path) -> Side:
    """Read a saved result; errors name the side that they concern, A or B."""
    if directory.is_file():
        given = f"{directory} (a file)"
        raise InputError(path, given, f"{_WRITTEN}; run the scenario with --out DIR first")
    kind = next((name for name in _KNOWN if (directory / name).is_file()), "")
    if not kind:
        missing = "" if directory.exists() else " (not there)"
        raise InputError(path, f"{directory}{missing}", _WRITTEN)
    try:
        verify(directory, [kind] if kind == RUN else [kind, RUNS])
        held = json.loads((directory / kind).read_text(encoding="utf-8"))
        made = held["provenance"]
        scenario, version = _in_use(dict(made["scenario"])), int(made["model_version"])
        runs = _row(held) if kind == RUN else read_frame(directory / RUNS)
        if "seed" not in runs:
            raise KeyError("seed")
    except InputError as error:
        raise InputError(path, error.given, error.allowed) from None
    except Exception as error:  # the files are untrusted, even with matching checksums
        what = f"{directory} ({type(error).__name__}: {error})"
        raise InputError(path, what, _WRITTEN) from error
    return Side(runs, scenario, version)


def _in_use(scenario: dict[str, Any]) -> dict[str, Any]:
    """Add all defaults to a saved scenario; unchanged if files that it names are missing.

    Saved results of several runs lack the defaults that were added by later versions.
    """
    try:
        return Scenario.from_dict(scenario).in_use()
    except InputError:
        return scenario


def _row(held: Mapping[str, Any]) -> pd.DataFrame:
    """Make a table with one row from the contents of ``run.json``."""
    row: dict[str, Any] = {"seed": int(held["seed"]), **from_json(held["summary"])}
    parts = dict(held.get("groups", {}))
    parts |= {part["size_class"]: part for part in held.get("size_classes", [])}
    for name, part in parts.items():
        whole = {key: value for key, value in part.items() if key != "size_class"}
        row |= {f"{key}[{name}]": value for key, value in from_json(whole).items()}
    return pd.DataFrame([row])


def _points(first: pd.DataFrame, second: pd.DataFrame) -> list[str]:
    """Return the columns that identify points; `InputError` if the two vary other axes."""
    labels = [_labels(runs) for runs in (first, second)]
    axes = [
        [name for name in names if len(set(runs[name].astype(str))) > 1]
        for names, runs in zip(labels, (first, second), strict=True)
    ]
    if any(name not in labels[1] for name in axes[0]) or any(n not in labels[0] for n in axes[1]):
        one, other = (", ".join(names) or "one point" for names in axes)
        given = f"runs of {other}, where A has {one}"
        raise InputError("B", given, "a sweep over the same axes, or two results of one point")
    return [name for name in labels[0] if name in labels[1]]


def _labels(runs: pd.DataFrame) -> list[str]:
    """Return the columns before the seed, which identify points."""
    if "seed" not in runs:
        raise InputError("A, B", "a table without 'seed'", "one row for each run, with its seed")
    return [str(name) for name in runs.columns[: list(runs.columns).index("seed")]]


def _name(source: object, word: str) -> str:
    return Path(source).name or word if isinstance(source, str | PathLike) else word
