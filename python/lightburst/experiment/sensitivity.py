"""Sensitivity analysis with Sobol indices."""

from __future__ import annotations

import json
import math
from importlib import metadata
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.experiment.optimise import (
    check_alone,
    check_cost,
    evaluated,
    not_finite,
    searched,
)
from lightburst.experiment.sensitivity_result import POINTS, SENSITIVITY, Sensitivities, said_of
from lightburst.experiment.sweep import described
from lightburst.foundation.errors import InputError, show, warn
from lightburst.foundation.files.csv import read_csv
from lightburst.foundation.provenance import of_study
from lightburst.result.files import reading
from lightburst.result.metric_text import of_records
from lightburst.study.design.description import StudyDescription
from lightburst.study.execution.cost import MOST_RUNS, check_room
from lightburst.study.execution.executor import opened
from lightburst.study.execution.progress import progress_bar
from lightburst.study.search.indices import Indices, analyse, sample, stages
from lightburst.study.search.search import needed
from lightburst.study.search.space import Space
from lightburst.study.search.trials import labels_in
from lightburst.study.search.wanted import EXAMPLES, Sensitivity
from lightburst.study.store.failures import HOW_AGAIN
from lightburst.study.store.store import Store
from lightburst.study.workers.where import workers_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from lightburst.expressions import Expression
    from lightburst.scenario import Scenario
    from lightburst.study.design.points import Place
    from lightburst.study.runs import Seeds
    from lightburst.study.search.evaluated import Evaluated
    from lightburst.study.workers.where import Where

# Share of noise in the variance above which a warning is issued.
_MUCH_NOISE: Final = 0.05
# Maximum share of the sample that failed runs may remove: the remaining points no longer fill the
# box.
_MOST_LOST: Final = 0.05


def sensitivity(
    scenario: Scenario | str | PathLike[str],
    over: Mapping[str, Any] | None = None,
    *,
    metric: str | Sequence[str] = (),
    linked: Iterable[Mapping[str, Any]] = (),
    variants: Mapping[str, Mapping[str, object]] | None = None,
    seeds: Seeds | None = None,
    metrics: Mapping[str, str | Expression] | None = None,
    store: Store | str | Path | None = None,
    workers: Where = None,
    progress: bool = True,
    most_runs: int | None = MOST_RUNS,
    **options: Any,
) -> Sensitivities:
    """Attribute the variance of a metric to parameters, by Sobol indices.

    SALib (``pip install 'lightburst[optimise]'``) draws Saltelli's sample and estimates first-order
    and total indices with intervals. docs/optimise.md explains them, and the effect of the runs'
    noise.

    Parameters
    ----------
    scenario : Scenario, str or path-like
        Base scenario, path of its file, or of a study file with a table ``sensitivity``, which
        contains the other arguments.
    over : mapping of str to iterable or mapping, optional
        Parameters with their bounds, by path, as for `lightburst.optimise`; each is uniformly
        distributed over them.
    metric : str or sequence of str
        Names of metrics (see `lightburst.Result.summary`), of user-defined metrics, or expressions
        (docs/metrics.md).
    linked, variants, metrics
        As for `lightburst.sweep`; the variant is an additional parameter.
    seeds : iterable of int, or int, optional
        Seeds of each point, whose mean is analysed; an integer n stands for 1 to n; 10 by default.
    store, workers, progress, most_runs
        As for `lightburst.sweep`.
    **options
        ``points`` (128; size of the base sample, a power of two; the number of points run is this
        times the number of parameters plus two), ``resamples`` (1000; of the bootstrap), ``seed``
        (1; of the sample).

    Returns
    -------
    Sensitivities
        Indices, points and figures.

    Raises
    ------
    InputError, KeyboardInterrupt
        As for `lightburst.sweep`; if SALib is not installed, a parameter does not vary everywhere,
        or a run lacks a metric.

    Warns
    -----
    RunWarning
        Warnings of the runs, and of much noise.
    """
    asked: dict[str, Any] = {
        **searched(over, linked, variants, seeds, metrics),
        "sensitivity": ({"metric": metric} if metric else {}) | options or None,
    }
    study = described(scenario, {key: x for key, x in asked.items() if x is not None})
    found = sensitivity_all(study, store, workers=workers, progress=progress, most_runs=most_runs)
    warn(found.warnings, stacklevel=2)
    return found


