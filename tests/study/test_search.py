"""The search finds known optima, is reproducible, and reports unusable runs."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lightburst.foundation.errors import InputError
from lightburst.study.runs import Point
from lightburst.study.search.racing import COMPLETE, GIVEN_UP, UNUSABLE, Evaluate, Race
from lightburst.study.search.search import Search, Trial, best_of
from lightburst.study.search.space import Space
from lightburst.study.search.trials import trial_table
from lightburst.study.search.wanted import Aim
from problems import AXIS, BURSTS, noisy, x_of

LOG = {"from": "0.1 ms", "to": "100 ms", "scale": "log"}


def search(evaluate: Evaluate, trials: int = 40, seed: int = 1, **more: Any) -> Search:
    space = more.pop("space", None) or Space.of(BURSTS, {AXIS: LOG})
    signs = more.pop("signs", (1.0,))
    return Search(space, Race(range(1, 21), 5, 0.05, signs, evaluate), trials, 4, seed, **more)


def best(trials: Sequence[Trial]) -> Trial:
    complete = [trial for trial in trials if trial.state == COMPLETE]
    return complete[best_of(complete)[0]]


def parabola(x: float) -> list[float]:
    """Best at 3 ms, by the logarithm of time."""
    return [math.log(x / 3) ** 2]


@pytest.mark.parametrize("seed", range(5))
def test_under_noise_much_larger_than_the_slope_the_best_is_found(seed: int) -> None:
    # The common effect of a seed spreads by 5, the means between 2 ms and 4 ms by 0.2.
    evaluate, runs = noisy(parabola, common=5, own=0.1)
    trials = search(evaluate, seed=seed).run()
    assert x_of(best(trials).place.point) == pytest.approx(3, rel=0.25)
    assert len(trials) == 40
    # Giving up saves runs, and every trial given up was much worse.
    given_up = [trial for trial in trials if trial.state == GIVEN_UP]
    assert sum(runs) < 0.8 * 40 * 20
    assert all(parabola(x_of(trial.place.point))[0] > 0.05 for trial in given_up)
    assert {len(trial.outcome) for trial in given_up} <= {5, 10}


def test_noise_of_each_point_alone_costs_runs_and_not_the_answer() -> None:
    quiet, few = noisy(parabola, common=5, own=0.1)
    loud, many = noisy(parabola, common=5, own=2)
    search(quiet).run()
    trials = search(loud).run()
    assert sum(many) > 1.2 * sum(few)
    assert x_of(best(trials).place.point) == pytest.approx(3, rel=0.6)


def test_the_same_again_and_another_seed_is_another_search() -> None:
    evaluate, _ = noisy(parabola, common=1, own=0.1)
    one, again, other = (search(evaluate, 16, seed).run() for seed in (1, 1, 2))
    assert [trial.place for trial in one] == [trial.place for trial in again]
    for first, second in zip(one, again, strict=True):
        assert np.array_equal(first.outcome, second.outcome)
    assert [trial.place for trial in one] != [trial.place for trial in other]


def test_a_small_space_is_tried_whole_and_its_best_is_the_best() -> None:
    evaluate, runs = noisy(parabola, common=0, own=0)
    steps = {AXIS: {"from": "1 ms", "to": "8 ms", "step": "1 ms"}}
    found = search(evaluate, space=Space.of(BURSTS, steps))
    assert found.visits_all
    trials = found.run()
    assert sorted(x_of(trial.place.point) for trial in trials) == list(range(1, 9))
    assert x_of(best(trials).place.point) == 3
    # No noise at all: two trials that differ in all runs differ; see paired_difference.
    assert sum(runs) <= 8 * 20


def test_several_objectives_give_the_front() -> None:
    evaluate, _ = noisy(lambda x: [math.log(x / 1) ** 2, math.log(x / 10) ** 2], 1, 0.02)
    trials = search(evaluate, signs=(1.0, 1.0)).run()
    complete = [trial for trial in trials if trial.state == COMPLETE]
    front = [x_of(complete[i].place.point) for i in best_of(complete)]
    # All of the front lies between the two optima, and it covers most of the range.
    assert all(0.8 < x < 13 for x in front), front
    assert min(front) < 1.5
    assert max(front) > 7
    outside = [t for t in trials if not 0.5 < x_of(t.place.point) < 20]
    assert any(trial.state == GIVEN_UP for trial in outside)


def test_what_is_not_finite_is_worse_than_all_and_the_search_goes_elsewhere() -> None:
    inner, _ = noisy(parabola, common=1, own=0.1)

    def evaluate(points: Sequence[Point], seeds: Sequence[int]) -> NDArray[np.float64]:
        values = inner(points, seeds)
        for place, point in enumerate(points):
            if x_of(point) < 2:
                values[place, -1] = np.inf
        return values

    trials = search(evaluate).run()
    bad = [trial for trial in trials if trial.state == UNUSABLE]
    assert 5 < len(bad) < 25
    assert all(x_of(trial.place.point) < 2 for trial in bad)
    assert x_of(best(trials).place.point) == pytest.approx(3, rel=0.25)


def test_a_search_without_any_use_ends_early() -> None:
    def evaluate(points: Sequence[Point], seeds: Sequence[int]) -> NDArray[np.float64]:
        return np.full((len(points), len(seeds), 1), np.nan)

    assert len(search(evaluate, 100).run()) == 20


def test_a_budget_of_runs_is_kept() -> None:
    evaluate, runs = noisy(parabola, common=1, own=0.1)
    trials = search(evaluate, budget=200).run()
    assert sum(runs) <= 200
    assert len(trials) < 40


def test_combinations_that_cannot_be_are_left_out() -> None:
    base = BURSTS.with_({"switching.assembly": {"kind": "window-based"}})
    names = [f"switching.assembly.{name}_window" for name in ("medium", "fast")]
    space = Space.of(base, {name: {"from": 2, "to": 200} for name in names})

    def evaluate(points: Sequence[Point], seeds: Sequence[int]) -> NDArray[np.float64]:
        # The best combination, (100, 50), is not allowed.
        away = [
            [abs(float(str(p[names[0]])) - 100), abs(float(str(p[names[1]])) - 50)] for p in points
        ]
        return np.repeat(np.sum(away, axis=1)[:, np.newaxis, np.newaxis], len(seeds), axis=1)

    trials = search(evaluate, space=space).run()
    assert len(trials) == 40
    assert all(trial.place.point[names[0]] <= trial.place.point[names[1]] for trial in trials)  # type: ignore[operator]


def test_trials_in_a_table_are_told_apart_from_the_best() -> None:
    evaluate, _ = noisy(parabola, common=5, own=0.1)
    trials = search(evaluate).run()
    table = trial_table(BURSTS, [Aim("m", 1.0, "optimise.minimise")], trials)
    assert list(table.columns[:3]) == ["trial", AXIS, f"{AXIS}_s"]
    assert table["verdict"].value_counts()["best"] == 1
    row = table[table["verdict"] == "best"].iloc[0]
    assert row["difference"] == row["difference_low"] == row["difference_high"] == 0
    # Trials that are as good lie around the true optimum, and worse ones do not.
    near = table[table["verdict"] == "as good"][f"{AXIS}_s"]
    assert near.between(2e-3, 4.5e-3).all()
    assert (table[table["verdict"] == "worse"]["difference_low"] > 0).all()


def test_without_optuna_one_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    evaluate, _ = noisy(parabola, common=1, own=0.1)
    with pytest.raises(
        InputError, match=r"optimise: given no package Optuna.*pip install 'lightburst\[optimise\]'"
    ):
        search(evaluate).run()
