"""Search for the best values of some parameters."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import metadata
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst.compile import check_seeds
from lightburst.compile.seeds import LARGEST_SEED
from lightburst.experiment.optimum import OPTIMUM, Optimum
from lightburst.experiment.optimum_theory import NUMERICALLY, TIME, said_of
from lightburst.experiment.sweep import described, tell_of_earlier
from lightburst.foundation.errors import InputError, show, warn
from lightburst.foundation.provenance import of_study
from lightburst.result.files import reading
from lightburst.result.metric_text import readable
from lightburst.study.design.structures import listed
from lightburst.study.execution.cost import MOST_RUNS, TooManyRunsError, estimate, too_many
from lightburst.study.execution.executor import opened
from lightburst.study.execution.progress import progress_bar
from lightburst.study.search.evaluated import Evaluated
from lightburst.study.search.racing import COMPLETE, FAILED, UNUSABLE, Race
from lightburst.study.search.search import Search, Trial, best_of, needed
from lightburst.study.search.space import Space
from lightburst.study.search.trials import (
    BEST,
    DEFAULT,
    confirmed,
    in_state,
    trial_table,
)
from lightburst.study.search.wanted import EXAMPLES, Aim, Optimise
from lightburst.study.store.store import Store
from lightburst.study.workers.where import workers_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from lightburst.experiment.optimum_theory import Said
    from lightburst.expressions import Expression
    from lightburst.scenario import Scenario
    from lightburst.study.design.description import StudyDescription
    from lightburst.study.design.points import Place
    from lightburst.study.runs import Seeds
    from lightburst.study.workers.interface import Workers
    from lightburst.study.workers.where import Where

# Distance of the best value from an end of its range, as a share, below which a warning is issued.
_AT_END: Final = 0.02


def optimise(
    scenario: Scenario | str | PathLike[str],
    over: Mapping[str, Any] | None = None,
    *,
    minimise: str | Sequence[str] = (),
    maximise: str | Sequence[str] = (),
    linked: Iterable[Mapping[str, Any]] = (),
    variants: Mapping[str, Mapping[str, object]] | None = None,
    seeds: Seeds | None = None,
    metrics: Mapping[str, str | Expression] | None = None,
    store: Store | str | Path | None = None,
    workers: Where = None,
    progress: bool = True,
    most_runs: int | None = MOST_RUNS,
    **options: Any,
) -> Optimum:
    """Find the values of some parameters that optimise the mean of a metric.

    Optuna (``pip install 'lightburst[optimise]'``) proposes points. Each point runs on seeds in
    rounds, and is given up once it is significantly worse than the best so far. The answer is
    confirmed on fresh seeds against the default, which is the scenario itself; see
    docs/optimise.md.

    Parameters
    ----------
    scenario : Scenario, str or path-like
        Default scenario, path of its file, or of a study file with a table ``optimise``.
    over : mapping of str to iterable or mapping, optional
        Parameters with their bounds, by path: ``{"from": "1 ms", "to": "20 ms", "scale": "log"}``;
        with a ``step`` or a ``number`` only these values; a list gives categories.
    minimise, maximise : str or sequence of str
        Names of metrics (see `lightburst.Result.summary`), of user-defined metrics, or expressions
        (docs/metrics.md). Several objectives give a Pareto front.
    linked, variants, metrics
        As for `lightburst.sweep`; the variant is an additional parameter.
    seeds : iterable of int, or int, optional
        Seeds of a trial that is not given up; an integer n stands for 1 to n; 10 by default.
    store, workers, progress, most_runs
        As for `lightburst.sweep`. With a store a repeated call continues where it was interrupted,
        and costs nothing if it was complete.
    **options
        Further keys of the table: ``trials``, ``first``, ``risk``, ``confirm``, ``budget``,
        ``batch``, ``seed``.

    Returns
    -------
    Optimum
        Answer, trials, gain and figures.

    Raises
    ------
    InputError, KeyboardInterrupt
        As for `lightburst.sweep`; if Optuna is not installed, or no trial had a finite objective.

    Warns
    -----
    RunWarning
        Warnings of the runs, and reservations about the answer.
    """
    aims = {key: x for key, x in (("minimise", minimise), ("maximise", maximise)) if x}
    asked: dict[str, Any] = {
        **searched(over, linked, variants, seeds, metrics),
        "optimise": aims | options or None,
    }
    study = described(scenario, {key: x for key, x in asked.items() if x is not None})
    found = optimise_all(study, store, workers=workers, progress=progress, most_runs=most_runs)
    warn(found.warnings, stacklevel=2)
    return found


def load_optimum(directory: str | Path) -> Optimum:
    """Read a saved optimum.

    Parameters
    ----------
    directory : str or Path
        Directory written by `Optimum.save` or ``lightburst optimise --out``.

    Returns
    -------
    Optimum
        Restored optimum.

    Raises
    ------
    InputError
        If a file is damaged, or was not written by `Optimum.save`.
    """
    by = "a directory written by 'optimise --out'"
    with reading(Path(directory), OPTIMUM, by=by, whole=True) as about:
        return Optimum.from_dict(about)


def searched(
    over: Mapping[str, Any] | None,
    linked: Iterable[Mapping[str, Any]],
    variants: Mapping[str, Mapping[str, object]] | None,
    seeds: Seeds | None,
    metrics: Mapping[str, str | Expression] | None,
) -> dict[str, Any]:
    """Return the arguments shared with a sweep, by the keys of a study; None if not given."""
    return {
        "over": over,
        "linked": listed(linked) or None,
        "variants": variants,
        "seeds": seeds,
        "metrics": metrics,
    }


def check_cost(
    study: StudyDescription, space: Space, number: int, most_runs: int | None, workers: Any
) -> None:
    """Refuse too many runs; `TooManyRunsError` contains the estimated cost."""
    if most_runs is not None and too_many(number, most_runs):
        scenario = study.scenario.with_(dict(space.first.point))
        raise TooManyRunsError(estimate(scenario, study.all_seeds[0], number, workers), most_runs)


def check_alone(study: StudyDescription, what: str) -> None:
    """Refuse keys that select points or seeds, which the table `what` selects itself."""
    for key in ("target", "sample"):
        if getattr(study, key) is not None:
            raise InputError(key, "a table", f"nothing beside {what}")


def evaluated(
    study: StudyDescription,
    first: Place,
    wanted: Mapping[str, str],
    store: Store,
    workers: Workers,
) -> Evaluated:
    """Return the evaluator of a search, after a first run that checks the metrics.

    Parameters
    ----------
    study : StudyDescription
        Study to run.
    first : Place
        One of the points.
    wanted : mapping of str to str
        Metrics, and the key of the study that names each.
    store : Store
        Store of the runs.
    workers : Workers
        Workers that execute the runs.

    Raises
    ------
    InputError
        If the runs have no such metric.
    """
    tell_of_earlier(study.scenario.with_(dict(first.point)), store)
    how = {"workers": workers, "progress": False}
    ran = Evaluated(study.scenario, wanted, study.metrics, store, how)
    ran([first.point], study.all_seeds[:1])
    return ran


def not_finite(values: NDArray[np.float64]) -> str:
    """Count the runs with an infinite or missing metric, as text; empty if all are finite."""
    infinite, missing = int(np.isinf(values).sum()), int(np.isnan(values).sum())
    told = [f"infinite in {infinite}"] * bool(infinite)
    told += [f"missing in {missing}"] * bool(missing)
    return " and ".join(told)


def optimise_all(
    study: StudyDescription,
    store: Store | str | Path | None = None,
    *,
    progress: bool = True,
    most_runs: int | None = MOST_RUNS,
    **how: Any,
) -> Optimum:
    """Search as `optimise` does, for a given study and without issuing warnings.

    `how` may contain ``workers``.
    """
    needed("optuna")
    asked, aims, fresh = _asked(study)
    space = Space.of_study(study)
    number = asked.trials * len(study.all_seeds)
    number = min(number, asked.budget or number) + (1 + len(aims)) * len(fresh)
    check_cost(study, space, number, most_runs, how.get("workers"))
    wanted = {aim.metric: aim.where for aim in aims}
    with workers_of(how.get("workers")) as workers, opened(store) as kept_in:
        ran = evaluated(study, space.first, wanted, kept_in, workers)
        race = Race(study.all_seeds, asked.first, asked.risk, tuple(a.sign for a in aims), ran)
        search = Search(space, race, asked.trials, asked.batch, asked.seed, asked.budget)
        trials = _searched(search, study, aims, ran, progress)
        return _answered(study, search, aims, trials, ran, fresh)


def _asked(study: StudyDescription) -> tuple[Optimise, tuple[Aim, ...], range]:
    """Return the table ``optimise``, the objectives, and fresh seeds for the confirmation."""
    asked = study.optimise
    if asked is None:
        raise InputError("optimise", "nothing", f"a table {EXAMPLES['optimise']}")
    check_alone(study, "optimise, which selects points and seeds itself")
    aims = asked.aims
    seeds = study.all_seeds
    least = asked.batch * len(seeds)
    if asked.budget is not None and asked.budget < least:
        allowed = f"at least {least:,} runs: {asked.batch} trials of {len(seeds)} seeds"
        raise InputError("optimise.budget", show(asked.budget), allowed)
    begin = max(seeds) + 1
    if begin + asked.confirm > LARGEST_SEED:
        allowed = f"seeds that leave {asked.confirm} fresh ones above them"
        raise InputError("seeds", show(max(seeds)), allowed)
    check_seeds(range(begin, begin + asked.confirm))
    return asked, aims, range(begin, begin + asked.confirm)


def _searched(
    search: Search,
    study: StudyDescription,
    aims: Sequence[Aim],
    ran: Evaluated,
    progress: bool,
) -> list[Trial]:
    total = min(search.trials, search.space.number or search.trials)
    with progress_bar(progress, "trials") as bar:
        bar.add(total)
        done = 0

        def told(trials: Sequence[Trial]) -> None:
            nonlocal done
            bar.advance(_present(aims, trials), len(trials) - done)
            done = len(trials)

        trials = [_settled(trial, study.all_seeds, ran) for trial in search.run(told)]
    if any(trial.state == COMPLETE for trial in trials):
        return trials
    if bad := [trial for trial in trials if trial.state == UNUSABLE]:
        raise _useless(study, aims, bad)
    raise ran.failures[0].failure.error


def _settled(trial: Trial, seeds: Sequence[int], ran: Evaluated) -> Trial:
    """Distinguish a trial with a failed run from one without a finite objective."""
    if trial.state != UNUSABLE:
        return trial
    failed = ran.have_failed([trial.place.point], seeds[: len(trial.outcome)]).any()
    return replace(trial, state=FAILED) if failed else trial


def _present(aims: Sequence[Aim], trials: Sequence[Trial]) -> str:
    """Describe the best trial so far for the progress bar."""
    complete = [trial for trial in trials if trial.state == COMPLETE]
    best = [complete[i] for i in best_of(complete)]
    if not best:
        return "none with a finite objective"
    if len(aims) > 1:
        return f"a front of {len(best)}"
    mean = readable(aims[0].metric, aims[0].sign * float(best[0].means[0]))
    place = best[0].place
    named = [f"{path.rpartition('.')[2]} = {value}" for path, value in place.settings.items()]
    return f"best {mean} at {', '.join([*filter(None, [place.variant]), *named])}"


def _answered(
    study: StudyDescription,
    search: Search,
    aims: tuple[Aim, ...],
    trials: Sequence[Trial],
    ran: Evaluated,
    fresh: Sequence[int],
) -> Optimum:
    """Confirm the answer on fresh seeds, with the default and the theory."""
    space, base = search.space, study.scenario
    complete = [trial for trial in trials if trial.state == COMPLETE]
    best = sorted((complete[i] for i in best_of(complete)), key=lambda trial: trial.means[0])
    names = [BEST] if len(aims) == 1 else [f"front {i + 1}" for i in range(len(best))]
    places = {DEFAULT: space.default}
    places |= {name: trial.place for name, trial in zip(names, best, strict=True)}
    theory: tuple[Said, ...] = ()
    if len(aims) == 1:
        theory = said_of(base.with_(dict(best[0].place.point)), list(best[0].place.settings))
        for one in theory:
            if one.name == NUMERICALLY:
                continue  # the maximum of the curve that the figure shows
            settings = {**best[0].place.settings, TIME: one.written}
            if space.is_possible(at := best[0].place._replace(settings=settings)):
                places[one.name] = at
    points = [place.point for place in places.values()]
    values, failed = ran(points, fresh), ran.have_failed(points, fresh)
    about = {"name": base.name, **json.loads(base.canonical_json())}
    return Optimum(
        study,
        space,
        aims,
        tuple(trial.place for trial in best),
        trial_table(base, aims, trials),
        confirmed(base, aims, places, values, failed),
        theory,
        ran.number,
        ran.failed,
        (*ran.warnings, *_doubts(search, aims, trials, best)),
        {**of_study(about), "optuna": metadata.version("optuna")},
    )


def _doubts(
    search: Search, aims: Sequence[Aim], trials: Sequence[Trial], best: Sequence[Trial]
) -> Iterator[str]:
    """Yield reservations about the answer."""
    if failed := in_state(FAILED, trials):
        yield (
            f"{len(failed)} of {len(trials)} trials count as worse than all others: a run of them "
            f"failed (first: trial {failed[0].number})"
        )
    if bad := in_state(UNUSABLE, trials):
        yield (
            f"{len(bad)} of {len(trials)} trials count as worse than all others: "
            f"{_what(search.race.seeds, aims, bad)}"
        )
    if len(trials) < search.trials and not search.visits_all:
        yield f"the budget of {search.budget:,} runs ended after {len(trials)} trials"
    if len(aims) > 1:
        return
    for one in search.space.dimensions:
        raw = best[0].chosen.get(one.name)
        if raw is None or (one.steps and not one.ordered):
            continue
        low, high = one.ends
        near = _AT_END * (high - low) if one.number is None else 0
        if not low + near < raw < high - near:
            end = "lower" if raw <= low + near else "upper"
            yield (
                f"{one.name}: the best value is at the {end} end of its range; "
                "beyond it there may be a better one"
            )


def _what(seeds: Sequence[int], aims: Sequence[Aim], bad: Sequence[Trial]) -> str:
    """Describe missing or infinite objectives of trials, with advice."""
    values = np.concatenate([trial.outcome for trial in bad])
    parts = []
    for place, aim in enumerate(aims):
        if told := not_finite(values[:, place]):
            parts.append(f"{aim.metric} is {told} of their {len(values)} runs")
    first = bad[0]
    row = int(np.argmax(~np.isfinite(first.outcome).all(axis=1)))
    return (
        f"{'; '.join(parts)} (first: trial {first.number}, seed {seeds[row]}). A metric is "
        "infinite where flows did not finish, and missing where nothing of the kind happened: a "
        "longer measurement.time_limit, narrower bounds, or an objective such as throughput_bps "
        "help"
    )


def _useless(study: StudyDescription, aims: Sequence[Aim], trials: Sequence[Trial]) -> InputError:
    metrics = " and ".join(aim.metric for aim in aims)
    given = f"{metrics}, not finite in any of {len(trials)} trials"
    return InputError(aims[0].where, given, f"a finite one. {_what(study.all_seeds, aims, trials)}")
