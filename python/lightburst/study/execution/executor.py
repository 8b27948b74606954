"""Runs the unfinished runs of a study, and builds the table of its runs.

Only the calling thread writes to the store, draws the progress bar and handles Ctrl-C; the code
that computes the runs is in `lightburst.study.workers`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Never

import pandas as pd

from lightburst.expressions import Expression
from lightburst.foundation.errors import InputError, refuse_changes, show, warn
from lightburst.scenario import Scenario
from lightburst.simulation.foretold import Foretold
from lightburst.study.execution.own import row_of
from lightburst.study.execution.progress import Bar, progress_bar
from lightburst.study.execution.warned import warnings_of
from lightburst.study.runs import Key, PlannedRun, Seeds, Study
from lightburst.study.store.failures import HOW_AGAIN, FailedRun, Failure, failures_of, settle
from lightburst.study.store.found import Rows
from lightburst.study.store.kept import Kept
from lightburst.study.store.store import IN_MEMORY, Store
from lightburst.study.workers.driver import drive
from lightburst.study.workers.interface import Answer, Order, Workers
from lightburst.study.workers.where import workers_of

if TYPE_CHECKING:
    from lightburst.foundation.counts import Metric
    from lightburst.study.workers.where import Where

#: Column with the index of a run's point.
PLACE: Final = "place"


def execute(
    study: Study,
    store: Store | str | Path | None = None,
    *,
    workers: Where = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Run the unfinished runs of a study.

    Parameters
    ----------
    study : Study
        Points and seeds to run.
    store : Store, str or Path, optional
        Store for finished runs, which are reused from there. If None, nothing is stored.
    workers : int, str, Client or Cluster, optional
        Number of threads, by default one per core; or ``"local:2"``, processes on this machine; or
        a Dask cluster: ``"tcp://HOST:PORT"``, a client or a cluster (docs/cluster.md). A run that
        does not fit into memory next to the others waits until some of them have ended.
    progress : bool
        Show a progress bar with the remaining time, if standard error is a terminal.

    Returns
    -------
    pandas.DataFrame
        One row per run, ordered by point and seed: the parameters of the point as given, each
        quantity also as a number in SI units (``topology.link_length`` and
        ``topology.link_length_m``); ``seed``; the metrics of the run (see
        `lightburst.Result.summary`), of its groups of flows, if there are several, as
        ``slowdown_p99[query]`` (see `lightburst.Result.groups`), and of its size classes as
        ``slowdown_p99[below 100 kB]``; ``warnings`` as one text; and the study's user-defined
        metrics. A stored run that lacks one of these is run again.

    Raises
    ------
    InputError
        If a point does not fit the scenario, the store cannot be used, or all runs have failed;
        then the error is that of the first failed run.
    KeyboardInterrupt
        On Ctrl-C, within a second. Finished runs are in the store; another call continues from
        there.

    Warns
    -----
    RunWarning
        On failed runs, which have no row: their number, the first of them, and the reason; and on
        warnings of the other runs, each kind once, see `lightburst.study.warnings_of`. Failures are
        stored too, because a failed run would fail again: it is run again only after ``lightburst
        store retry`` (`Store.retry`), with another version of lightburst, or if it reached a limit
        of events or memory.
    """
    return _warning(study, store, workers, progress)


def _warning(
    study: Study, store: Store | str | Path | None, workers: Where, progress: bool
) -> pd.DataFrame:
    """Run a study, and issue its warnings to the caller of the function that calls this one."""
    failed: list[FailedRun] = []
    # Behind `Foretold`, which has two frames, and five of this module.
    foretell = Foretold(partial(warn, stacklevel=8))
    table = run_all(
        study, store, workers=workers, progress=progress, failed=failed, foretell=foretell
    )
    warn([*_told(study, failed, store), *foretell.rest(warnings_of(table))], stacklevel=3)
    return table


def run_all(
    study: Study,
    store: Store | str | Path | None = None,
    *,
    workers: Where = None,
    progress: bool = True,
    kept: Kept | None = None,
    failed: list[FailedRun] | None = None,
    foretell: Foretold | None = None,
) -> pd.DataFrame:
    """Do the same as `execute` without issuing warnings, for callers that report them.

    Tables of the runs are written to `kept`; a run whose tables are missing there is run again.
    Failed runs are appended to `failed`; if that is None, the first error is raised after all other
    runs have ended. `foretell` tells what is known before the first run.
    """
    found: list[FailedRun] = []
    how: dict[str, Any] = {"workers": workers, "progress": progress, "kept": kept}
    table = run_placed(study, store, failed=found, foretell=foretell, **how)
    settle(found, len(table), failed)
    return table.drop(columns=PLACE)


def run_placed(
    study: Study,
    store: Store | str | Path | None = None,
    *,
    workers: Where = None,
    progress: bool | Bar = True,
    kept: Kept | None = None,
    failed: list[FailedRun],
    foretell: Foretold | None = None,
) -> pd.DataFrame:
    """Do the same as `run_all`, but never raise an error of a failed run.

    The table has `PLACE` as its first column: the index of the point in the study, from 0. If
    `progress` is an open bar, these runs are added to it.
    """
    if not isinstance(study, Study):
        allowed = "a Study; lightburst.run and lightburst.replicate run a scenario"
        raise InputError("study", show(study), allowed)
    with workers_of(workers) as computing, opened(store) as kept_in:
        return _execute(study, kept_in, computing, progress, kept, failed, foretell)


