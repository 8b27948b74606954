"""Sweeps: a scenario over axes, variants and seeds."""

from __future__ import annotations

from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Never

import pandas as pd

from lightburst.experiment.sweep_result import Sweep
from lightburst.foundation.errors import (
    InputError,
    StoreWarning,
    did_you_mean,
    refuse_changes,
    show,
    warn,
)
from lightburst.foundation.files.checksums import verify
from lightburst.foundation.files.parquet import read_frame
from lightburst.foundation.provenance import MODEL_VERSION
from lightburst.result.files import RUNS, SWEEP, as_written, reading
from lightburst.result.metric_text import check_metric
from lightburst.scenario.reading.loading import as_scenario
from lightburst.simulation.foretold import Foretold
from lightburst.study import Store, Study
from lightburst.study.design.description import StudyDescription, is_study, load_study
from lightburst.study.design.structures import listed
from lightburst.study.execution.cost import (
    MOST_RUNS,
    TooManyRunsError,
    check_room,
    estimate,
    too_many,
)
from lightburst.study.execution.executor import opened, run_placed
from lightburst.study.runs import scenario_digest
from lightburst.study.store.failures import FailedRun, from_records
from lightburst.study.store.kept import Kept, check_kept, looks
from lightburst.study.store.place import TABLES
from lightburst.study.workers.where import workers_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lightburst.expressions import Expression
    from lightburst.scenario import Scenario
    from lightburst.study.runs import Seeds
    from lightburst.study.workers.interface import Workers
    from lightburst.study.workers.where import Where

# From a warning before the runs of `sweep` to its caller: `Foretold` has two frames, this module
# three, and the study the rest.
_TO_CALLER: Final = 9


def sweep(
    scenario: Scenario | str | PathLike[str],
    over: Mapping[str, Any] | None = None,
    *,
    linked: Iterable[Mapping[str, Any]] = (),
    variants: Mapping[str, Mapping[str, object]] | None = None,
    sample: Mapping[str, object] | None = None,
    seeds: Seeds | None = None,
    target: Mapping[str, object] | None = None,
    metrics: Mapping[str, str | Expression] | None = None,
    keep: Sequence[str] | None = None,
    interval: str | None = None,
    store: Store | str | Path | None = None,
    workers: Where = None,
    progress: bool = True,
    most_runs: int | None = MOST_RUNS,
    **others: Never,
) -> Sweep:
    """Run a scenario at all points of some axes, for some variants, with several seeds.

    docs/sweep.md has an example of each argument.

    Parameters
    ----------
    scenario : Scenario, str or path-like
        Base scenario, path of its file, or of a study file, which contains the other arguments.
    over : mapping of str to iterable or mapping, optional
        Axes: values by path, ``{"workload.load": [0.2, 0.4]}``, or a range, ``{"from": "1 ms",
        "to": "100 ms", "number": 5, "scale": "log"}``. All combinations are run.
    linked : iterable of mapping
        Axes of several paths that change together.
    variants : mapping of str to mapping, optional
        Changes by name: ``{"Reno": {"transport.recovery": "reno"}, "SACK": {}}``.
    sample : mapping, optional
        Points drawn instead of all combinations: ``{"kind": "sobol", "points": 64}``.
    seeds : iterable of int, or int, optional
        Seeds, the same for all points; an integer n stands for 1 to n; 10 by default.
    target : mapping, optional
        Precision of a mean at which a point stops, instead of fixed seeds: ``{"metric":
        "slowdown_p99", "precision": "5 %", "minimum": 10, "maximum": 100, "budget": 5000}``.
    metrics : mapping of str to str, optional
        User-defined metrics, by name; see docs/metrics.md.
    keep : sequence of str, optional
        Tables of each run to keep: ``["flows"]``; docs/sweep.md lists their names.
    interval : {"t", "bca"}, optional
        Kind of interval of means and comparisons.
    store, workers, progress
        As for `lightburst.execute`.
    most_runs : int or None
        Limit above which runs are refused with their estimated cost; None for no limit.

    Returns
    -------
    Sweep
        Runs, means with intervals, paired comparisons, figures.

    Raises
    ------
    InputError, KeyboardInterrupt
        As for `lightburst.execute`, whose warnings are issued as well.
    """
    how: dict[str, Any] = {"workers": workers, "progress": progress, "most_runs": most_runs}
    asked: dict[str, Any] = {"over": over, "linked": listed(linked) or None, "variants": variants}
    asked |= {"seeds": seeds, "sample": sample, "target": target, "metrics": metrics}
    asked |= {"keep": keep, "interval": interval}
    _refuse(others, ("scenario", *asked, "store", *how))
    study = described(scenario, {key: x for key, x in asked.items() if x is not None})
    found = sweep_all(study, store, foretell=(foretell := _foretelling()), **how)
    warn(foretell.rest(found.warnings), stacklevel=2)
    return found


def _foretelling() -> Foretold:
    return Foretold(partial(warn, stacklevel=_TO_CALLER))


def _refuse(others: Iterable[str], known: Sequence[str]) -> None:
    """Refuse unknown arguments, and suggest similar known ones."""
    for name in others:
        refuse_changes("sweep", f"{', '.join(known)}{did_you_mean(name, known)}", [name])


