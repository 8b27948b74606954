"""The memory that the runs of a study share."""

import threading
from typing import Any

import pytest

import lightburst as lb
from lightburst._core import Cancel, Cancelled
from lightburst.foundation.memory import TooMuchMemoryError
from lightburst.simulation.simulate import simulate
from lightburst.study import execute
from lightburst.study.execution import room
from lightburst.study.workers import one

SCENARIO = lb.Scenario.from_dict(
    {
        "topology": {"kind": "path", "links": 2},
        "switching": {"kind": "electronic"},
        "transport": {"kind": "saw"},
        "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "9 kB"}},
    }
)
STUDY = lb.Study(SCENARIO, {}, range(1, 13))


class Watched:
    """Runs with given memory, and given free memory; the largest number in progress at once."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        needed: int,
        free: int,
        seen: bool = True,
        limit: int | None = None,
    ) -> None:
        # Seen: memory of the other runs is no longer free when a run checks.
        self.needed, self.free, self.seen, self.limit = needed, free, seen, limit
        self.now = self.most = 0
        self.lock, self.together = threading.Lock(), threading.Event()
        monkeypatch.setattr(room, "available_memory", lambda: free)
        monkeypatch.setattr(room, "held_memory", lambda: 1000)
        monkeypatch.setattr(one, "simulate", self.simulate)

    def simulate(self, scenario: lb.Scenario, seed: int, *, ask: Any, **options: Any) -> lb.Result:
        if self.needed * (1 + self.now * self.seen) > self.free:
            raise TooMuchMemoryError("scenario", "this", "less")
        ask(self.needed, self.limit)
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.together.wait(0.02)
        result = simulate(scenario, seed, **options)
        with self.lock:
            self.now -= 1
        return result


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize(("needed", "most"), [(1, 4), (25, 4), (26, 3), (50, 2), (60, 1), (100, 1)])
def test_as_many_run_at_once_as_fit(
    needed: int, most: int, seen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(monkeypatch, needed, 100, seen)
    table = execute(STUDY, workers=4, progress=False)
    assert watched.most == most
    assert sorted(table["seed"]) == list(range(1, 13))


def test_as_many_run_at_once_as_the_user_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the 1,000 that the program holds."""
    watched = Watched(monkeypatch, 25, 100, limit=1060)
    execute(STUDY, workers=4, progress=False)
    assert watched.most == 2


def test_what_does_not_fit_alone_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    Watched(monkeypatch, 101, 100)
    with pytest.raises(lb.InputError, match="given this; allowed: less"):
        execute(STUDY, workers=4, progress=False)


def test_who_waits_can_be_cancelled() -> None:
    cancel = Cancel()
    shared = room.Room()
    with shared.run(cancel) as ask:
        ask(10**18)
        cancel.set()
        with pytest.raises(Cancelled), shared.run(cancel) as other:
            other(1)