def load_sensitivities(directory: str | Path) -> Sensitivities:
    """Read a saved sensitivity analysis.

    Parameters
    ----------
    directory : str or Path
        Directory written by `Sensitivities.save` or ``lightburst sensitivity --out``.

    Returns
    -------
    Sensitivities
        Restored analysis.

    Raises
    ------
    InputError
        If a file is damaged, or was not written by `Sensitivities.save`.
    """
    source = Path(directory)
    by = "a directory written by 'sensitivity --out'"
    with reading(source, SENSITIVITY, POINTS, by=by, whole=True) as about:
        points = read_csv(source / POINTS).to_pandas(use_threads=False)
        study = StudyDescription.from_dict(about["study"])
        return Sensitivities(
            study,
            Space.of_study(study),
            of_records(about["indices"]),
            of_records(about["metrics"]),
            points,
            about["runs"],
            tuple(about["failed"]),
            tuple(about["warnings"]),
            about["provenance"],
        )


def sensitivity_all(
    study: StudyDescription,
    store: Store | str | Path | None = None,
    *,
    progress: bool = True,
    most_runs: int | None = MOST_RUNS,
    **how: Any,
) -> Sensitivities:
    """Analyse as `sensitivity` does, for a given study and without issuing warnings.

    `how` may contain ``workers``.
    """
    needed("SALib")
    asked = _asked(study)
    names, seeds = asked.metrics, study.all_seeds
    space = Space.of_study(study)
    _refuse_parts(space)
    dimensions = space.dimensions
    number = asked.points * (len(dimensions) + 2)
    check_cost(study, space, number * len(seeds), most_runs, how.get("workers"))
    check_room(number, number * len(seeds))
    places, scenarios = _places(space, sample(len(dimensions), asked.points, asked.seed))
    with workers_of(how.get("workers")) as workers, opened(store) as kept_in:
        wanted = dict.fromkeys(names, "sensitivity.metric")
        ran = evaluated(study, places[0], wanted, kept_in, workers)
        values, lost, found = _run(study, asked, space, places, ran, progress)
    return Sensitivities(
        study,
        space,
        _table(names, space.columns, found),
        pd.DataFrame(
            [
                (name, one.mean, math.sqrt(one.variance), one.noise)
                for name, one in zip(names, found, strict=True)
            ],
            columns=["metric", "mean", "std", "noise"],
        ),
        _points(scenarios, places, names, values),
        ran.number,
        ran.failed,
        (*ran.warnings, *_left_out(lost), *_doubts(names, found)),
        {
            **of_study({"name": study.scenario.name, **_canonical(study.scenario)}),
            "salib": metadata.version("salib"),
        },
    )


def _canonical(scenario: Scenario) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(scenario.canonical_json())
    return found


def _asked(study: StudyDescription) -> Sensitivity:
    asked = study.sensitivity
    if asked is None:
        raise InputError("sensitivity", "nothing", f"a table {EXAMPLES['sensitivity']}")
    check_alone(study, "sensitivity, which selects points itself")
    return asked


def _refuse_parts(space: Space) -> None:
    """Refuse parameters that vary in only a part of the space, where indices are undefined."""
    for place, axis in enumerate(space.axes):
        for one in space.structures:
            there = one.free.get(place, axis.paths if place in one.indices else ())
            if len(there) < len(axis.paths):
                where = [f"the variant {show(one.variant)}"] if one.variant else []
                where += [f"{path} = {show(value)}" for path, value in one.fixed.items()]
                given = f"nothing to vary with {' and '.join(where)}"
                allowed = "parameters that vary everywhere: analyse each of these on its own"
                raise InputError(f"over.{axis.name}", given, allowed)


def _places(space: Space, parts: NDArray[np.float64]) -> tuple[list[Place], list[Scenario]]:
    """Return the points of a sample; `InputError` if the scenario of one is invalid."""
    names = space.columns
    places, scenarios = [], []
    for row in parts:
        chosen = dict(zip(names, row, strict=True))
        place = space.place(lambda one, chosen=chosen: one.sampled(chosen[one.name]))  # type: ignore[misc]
        try:
            scenarios.append(space.base.with_(dict(place.point)))
        except InputError as error:
            given = f"{error.given}, which a combination of others within the bounds does not allow"
            allowed = f"{error.allowed}; bounds within which all combinations can be"
            raise InputError(error.path, given, allowed) from None
        places.append(place)
    return places, scenarios


