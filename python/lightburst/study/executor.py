"""Runs what is not finished yet of a study, and makes the table of its runs.

The calling thread alone writes to the store, draws the progress bar and hears Ctrl-C; who computes
the runs is in `lightburst.study.workers`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final, Never

import pandas as pd

from lightburst.errors import InputError, refuse_changes, show, warn
from lightburst.expressions import Expression
from lightburst.scenario import Scenario
from lightburst.study.failures import HOW_AGAIN, FailedRun, Failure, failures_of, settle
from lightburst.study.found import Rows
from lightburst.study.kept import Kept
from lightburst.study.own import row_of
from lightburst.study.progress import Bar, progress_bar
from lightburst.study.store import IN_MEMORY, Store
from lightburst.study.sweep import Key, PlannedRun, Seeds, Study
from lightburst.study.warned import warnings_of
from lightburst.study.workers.driver import drive
from lightburst.study.workers.interface import Answer, Order, Workers
from lightburst.study.workers.where import workers_of

if TYPE_CHECKING:
    from lightburst.counts import Metric
    from lightburst.study.workers.where import Where

#: The column with the number of a run's point.
PLACE: Final = "place"


def execute(
    study: Study,
    store: Store | str | Path | None = None,
    *,
    workers: Where = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Run what is not finished yet of a study.

    Parameters
    ----------
    study : Study
        Points and seeds.
    store : Store, str or Path, optional
        Where finished runs are kept and looked up. Without one nothing is kept.
    workers : int, str, Client or Cluster, optional
        Number of threads, all cores by default; or ``"local:2"``, processes of this machine; or a
        cluster of Dask: ``"tcp://HOST:PORT"``, a client or a cluster (docs/cluster.md). A run that
        does not fit into memory beside the others waits until some have ended.
    progress : bool
        Show a progress bar with the time left, if standard error is a terminal.

    Returns
    -------
    pandas.DataFrame
        One row for each run, point by point and seed by seed: the parameters of the point as they
        were given, each quantity also as a number in the SI unit (``topology.link_length`` and
        ``topology.link_length_m``), ``seed``, and the row of the run: its summary (see
        `lightburst.Result.summary`), that of its groups of flows, where there are several, as
        ``slowdown_p99[query]`` (see `lightburst.Result.groups`), that of its classes of size as
        ``slowdown_p99[below 100 kB]``, and ``warnings`` as one text; then the metrics of the
        study. A kept run that lacks one of these is run again.

    Raises
    ------
    InputError
        If a point does not fit the scenario, the store cannot be used, or no run has finished: the
        error of the first that failed.
    KeyboardInterrupt
        On Ctrl-C, within a second. What was finished is in the store; calling again goes on there.

    Warns
    -----
    RunWarning
        Of runs that failed, which have no row: how many, which, and why. And of what the others
        warn of, each kind once, see `lightburst.study.warnings_of`. A run that failed fails again,
        so the store remembers it: it is run again after ``lightburst store retry`` (`Store.retry`),
        with another version of lightburst, or if it came to a limit of events or memory.
    """
    failed: list[FailedRun] = []
    table = run_all(study, store, workers=workers, progress=progress, failed=failed)
    warn([*_told(study, failed, store), *warnings_of(table)], stacklevel=2)
    return table


def run_all(
    study: Study,
    store: Store | str | Path | None = None,
    *,
    workers: Where = None,
    progress: bool = True,
    kept: Kept | None = None,
    failed: list[FailedRun] | None = None,
) -> pd.DataFrame:
    """Do what `execute` does, but issue no warnings: for callers that report them themselves.

    Tables of the runs go to `kept`; a run whose tables are not there is run again. Failed runs go
    to `failed`; without it the first error is raised, when all other runs have ended.
    """
    found: list[FailedRun] = []
    table = run_placed(study, store, workers=workers, progress=progress, kept=kept, failed=found)
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
) -> pd.DataFrame:
    """Do what `run_all` does, and raise nothing because of failed runs.

    The table has one column more in front, `PLACE`: the number of the point in the study, from 0.
    A bar that is shown already counts these runs, too.
    """
    if not isinstance(study, Study):
        allowed = "a Study; lightburst.run and lightburst.replicate run a scenario"
        raise InputError("study", show(study), allowed)
    with workers_of(workers) as computing, opened(store) as kept_in:
        return _execute(study, kept_in, computing, progress, kept, failed)


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
        What to run, or the name of its file.
    seeds : iterable of int, or int
        Different seeds; a number n alone stands for those from 1 to n.
    store, workers, progress
        As for `execute`.
    metrics : mapping of str to str, optional
        Metrics of the user's own, by the names of their columns.
    **changes
        None: `Scenario.with_` changes a scenario.

    Returns
    -------
    pandas.DataFrame
        One row for each seed: ``seed`` and the row of the run, as by `execute`.

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
    failed: list[FailedRun] = []
    table = run_all(study, store, workers=workers, progress=progress, failed=failed)
    warn([*_told(study, failed, store), *warnings_of(table)], stacklevel=2)
    return table


def opened(store: Store | str | Path | None) -> AbstractContextManager[Store]:
    """Open a store of runs; one that is open stays so."""
    if isinstance(store, Store):
        return nullcontext(store)
    return Store(IN_MEMORY if store is None else store)


def _told(
    study: Study, failed: Sequence[FailedRun], store: Store | str | Path | None
) -> Iterator[str]:
    """Say which runs failed; points are named by what they set."""
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
) -> pd.DataFrame:
    # Two points can be the same scenario, so runs are counted by key.
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
    """Give all runs point by point, each with the place of its point, though they run otherwise."""
    points = len(study.points)
    for place in range(points):
        for planned in study.runs[place::points]:
            yield place, planned


def _table(study: Study, finished: Rows, there: Container[Key]) -> pd.DataFrame:
    """Rows of the runs that are there, point by point."""
    ordered = [(place, run) for place, run in _ordered(study) if run.key in there]
    places = [place for place, _ in ordered]
    points = [run.parameters for run in study.runs[: len(study.points)]]
    columns = dict.fromkeys(name for point in points for name in point)
    # Those of all points, so that what has failed changes no column.
    parameters = pd.DataFrame(points, columns=list(columns)).iloc[places].reset_index(drop=True)
    parameters.insert(0, PLACE, places)
    parameters["seed"] = [planned.seed for _, planned in ordered]
    # A copy, because pandas keeps what has been put together in as many pieces, and warns of that
    # when a column is added.
    return parameters.join(finished.table([planned.key for _, planned in ordered])).copy()