def replicate(
    scenario: Scenario | str | PathLike[str],
    seeds: Seeds,
    store: Store | str | Path | None = None,
    *,
    workers: Where = None,
    progress: bool = True,
    metrics: Mapping[str, str | Expression] | None = None,
    **changes: Never,
) -> pd.DataFrame:
    """Run one scenario with several seeds.

    Parameters
    ----------
    scenario : Scenario, str or path-like
        Scenario to run, or the name of its file.
    seeds : iterable of int, or int
        Different seeds; a single number n means the seeds 1 to n.
    store, workers, progress
        As for `execute`.
    metrics : mapping of str to str, optional
        User-defined metrics by the names of their columns.
    **changes
        Not accepted: use `Scenario.with_` to change a scenario.

    Returns
    -------
    pandas.DataFrame
        One row per seed: ``seed`` and the metrics of the run, as from `execute`.

    Raises
    ------
    InputError, KeyboardInterrupt
        As `execute`.

    Warns
    -----
    RunWarning
        As `execute`.
    """
    allowed = "scenario, seeds, store, workers, progress and metrics"
    refuse_changes("replicate", allowed, changes)
    study = Study(scenario, {}, seeds, metrics)
    return _warning(study, store, workers, progress)


def opened(store: Store | str | Path | None) -> AbstractContextManager[Store]:
    """Open a store of runs as a context; an already open store is not closed on exit."""
    if isinstance(store, Store):
        return nullcontext(store)
    return Store(IN_MEMORY if store is None else store)


def _told(
    study: Study, failed: Sequence[FailedRun], store: Store | str | Path | None
) -> Iterator[str]:
    """Yield messages on failed runs; points are named by their settings."""
    runs = len(study.points) * len(study.seeds)

    def named(place: int) -> str:
        return ", ".join(f"{path} = {value}" for path, value in study.points[place].items())

    yield from failures_of(failed, runs, named)
    if failed and store is not None:
        yield HOW_AGAIN


def _execute(
    study: Study,
    store: Store,
    workers: Workers,
    progress: bool | Bar,
    kept: Kept | None,
    failed: list[FailedRun],
    foretell: Foretold | None,
) -> pd.DataFrame:
    # Two points may have the same scenario, so runs are identified by key.
    wanted = {planned.key: planned for planned in study.runs}
    digests = list(dict.fromkeys(digest for digest, _ in wanted))
    own = tuple(study.metrics.values())
    finished = store.rows(digests).with_metrics(study.metrics)
    there = {key for key in wanted if key in finished and (kept is None or kept.has(key))}
    hopeless = {
        key: failure
        for key, failure in store.failures(digests).items()
        if key in wanted and key not in there and failure.stays
    }
    done = there | hopeless.keys()
    waiting = [planned for key, planned in wanted.items() if key not in done]
    if waiting and store.read_only:
        given = f"{store.path} (it cannot be written), and {len(waiting):,} runs that are not in it"
        raise InputError("store", given, "one that has all runs, or one that can be written")
    if foretell is not None and waiting:
        different = {planned.key[0]: planned.scenario for planned in waiting}
        foretell.before_all(different.values(), waiting[0].seed)
    with progress_bar(progress) as bar:
        bar.add(len(wanted), len(done))

        def keep(answers: Sequence[Answer]) -> None:
            ended: list[tuple[PlannedRun, Mapping[str, Metric] | Failure]] = []
            for answer in answers:
                planned = wanted[answer.key]
                if answer.metrics is None:
                    assert answer.error is not None
                    ended.append((planned, Failure.of(answer.error)))
                    continue
                if kept is not None:
                    kept.put(answer.key, answer.tables)
                ended.append((planned, answer.metrics))
            for (planned, _), what in zip(ended, store.put_all(ended), strict=True):
                if isinstance(what, Failure):
                    hopeless[planned.key] = what
                else:
                    finished.put(planned.key, row_of(what, study.metrics))
                    there.add(planned.key)
                bar.advance()

        order = Order(own, () if kept is None else kept.names)
        drive(waiting, workers, order, keep)
    for place, planned in _ordered(study):
        if planned.key in hopeless:
            failed.append(FailedRun(place, planned.seed, hopeless[planned.key]))
    return _table(study, finished, there)


def _ordered(study: Study) -> Iterator[tuple[int, PlannedRun]]:
    """Yield all runs ordered by point, with the point's index; execution order is by seed."""
    points = len(study.points)
    for place in range(points):
        for planned in study.runs[place::points]:
            yield place, planned


def _table(study: Study, finished: Rows, there: Container[Key]) -> pd.DataFrame:
    """Return the table of the finished runs, ordered by point."""
    ordered = [(place, run) for place, run in _ordered(study) if run.key in there]
    places = [place for place, _ in ordered]
    points = [run.parameters for run in study.runs[: len(study.points)]]
    columns = dict.fromkeys(name for point in points for name in point)
    # Columns come from all points, so that failed runs do not change the set of columns.
    parameters = pd.DataFrame(points, columns=list(columns)).iloc[places].reset_index(drop=True)
    parameters.insert(0, PLACE, places)
    parameters["seed"] = [planned.seed for _, planned in ordered]
    metrics = finished.table([planned.key for _, planned in ordered])
    # `events` is a table of a scenario and a metric.
    twice = parameters.columns.intersection(metrics.columns)
    parameters = parameters.rename(columns={name: f"scenario.{name}" for name in twice})
    # Copied, because pandas stores a joined table in many pieces and warns of fragmentation when a
    # column is added.
    return parameters.join(metrics).copy()
