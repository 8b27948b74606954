"""Parts that the papers share: the table of runs, runs by point, curves, claims as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from lightburst.papers import PAPERS, curves
from lightburst.papers.claims import UNKNOWN, Verdict, exact
from lightburst.papers.design import Effort, blocks_of, decades, grid
from lightburst.papers.figure import Figure
from lightburst.papers.overlay import CLOSED, SIMULATED, Beside, maps
from lightburst.papers.overlay import curves as overlaid
from lightburst.papers.paper import Paper, Part
from lightburst.papers.published import printed
from lightburst.papers.runs import Runs, of_means, paired
from lightburst.papers.sheet import Sheet
from lightburst.scenario import Scenario
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable

BASE = Scenario.from_dict(
    {
        "topology": {"kind": "path", "links": 1},
        "switching": {"kind": "all-optical"},
        "transport": {"kind": "saw"},
        "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "9 kB"}},
    }
)


class At(NamedTuple):
    """A point of two labels."""

    wait: float
    links: int

    def settings(self) -> dict[str, object]:
        return {"topology.links": self.links}


def test_a_table_of_runs_is_made_of_axes_and_efforts() -> None:
    points = grid(At, wait=[1.0, 2.0], links=[1, 3])
    assert points == [(1.0, 1), (1.0, 3), (2.0, 1), (2.0, 3)]
    assert decades(-2, 0, 2) == pytest.approx((0.01, 10**-1.5, 0.1, 10**-0.5, 1.0))
    few, many = Effort(2), Effort(9, first=3, precision=0.05, horizon_s=0.5)
    wanted = [(points[0], few), (points[1], many), (points[2], few), (points[1], few)]
    first, second = blocks_of(BASE, wanted, ["w", "n"])
    assert first.labels.to_dict("list") == {"w": [1.0, 2.0], "n": [1, 1]}
    assert (list(first.study.seeds), first.stopping) == ([1, 2], None)
    assert second.labels.to_dict("list") == {"w": [1.0], "n": [3]}
    assert [dict(point) for point in second.study.points] == [{"topology.links": 3}]
    assert second.study.base.measurement.time_limit == 5 * 10**11
    assert len(second.study.seeds) == 9
    assert second.stopping is not None
    assert (second.stopping.first, second.stopping.precision) == (3, 0.05)


@pytest.mark.parametrize("name", PAPERS)
@pytest.mark.parametrize("quick", [True, False])
def test_runs_are_found_by_the_points_that_plan_them(name: str, quick: bool) -> None:
    paper = PAPERS[name]
    blocks = paper.blocks(tuple(paper.parts), quick)
    labels = pd.concat([block.labels for block in blocks], ignore_index=True)
    assert not labels.duplicated().any()
    metrics = {"throughput_bps": 1.0, "makespan_s": 1.0, "flows": 10, "false_fast_retransmits": 0}
    table = labels.assign(seed=1, **metrics)
    points: Iterable[Any] = paper.runs(table).points
    if quick and name == "vlachos2008":
        # The runs of a preview are stored under the points of the paper.
        points = [point.shortened() for point in points]
    planned = [dict(point) for block in blocks for point in block.study.points]
    assert [point.settings() for point in points] == planned


def table(values: dict[At, dict[int, float]]) -> pd.DataFrame:
    rows = [(*at, seed, x) for at, runs in values.items() for seed, x in runs.items()]
    # A file may have whole numbers as floats.
    return pd.DataFrame(rows, columns=["w", "n", "seed", "throughput_bps"]).astype({"n": float})


def test_runs_are_compared_by_seed_or_by_their_means() -> None:
    top, bottom, empty = At(1.0, 1), At(2.0, 1), At(3.0, 1)
    values = {top: {3: 8.0, 1: 2.0, 2: 6.0}, bottom: {1: 1.0, 2: 3.0}, empty: {1: np.nan}}
    by_seed = Runs.of(table(values), At, ["w", "n"], compare=paired)
    assert by_seed.points == (top, bottom, empty)
    assert all(type(point.links) is int for point in by_seed.points)
    samples = by_seed.samples(top)
    assert samples is not None and samples.tolist() == [2.0, 6.0, 8.0], "in the order of the seeds"
    ratio = by_seed.ratio(top, bottom)
    assert (ratio.estimate, ratio.low, ratio.high, ratio.n) == pytest.approx((2.0, 2.0, 2.0, 2))
    by_mean = Runs.of(table(values), At, ["w", "n"], compare=of_means)
    assert by_mean.ratio(top, bottom).estimate == pytest.approx(16 / 3 / 2)
    assert by_mean.mean(top).estimate == pytest.approx(16 / 3)
    assert by_seed.mean(empty) is by_seed.mean(At(9.0, 9)) is UNKNOWN
    assert by_seed.ratios({"a": (top, bottom), "b": (top, empty)}).keys() == {"a"}
    assert by_seed.seeds_text == "3 seeds (1 to 3)"
    renamed = by_seed.under(lambda point: point._replace(links=7))
    assert renamed.points == (At(1.0, 7), At(2.0, 7), At(3.0, 7))
    assert renamed.mean(At(2.0, 7)) == by_seed.mean(bottom)
    assert by_seed.only(lambda point: point.wait == 2).seeds_text == "2 seeds (1 to 2)"
    assert (by_seed.number(top), by_seed.total(top, "throughput_bps")) == (3, 16.0)
    assert np.isnan(by_seed.total(top, "no such metric"))


def test_runs_are_sorted_once_for_figures_claims_and_tables() -> None:
    sorted_: list[pd.DataFrame] = []

    def runs(table: pd.DataFrame) -> int:
        sorted_.append(table)
        return len(sorted_)

    part = Part("all", lambda n, version: [n, version], lambda n: [n], lambda n: [n])
    paper = Paper("p", "", "", {"a": part, "b": part}, lambda parts, quick: [], runs)
    found = paper.outcome(("a", "b"), pd.DataFrame(), "0.1.0")
    assert tuple(found) == ([1, "0.1.0", 1, "0.1.0"], [1, 1], [1, 1])
    assert len(sorted_) == 1


def around(value: float) -> Interval:
    return Interval(value, 0.9 * value, 1.1 * value, 5)


CURVE = {1.0: around(3.0), 2.0: around(1.2), 4.0: around(0.8), 8.0: around(0.9)}


def test_what_is_read_off_a_curve() -> None:
    assert list(curves.between(CURVE, 1.0, 8.0)) == [2.0, 4.0]
    assert curves.crossing(CURVE) == Interval(8**0.5, 2.0, 4.0, 4)
    assert curves.crossing(curves.between(CURVE, high=3.0)) is UNKNOWN
    assert curves.peak(CURVE, 1.1) == Interval(1.0, 1.0, 1.0, 4)
    assert curves.peak(CURVE, 3.0) == Interval(1.0, 1.0, 2.0, 4)
    assert curves.from_one(Interval(0.5, 0.4, 0.8, 3)) == Interval(2.0, 1.25, 2.5, 3)
    assert curves.from_one(CURVE[2.0]) is CURVE[2.0]
    assert curves.every({"a": CURVE})["a", 2.0] is CURVE[2.0]
    values = list(CURVE.values())
    assert curves.smallest(values) is CURVE[4.0]
    assert curves.largest(values) is curves.farthest(values) is CURVE[1.0]
    assert curves.farthest(values[1:]) is CURVE[4.0]
    assert curves.smallest([]) is curves.largest([]) is curves.farthest([]) is UNKNOWN
    told = curves.where(
        CURVE,
        lambda x: Verdict.HOLDS if x.low > 1 else Verdict.DIFFERS,
        lambda row: curves.listed(row, "{at:g}"),
    )
    assert told == "holds (1, 2); does not hold (4, 8)."


def test_printed_digits_say_how_far_a_number_is_rounded() -> None:
    for text, value, rounding in (("1.1", 1.1, 0.05), ("26.50", 26.5, 0.005), ("7", 7.0, 0.5)):
        assert printed(text) == Interval(value, value - rounding, value + rounding, 0)


SHEET = Sheet(
    {
        "row": {"figure": "f", "statement": "", "criterion": "above {bound:g}", "published": 1.0,
                "rule": "at_least", "of": "smallest", "each": "{value:g} at {at:g}",
                "note": "{each}; least at {at:g}.", "why": "Because of {reason}."},
        "margin": {"figure": "f", "statement": "", "criterion": "{low:g} to {high:g}",
                   "rule": "within", "margin": "tenth"},
        "factor": {"figure": "f", "statement": "", "criterion": "{low:g} to {high:g}",
                   "rule": "within", "factor": 2, "published": 4.0},
    },
    {"tenth": 0.1},
)  # fmt: skip


def test_a_claim_about_a_row_picks_lists_and_says_why_not() -> None:
    claim = SHEET.judge("row", CURVE, reason="rain")
    assert (claim.verdict, claim.measured) == (Verdict.DIFFERS, 0.8)
    assert claim.criterion == "above 1", "the published number, where no bound is given"
    assert claim.note == "3 at 1, 1.2 at 2, 0.8 at 4, 0.9 at 8; least at 4. Because of rain."
    good = SHEET.judge("row", {1.0: CURVE[1.0]}, "More.", reason="rain")
    assert (good.verdict, good.note) == (Verdict.HOLDS, "3 at 1; least at 1. More.")
    nothing = SHEET.judge("row", {}, reason="nothing")
    assert (nothing.verdict, nothing.note) == (Verdict.NOT_COMPARABLE, "Because of nothing.")


def test_a_bound_lies_around_the_published_number() -> None:
    claim = SHEET.judge("margin", exact(54.0), published=50.0)
    assert (claim.verdict, claim.criterion) == (Verdict.HOLDS, "45 to 55")
    assert SHEET.judge("margin", exact(56.0), published=50.0).verdict is Verdict.DIFFERS
    claim = SHEET.judge("factor", exact(7.9))
    assert (claim.verdict, claim.criterion) == (Verdict.HOLDS, "2 to 8")
    assert SHEET.judge("factor", exact(1.9)).verdict is Verdict.DIFFERS


WORDS = {"id": "one", "title": "", "x_label": "", "y_label": ""}


def test_legends_follow_from_the_curves() -> None:
    row = {("b", "x"): {1.0: around(2e9), 2.0: UNKNOWN}, ("a", "x"): {1.0: UNKNOWN}}
    found = Figure.of({**row, ("a", "y"): {3.0: around(1e9)}}, 1e9, caption="", **WORDS)
    assert (found.colours, found.dashes) == (("b", "a"), ("x", "y"))
    assert found.data["y"].tolist() == [2.0, 1.0]
    assert Figure.of(row, 1.0, caption="", colours=("a", "b"), **WORDS).colours == ("a", "b")


def test_a_theory_is_laid_beside_the_simulation() -> None:
    places = [Beside(1.0, 0.5, around(2.0), 4.0), Beside(1.0, 0.1, around(8.0), 4.0)]
    drawn = maps(places, "unit", "Caption.", **WORDS)
    values = drawn.data.set_index(["panel", "y"])["value"]
    assert [values["difference", y] for y in (0.5, 0.1)] == [1.0, -1.0]
    assert (values[SIMULATED, 0.5], values[CLOSED, 0.5]) == (2.0, 4.0)
    lines = overlaid(places, "p = {:g}".format, caption="", **WORDS)
    assert (lines.colours, lines.dashes) == (("p = 0.1", "p = 0.5"), (SIMULATED, CLOSED))
    assert lines.data["runs"].tolist() == [5, 0, 5, 0]
