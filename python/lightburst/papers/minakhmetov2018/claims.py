"""Claims of the paper about its figure 2 and about long links, judged on our runs."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import TYPE_CHECKING, Final

from lightburst.papers import curves
from lightburst.papers.claims import UNKNOWN, Claim, agrees, at_least, known
from lightburst.papers.curves import Curve, between, every, largest, smallest, where
from lightburst.papers.minakhmetov2018.figures import FIGURE_OF_LENGTH
from lightburst.papers.minakhmetov2018.points import (
    HYBRID_PORTS,
    PORTS,
    PROTOTYPE,
    PUBLISHED_MAXIMA,
    WAITS,
    hybrid,
    rate_text,
    rates,
    ratios,
)
from lightburst.papers.sheet import Sheet
from lightburst.study.statistics import Interval, relative_deviation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lightburst.papers.minakhmetov2018.points import Point
    from lightburst.papers.runs import Runs

SHEET: Final = Sheet.of(__package__)
# "At high load (more than 10^7 requests/s)", section 3.
HIGH_LOAD: Final = 1e7
_GIGABIT: Final = 1e9
# Known reasons for a gain below the claimed one, by length.
_WHY_LESS: Final = {
    10.0: "At 1e4 requests/s the arrivals offer 14 Gb/s and every switch carries them; the gain "
    "grows with the load, because only contention can be gained upon.",
    100.0: "At 1e4 requests/s the arrivals offer 14 Gb/s and every switch carries them. With "
    "100 m the propagation there and back over six links, 6 µs, is nearly that of a segment, "
    "7.2 µs: one segment in flight loads the links less, and bufferless switches lose less.",
}
# Ends of the 95 % interval of a deviation s from a hundred seeds, as factors of s: chi-square with
# 99 degrees of freedom.
_CHI_100: Final = (math.sqrt(99 / 128.42), math.sqrt(99 / 73.36))


def figure_claims(length: float, runs: Runs[Point]) -> list[Claim]:
    """Judge the claims about figure 2a (10 m) or 2b (100 m), in the order of the paper."""
    sheet = SHEET.told(length=length, figure=FIGURE_OF_LENGTH[length])

    def compared(ne: int, p: float, ne_below: int, p_below: float) -> Curve:
        return ratios(runs, hybrid(length, ne, p), hybrid(length, ne_below, p_below))

    saw = {f"ne = {ne} over ne = 0": compared(ne, 0.0, 0, 0.0) for ne in HYBRID_PORTS}
    longer = {
        f"ne = {ne}, p = {p:g}": row
        for ne in HYBRID_PORTS
        for p in (8.0, 16.0)
        if (row := compared(ne, p, ne, 4.0))
    }
    steps = {
        f"ne = {high} over ne = {low}": compared(high, 4.0, low, 4.0)
        for low, high in itertools.pairwise(PORTS)
    }
    gains = {f"ne = {ne}": compared(ne, 4.0, 0, 0.0) for ne in HYBRID_PORTS}
    gained = " ".join(
        f"{ne}: {where(row, partial(at_least, bound=1.5), listed)}" for ne, row in gains.items()
    )
    reason = _WHY_LESS[length]
    below = {ne: between(row, high=HIGH_LOAD) for ne, row in saw.items()}
    high, high_steps = _high(saw), _high(steps)
    return [
        sheet.judge("gain-50", every(gains), gained, reason=reason),
        sheet.judge("gain-50-high", every(_high(gains)), gained, reason=reason),
        *(_factors(runs) if length == 10 else ()),
        sheet.judge("saw-little-difference", every(below), told(below)),
        sheet.judge("no-gain-above-4", every(longer), told(longer)),
        sheet.judge("larger-ne", every(steps), told(steps)),
        sheet.judge("larger-ne-high", every(high_steps)),
        sheet.judge("more-load", every(high), told(high)),
        *_spread(runs, length, sheet),
        sheet.judge("correlation", UNKNOWN),
        *(_checks(runs) if length == 10 else ()),
    ]


def listed(row: Mapping[float, Interval]) -> str:
    """Write ratios by arrival rate: ``1.46 at 1e7, 2.97 at 1e8``."""
    named = {rate_text(rate): ratio for rate, ratio in row.items()}
    return curves.listed(named, "{value:#.3g} at {at}")


def told(rows: Mapping[str, Curve]) -> str:
    """Write several named curves for a note."""
    return " ".join(f"{name}: {listed(row)}." for name, row in rows.items())


def _high(rows: Mapping[str, Curve]) -> dict[str, Curve]:
    return {name: between(row, HIGH_LOAD) for name, row in rows.items()}


def _factors(runs: Runs[Point]) -> Iterator[Claim]:
    for name, p, factor, words in (
        ("factor-3", 4.0, 3.0, "hybrid SAWL (ne = 5, p = 4)"),
        ("double-saw", 0.0, 2.0, "hybrid SAW (ne = 5, p = 0)"),
    ):
        found = ratios(runs, hybrid(10.0, 5, p), hybrid(10.0, 0, 0.0))
        at, high = found.get(1e8, UNKNOWN), between(found, HIGH_LOAD)
        sheet = SHEET.told(name=name, words=words, factor=factor)
        note = f"By arrival rate: {listed(high)}."
        yield sheet.judge("factor", at, note, published=factor)
        bound = (factor - 0.5, factor + 0.5)
        met = where(high, partial(agrees, low=bound[0], high=bound[1]), listed)
        yield sheet.judge("factor-value", at, bound=bound, published=factor, met=met)
        yield sheet.judge("factor-all-high", high, note, published=factor)


def _spread(runs: Runs[Point], length: float, sheet: Sheet) -> Iterator[Claim]:
    """Judge the published range of the throughput's deviation, over the nine curves."""
    found = {
        f"ne = {ne} p = {p:g}": one
        for ne in PORTS
        for p in WAITS
        if (one := _deviation(runs, hybrid(length, ne, p))) is not None
    }
    note = f"By curve: {curves.listed(found, '{at}: {value:.3f}')}." if found else ""
    for name, word, published, pick in (
        ("low", "smallest", 0.144, smallest),
        ("high", "largest", 0.196, largest),
    ):
        bound = tuple(published * end for end in _CHI_100)
        words = {"name": name, "word": word, "deviation": published}
        measured = pick(found.values())
        yield sheet.told(**words).judge("spread", measured, note, bound=bound, published=published)


