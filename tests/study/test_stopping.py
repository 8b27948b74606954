"""More seeds where they are needed, none where they are not, and the same ones at a second call."""

import importlib
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lightburst.foundation.errors import InputError
from lightburst.scenario import Scenario
from lightburst.study import Stopping, Store, Study, execute_until, mean_interval, ratio_of_means

one = importlib.import_module("lightburst.study.workers.one")

BASE = Scenario.from_dict(
    {
        "topology": {"kind": "fat-tree", "k": 4},
        "switching": {"kind": "hybrid"},
        "transport": {"kind": "sawl"},
        "workload": {"kind": "poisson", "arrival_rate": "1e6 /s", "flows": 4},
    }
)
RULE = Stopping("x", precision=0.05, first=4, growth=1.5)
# Relative deviation by buffer ports: at 4 seeds 1.6 s is the half width, at 6 seeds 1.05 s.
DEVIATION = {0: 0.0, 1: 0.04, 2: 1.0}
Runs = list[tuple[int, int]]


def study(seeds: int = 9) -> Study:
    return Study(BASE, {"switching.buffer_ports": [0, 1, 2]}, range(1, seeds + 1))


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Runs with a synthetic result, alternately above and below 10; records the requested ones."""
    seen: Runs = []

    def fake(scenario: Scenario, seed: int, **options: object) -> SimpleNamespace:
        ports = scenario.switching.buffer_ports  # type: ignore[union-attr]
        seen.append((ports, seed))
        return SimpleNamespace(record={"x": 10 * (1 + DEVIATION[ports] * (-1) ** seed)})

    monkeypatch.setattr(one, "simulate", fake)
    return seen


def until(rule: Stopping = RULE, store: Store | Path | None = None, seeds: int = 9):  # type: ignore[no-untyped-def]
    return execute_until(study(seeds), rule, store, workers=1, progress=False)


def test_looks_grow_and_end_with_the_last_seed() -> None:
    assert Stopping("x", first=10).looks(100) == [10, 15, 22, 34, 51, 76, 100]
    assert Stopping("x", first=10).looks(10) == [10]
    assert Stopping("x", first=10).looks(3) == [3]
    assert Stopping("x", first=2, growth=1.01).looks(5) == [2, 3, 4, 5]


def test_enough_is_half_of_students_interval() -> None:
    x = [9.0, 10.0, 11.0, 10.0]
    half = mean_interval(x).high - 10.0
    assert Stopping("x", precision=half / 10 * 1.001).enough(x)
    assert not Stopping("x", precision=half / 10 * 0.999).enough(x)
    assert not RULE.enough([1.0])
    assert RULE.enough([0.0, 0.0])
    assert not RULE.enough([-1.0, 1.0])


@pytest.mark.parametrize(
    ("name", "value"),
    [("precision", 0.0), ("first", 1), ("growth", 1.0), ("confidence", 1.0)],
)
def test_a_rule_that_cannot_be_followed_is_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match=rf"stopping\.{name}"):
        Stopping("x", **{name: value})  # type: ignore[arg-type]


def test_a_point_gets_as_many_seeds_as_it_needs(simulated: Runs) -> None:
    table = until()
    assert table.columns[0] == "place"
    assert list(table["place"]) == [0] * 4 + [1] * 6 + [2] * 9
    assert list(table["switching.buffer_ports"]) == list(table["place"])
    assert list(table["seed"]) == [*range(1, 5), *range(1, 7), *range(1, 10)]
    assert len(simulated) == len(set(simulated)) == 4 + 6 + 9


def test_a_second_call_runs_nothing_and_gives_the_same(simulated: Runs, tmp_path: Path) -> None:
    first = until(store=tmp_path / "runs")
    simulated.clear()
    again = until(store=tmp_path / "runs")
    assert simulated == []
    assert first.equals(again)


def test_an_interrupted_call_is_taken_up(
    simulated: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = until()
    working = one.simulate

    def breaks(scenario: Scenario, seed: int, **options: object) -> object:
        if seed == 6:
            raise KeyboardInterrupt
        return working(scenario, seed, **options)

    monkeypatch.setattr(one, "simulate", breaks)
    with Store(tmp_path / "runs") as store:
        with pytest.raises(KeyboardInterrupt):
            until(store=store)
        kept = len(store)
        assert 3 * 4 < kept < len(whole)
        monkeypatch.setattr(one, "simulate", working)
        simulated.clear()
        assert until(store=store).equals(whole)
        assert len(simulated) == len(whole) - kept


def test_more_precision_takes_more_seeds(simulated: Runs) -> None:
    assert len(until(Stopping("x", precision=0.2, first=4))) < len(until())
    assert len(until(Stopping("x", precision=0.001, first=4))) > len(until())


def test_the_interval_at_the_end_covers_nearly_as_often_as_it_says() -> None:
    rule = Stopping("x", precision=0.01, first=10)
    rng, hits, repetitions = np.random.default_rng(5), 0, 1000
    for _ in range(repetitions):
        x = rng.normal(1.0, 0.03, 100)
        n = next(look for look in rule.looks(100) if look == 100 or rule.enough(x[:look]))
        hits += mean_interval(x[:n]).contains(1.0)
    assert 0.91 < hits / repetitions < 0.97


def test_the_ratio_of_means_of_known_numbers() -> None:
    got = ratio_of_means([2.0, 4.0], [1.0, 1.0, 1.0])
    # Variance of log 3: (2 / 9) / 2 = 1/9, and none below; t(0.975, 1) = 12.7062.
    assert got.estimate == 3.0
    assert got.n == 5
    assert math.log(got.high / 3) == pytest.approx(12.70620474 / 3, rel=1e-8)
    assert math.log(3 / got.low) == pytest.approx(12.70620474 / 3, rel=1e-8)
    same = ratio_of_means([2.0, 2.0], [4.0, 4.0])
    assert (same.estimate, same.low, same.high) == (0.5, 0.5, 0.5)
    assert math.isnan(ratio_of_means([1.0], [1.0, 2.0]).low)


def test_two_that_did_the_same_have_the_ratio_one_exactly() -> None:
    x = np.random.default_rng(6).normal(1.0, 0.3, 12)
    same = ratio_of_means(x, x)
    assert (same.estimate, same.low, same.high) == (1.0, 1.0, 1.0)
    half = ratio_of_means(x, x[:6])
    assert half.low < half.estimate < half.high, "the other seeds tell something of their own"


@pytest.mark.parametrize(("n", "m"), [(10, 10), (10, 40), (40, 10)])
def test_what_a_seed_does_to_both_cancels(n: int, m: int) -> None:
    rng, repetitions = np.random.default_rng(7), 2000
    hits, width, loose = 0, 0.0, 0.0
    for _ in range(repetitions):
        seeds = rng.normal(1.0, 0.1, max(n, m))
        top = 2 * seeds[:n] * rng.normal(1.0, 0.01, n)
        bottom = seeds[:m] * rng.normal(1.0, 0.01, m)
        got, apart = ratio_of_means(top, bottom), ratio_of_means(top, rng.permutation(bottom))
        hits += got.contains(2.0)
        width += math.log(got.high / got.low)
        loose += math.log(apart.high / apart.low)
    assert hits / repetitions == pytest.approx(0.95, abs=0.02)
    assert width < (0.2 if n == m else 0.95) * loose


def test_two_that_have_nothing_in_common_have_the_usual_width() -> None:
    rng, widths = np.random.default_rng(8), []
    for _ in range(500):
        top, bottom = rng.normal(1.0, 0.05, 40), rng.normal(1.0, 0.05, 40)
        got = ratio_of_means(top, bottom)
        widths.append(math.log(got.high / got.low))
    usual = 2 * 1.96 * 0.05 * math.sqrt(2 / 40)
    assert np.mean(widths) == pytest.approx(usual, rel=0.05)


@pytest.mark.parametrize("values", [([], [1.0]), ([1.0], [-1.0, 1.0]), ([math.nan], [1.0])])
def test_a_ratio_without_meaning_is_refused(values: tuple[list[float], list[float]]) -> None:
    with pytest.raises(ValueError, match=r"numerator|denominator"):
        ratio_of_means(*values)


@pytest.mark.parametrize(("n", "m", "spread"), [(10, 40, 0.2), (20, 20, 0.05)])
def test_the_ratio_of_means_covers(n: int, m: int, spread: float) -> None:
    rng, hits, repetitions = np.random.default_rng(3), 0, 2000
    for _ in range(repetitions):
        top, bottom = rng.normal(2.0, 2 * spread, n), rng.normal(1.0, spread, m)
        hits += ratio_of_means(top, bottom).contains(2.0)
    assert hits / repetitions == pytest.approx(0.95, abs=0.02)