def _run(
    study: StudyDescription,
    asked: Sensitivity,
    space: Space,
    places: Sequence[Place],
    ran: Evaluated,
    progress: bool,
) -> tuple[NDArray[np.float64], NDArray[np.bool_], list[Indices]]:
    """Run the sample in stages, half of it first, and report the indices after each stage.

    Also returns whether each row of the sample is left out, because a run at one of its points
    failed.
    """
    seeds, names = study.all_seeds, asked.metrics
    step = len(space.dimensions) + 2
    values = np.empty((0, len(seeds), len(names)))
    lost = np.empty(0, dtype=bool)
    found: list[Indices] = []
    with progress_bar(progress, "points") as bar:
        bar.add(len(places))
        for rows in stages(asked.points, asked.least):
            begin, end = len(values), rows * step
            points = [place.point for place in places[begin:end]]
            table, failed = ran(points, seeds), ran.have_failed(points, seeds)
            _refuse_missing(table, failed, begin, seeds, names)
            values = np.concatenate([values, table])
            lost = np.concatenate([lost, failed.reshape(-1, step * len(seeds)).any(axis=1)])
            _refuse_lost(lost, asked, ran)
            whole = values[~np.repeat(lost, step)]
            if not len(whole):
                bar.advance(steps=end - begin)
                continue
            _refuse_constant(whole, names)
            found = [
                analyse(step - 2, whole[:, :, i], asked.resamples, asked.seed)
                for i in range(len(names))
            ]
            answer = said_of(space.columns, found[0].total, found[0].first)
            bar.advance(answer, end - begin)
    return values, lost, found


def _refuse_missing(
    table: NDArray[np.float64],
    failed: NDArray[np.bool_],
    begin: int,
    seeds: Sequence[int],
    names: Sequence[str],
) -> None:
    """Refuse runs without a finite metric: the rest of the sample would be biased."""
    for place, name in enumerate(names):
        values = table[:, :, place]
        told = not_finite(values[~failed])
        if not told:
            continue
        point, seed = np.argwhere(~np.isfinite(values) & ~failed)[0]
        given = (
            f"{show(name)}, {told} of {values.size} runs (first: point "
            f"{begin + point + 1}, seed {seeds[seed]})"
        )
        allowed = (
            "a metric that every run has. It is infinite where flows did not finish, and missing "
            "where nothing of the kind happened: a longer measurement.time_limit, narrower "
            "bounds, or a metric such as throughput_bps help"
        )
        raise InputError("sensitivity.metric", given, allowed)


def _refuse_lost(lost: NDArray[np.bool_], asked: Sensitivity, ran: Evaluated) -> None:
    """Refuse a sample of which failed runs remove too much."""
    if lost.sum() <= _MOST_LOST * asked.points:
        return
    (words, *_) = ran.warnings
    given = f"{lost.sum()} of {asked.points} rows of the sample with runs that failed ({words})"
    allowed = (
        f"no more than {_MOST_LOST:.0%} of them: bounds within which runs do not fail. {HOW_AGAIN}"
    )
    raise InputError("sensitivity", given, allowed)


def _left_out(lost: NDArray[np.bool_]) -> Iterator[str]:
    if lost.any():
        yield (
            f"{lost.sum()} of {len(lost)} rows of the sample are left out, because a run at one of "
            "their points failed; the indices are those of the rest"
        )


def _refuse_constant(values: NDArray[np.float64], names: Sequence[str]) -> None:
    for place, name in enumerate(names):
        if np.ptp(values[:, :, place].mean(axis=1)) == 0:
            given = f"{show(name)}, the same at all of {len(values)} points"
            raise InputError("sensitivity.metric", given, "a metric that a parameter moves")


def _table(
    names: Sequence[str], parameters: Sequence[str], found: Sequence[Indices]
) -> pd.DataFrame:
    rows = []
    for name, one in zip(names, found, strict=True):
        for place, parameter in enumerate(parameters):
            row: dict[str, Any] = {"metric": name, "parameter": parameter}
            for key, middle, half in (
                ("first", one.first[place], one.first_half[place]),
                ("total", one.total[place], one.total_half[place]),
            ):
                row |= {key: middle, f"{key}_low": middle - half, f"{key}_high": middle + half}
            rows.append(row)
    return pd.DataFrame(rows)


def _points(
    scenarios: Sequence[Scenario],
    places: Sequence[Place],
    names: Sequence[str],
    values: NDArray[np.float64],
) -> pd.DataFrame:
    labels = pd.DataFrame(list(map(labels_in, scenarios, places)))
    means = pd.DataFrame(values.mean(axis=1), columns=list(names))
    return pd.concat([labels, means], axis=1)


def _doubts(names: Sequence[str], found: Sequence[Indices]) -> Iterator[str]:
    """Yield reservations about the indices."""
    for name, one in zip(names, found, strict=True):
        if one.noise > _MUCH_NOISE:
            yield (
                f"{name}: {one.noise:.0%} of the variance of its means is noise, so that "
                f"first-order indices are too low by about that part of them, and total indices "
                f"too high by up to {one.noise:.2f}; more seeds help"
            )