def _deviation(runs: Runs[Point], curve: Point) -> Interval | None:
    along = (runs.samples(curve._replace(rate=rate)) for rate in rates(runs, curve.length))
    groups = [values.to_numpy() for values in along if values is not None and len(values) > 1]
    return relative_deviation(groups) if groups else None


def _checks(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge whether our runs and the independent prototype agree within their intervals."""
    for point, published in PROTOTYPE.items():
        samples = runs.samples(point)
        deviation = 0.0 if samples is None or len(samples) < 2 else float(samples.std()) / _GIGABIT
        half = 1.96 * deviation / math.sqrt(100)
        sheet = SHEET.told(point=point, rate=rate_text(point.rate), value=published, half=half)
        bound = (published - half, published + half)
        yield sheet.judge(
            "check", runs.mean(point).in_unit(_GIGABIT), bound=bound, published=published
        )


def maxima_claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge the maximum throughput at each length, and whether all switches reach it."""
    for length, (word, published) in PUBLISHED_MAXIMA.items():
        best = _best_points(runs, length)
        maximum, ratio, reached, ends = UNKNOWN, UNKNOWN, "", ""
        if best:
            top, low = max(best, key=best.__getitem__), min(best, key=best.__getitem__)
            maximum, ratio = runs.mean(top).in_unit(_GIGABIT), runs.ratio(top, low)
            reached = f"Reached by {_named(top)}."
            ends = f"Most: {_named(top)}; least: {_named(low)}."
        sheet = SHEET.told(name=word.replace(" ", ""), word=word, value=published)
        yield sheet.judge("maximum", maximum, reached, published=published)
        yield sheet.judge("equal", ratio, ends)


def _best_points(runs: Runs[Point], length: float) -> dict[Point, float]:
    """Find the point of the largest mean on each of the nine curves."""
    best = {}
    for ne, p in itertools.product(PORTS, WAITS):
        curve = (hybrid(length, ne, p, rate) for rate in rates(runs, length))
        means = {point: mean.estimate for point in curve if known(mean := runs.mean(point))}
        if means:
            top = max(means, key=means.__getitem__)
            best[top] = means[top]
    return best


def _named(point: Point) -> str:
    return f"ne = {point.ports}, p = {point.p:g} at {rate_text(point.rate)} requests/s"
