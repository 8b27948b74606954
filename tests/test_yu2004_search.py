"""The search finds the setting that explains the tables, and the factors multiply to the whole."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from lightburst.cli.numbers import numbers
from lightburst.papers.claims import Verdict
from lightburst.papers.yu2004 import factors, grids, search
from lightburst.papers.yu2004.points import HIGH, MEDIUM, NEW_RENO, RENO, SACK, TABLES, Point
from lightburst.papers.yu2004.prototype import PROTOTYPE, limited_claim
from lightburst.papers.yu2004.published import ratio_of
from lightburst.papers.yu2004.runs import Runs

NAMES = {"new-reno": "new-reno", "sack": "sack", "sack1": "sack"}


def worth(point: Point) -> float:
    """Factor on a sender that is not the one that the prototype inferred; 1 for that one."""
    off = 1.0
    off *= 1.2 if point.recovery == "new-reno" and point.partial == "impatient" else 1.0
    off *= 1.2 if point.recovery == "sack" else 1.0
    off /= 1.2 if point.recovery == "reno" and not point.bug_fix else 1.0
    if point.recovery != "reno":
        off *= 1.1 if point.halving == "flight-size" else 1.0
        off *= 1.3 if point.access != TABLES else 1.0
        off *= 1.3 if point.b == 2 else 1.0
        off *= 1.3 if point.window != 50 else 1.0
        off *= 1.3 if point.min_timeout == 1.0 else 1.0
    return off


def searched(more: Callable[[Point], float] = lambda point: 1.0, noise: float = 0.0) -> Runs:
    draw = np.random.default_rng(4)
    samples = {}
    for point in grids.search_points(quick=False):
        kind = NAMES.get(point.recovery)
        burst = round(point.segments_per_burst)
        if burst not in grids.BURSTS:
            burst = 25  # W_m = 20 cuts the larger burst
        mean = 10 * worth(point) * (1.0 if kind is None else ratio_of(burst, point.p, kind)[0])
        samples[point] = mean * more(point) * (1 + noise * draw.normal(size=4))
    return Runs(samples, dict.fromkeys(samples, 1e4))


@pytest.fixture(scope="module")
def runs() -> Runs:
    return searched()


@pytest.fixture(scope="module")
def table(runs: Runs) -> pd.DataFrame:
    return search.scores(runs)


def test_the_setting_that_has_the_published_ratios_scores_zero(table: pd.DataFrame) -> None:
    combinations = 54 * 16 + len(grids.SEARCH_MORE) * 16
    assert len(table) == combinations
    assert list(table["rms"]) == sorted(table["rms"])
    best = table.iloc[0]
    assert best["rms"] == pytest.approx(0.0, abs=1e-12)
    assert (best["access_kB_s"], best["window"], best["b"]) == (125.0, 50, 1)
    assert (best["halving"], best["reno_bug_fix"], best["sack"]) == ("window", "on", "sack1")
    assert best["new_reno_timer"] == "slow-but-steady"
    assert best["min_timeout_s"] in (0.2, 0.5)


def test_the_score_is_the_root_mean_square_of_the_logarithms(table: pd.DataFrame) -> None:
    table = table.set_index(
        ["access_kB_s", "window", "b", "min_timeout_s", "more", "halving", "reno_bug_fix",
         "new_reno_timer", "sack"]
    )  # fmt: skip
    network = (125.0, 50, 1, 0.2, "", "window")
    one = table.xs((*network, "on", "slow-but-steady", "sack"))
    assert one["rms"] == pytest.approx(math.log(1.2) / math.sqrt(2)), "half of the cells are off"
    assert one["worst"] == pytest.approx(math.log(1.2))
    both = table.xs((*network, "on", "impatient", "sack"))
    assert both["rms"] == pytest.approx(math.log(1.2))


def test_the_inference_is_confirmed_where_it_explains_most(table: pd.DataFrame) -> None:
    found = {claim.id: claim for claim in search.claims(table)}
    assert found.pop("search-best").verdict is Verdict.DIFFERS, "0 is not the distance that it gave"
    assert set(found) == {
        "search-inferred", "search-cells", "search-access-kb-s", "search-window", "search-b",
        "search-min-timeout-s", "search-more", "search-halving", "search-reno-bug-fix",
        "search-new-reno-timer", "search-sack",
    }  # fmt: skip
    assert {claim.verdict for claim in found.values()} == {Verdict.HOLDS}
    assert "The tables tell it." in found["search-b"].note
    assert "The tables do not tell." in found["search-min-timeout-s"].note, "0.5 s is as good"


def test_the_inference_is_refuted_where_another_value_explains_more(
    monkeypatch: pytest.MonkeyPatch, table: pd.DataFrame
) -> None:
    for name, value in (("b", 2), ("sack", "sack"), ("halving", "flight-size")):
        with monkeypatch.context() as patch:
            patch.setitem(search._INFERRED, name, value)
            found = {claim.id: claim.verdict for claim in search.claims(table)}
        assert found["search-inferred"] is Verdict.DIFFERS
        assert found[f"search-{name}"] is Verdict.DIFFERS


def test_the_cells_are_those_whose_rounded_ratio_is_met(table: pd.DataFrame) -> None:
    assert table["cells"].iloc[0] == 24, "as printed"
    alone = table[(table["more"] == "") & (table["access_kB_s"] == 125.0) & (table["b"] == 1)]
    alone = alone[(alone["window"] == 50) & (alone["min_timeout_s"] == 0.2)]
    alone = alone[(alone["halving"] == "window") & (alone["reno_bug_fix"] == "on")]
    by = alone.set_index(["new_reno_timer", "sack"])["cells"]
    assert by["slow-but-steady", "sack"] == by["impatient", "sack1"] == 12, "half are off by 20 %"
    assert by["impatient", "sack"] == 0
    # 1.0 may be 1.05, 1.29 not more than 1.295; our intervals are of no width here.
    near = search.scores(searched(lambda point: 1.03 if point.recovery == "new-reno" else 1.0))
    assert near["cells"].iloc[0] == 12 + 4, "1.0 twice, 1.1 and 0.9 once"


def test_distance_and_cells_may_choose_two_settings(table: pd.DataFrame) -> None:
    other = table.copy()
    other.loc[3, "cells"] = 25
    claims = {claim.id: claim for claim in search.claims(other)}
    assert claims["search-cells"].verdict is Verdict.DIFFERS
    assert "Most cells: 25" in claims["search-cells"].note


def test_the_lowest_ratio_is_looked_for_in_all_settings(runs: Runs) -> None:
    reached = search.lowest_claim(runs)
    assert reached.verdict is Verdict.DIFFERS, "a setting as printed comes down to what is printed"
    assert reached.measured is not None and reached.measured < 0.77
    above = search.lowest_claim(
        searched(lambda point: 2.0 if point.recovery == "new-reno" else 1.0)
    )
    assert above.verdict is Verdict.HOLDS


def test_the_prototype_s_limited_transmit_is_found_or_not() -> None:
    def model(point: Point, truth: bool) -> float:
        (name,) = (
            name
            for name, sender in grids.PROTOTYPE_SENDERS.items()
            if point.by(sender)._replace(limited=point.limited) == point
        )
        value = PROTOTYPE[name][grids.PROTOTYPE_LOSSES.index(point.p)]
        return value * (1.0 if point.limited is truth else 1.02)

    points = [
        grids.table_point(5, p, sender._replace(limited=limited))
        for p in grids.PROTOTYPE_LOSSES
        for sender in grids.PROTOTYPE_SENDERS.values()
        for limited in (False, True)
    ]
    assert set(points) <= set(grids.search_points(quick=False))
    for truth, verdict in ((True, Verdict.HOLDS), (False, Verdict.DIFFERS)):
        samples = {point: model(point, truth) * np.array([0.99, 1.01]) for point in points}
        (claim,) = limited_claim(Runs(samples, dict.fromkeys(samples, 1e4)))
        assert claim.verdict is verdict
    assert limited_claim(Runs({}, {})) == []


def test_chance_is_told_apart_from_what_is_off() -> None:
    noisy = search.scores(searched(noise=0.02))
    best = noisy.iloc[0]
    # Two means of four runs each with a deviation of 2 %.
    assert best["by_chance"] == pytest.approx(0.02 / math.sqrt(2) * 1.4, rel=0.5)
    assert best["rms"] < 3 * best["by_chance"]
    assert 0 < search.alike(noisy) < best["by_chance"]


def test_the_scores_are_a_table_and_a_figure(table: pd.DataFrame) -> None:
    listing = search.listing(table)
    assert len(listing.data) == len(table)
    assert "W_m: 20, 50, 100; b: 1, 2; minimum timeout (s): 0.2, 0.5, 1;" in listing.caption
    assert ", ".join(grids.SEARCH_MORE) in listing.caption
    assert "4 to 16 runs of 1,000 s (50,000 s at p = 0.32)" in listing.caption
    drawn = search.figure(table, "0.1.0")
    assert drawn.colours == ("125 kB/s", "500 kB/s", "125000 kB/s")
    assert len(drawn.data) == 54 * 16


# Gains and penalties.

LEVEL = {"no loss": 500.0, "loss": 100.0, "first loss": 220.0, "delay": 200.0, "New-Reno": 160.0,
         "Reno": 80.0, "burst, no loss": 450.0}  # fmt: skip


def chain(level: dict[str, float]) -> Runs:
    samples = {}
    for access, burst in grids.FACTOR_CASES:
        for name, point in grids.factor_case(access, burst).items():
            samples[point] = level[name] * np.array([0.99, 1.0, 1.01])
    return Runs(samples, dict.fromkeys(samples, 3000.0))


@pytest.mark.parametrize(("access", "burst"), grids.FACTOR_CASES)
def test_each_step_changes_one_thing(access: float, burst: int) -> None:
    case = grids.factor_case(access, burst)
    whole = case["delay"].propagation + 2 * case["delay"].time
    first = case["first loss"]
    assert first.propagation + 2 * first.time == pytest.approx(case["loss"].propagation)
    assert whole == pytest.approx(0.1 + 2 * first.time)
    assert case["loss"].segments_per_burst == 1
    assert first.segments_per_burst == pytest.approx(burst)
    changed = {
        (a, b): {n for n in Point._fields if getattr(case[a], n) != getattr(case[b], n)}
        for a, b in itertools.pairwise(("no loss", "loss", "first loss", "delay"))
    }
    assert changed["no loss", "loss"] == {"p"}
    assert changed["loss", "first loss"] == {"time", "propagation"}
    assert changed["first loss", "delay"] == {"propagation"}
    assert case["delay"].by(NEW_RENO) == case["New-Reno"]
    assert case["delay"].by(RENO) == case["Reno"]
    assert case["delay"].by(SACK) == case["delay"]


def test_the_measured_factors_multiply_to_the_throughput() -> None:
    found = factors.measured(chain(LEVEL), HIGH, 5)
    assert found["loss penalty"].estimate == pytest.approx(5.0)
    assert found["delayed first loss"].estimate == pytest.approx(2.2)
    assert found["delay penalty"].estimate == pytest.approx(1.1)
    assert found["retransmission, New-Reno"].estimate == pytest.approx(1.25)
    assert found["loss penalty at S"].estimate == pytest.approx(450 / 200)
    product = 500 / 5.0 * 2.2 / 1.1 / found["retransmission, Reno"].estimate
    assert product == pytest.approx(80.0)


def test_the_closed_forms_are_those_of_section_iv() -> None:
    found = factors.formulas(MEDIUM, 25)
    s, p, b = 25, 0.01, 1
    assert found["delayed first loss"] == pytest.approx(5.0), "(61)"
    assert found["delay penalty"] == pytest.approx((0.1 + 2 * 0.048) / 0.1), "(56)"
    assert found["loss penalty"] == pytest.approx(50 * math.sqrt(2 * b * p / 3)), "(55), S = 1"
    assert found["loss penalty at S"] == pytest.approx(50 * math.sqrt(2 * b * p / (3 * s))), "(55)"
    rounds = math.sqrt(2 * b * s / (3 * p))
    assert found["retransmission, New-Reno"] == pytest.approx(1 + (s - 1) / (rounds + 1)), "(57)"


def test_a_caption_says_how_long_was_run_and_whether_that_is_a_preview() -> None:
    quick = next(iter(factors.figures(chain(LEVEL), "0.1.0"))).caption
    assert "Sack1 of ns-2" in quick
    assert "3,000 simulated seconds a point, in 3 runs: a quick run, in full up to 1e6 s." in quick
    samples = dict(chain(LEVEL)._samples)
    full = Runs(samples, dict.fromkeys(samples, 3e4))
    caption = next(iter(factors.figures(full, "0.1.0"))).caption
    assert "30,000 simulated seconds a point, in 3 runs. lightburst 0.1.0." in caption


def test_the_first_bar_is_printed_once() -> None:
    (table,) = numbers(next(iter(factors.figures(chain(LEVEL), "0.1.0"))))
    assert [list(column.cells)[:2] for column in table.columns[1:]] == [
        ["500", "100 / 5"], ["500", "122 / 4.08"],
    ]  # fmt: skip


def test_the_waterfall_ends_where_the_senders_are() -> None:
    (first, *_) = factors.figures(chain(LEVEL), "0.1.0")
    rows = first.data[first.data["group"] == "simulation"].set_index("bar")
    assert rows.loc["no\nloss", "top"] == pytest.approx(500.0)
    assert rows.loc["delay\npenalty", "top"] == pytest.approx(200.0)
    for name, end in (("New-Reno", 160.0), ("Reno", 80.0)):
        assert rows.loc[f"retransmission,\n{name}", "base"] == pytest.approx(200.0)
        assert rows.loc[f"retransmission,\n{name}", "top"] == pytest.approx(end)
        low, high = (float(rows[ci][f"retransmission,\n{name}"]) for ci in ("low", "high"))
        assert low < end < high
    assert len(factors.listing(chain(LEVEL)).data) == 6 * len(grids.FACTOR_CASES)


def test_a_closed_form_is_judged_from_both_sides() -> None:
    closed = factors.formulas(HIGH, 5)
    exact = {"no loss": 500.0}
    exact["loss"] = 500.0 / closed["loss penalty"]
    exact["first loss"] = exact["loss"] * closed["delayed first loss"]
    exact["delay"] = exact["first loss"] / closed["delay penalty"]
    exact["New-Reno"] = exact["delay"] / closed["retransmission, New-Reno"]
    exact["Reno"] = exact["delay"] / closed["retransmission, Reno"]
    exact["burst, no loss"] = exact["delay"] * closed["loss penalty at S"]

    def judged(level: dict[str, float]) -> dict[str, Verdict]:
        claims = factors.claims(chain(level))
        return {c.id: c.verdict for c in claims if c.figure == "factors-125MBs-S5"}

    assert set(judged(exact).values()) == {Verdict.HOLDS}
    # 20 % off, and the runs know it to 10 %: neither within 25 % nor not.
    unsure = np.array([0.9, 1.1, 1.0, 1.0]) / 1.2
    samples = {
        point: exact[name] * (unsure if name == "Reno" else np.ones(4))
        for name, point in grids.factor_case(HIGH, 5).items()
    }
    claims = factors.claims(Runs(samples, dict.fromkeys(samples, 4000.0)))
    open_ = {claim.id for claim in claims if claim.verdict is Verdict.NOT_COMPARABLE}
    assert open_ == {"factors-125MBs-S5-retransmission-reno"}
    for other in (1 / 1.4, 1.4):
        off = judged({**exact, "Reno": exact["Reno"] * other})
        assert off["factors-125MBs-S5-retransmission-reno"] is Verdict.DIFFERS
        assert list(off.values()).count(Verdict.DIFFERS) == 1