def described(
    scenario: Scenario | str | PathLike[str], asked: Mapping[str, Any]
) -> StudyDescription:
    """Describe a study, or read its file.

    Parameters
    ----------
    scenario : Scenario, str or path-like
        Base scenario, path of its file, or of a study file.
    asked : mapping of str to object
        Further keys of a study.

    Raises
    ------
    InputError
        If keys are given beside a study file, or the description is invalid.
    """
    if not isinstance(scenario, str | PathLike) or not is_study(scenario):
        return StudyDescription(scenario=as_scenario(scenario), **asked)
    for key, value in asked.items():
        raise InputError(key, show(value), "nothing beside a study file, which states it itself")
    return load_study(scenario)


def sweep_all(
    study: StudyDescription,
    store: Store | str | Path | None = None,
    *,
    workers: Where = None,
    progress: bool = True,
    most_runs: int | None = MOST_RUNS,
    foretell: Foretold | None = None,
) -> Sweep:
    """Run a sweep as `sweep` does, for a given study and without issuing warnings.

    `foretell` tells what is known before the first run.
    """
    with workers_of(workers) as computing, opened(store) as found:
        return _swept(study, found, computing, progress, most_runs, foretell)


def _swept(
    study: StudyDescription,
    store: Store,
    workers: Workers,
    progress: bool,
    most_runs: int | None,
    foretell: Foretold | None,
) -> Sweep:
    number, points = study.number_of_runs, study.design.number
    if most_runs is not None and too_many(number, most_runs):
        scenario = study.scenario.with_(dict(study.design.first.point))
        cost = estimate(scenario, study.all_seeds[0], number, workers)
        raise TooManyRunsError(cost, most_runs)
    check_room(points, number)
    block = study.block
    kept = _kept(study, block.study, store)
    tell_of_earlier(study.scenario.with_(dict(study.design.first.point)), store)
    if study.metrics_named:
        _check_metrics(study, store, workers, kept)
    failed: list[FailedRun] = []
    how: dict[str, Any] = {"workers": workers, "progress": progress, "foretell": foretell}
    runs = block.run(store, kept=kept, failed=failed, **how)
    return Sweep.of(study, runs, kept, failed)


def tell_of_earlier(scenario: Scenario, store: Store) -> None:
    """Warn if the store has runs of a study from an earlier model version only.

    Parameters
    ----------
    scenario : Scenario
        Scenario that the study runs in any case.
    store : Store
        Store of the study.

    Warns
    -----
    StoreWarning
        With both versions.
    """
    if store.find([scenario_digest(scenario)]):
        return
    others = range(MODEL_VERSION - 1, 0, -1)
    found = [n for n in others if store.find([scenario_digest(scenario, n)])]
    if found:
        text = (
            f"{store.path}: runs of this study are of version {found[0]} of the model; they are "
            f"run again with version {MODEL_VERSION}, whose results may differ (CHANGELOG.md)"
        )
        warn([text], stacklevel=3, kind=StoreWarning)


def _kept(asked: StudyDescription, study: Study, store: Store) -> Kept | None:
    """Return the writer of kept tables, in the folder of the store; None if none are kept."""
    if not asked.keep:
        return None
    check_kept(asked.keep, study.scenarios)
    folder = None if store.folder is None else store.folder / TABLES
    return Kept(asked.keep, folder, looks(study.runs[: len(study.points)], asked.keep))


def _check_metrics(
    study: StudyDescription, store: Store, workers: Workers, kept: Kept | None
) -> None:
    """Refuse unknown metrics after the first run instead of after the last."""
    first = Study(study.scenario, [study.design.first.point], study.all_seeds[:1], study.metrics)
    runs = run_placed(first, store, workers=workers, progress=False, kept=kept, failed=[])
    if runs.empty:  # the first run failed, but others may succeed
        return
    known = Sweep.of(study, runs).metrics
    for name, where in study.metrics_named.items():
        check_metric(known, where, name)


def load_sweep(directory: str | Path) -> Sweep:
    """Read a saved sweep.

    Parameters
    ----------
    directory : str or Path
        Directory written by `Sweep.save`.

    Returns
    -------
    Sweep
        Restored sweep.

    Raises
    ------
    InputError
        If a file is damaged, or was not written by `Sweep.save`.
    """
    return read_sweep(Path(directory), whole=True)


def read_sweep(source: Path, *, whole: bool = False) -> Sweep:
    """Load a sweep as `load_sweep` does, but verify unread files only if `whole` is true."""
    with reading(source, SWEEP, RUNS, whole=whole) as about:
        study = StudyDescription.from_dict(about["study"])
        verify(source, [f"{name}.parquet" for name in study.keep])
        runs = read_frame(source / RUNS)
        read = partial(_read, source)
        failed = from_records(about.get("failed", ()))
        return Sweep(study, runs, dict(about["provenance"]), read, failed)


def _read(source: Path, name: str) -> pd.DataFrame:
    with as_written(source):
        verify(source, [f"{name}.parquet"])
        return read_frame(source / f"{name}.parquet")
