"""A sweep: a question of one's own, run."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from lightburst.errors import warn
from lightburst.report.files import RUNS, SWEEP, as_written
from lightburst.report.swept import Sweep, check_metric
from lightburst.scenario.load import as_scenario
from lightburst.study import Store, Study, run_all
from lightburst.study.cost import MOST_RUNS, TooManyRunsError, check_room, estimate
from lightburst.study.description import StudyDescription
from lightburst.study.store import IN_MEMORY
from lightburst.sums import verify

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

    from lightburst.expressions import Expression
    from lightburst.scenario import Scenario
    from lightburst.study.sweep import Seeds


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
    store: Store | str | Path | None = None,
    workers: int | None = None,
    progress: bool = True,
    most_runs: int | None = MOST_RUNS,
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
    sample : mapping, optional
        Points that are drawn from the axes, in place of all combinations: ``{"kind": "sobol",
        "points": 64}``, or ``"latin-hypercube"``, with a ``"seed"``. A range then has its two ends
        alone. Variants, and axes such as ``switching.kind``, are visited in full.
    seeds : iterable of int, or int, optional
        Different seeds, the same for all points; a number n alone stands for those from 1 to n;
        10 by default.
    target : mapping, optional
        In place of seeds: ``{"metric": "slowdown_p99", "precision": "5 %"}`` runs each point until
        half of the 95 % interval of the mean is at most so much of it, with at least ``"minimum"``
        (10) and at most ``"maximum"`` (100) runs of a point, and ``"budget"`` runs of all.
    metrics : mapping of str to str, optional
        Metrics of the user's own, by their names: ``{"mice": "p99 of slowdown where bytes < 100
        kB"}``; see docs/metrics.md.
    store : Store, str or Path, optional
        Where finished runs are kept, so that a second call goes on where the first one stopped.
        Without one nothing is kept.
    workers : int, optional
        Number of threads, all cores by default.
    progress : bool
        Show a progress bar with the time left, if standard error is a terminal.
    most_runs : int or None
        More runs than these are refused, with what they would cost; None refuses none.

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
        sample=sample,
        seeds=seeds,
        target=target,
        metrics=metrics or {},
    )
    found = sweep_all(study, store, workers=workers, progress=progress, most_runs=most_runs)
    warn(found.warnings, stacklevel=2)
    return found


def sweep_all(
    study: StudyDescription,
    store: Store | str | Path | None = None,
    *,
    workers: int | None = None,
    progress: bool = True,
    most_runs: int | None = MOST_RUNS,
) -> Sweep:
    """Do what `sweep` does with a study that is described, but issue no warnings."""
    number, points = study.number_of_runs, study.design.number
    if most_runs is not None and number > most_runs:
        scenario = study.scenario.with_(dict(study.design.first.point))
        cost = estimate(scenario, study.all_seeds[0], number, workers)
        raise TooManyRunsError(cost, most_runs)
    check_room(points, number)
    with nullcontext(store) if isinstance(store, Store) else Store(store or IN_MEMORY) as opened:
        block = study.block
        if study.metrics_named:
            _check_metrics(study, opened)
        return Sweep.of(study, block.run(opened, workers=workers, progress=progress))


def _check_metrics(study: StudyDescription, store: Store) -> None:
    """Refuse names that no run has, after the first run and not after the last."""
    first = Study(study.scenario, [study.design.first.point], study.all_seeds[:1], study.metrics)
    known = Sweep.of(study, run_all(first, store, workers=1, progress=False)).metrics
    for name, where in study.metrics_named.items():
        check_metric(known, where, name)


def load_sweep(directory: str | Path) -> Sweep:
    """Read a saved sweep.

    Parameters
    ----------
    directory : str or Path
        What `Sweep.save` wrote.

    Returns
    -------
    Sweep
        As it was.

    Raises
    ------
    InputError
        If a file is damaged, or the files are not what `Sweep.save` writes.
    """
    source = Path(directory)
    with as_written(source):
        verify(source, [SWEEP, RUNS])
        about = json.loads((source / SWEEP).read_text(encoding="utf-8"))
        study = StudyDescription.from_dict(about["study"])
        return Sweep(study, pd.read_parquet(source / RUNS), dict(about["provenance"]))
