"""What the paper says of links of 1 km and 10 km, where stop-and-wait is the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightburst.papers.claims import UNKNOWN, Claim, known
from lightburst.papers.minakhmetov2018.gather import PORTS, SHEET, WAITS, gigabits, rate_text
from lightburst.papers.minakhmetov2018.sweep import Point, Sweep

if TYPE_CHECKING:
    from collections.abc import Iterator


def maxima_claims(sweep: Sweep) -> Iterator[Claim]:
    """Judge for each length the maximum, and whether all switches reach the same."""
    for length, word, published in ((1000.0, "1 km", 16.6), (10000.0, "10 km", 1.9)):
        best = _best_points(sweep, length)
        top = max(best, key=lambda point: sweep.mean(point).estimate, default=None)
        low = min(best, key=lambda point: sweep.mean(point).estimate, default=None)
        maximum, ratio, reached, ends = UNKNOWN, UNKNOWN, "", ""
        if top is not None and low is not None:
            maximum, ratio = gigabits(sweep.mean(top)), sweep.ratio(top, low)
            reached = f"Reached by {_named(top)}."
            ends = f"Most: {_named(top)}; least: {_named(low)}."
        sheet = SHEET.told(name=word.replace(" ", ""), word=word, value=published)
        bound = tuple(published * (1 + sign * SHEET.tolerance["mean_of_ten"]) for sign in (-1, 1))
        yield sheet.judge("maximum", maximum, reached, bound=bound, published=published)
        yield sheet.judge("equal", ratio, ends)


def _best_points(sweep: Sweep, length: float) -> list[Point]:
    best = []
    for ne in PORTS:
        for p in WAITS:
            curve = [Point(length, "hybrid", ne, p, rate) for rate in sweep.rates(length)]
            run = [point for point in curve if known(sweep.mean(point))]
            if run:
                best.append(max(run, key=lambda point: sweep.mean(point).estimate))
    return best


def _named(point: Point) -> str:
    return f"ne = {point.ports}, p = {point.p:g} at {rate_text(point.rate)} requests/s"
