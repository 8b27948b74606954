"""Racing of a calibration: what is given up would not be left, and all else stays as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibrated_paper import comparable, contradicting, forgotten, paper
from lightburst.experiment.calibrate import Plan, calibrate_parts
from lightburst.experiment.calibrated.aims import Aim, Reading, implausible, met, numbers_of
from lightburst.experiment.calibrated.calibration import Calibration
from lightburst.experiment.calibrated.history import Emulated
from lightburst.experiment.calibrated.racing import (
    Race,
    Rung,
    cheapest_first,
    fewest_failing,
    first_seeds,
    rungs_of,
)
from lightburst.experiment.calibrated.tried import Outcome
from lightburst.papers.claims import Claim, Verdict
from lightburst.papers.paper import Paper
from lightburst.study.calibration.implausibility import CUT, RANK, Target, ranked
from lightburst.study.calibration.ranges import Kind, left_of

PLAN = Plan(waves=2, points=8, seeds=2, confirm=4, budget=None, seed=1)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Paper]:
    """A paper with a planted rate and a planted contradiction."""
    yield contradicting(paper(tmp_path_factory.mktemp("papers")))
    forgotten()


def calibrated(paper: Paper, plan: Plan, workers: int = 1) -> Calibration:
    parts = tuple(paper.parts)
    return calibrate_parts(paper, parts, plan, quick=True, workers=workers, progress=False)


@pytest.fixture(scope="module")
def whole(both: Paper) -> Calibration:
    return calibrated(both, replace(PLAN, whole=True))


@pytest.fixture(scope="module")
def raced(both: Paper) -> Calibration:
    return calibrated(both, PLAN)


def test_a_race_finds_the_planted_value_and_contradiction_with_fewer_runs(
    raced: Calibration, whole: Calibration
) -> None:
    assert whole.given_up == 0
    assert raced.given_up >= 8
    assert raced.runs <= whole.runs - 40
    for found in (whole, raced):
        left = found.left["channel-rate"]
        assert left.kind is Kind.DETERMINED
        # The range is logarithmic from 5 to 40 Gb/s: the planted 10 Gb/s is at a third of it.
        assert left.stretches[0][0] - 0.05 <= 1 / 3 <= left.stretches[-1][1] + 0.05
        assert found.left["call"].kind is Kind.FREE
        assert ("loss-1", "loss-1-halved") in found.apart
        assert found.best[1].held == 4
    assert raced.apart == whole.apart


def test_what_is_given_up_would_not_be_left(raced: Calibration, whole: Calibration) -> None:
    # The settings of the first wave are the same.
    first = range(1 + PLAN.points * len(raced.opened.parameters))
    assert np.array_equal(raced.settings[first], whole.settings[first])
    values, more = whole.numbers
    assert not more.any()
    score = ranked(implausible(whole.aims, values), raced.considered.rank)
    given_up = [place for place in first if raced.outcomes[place].given_up]
    assert given_up
    assert (score[given_up] > CUT).all()
    for place in set(first) - set(given_up):
        assert raced.outcomes[place] == whole.outcomes[place]
        assert np.array_equal(raced.numbers[0][place], values[place], equal_nan=True)
    seeds = raced.tried["seeds"]
    assert {seeds[place] for place in given_up} == {1}
    assert (seeds == 2).sum() == len(raced.settings) - raced.given_up


def test_a_setting_that_was_given_up_is_never_left(raced: Calibration) -> None:
    considered = raced.considered
    # All statements may fail but the least implausible, and nothing but tried settings is left.
    nothing = replace(considered, left=np.zeros_like(considered.left), rank=len(raced.aims))
    found = replace(raced, considered=nothing)
    values, more = found.numbers
    least = np.nanmin(implausible(found.aims, values, more), axis=1)
    whole = np.array([one.whole for one in found.outcomes])
    parts = found.settings[:, 0]
    expected = left_of(parts, whole & (least <= CUT))
    assert found.left["channel-rate"] == expected
    assert expected.share < left_of(parts, least <= CUT).share


def test_the_winners_and_the_base_run_whole(raced: Calibration) -> None:
    assert raced.outcomes[0].whole
    for one in raced.best[1:]:
        places = np.flatnonzero((raced.settings == one.parts).all(axis=1))
        assert any(raced.outcomes[place].whole for place in places)


def test_a_planted_contradiction_is_named(raced: Calibration) -> None:
    assert ("loss-1", "loss-1-halved") in raced.apart
    together = raced.pairs.together["loss-1"].to_dict()
    assert together["loss-1-halved"] == 0
    assert together["loss-2"] > 0
    assert not raced.nowhere
    # By the second largest implausibility one statement may fail: the other four determine it.
    assert raced.left["channel-rate"].kind in (Kind.DETERMINED, Kind.BOUNDED)
    gained = {frozenset(one.gained) for one in raced.best[1:]}
    assert not any({"loss-1", "loss-1-halved"} <= one for one in gained)


def test_a_race_is_the_same_with_any_number_of_workers(both: Paper, raced: Calibration) -> None:
    again = calibrated(both, PLAN, workers=3)
    assert comparable(again) == comparable(raced)
    assert again.outcomes == raced.outcomes
    for mine, its in zip(again.numbers, raced.numbers, strict=True):
        assert np.array_equal(mine, its, equal_nan=True)
    assert np.array_equal(again.settings, raced.settings)


def test_statements_held_out_have_no_say_where_winners_come_from(
    both: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[bool]] = []
    run = Race.run

    def told(race: Race, settings: Any, aims: Sequence[Aim], best: int) -> list[Outcome]:
        asked.append([aim.held_out for aim in aims])
        return run(race, settings, aims, best)

    monkeypatch.setattr(Race, "run", told)
    calibrated(both, replace(PLAN, points=2))
    first, second, searched = asked
    assert not any(first + searched)
    assert sum(second) == 1


# A paper of numbers: each statement is the mean of one column over the seeds of its points.
STATEMENTS, SETTINGS, SEEDS = 6, 40, (1, 2)


class Numbers:
    """Runs that look their numbers up; each statement needs a point of its own."""

    def __init__(self, table: np.ndarray[Any, Any]) -> None:
        self.table = table  # settings, seeds, statements
        self.paper = SimpleNamespace(
            runs=lambda rows: rows, parts={"all": SimpleNamespace(claims=self._claims)}
        )
        self.parts = ("all",)
        self.blocks: tuple[Any, ...] = tuple(range(STATEMENTS))
        self.ran_runs = 0

    @staticmethod
    def _claims(rows: pd.DataFrame) -> Iterator[Claim]:
        for name, of in rows.groupby("statement"):
            yield claim(f"s{name}", float(of["value"].mean()))

    def possible(self, settings: Any) -> list[int]:
        return list(range(1, len(settings)))  # the first is refused

    def ran(self, settings: Any, places: Any, seeds: Any, blocks: Any) -> dict[int, pd.DataFrame]:
        self.ran_runs += len(places) * len(seeds) * len(blocks)
        return {
            place: pd.DataFrame(
                [(one, seed, self.table[place, SEEDS.index(seed), one])
                 for one in blocks for seed in seeds],
                columns=["statement", "seed", "value"],
            )
            for place in places
        }  # fmt: skip


def claim(id: str, value: float) -> Claim:
    return Claim(id, "f", id, 1.0, value, value, value, Verdict.HOLDS, "c", "", bounds=(-1, 1))


def aim(place: int, held_out: bool = False) -> Aim:
    return Aim(f"s{place}", "", (Reading(f"s{place}", Target(-1, 1), 1.0),), held_out)


AIMS = [aim(place) for place in range(STATEMENTS)]
RUNGS = [
    Rung((0, 1), frozenset({"s0", "s1"})),  # type: ignore[arg-type]
    Rung((2, 3), frozenset({"s0", "s1", "s2", "s3"})),  # type: ignore[arg-type]
    Rung((4, 5), frozenset(one.id for one in AIMS)),  # type: ignore[arg-type]
]


def race(
    table: np.ndarray[Any, Any],
    aims: Sequence[Aim] = AIMS,
    best: int = STATEMENTS,
    rungs: Sequence[Rung] = RUNGS,
) -> tuple[list[Outcome], Numbers]:
    tries = Numbers(table)
    return Race(tries, rungs, SEEDS).run(np.zeros((len(table), 1)), aims, best), tries  # type: ignore[arg-type]


def failing(aims: Sequence[Aim], outcomes: Sequence[Outcome]) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = (implausible(aims, *numbers_of(aims, outcomes)) > CUT).sum(axis=1)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_random_races_keep_all_that_could_be_left(seed: int) -> None:
    draw = np.random.default_rng(seed)
    # Far beyond or well within: no chance decides.
    fails = draw.random((SETTINGS, 1, STATEMENTS)) < draw.random((SETTINGS, 1, 1))
    table = np.where(fails, 100.0, 0.0) + draw.normal(0, 0.1, (SETTINGS, 2, STATEMENTS))
    raced, few = race(table)
    whole, many = race(table, rungs=[])
    assert many.ran_runs == (SETTINGS - 1) * 2 * STATEMENTS
    assert few.ran_runs < many.ran_runs
    number = failing(AIMS, whole)[1:]
    for one, other, fail in zip(raced[1:], whole[1:], number, strict=True):
        assert one.whole == (fail < number.min() + RANK)
        if one.whole:
            assert one == other
        else:
            # What is known of it on its first seed is right.
            assert one.share == 0.5
            assert failing(AIMS, [one])[0] >= number.min() + RANK
    assert raced[0] == Outcome({})
    assert not raced[0].whole


def test_a_better_setting_before_gives_up_more() -> None:
    table = np.zeros((3, 2, STATEMENTS))
    table[1:, :, :2] = 100  # all fail the same two statements, which may be met nowhere
    assert [one.whole for one in race(table)[0]] == [False, True, True]
    assert [one.whole for one in race(table, best=1)[0]] == [False, True, True]
    raced, few = race(table, best=0)
    assert [one.share for one in raced] == [1, 0.5, 0.5]
    assert set(raced[1].judged) == {"s0", "s1"}
    assert few.ran_runs == 2 * 2


def test_a_statement_counts_once_all_its_points_have_been_run() -> None:
    table = np.zeros((2, 2, STATEMENTS))
    table[1, :, :2] = 100
    # The second statement needs a point of the last rung, too.
    rungs = [replace(RUNGS[0], claims=frozenset({"s0"})), *RUNGS[1:]]
    assert set(race(table, best=0)[0][1].judged) == {"s0", "s1"}
    assert set(race(table, best=0, rungs=rungs)[0][1].judged) == {"s0", "s1", "s2", "s3"}


def test_statements_without_a_say_give_nothing_up() -> None:
    table = np.zeros((3, 2, STATEMENTS))
    table[1, :, :4] = 100
    assert [one.whole for one in race(table)[0]] == [False, False, True]
    assert [one.whole for one in race(table, AIMS[4:])[0]] == [False, True, True]


def test_one_seed_is_not_trusted_like_two() -> None:
    # Deviations: 1 of two seeds, root 2 of one; tolerance 1. On one seed a statement fails beyond
    # 4 times root 3, on both beyond 3 times root 2.
    for distance, kept in ((6.8, True), (7.0, False)):
        table = np.zeros((3, 2, STATEMENTS))
        table[1, 0, :2] = distance
        assert race(table)[0][1].whole is kept


def test_where_one_seed_gives_no_number_all_seeds_come_first() -> None:
    table = np.zeros((3, 2, STATEMENTS))
    table[1, 0, :2] = 8.6  # 4.3 on both seeds: beyond 3 times root 2, in deviations of both
    tries = Numbers(table)
    raced = Race(tries, RUNGS, SEEDS, first=2).run(np.zeros((3, 1)), AIMS, 0)  # type: ignore[arg-type]
    assert [one.whole for one in raced] == [False, False, True]
    assert raced[1] == replace(raced[1], share=1.0, given_up=True)
    assert tries.ran_runs == 2 * 2 + 2 * STATEMENTS
    table[1, 0, :2] = 8.4
    assert Race(tries, RUNGS, SEEDS, first=2).run(np.zeros((3, 1)), AIMS, 0)[1].whole  # type: ignore[arg-type]
    # A setting that fails by the last points has all runs then.
    table[1] = 0
    table[1, :, 4:] = 100
    assert Race(tries, RUNGS, SEEDS, first=2).run(np.zeros((3, 1)), AIMS, 0)[1].whole  # type: ignore[arg-type]


def test_the_base_tells_how_many_seeds_give_numbers() -> None:
    def tries(*least: int) -> Any:
        """A paper whose statements each have a number on so many seeds."""

        def claims(rows: pd.DataFrame) -> Iterator[Claim]:
            for name, number in enumerate(least):
                yield claim(f"s{name}", 1.0 if len(rows) >= number else np.nan)

        parts = {"all": SimpleNamespace(claims=claims)}
        paper = SimpleNamespace(runs=lambda rows: rows, parts=parts)
        return SimpleNamespace(paper=paper, parts=("all",))

    base = pd.DataFrame({"seed": [3, 4, 5]})
    for least, first in (((1, 1), 1), ((1, 2), 1), ((1, 2, 2), 2), ((2, 3, 3), 3), ((9, 9), 3)):
        assert first_seeds(tries(*least), base, AIMS[: len(least)]) == first


def test_what_one_seed_cannot_tell_is_not_asked_of_it() -> None:
    table = np.zeros((3, 2, STATEMENTS))
    table[1, :, :2] = 100
    table[1, 0, 4] = np.nan
    # The last rung is the first that knows both failures.
    rungs = [replace(RUNGS[0], claims=frozenset({"s0"})), replace(RUNGS[1], claims=frozenset()),
             RUNGS[2]]  # fmt: skip
    (_, given_up, _), _ = race(table, best=0, rungs=rungs)
    assert given_up.given_up
    assert set(given_up.judged) == {"s0", "s1", "s2", "s3", "s5"}


def test_numbers_of_few_seeds_have_a_larger_variance() -> None:
    judged = {"s0": claim("s0", 4.0)}
    aims = [aim(0)]
    values, more = numbers_of(aims, [Outcome(judged), Outcome(judged, 0.5), Outcome({})])
    assert more[:2].tolist() == [[0], [1]]
    assert implausible(aims, values, more)[:2, 0] == pytest.approx([4 / 2**0.5, 4 / 3**0.5])
    # Two deviations beside the range, which ends at 1.
    assert met(aims, values - 0.5, more)[:, 0].tolist() == [False, True, False]


def test_the_best_is_that_of_those_that_ran_whole() -> None:
    def outcome(*values: float, share: float = 1.0) -> Outcome:
        return Outcome({f"s{n}": claim(f"s{n}", x) for n, x in enumerate(values)}, share, share < 1)

    aims = AIMS[:3]
    assert fewest_failing(aims, []) == 3
    assert fewest_failing(aims, [outcome(0, 0, 0, share=0.5), outcome(100, 100, 0)]) == 2
    assert fewest_failing(aims, [outcome(100, 100, 0), outcome(0, 0)]) == 1, "one without a number"


def test_a_statement_is_emulated_from_the_settings_that_have_its_runs() -> None:
    parts = np.linspace(0, 0.99, 20)[:, None]
    few = [
        Outcome({"s0": claim("s0", x)} | ({"s1": claim("s1", x)} if n < 6 else {}),
                given_up=n >= 6)
        for n, x in enumerate(parts[:, 0])
    ]  # fmt: skip
    emulated = Emulated.fit(AIMS[:2], [None], parts, few, 1)
    assert [one is not None for one in emulated.emulators] == [True, True]
    # Where the runs were made, most have no number.
    none = [
        Outcome({"s0": claim("s0", x), "s1": claim("s1", x if n < 6 else np.nan)})
        for n, x in enumerate(parts[:, 0])
    ]
    emulated = Emulated.fit(AIMS[:2], [None], parts, none, 1)
    assert [one is not None for one in emulated.emulators] == [True, False]


def test_points_that_complete_several_statements_come_first() -> None:
    needs = [{(0, 0)}, {(0, 1), (0, 2)}, {(0, 1)}, {(0, 1), (0, 2)}]
    # The first alone costs 3; the others cost 4 together, for three statements.
    cost = {(0, 0): 3.0, (0, 1): 2.0, (0, 2): 2.0}
    assert list(cheapest_first(needs, cost)) == [1, 2, 3, 0]
    assert list(cheapest_first(needs[:1] + needs[2:3], cost)) == [1, 0]


def test_rungs_complete_the_cheapest_statements_first(
    both: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []

    class PlannedError(Exception):
        pass

    def planned(*arguments: Any) -> None:
        given.extend(arguments)
        raise PlannedError

    monkeypatch.setattr("lightburst.experiment.calibrate.rungs_of", planned)
    with pytest.raises(PlannedError):
        calibrated(both, PLAN)
    rungs = rungs_of(*given)
    labels = [
        [int(channels) for block in rung.blocks for channels in block.labels["channels"]]
        for rung in rungs
    ]
    # Fewer channels carry fewer calls; two statements need the point of one channel.
    assert list(chain(*labels)) == [1, 2, 3, 4]
    assert len(rungs) == 3
    known: set[str] = set()
    for rung, channels in zip(rungs, labels, strict=True):
        known |= {f"loss-{n}" for n in channels} | {"loss-1-halved"}
        assert rung.claims == known
    # Where fewer points do not give the same numbers, all are run before anything is judged.
    monkeypatch.setattr(
        "lightburst.experiment.calibrated.racing.judged_alike", lambda *given: False
    )
    (only,) = rungs_of(*given)
    assert only.claims == known
