"""Two results side by side, whatever each of them is: a run, runs with several seeds, a sweep."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Final

import pandas as pd

from lightburst import metrics as figures
from lightburst.errors import InputError, show
from lightburst.parquet import read_frame
from lightburst.provenance import MODEL_VERSION
from lightburst.report.files import REPLICATIONS, RUN, RUNS, SWEEP
from lightburst.report.replications import Replications
from lightburst.report.swept import Sweep
from lightburst.result import Result
from lightburst.scenario import Scenario
from lightburst.study import Comparison, compare_runs
from lightburst.sums import verify

# The files that tell what a directory holds; runs of several seeds or points stand in `RUNS`.
_KNOWN: Final = (RUN, REPLICATIONS, SWEEP)
_WRITTEN: Final = "a directory written by 'run --out' or 'sweep --out'"
_KINDS: Final = f"{_WRITTEN}, a Result, a Sweep, or a table of runs"

Source = str | PathLike[str] | Result | Replications | Sweep | pd.DataFrame


@dataclass(frozen=True)
class Side:
    """One of the two that are compared.

    Attributes
    ----------
    runs : pandas.DataFrame
        One row for each run; the columns in front of ``seed`` name its point.
    scenario : mapping or None
        What was run, if that is known.
    model_version : int or None
        Likewise.
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
    """Compare two results: which metrics differ, by how much, and how sure that is.

    Parameters
    ----------
    a, b : str, path-like, Result, Sweep or pandas.DataFrame
        Directories that ``lightburst run --out`` or ``sweep --out`` wrote, results, or tables of
        runs as `lightburst.replicate` gives them. The columns in front of ``seed`` that both have
        name points, and each point is compared on its own.
    metrics : iterable of str or str, optional
        What to compare; by default all figures of whole runs. Name those that the question is
        about: fewer are known better.
    confidence : float
        Probability with which all intervals hold together, between 0 and 1.

    Returns
    -------
    Comparison
        Its ``table`` has differences (b less a) and ratios (b over a) with intervals, p-values and
        verdicts, paired by seed where both have at least two in common; ``differ`` what differs
        beyond chance; ``changes`` in what the scenarios differ. See `lightburst.study.compare_runs`
        for how it is done. Of single runs nothing can be said of chance: there are plain
        differences only.

    Raises
    ------
    InputError
        If one is no result, the two are of different versions of the model, or a metric is not in
        both.
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
    """Read one of the two.

    Parameters
    ----------
    path : str
        ``"A"`` or ``"B"``, for the message.
    source : object
        What was given.

    Returns
    -------
    Side

    Raises
    ------
    InputError
        If it is no result, or a file of it is missing or damaged.
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
    if isinstance(source, Sweep):
        return Side(source.runs, source.design.base.in_use(), MODEL_VERSION)
    raise InputError(path, show(source), _KINDS)


def changes(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> dict[str, tuple[object, object]]:
    """Tell in what two scenarios differ.

    Parameters
    ----------
    first, second : mapping
        As `lightburst.Scenario.in_use` writes them; what they are called does not count.

    Returns
    -------
    dict of str to tuple
        By path: what each of the two has, None where it has nothing there.
    """
    one, other = _flat(first), _flat(second)
    paths = [path for path in dict.fromkeys((*one, *other)) if path != "name"]
    pairs = {path: (one.get(path), other.get(path)) for path in paths}
    return {path: pair for path, pair in pairs.items() if pair[0] != pair[1]}


def _saved(path: str, directory: Path) -> Side:
    """Read a saved result; each failure is said of the one of the two that it concerns."""
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
    except Exception as error:  # the files can be anybody's, with checksums that fit
        what = f"{directory} ({type(error).__name__}: {error})"
        raise InputError(path, what, _WRITTEN) from error
    return Side(runs, scenario, version)


def _in_use(scenario: dict[str, Any]) -> dict[str, Any]:
    """Write a saved scenario with all defaults; as it stands if its files are not there any more.

    What is saved of several runs has no defaults that were added later.
    """
    try:
        return Scenario.from_dict(scenario).in_use()
    except InputError:
        return scenario


def _row(held: Mapping[str, Any]) -> pd.DataFrame:
    """Make a table of one row of what ``run.json`` holds."""
    row: dict[str, Any] = {"seed": int(held["seed"]), **figures.from_json(held["summary"])}
    parts = dict(held.get("groups", {}))
    parts |= {part["size_class"]: part for part in held.get("size_classes", [])}
    for name, part in parts.items():
        whole = {key: value for key, value in part.items() if key != "size_class"}
        row |= {f"{key}[{name}]": value for key, value in figures.from_json(whole).items()}
    return pd.DataFrame([row])


def _points(first: pd.DataFrame, second: pd.DataFrame) -> list[str]:
    """Give the columns that name a point of both; `InputError` if one has points by others."""
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
    """Give the columns in front of the seed, which name points."""
    if "seed" not in runs:
        raise InputError("A, B", "a table without 'seed'", "one row for each run, with its seed")
    return [str(name) for name in runs.columns[: list(runs.columns).index("seed")]]


def _name(source: object, word: str) -> str:
    return Path(source).name or word if isinstance(source, str | PathLike) else word


def _flat(table: Mapping[str, Any], above: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in table.items():
        path = f"{above}{key}"
        if isinstance(value, Mapping):
            found |= _flat(value, f"{path}.")
        else:
            found[path] = value
    return found
