"""The listing of the ranges of figures 5 to 7: simulation beside theory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from lightburst.papers import PAPERS
from lightburst.papers.yu2004 import grids
from lightburst.papers.yu2004.figures import SURFACES
from lightburst.papers.yu2004.points import LOW, PAYLOAD_BITS, Point
from lightburst.papers.yu2004.ranges import listing
from lightburst.papers.yu2004.runs import Runs
from lightburst.papers.yu2004.theory import throughput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lightburst.papers.figure import Listing


def runs(points: Iterable[Point], model: Callable[[Point], float]) -> Runs:
    samples = {point: np.full(3, model(point)) for point in points}
    return Runs(samples, dict.fromkeys(samples, 1e6))


def column(table: Listing, source: str) -> dict[tuple[str, str], str]:
    data = table.data
    return dict(zip(zip(data["range"], data["at"], strict=True), data[source], strict=True))


def by_hand(point: Point) -> float:
    """Twice as much from 1 to 10 s, half of all from there on; nothing lost below p = 0.01."""
    height = 1.0 if point.time < 0.9 else 2.0 if point.time < 11 else 0.5
    return height * (1.0 if point.p < 0.009 else 0.8)


def test_the_ranges_of_a_surface_made_by_hand() -> None:
    points = grids.surface_points(LOW, quick=False)
    table = listing("fig7", runs(points, by_hand))
    found = column(table, "simulation")
    for p in ("0.0001", "0.01", "0.1"):  # each is compared with its own loss rate
        assert found["ATO", f"p = {p}"] == "1 to 10"
        assert found["ATI", f"p = {p}"] == "0.01 to 0.316"
    for time in ("0.01", "3.16", "31.6"):
        assert found["LRI", f"T_b = {time} s"] == "0.0001 to 0.00316"
    assert len(table.data) == 2 * len(grids.LOSSES) + len(grids.TIMES[LOW])


def test_a_point_that_was_not_run_is_in_no_range() -> None:
    points = grids.surface_points(LOW, quick=False)
    gap = [p for p in points if not (abs(p.time - 10**0.5) < 0.1 and abs(p.p - 0.01) < 0.001)]
    found = column(listing("fig7", runs(gap, by_hand)), "simulation")
    assert found["ATO", "p = 0.01"] == "1, 10"
    assert found["ATO", "p = 0.1"] == "1 to 10"


@pytest.mark.parametrize("part", SURFACES)
def test_a_simulation_like_the_theory_has_its_ranges(part: str) -> None:
    points = grids.surface_points(SURFACES[part], quick=True)
    table = listing(part, runs(points, lambda point: float(throughput([point])[0])))
    assert list(table.data["simulation"]) == list(table.data["theory"])


def test_a_reproduction_lists_them() -> None:
    rows = [
        {
            **point._asdict(),
            "throughput_bps": PAYLOAD_BITS * by_hand(point),
            "makespan_s": 1e4,
            "seed": 1,
        }
        for part in ("fig5", "fig7")
        for point in grids.surface_points(SURFACES[part], quick=True)
    ]
    tables = PAPERS["yu2004"].tables(["fig5", "fig7"], pd.DataFrame(rows))
    assert [table.id for table in tables] == ["fig5-ranges", "fig7-ranges"]
    assert column(tables[1], "simulation")["ATO", "p = 0.1"] == "1 to 10"
