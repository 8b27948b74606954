"""Distribution of runs: in batches of a useful length, each run once, for any workers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from instant import Instant
from lightburst.study.runs import Key, PlannedRun
from lightburst.study.workers.driver import MOST_RUNS, TOGETHER, drive
from lightburst.study.workers.interface import Answer, Order
from stores import scenario

CASE = scenario(0)


def runs(number: int, scenarios: int = 1) -> list[PlannedRun]:
    """Runs whose scenarios have synthetic digests."""
    return [PlannedRun({}, CASE, n // scenarios, f"{n % scenarios}") for n in range(number)]


def driven(workers: Instant, wanted: list[PlannedRun]) -> list[Key]:
    kept: list[Key] = []
    drive(wanted, workers, Order(), lambda answers: kept.extend(one.key for one in answers))
    return kept


@pytest.mark.parametrize("number", [0, 1, 7, 1000, 5000])
@pytest.mark.parametrize("workers", [1, 3, 1000])
def test_each_run_is_handed_out_and_kept_once(number: int, workers: int) -> None:
    wanted, made_up = runs(number, 3), Instant(workers)
    assert sorted(driven(made_up, wanted)) == sorted(run.key for run in wanted)
    assert [run for batch in made_up.batches for run in batch] == wanted
    assert made_up.most <= 2 * workers


def test_a_batch_takes_half_a_second() -> None:
    """A batch has 50 runs of 10 ms; at the beginning the time is unknown, at the end all share."""
    workers = Instant(2)
    driven(workers, runs(4000))
    lengths = [len(batch) for batch in workers.batches]
    assert lengths[:4] == [1] * 4
    assert set(lengths[4:-40]) == {50}
    assert lengths[-1] == 1
    assert lengths[-40:] == sorted(lengths[-40:], reverse=True)


def test_long_runs_travel_alone_and_short_ones_together() -> None:
    """Two scenarios in turn, of which one takes a hundred times as long."""
    long, short = 1.0, 0.01
    workers = Instant(1, takes=lambda run: long if run.scenario_digest == "0" else short)
    driven(workers, runs(400, 2))
    for batch in workers.batches[10:]:
        assert sum(run.scenario_digest == "0" for run in batch) <= 1
    # The short run before a long one does not need a separate batch.
    assert max(map(len, workers.batches[10:])) == 2


def test_the_shortest_runs_are_some_hundred_in_a_batch() -> None:
    workers = Instant(1, takes=lambda run: 1e-6)
    driven(workers, runs(4000))
    assert max(map(len, workers.batches)) == MOST_RUNS


def test_runs_with_large_tables_come_back_few_at_a_time() -> None:
    workers = Instant(1, takes=lambda run: 1e-3, size=2**23)
    driven(workers, runs(64))
    assert max(map(len, workers.batches[8:])) <= 8


def test_in_threads_each_run_is_a_batch() -> None:
    workers = Instant(2, batch_s=0.0)
    driven(workers, runs(100))
    assert {len(batch) for batch in workers.batches} == {1}


def test_what_has_ended_by_then_is_kept_on_an_interrupt() -> None:
    """Also the runs that were just to be kept, and those after them."""
    workers, kept = Instant(3), list[Key]()
    calls: list[int] = []

    def keep(answers: Sequence[Answer]) -> None:
        calls.append(len(answers))
        if len(calls) == 1:
            raise KeyboardInterrupt
        kept.extend(one.key for one in answers)

    wanted = runs(100)
    with pytest.raises(KeyboardInterrupt):
        drive(wanted, workers, Order(), keep)
    assert workers.stopped
    assert calls == [3, 6]
    assert kept == [run.key for run in wanted[:6]]


def test_what_has_come_is_kept_together_before_anything_is_waited_for() -> None:
    workers, lengths = Instant(2, takes=lambda run: 1e-6), list[int]()
    waited = workers.answers

    def answers() -> list[list[Answer]]:
        # All earlier runs have been kept.
        assert sum(lengths) == sum(map(len, workers.batches)) - sum(map(len, workers.waiting))
        return waited()

    workers.answers = answers  # type: ignore[method-assign]
    drive(runs(4000), workers, Order(), lambda come: lengths.append(len(come)))
    assert sum(lengths) == 4000
    assert max(lengths) == TOGETHER
    assert lengths.count(TOGETHER) > 50
