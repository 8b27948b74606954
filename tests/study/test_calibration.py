"""History matching on its own: implausibility, ranges, pairs, emulators and the search."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lightburst.foundation.errors import InputError
from lightburst.study.calibration.emulator import Emulator
from lightburst.study.calibration.genetic import searched
from lightburst.study.calibration.hypercube import apart, coordinates, hypercube
from lightburst.study.calibration.implausibility import Target, implausibility, ranked
from lightburst.study.calibration.pairs import Pairs
from lightburst.study.calibration.ranges import Kind, kind_of, left_of

INF = math.inf


def test_a_range_is_missed_by_the_distance_from_its_middle_and_forgives_its_width() -> None:
    # Middle 10, half a width of 4, seeds 2 squared, emulator 4 squared: root of 16 + 4 + 16 is 6.
    found = implausibility(Target(6, 14), [10, 22, -2, math.nan], 4, [16, 16, 16, 16])
    assert found.tolist()[:3] == [0, 2, 2]
    assert math.isnan(found[3])


def test_a_bound_is_missed_on_one_side_only() -> None:
    least, most = Target(3, INF), Target(-INF, 3)
    assert implausibility(least, [1, 3, 900], 0.25).tolist() == [4, 0, 0]
    assert implausibility(most, [-900, 3, 5], 0.25, 0.75).tolist() == [0, 0, 2]
    # Nothing is uncertain: what is missed is ruled out, what is met is not.
    assert implausibility(least, [2.999, 3], 0).tolist() == [INF, 0]


def test_ratios_are_compared_by_their_logarithms() -> None:
    target = Target(0.5, 2, logarithmic=True)
    x = target.scaled([1, 8, 1 / 8, 0, -1])
    # Middle 1, tolerance log 2; no other variance: log 8 is three times as far.
    assert implausibility(target, x, 0)[:3] == pytest.approx([0, 3, 3])
    assert np.isnan(x[3:]).all()
    assert Target(2, INF, logarithmic=True).beyond(np.log([1, 2, 4])) == pytest.approx(
        [math.log(2), 0, 0]
    )


def test_a_target_has_ascending_ends_and_a_ratio_is_above_zero() -> None:
    for bad in ((2, 1), (INF, INF), (math.nan, 1)):
        with pytest.raises(InputError, match="ascending ends"):
            Target(*bad)
    with pytest.raises(InputError, match="more than zero, to take logarithms"):
        Target(0, 1, logarithmic=True)


def test_a_number_meets_its_range_within_two_deviations_of_the_seeds() -> None:
    target = Target(6, 14)
    assert target.is_met([6, 14, 15.9, 16.1, 3.9, math.nan], 1).tolist() == [
        True, True, True, False, False, False,
    ]  # fmt: skip


def test_the_second_largest_counts_and_the_unknown_rules_nothing_out() -> None:
    table = np.array([[1, 9, 4], [INF, 2, math.nan], [math.nan, math.nan, 5]])
    assert ranked(table).tolist() == [4, 2, 0]
    assert ranked(table, 1).tolist() == [9, INF, 5]
    assert ranked(table, 3).tolist() == [1, 0, 0]
    assert ranked([[7.0]]).tolist() == [7], "of one statement the only one"
    assert ranked(np.zeros((2, 0))).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("share", "choices", "kind"),
    [
        (0, None, Kind.NOTHING),
        (0.05, None, Kind.DETERMINED),
        (0.25, None, Kind.DETERMINED),
        (0.3, None, Kind.BOUNDED),
        (0.85, None, Kind.BOUNDED),
        (0.9, None, Kind.FREE),
        (1, 3, Kind.FREE),
        (0.95, 20, Kind.BOUNDED),  # of choices even one that is gone bounds
        (0.5, 2, Kind.DETERMINED),  # one of two
        (2 / 3, 3, Kind.BOUNDED),
        (0, 2, Kind.NOTHING),
    ],
)
def test_the_share_that_is_left_has_a_name(share: float, choices: int | None, kind: Kind) -> None:
    assert kind_of(share, choices) is kind


def test_neighbouring_intervals_that_are_left_are_one_stretch() -> None:
    parts = (np.arange(40) + 0.5) / 40
    left = left_of(parts, ((parts > 0.1) & (parts < 0.2)) | (parts > 0.9))
    assert left.share == 0.2
    assert left.kind is Kind.DETERMINED
    assert np.array(left.stretches) == pytest.approx(np.array([(0.1, 0.2), (0.9, 1.0)]))
    # Two neighbouring choices are no stretch.
    chosen = left_of([0.1, 0.5, 0.9, 1.0], [False, True, True, True], 3)
    assert np.array(chosen.stretches) == pytest.approx(np.array([(1 / 3, 2 / 3), (2 / 3, 1)]))
    assert chosen.kind is Kind.BOUNDED


def test_pairs_that_no_setting_meets_are_named() -> None:
    met = np.array([[1, 0, 1, 0], [1, 0, 0, 0], [0, 1, 1, 0]], dtype=bool)
    pairs = Pairs.of(met, "abcd")
    assert pairs.together.to_numpy().tolist() == [
        [2, 0, 1, 0], [0, 1, 1, 0], [1, 1, 2, 0], [0, 0, 0, 0],
    ]  # fmt: skip
    assert pairs.nowhere == ["d"], "which contradicts no other: nothing meets it"
    assert pairs.apart == [("a", "b")]


def test_choices_have_one_coordinate_each() -> None:
    parts = np.array([[0.3, 0.0], [0.7, 0.99], [0.1, 1.0]])
    assert coordinates(parts, [None, 3]).tolist() == [
        [0.3, 1, 0, 0], [0.7, 0, 0, 1], [0.1, 0, 0, 1],
    ]  # fmt: skip


def test_a_hypercube_has_one_setting_in_each_part_of_each_range() -> None:
    found = hypercube(10, 3, 5)
    assert [sorted(column) for column in (found * 10).astype(int).T.tolist()] == 3 * [
        list(range(10))
    ]
    assert np.array_equal(found, hypercube(10, 3, 5))
    assert not np.array_equal(found, hypercube(10, 3, 6))


def test_settings_far_from_those_taken_are_chosen() -> None:
    line = np.linspace(0, 1, 11)[:, None]
    assert apart(line, np.array([[0.0]]), 2).tolist() == [10, 5]
    assert apart(line[:2], np.array([[0.0]]), 3).tolist() == [1, 0]


def test_an_emulator_follows_a_smooth_number_and_knows_where_it_is_uncertain() -> None:
    at = hypercube(40, 2, 1)
    of = np.sin(3 * at[:, 0])
    emulator = Emulator.fit(at, of, 1)
    new = hypercube(50, 2, 2)
    mean, variance = emulator.predict(new)
    assert mean == pytest.approx(np.sin(3 * new[:, 0]), abs=0.01)
    assert (np.abs(mean - np.sin(3 * new[:, 0])) <= 4 * np.sqrt(variance) + 1e-3).all()
    far = emulator.predict(np.array([[4.0, 0.5]]))[1]
    assert far[0] > 100 * variance.max(), "far from all settings little is known"
    assert emulator.missed <= 0.05


def test_an_emulator_takes_noise_for_noise() -> None:
    at = hypercube(80, 1, 1)
    noise = np.random.default_rng(1).normal(0, 0.5, 80)
    mean, variance = Emulator.fit(at, at[:, 0] + noise, 1).predict(at)
    assert np.sqrt(variance).mean() == pytest.approx(0.5, rel=0.2)
    assert np.abs(mean - at[:, 0]).mean() < 0.25


def test_an_emulator_of_a_constant_is_certain() -> None:
    mean, variance = Emulator.fit(hypercube(5, 1, 1), np.full(5, 7.0), 1).predict(np.ones((3, 1)))
    assert (mean.tolist(), variance.tolist()) == ([7, 7, 7], [0, 0, 0])


def test_the_search_finds_the_best_that_is_not_ruled_out() -> None:
    asked: list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = []

    def score(parts):  # type: ignore[no-untyped-def]
        asked.append(parts)
        # Best at 0.8 and the third choice; above 0.6 all is ruled out.
        far = np.abs(parts[:, 0] - 0.8) + 1.0 * ((parts[:, 1] * 3).astype(int) != 2)
        return np.column_stack([far, np.zeros(len(parts))]), parts[:, 0] - 0.6

    starts = hypercube(10, 2, 1)
    best = searched([None, 3], score, starts, 1, generations=12)
    assert best[0, 0] == pytest.approx(0.6, abs=0.02)
    assert best[0, 0] <= 0.6
    assert int(best[0, 1] * 3) == 2
    assert (asked[-1][:, 0] <= 0.6).mean() > 0.5, "the last generation stays where it may be"
    assert np.array_equal(best, searched([None, 3], score, starts, 1, generations=12))
    assert not np.array_equal(best, searched([None, 3], score, starts, 2, generations=12))
