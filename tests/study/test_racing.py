"""Early stops of trials: hardly ever by chance, and soon if a trial is much worse."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from lightburst.study.runs import Point
from lightburst.study.search.racing import COMPLETE, GIVEN_UP, UNUSABLE, Race, front_of

SEEDS = range(20)


def race(
    values: NDArray[np.float64], signs: tuple[float, ...] = (1.0,), risk: float = 0.05
) -> Race:
    """A race of points that are numbers: rows of values, of shape (points, seeds, objectives)."""

    def evaluate(points: Sequence[Point], seeds: Sequence[int]) -> NDArray[np.float64]:
        rows = [int(str(point["number"])) for point in points]
        return np.asarray(values[rows][:, list(seeds)])

    return Race(SEEDS, 5, risk, signs, evaluate)


def points(number: int) -> list[Point]:
    return [{"number": n} for n in range(number)]


def test_a_trial_is_looked_at_after_twice_as_many_seeds_each_time() -> None:
    assert race(np.zeros((1, 20, 1))).looks == [5, 10, 20]


def test_without_a_best_all_run_to_the_end() -> None:
    values = np.random.default_rng(1).normal(size=(3, 20, 1)) + np.array([[[0]], [[50]], [[99]]])
    found = race(values).run(points(3), [], 0)
    assert [(len(did), state) for did, state in found] == [(20, COMPLETE)] * 3


def test_what_is_much_worse_is_given_up_at_the_first_look_and_what_is_better_is_not() -> None:
    rng = np.random.default_rng(2)
    common = 10 * rng.normal(size=(1, 20, 1))
    values = common + 0.1 * rng.normal(size=(3, 20, 1)) + np.array([[[1]], [[-1]], [[0]]])
    best = common[0] + 0.1 * rng.normal(size=(20, 1))
    found = race(values).run(points(3), [best], 1)
    # Their means alone, which spread a hundred times as much, do not separate the three.
    assert [(len(did), state) for did, state in found] == [
        (5, GIVEN_UP), (20, COMPLETE), (20, COMPLETE),
    ]  # fmt: skip
    assert [state for _, state in race(values, (-1.0,)).run(points(3), [best], 1)] == [
        COMPLETE, GIVEN_UP, COMPLETE,
    ]  # fmt: skip


def test_what_does_the_same_as_the_best_is_never_given_up() -> None:
    best = np.random.default_rng(3).normal(size=(20, 1))
    assert race(best[np.newaxis]).run(points(1), [best], 1)[0][1] == COMPLETE


def test_a_run_without_a_finite_value_ends_a_trial() -> None:
    values = np.zeros((2, 20, 1))
    values[0, 7] = np.inf
    values[1, 2] = np.nan
    found = race(values).run(points(2), [], 0)
    assert [(len(did), state) for did, state in found] == [(10, UNUSABLE), (5, UNUSABLE)]


def given_up(rivals: int, told: int, cases: int = 400) -> float:
    """Share of trials given up though no worse than the best of some rivals on their seeds."""
    rng, found = np.random.default_rng(4), 0
    for _ in range(cases):
        common = rng.normal(size=(1, 20, 1))
        values = common + rng.normal(size=(rivals + 1, 20, 1))
        best = values[1 + int(values[1:].mean(axis=1).argmin())]
        found += race(values[:1]).run(points(1), [best], told)[0][1] == GIVEN_UP
    return found / cases


def test_chance_gives_up_as_good_a_trial_no_more_often_than_the_risk() -> None:
    # 0.05, and two standard errors of 400 cases.
    assert given_up(1, 1) < 0.05 + 0.022
    assert given_up(30, 30) < 0.05 + 0.022
    # Rivals count because the best of thirty on these seeds is the best by chance.
    assert given_up(30, 1) > 0.1


def test_of_several_objectives_all_must_be_worse() -> None:
    rng = np.random.default_rng(5)
    best = rng.normal(size=(20, 2))
    worse = best + [1, 1] + 0.01 * rng.normal(size=(20, 2))
    mixed = best + [1, -1] + 0.01 * rng.normal(size=(20, 2))
    found = race(np.stack([worse, mixed]), (1.0, 1.0)).run(points(2), [best], 1)
    assert [state for _, state in found] == [GIVEN_UP, COMPLETE]


def test_means_of_few_seeds_are_made_comparable_with_those_of_all() -> None:
    rng = np.random.default_rng(6)
    common = np.linspace(0, 10, 20)[:, np.newaxis]
    best = common + 0.01 * rng.normal(size=(20, 1))
    few = common[:5] + 1 + 0.01 * rng.normal(size=(5, 1))
    ran = race(np.zeros((1, 20, 1)))
    # Their own mean is that of the first seeds, about 2.
    assert ran.comparable(few, [best]) == pytest.approx([6], abs=0.05)
    # A trial without common seeds with the best keeps its own mean.
    alone = rng.normal(size=(5, 1))
    assert ran.comparable(alone, [100 * best]) == pytest.approx(alone.mean(axis=0))


def test_the_front() -> None:
    means = np.array([[1.0, 3], [2, 2], [3, 1], [2, 3], [2, 2], [3, 3]])
    assert front_of(means) == [0, 1, 2]
    assert front_of(np.array([[3.0], [1], [2], [1]])) == [1]
