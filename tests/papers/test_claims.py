"""Each claim must be able to hold and to fail: synthetic runs in, verdicts out."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from lightburst.models.yu2004 import ABOUT
from lightburst.papers.claims import (
    UNKNOWN,
    Verdict,
    agrees,
    at_least,
    at_most,
    exact,
    times_as_many,
    within,
)
from lightburst.papers.komatireddy2009 import claims as komatireddy2009
from lightburst.papers.minakhmetov2018.claims import (
    SHEET,
    figure_claims,
    maxima_claims,
)
from lightburst.papers.minakhmetov2018.points import POINT_COLUMNS, PROTOTYPE, Point, runs_of
from lightburst.papers.runs import Runs
from lightburst.papers.sheet import CRITERIA, PICKS, RULES, Sheet
from lightburst.papers.vlachos2008 import claims as vlachos2008
from lightburst.papers.yu2004 import published
from lightburst.study.statistics import Interval

Model = Callable[[Point], float]
COLUMNS = [*POINT_COLUMNS, "seed", "throughput_bps"]
RATES = (1e4, 1e6, 1e7, 3e7, 1e8, 1e9)
HOLDS, DIFFERS, OPEN = Verdict.HOLDS, Verdict.DIFFERS, Verdict.NOT_COMPARABLE


def runs(
    model: Model,
    *,
    length: float = 10.0,
    seeds: int = 30,
    sigma: float = 0.17,
    waits: tuple[float, ...] = (0.0, 1.0, 4.0, 8.0, 16.0),
    rates: tuple[float, ...] = RATES,
) -> Runs[Point]:
    """Runs whose mean is that of the model (Gb/s), with the fluctuation of the seeds in common."""
    noise = np.random.default_rng(1).normal(size=seeds)
    noise = 1 + sigma * (noise - noise.mean()) / noise.std(ddof=1)
    rows = []
    for ports in (0, 2, 5):
        for p in waits:
            for rate in rates:
                point = Point(length, "hybrid", ports, p, rate)
                own = np.random.default_rng([ports, int(p), int(rate)]).normal(1, 0.004, seeds)
                for seed, value in enumerate(model(point) * 1e9 * noise * own):
                    rows.append((*point, seed, value))
    return runs_of(pd.DataFrame(rows, columns=COLUMNS))


def as_published(point: Point) -> float:
    """A network that behaves exactly as the paper says."""
    base = 30.0 if point.rate > 1e7 else 50.0
    if point.ports == 0:
        return base * (1.0 if point.p == 0 else 1.3)
    if point.p == 0:
        return base * (2.05 if point.rate > 1e7 else 1.05)
    return base * (3.1 if point.rate > 1e7 else 1.7) * (1.02 if point.ports == 5 else 1.0)


def verdicts(sweep: Runs[Point], length: float = 10.0) -> dict[str, Verdict]:
    return {claim.id: claim.verdict for claim in figure_claims(length, sweep)}


def test_a_network_as_published_fulfils_every_claim_of_the_paper() -> None:
    found = figure_claims(10.0, runs(as_published, seeds=100))
    paper = [claim for claim in found if claim.source == "paper"]
    assert {claim.id for claim in paper if claim.verdict is not HOLDS} == {"correlation-10m"}
    assert len({claim.id for claim in found}) == len(found)


# One change to the published network, and the verdicts that it must overturn.
BROKEN: dict[str, tuple[Model, set[str]]] = {
    "all switches are equal": (
        lambda point: 60.0,
        {
            "gain-50-10m",
            "gain-50-high-10m",
            "factor-3-10m",
            "factor-3-value-10m",
            "factor-3-all-high-10m",
            "double-saw-10m",
            "double-saw-value-10m",
            "double-saw-all-high-10m",
        },
    ),
    "no gain at low load": (
        lambda point: 50.0 if point.rate < 1e7 else as_published(point),
        {"gain-50-10m"},
    ),
    "gains only from 1e8 on": (
        lambda point: as_published(point if point.rate > 3e7 else point._replace(ports=0, p=0.0)),
        {"gain-50-10m", "gain-50-high-10m", "factor-3-all-high-10m", "double-saw-all-high-10m"},
    ),
    "a factor of four": (
        lambda point: as_published(point) * (1.3 if point.ports and point.p and point.rate > 1e7
                                             else 1.0),
        {"factor-3-value-10m"},
    ),
    "three times with SAW already": (
        lambda point: as_published(point) * (1.5 if point.ports and not point.p and point.rate > 1e7
                                             else 1.0),
        {"double-saw-value-10m"},
    ),
    "SAW differs at low load": (
        lambda point: as_published(point) * (1.5 if point.ports == 5 and point.rate == 1e6 else 1),
        {"saw-little-difference-10m"},
    ),
    "SAW with a buffer is far worse at low load": (
        lambda point: as_published(point) / (2 if point.ports and not point.p and point.rate < 1e7
                                             else 1),
        {"saw-little-difference-10m"},
    ),
    "eight is better than four": (
        lambda point: as_published(point) * (1.2 if point.p == 8 else 1.0),
        {"no-gain-above-4-10m"},
    ),
    "five ports are worse than two at 1e8": (
        lambda point: as_published(point) * (1.12 if point.ports == 2 and point.rate == 1e8 else 1),
        {"larger-ne-10m", "larger-ne-high-10m"},
    ),
    "hybrid SAW breaks down at the highest load": (
        lambda point: 20.0 if point.ports and not point.p and point.rate == 1e9
        else as_published(point),
        {"more-load-10m", "double-saw-all-high-10m"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_network_that_breaks_a_claim_is_found_out(name: str) -> None:
    model, broken = BROKEN[name]
    found = verdicts(runs(model))
    differ = {id for id, verdict in found.items() if verdict is DIFFERS and "check" not in id}
    assert broken <= differ
    assert "correlation-10m" not in differ
    if name != "all switches are equal":
        assert differ == broken


@pytest.mark.parametrize(
    ("sigma", "low", "high"),
    [(0.17, HOLDS, HOLDS), (0.02, DIFFERS, DIFFERS), (0.3, DIFFERS, DIFFERS)],
)
def test_the_spread_is_judged_from_both_sides(sigma: float, low: Verdict, high: Verdict) -> None:
    found = verdicts(runs(as_published, sigma=sigma, seeds=100))
    assert found["spread-low-10m"] is low
    assert found["spread-high-10m"] is high


def test_ten_seeds_cannot_judge_the_spread() -> None:
    found = {claim.id: claim for claim in figure_claims(10.0, runs(as_published, seeds=10))}
    assert found["spread-low-10m"].verdict is OPEN
    assert "more seeds would tell" in found["spread-low-10m"].note
    assert "more seeds" not in found["correlation-10m"].note


@pytest.mark.parametrize(
    ("estimate", "half", "times"),
    # The bound is 1.1: four times as many seeds halve the interval.
    [(1.3, 0.4, 4), (0.9, 0.4, 4), (1.2, 1.0, 100), (1.3, 0.1, 1), (1.1001, 1.0, math.inf)],
)
def test_an_interval_narrows_with_the_root_of_the_seeds(
    estimate: float, half: float, times: float
) -> None:
    measured = Interval(estimate, estimate - half, estimate + half, 3)
    found = times_as_many(measured, lambda interval: at_least(interval, 1.1))
    assert times <= found < 1.1 * times or found == times == math.inf


def test_an_open_claim_says_how_many_seeds_would_do() -> None:
    sheet = Sheet({"fast": {"id": "f", "statement": "x", "figure": "1", "rule": "at_least",
                            "bound": 1.1, "criterion": "at or above {bound:g}"}}, {})  # fmt: skip
    assert "at most about 4" in sheet.judge("fast", Interval(1.3, 0.9, 1.7, 3)).note
    assert "more than 1,000" in sheet.judge("fast", Interval(1.1, 0.9, 1.7, 3)).note
    assert "seeds" not in sheet.judge("fast", Interval(1.3, 1.2, 1.4, 3)).note


def test_the_figure_of_100_m_has_no_claim_that_the_paper_makes_for_10_m_only() -> None:
    found = verdicts(runs(as_published, length=100.0), 100.0)
    assert "gain-50-100m" in found
    assert not any(id.startswith(("factor", "double", "check")) for id in found)


def test_without_runs_nothing_is_comparable() -> None:
    empty = runs_of(pd.DataFrame(columns=COLUMNS))
    found = [*figure_claims(10.0, empty), *maxima_claims(empty)]
    assert {claim.verdict for claim in found} == {OPEN}
    assert all(claim.measured is None for claim in found)


def test_one_seed_gives_a_number_but_no_verdict() -> None:
    found = {claim.id: claim for claim in figure_claims(10.0, runs(as_published, seeds=2))}
    single = runs_of(pd.DataFrame([(10.0, "hybrid", 0, 0.0, 1e7, 1, 61.6e9)], columns=COLUMNS))
    claim = next(c for c in figure_claims(10.0, single) if c.id == "check-1e7-ne0p0")
    assert claim.measured == pytest.approx(61.6)
    assert claim.ci_low is None
    assert claim.verdict is OPEN
    assert set(found) > {"check-1e7-ne0p0"}


def maxima(at_1km: Model) -> dict[str, Verdict]:
    return {claim.id: claim.verdict for claim in maxima_claims(
        runs(at_1km, length=1000.0, seeds=10, waits=(0.0, 1.0, 4.0)))}  # fmt: skip


def test_the_maximum_of_long_links_is_judged() -> None:
    equal = maxima(lambda point: 16.5 if point.rate > 1e6 else 5.0)
    assert equal["maximum-1km"] is HOLDS
    assert equal["equal-1km"] is HOLDS
    assert equal["maximum-10km"] is OPEN
    high = maxima(lambda point: 25.0)
    assert high["maximum-1km"] is DIFFERS
    unequal = maxima(lambda point: 16.0 if point.ports else 12.0)
    assert unequal["equal-1km"] is DIFFERS


def test_the_prototype_is_met_or_not() -> None:
    def model(point: Point) -> float:
        return PROTOTYPE.get(point, 60.0)

    good = verdicts(runs(model, seeds=100))
    assert {v for id, v in good.items() if id.startswith("check")} == {HOLDS}
    bad = verdicts(runs(lambda point: 0.8 * model(point), seeds=100))
    assert {v for id, v in bad.items() if id.startswith("check")} == {DIFFERS}


def test_the_note_names_the_rates_where_a_claim_holds_and_where_not() -> None:
    model, _ = BROKEN["no gain at low load"]
    claim = next(c for c in figure_claims(10.0, runs(model)) if c.id == "gain-50-10m")
    holds, fails = claim.note.split("does not hold")[0], claim.note.split("does not hold")[1]
    assert "1e8" in holds and "1e4" not in holds
    assert "1e4" in fails
    assert "arrivals" in claim.note


def test_a_claim_gives_the_nine_keys_of_the_contract() -> None:
    found = figure_claims(10.0, runs(as_published))[0].as_dict()
    assert list(found) == [
        "id", "figure", "statement", "published", "measured", "ci_low", "ci_high", "verdict",
        "note",
    ]  # fmt: skip
    assert "Criterion: " in str(found["note"])


@pytest.mark.parametrize(
    ("low", "high", "least", "most"),
    [(1.6, 1.8, HOLDS, DIFFERS), (1.2, 1.4, DIFFERS, HOLDS), (1.4, 1.6, OPEN, OPEN)],
)
def test_a_bound_is_decided_only_by_the_whole_interval(
    low: float, high: float, least: Verdict, most: Verdict
) -> None:
    measured = Interval((low + high) / 2, low, high, 10)
    assert at_least(measured, 1.5) is least
    assert at_most(measured, 1.5) is most


def test_agreement_needs_a_narrow_interval() -> None:
    assert agrees(Interval(16.0, 15.0, 17.0, 10), 16.5, 17.5) is HOLDS
    assert agrees(Interval(14.0, 13.0, 15.0, 10), 16.5, 17.5) is DIFFERS
    assert agrees(Interval(16.0, 5.0, 27.0, 3), 16.5, 17.5) is OPEN
    assert agrees(Interval(16.0, 15.0, 17.0, 10), 16.5, 17.5, resolution=0.03) is OPEN
    assert agrees(UNKNOWN, 16.5, 17.5) is OPEN
    assert agrees(Interval(16.0, math.nan, math.nan, 1), 16.5, 17.5) is OPEN


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.9, 1.1, HOLDS), (0.8, 1.2, HOLDS), (0.7, 1.0, OPEN), (1.1, 1.3, OPEN),
        (0.7, 1.3, OPEN), (1.21, 1.4, DIFFERS), (0.5, 0.79, DIFFERS),
    ],
)  # fmt: skip
def test_a_tolerance_is_kept_by_the_whole_interval(
    low: float, high: float, verdict: Verdict
) -> None:
    assert within(Interval((low + high) / 2, low, high, 10), 0.8, 1.2) is verdict
    assert within(UNKNOWN, 0.8, 1.2) is OPEN


def test_the_tolerances_are_those_of_the_paper() -> None:
    sigma = SHEET.tolerance["sigma"]
    visible = 1 + 1.96 * math.sqrt(2) * sigma / math.sqrt(100)
    assert {
        "sigma": 0.196,
        "visible_100": visible,
        "invisible_100": 1 / visible,
        "visible_10": 1 + 1.96 * math.sqrt(2) * sigma / math.sqrt(10),
        "mean_of_ten": 2.262 * sigma / math.sqrt(10),
    } == SHEET.tolerance
    visible = 1 + math.sqrt(2) * 0.01
    assert {
        "visibly_more": visible,
        "visibly_less": 1 / visible,
        "about_more": 1 + ABOUT,
        "about_less": 1 - ABOUT,
        "match": 1.25,
        "match_worst": 2.0,
        "half_decade": 10**0.5,
        "check": 0.03,
    } == published.TOLERANCE


SMALL = Sheet(
    {
        "a": {"figure": "{which}", "statement": "{n} of {bound:g}", "criterion": "above {bound:g}",
              "published": 2.0, "rule": "above", "bound": "limit"},
        "b": {"id": "b-{n}", "figure": "f", "statement": "", "criterion": "{low:g} to {high:g}",
              "rule": "meets", "bound": [1, "limit"], "source": "somebody"},
        "c": {"figure": "f", "statement": "", "criterion": "none: nothing is given"},
        "d": {"figure": "f", "statement": "", "rule": "within", "bound": ["limit", 4.5]},
    },
    {"limit": 3.0},
)  # fmt: skip


@pytest.mark.parametrize(("value", "verdict"), [(3.1, HOLDS), (3.0, DIFFERS), (2.0, DIFFERS)])
def test_a_claim_of_a_sheet_follows_its_rule(value: float, verdict: Verdict) -> None:
    claim = SMALL.told(which="fig1", n=7).judge("a", exact(value), "a note")
    assert claim.verdict is verdict
    assert (claim.id, claim.figure, claim.statement) == ("a", "fig1", "7 of 3")
    assert (claim.published, claim.source, claim.note) == (2.0, "paper", "a note")
    assert claim.criterion == "above 3"


def test_a_sheet_takes_what_the_runs_and_the_family_say() -> None:
    place = Interval(4.0, 3.5, 5.0, 9)
    sheet = SMALL.told(n=1)
    assert sheet.judge("b", place).verdict is DIFFERS
    assert sheet.judge("b", Interval(4.0, 2.9, 5.0, 9)).verdict is HOLDS
    own = sheet.told(source="a family").judge("b", place, bound=(5.0, 6.0), published=5.5)
    assert (own.verdict, own.criterion, own.published) == (HOLDS, "5 to 6", 5.5)
    assert (own.id, own.source, sheet.judge("b", place).source) == ("b-1", "a family", "somebody")
    assert sheet.judge("b", place, verdict=OPEN).verdict is OPEN
    assert sheet.judge("d", place).criterion == "the whole interval is in 3 to 4.5"
    nothing = sheet.judge("c", place)
    assert (nothing.verdict, nothing.note) == (OPEN, "")
    with pytest.raises(KeyError, match="n"):
        SMALL.judge("b", place)


def test_values_that_are_not_known_do_not_count_in_a_row() -> None:
    entry = {"figure": "f", "statement": "{at}", "rule": "at_least", "bound": 1, "of": "smallest",
             "each": "{at}", "note": "{each}"}  # fmt: skip
    claim = Sheet({"row": entry}, {}).judge("row", {"first": UNKNOWN, "second": exact(2.0)})
    assert (claim.measured, claim.statement, claim.note) == (2.0, "second", "second")


@pytest.mark.parametrize(
    "sheet",
    [SHEET, published.SHEET, komatireddy2009.SHEET, vlachos2008.SHEET],
    ids=["minakhmetov2018", "yu2004", "komatireddy2009", "vlachos2008"],
)
def test_every_claim_of_a_sheet_says_what_it_is(sheet: Sheet) -> None:
    known = {"id", "figure", "statement", "published", "criterion", "rule", "bound", "source",
             "margin", "factor", "of", "each", "note", "notes", "why", "readings", "reads",
             "reading", "was"}  # fmt: skip
    for name, entry in sheet.claims.items():
        assert {"figure", "statement"} <= set(entry) <= known, name
        assert "criterion" in entry or entry["rule"] in CRITERIA, name
        assert entry.get("rule", "at_least") in RULES, name
        assert entry.get("of", "largest") in PICKS, name
        limits = {"bound", "margin", "factor"} & set(entry)
        assert len(limits) <= (1 if "rule" in entry else 0), name
