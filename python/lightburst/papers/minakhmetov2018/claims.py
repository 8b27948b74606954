"""What the paper claims about its figure 2, judged on our runs."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import TYPE_CHECKING, Final

from lightburst.papers.claims import (
    UNKNOWN,
    Claim,
    Verdict,
    agrees,
    at_least,
    at_most,
    known,
    largest,
    smallest,
)
from lightburst.papers.minakhmetov2018.gather import (
    FIGURE_OF_LENGTH,
    HIGH_LOAD,
    HYBRID_PORTS,
    PORTS,
    SHEET,
    WAITS,
    at_high_load,
    every,
    gigabits,
    listed,
    rate_text,
    ratios,
    where,
)
from lightburst.papers.minakhmetov2018.sweep import Point
from lightburst.papers.published import rows_of
from lightburst.study.statistics import relative_deviation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.papers.minakhmetov2018.gather import Curve
    from lightburst.papers.minakhmetov2018.sweep import Sweep
    from lightburst.papers.sheet import Sheet
    from lightburst.study.statistics import Interval

# What we know of the reason where the claimed gain is missed.
_WHY_LESS: Final = {
    10.0: "At 1e4 requests/s the arrivals offer 14 Gb/s and every switch carries them; the gain "
    "grows with the load, because only contention can be gained upon.",
    100.0: "At 1e4 requests/s the arrivals offer 14 Gb/s and every switch carries them. With "
    "100 m the propagation there and back over six links, 6 µs, is nearly that of a segment, "
    "7.2 µs: one segment in flight loads the links less, and bufferless switches lose less.",
}

# A deviation s from a hundred seeds: chi-square interval for 99 degrees of freedom,
# s sqrt(99 / 128.42) to s sqrt(99 / 73.36).
_CHI_100: Final = (math.sqrt(99 / 128.42), math.sqrt(99 / 73.36))

#: By (ne, p, arrival rate): mean throughput in Gb/s, as the independent prototype gave it.
PROTOTYPE: Final = {
    (int(row["ne"]), float(row["p"]), float(row["arrival_rate_per_s"])): float(
        row["throughput_gbps"]
    )
    for row in rows_of(__package__, "prototype.csv")
}


def figure_claims(length: float, sweep: Sweep) -> list[Claim]:
    """Judge what the paper says of figure 2a (10 m) or 2b (100 m), in the order of the paper."""
    sheet = SHEET.told(length=length, figure=FIGURE_OF_LENGTH[length])
    # SAW with a buffer over SAW without one.
    saw = {ne: ratios(sweep, length, (ne, 0.0), (0, 0.0)) for ne in HYBRID_PORTS}
    return [
        *_gain(sweep, length, sheet),
        *(_factors(sweep) if length == 10 else ()),
        _little_difference(saw, sheet),
        _no_gain_above_four(sweep, length, sheet),
        *_larger_ports(sweep, length, sheet),
        _more_load(saw, sheet),
        *_spread(sweep, length, sheet),
        *(_checks(sweep) if length == 10 else ()),
    ]


def _gain(sweep: Sweep, length: float, sheet: Sheet) -> Iterator[Claim]:
    found = {ne: ratios(sweep, length, (ne, 4.0), (0, 0.0)) for ne in HYBRID_PORTS}
    high = {ne: at_high_load(row) for ne, row in found.items()}
    judge = partial(at_least, bound=1.5)
    note = " ".join(f"ne = {ne}: {where(row, judge)}" for ne, row in found.items())
    for name, rows in (("gain-50", found), ("gain-50-high", high)):
        worst = smallest(every(rows))
        reason = "" if judge(worst) is Verdict.HOLDS else _WHY_LESS[length]
        yield sheet.judge(name, worst, f"{note} {reason}".strip())


def _factors(sweep: Sweep) -> Iterator[Claim]:
    for name, curve, factor, words in (
        ("factor-3", (5, 4.0), 3.0, "hybrid SAWL (ne = 5, p = 4)"),
        ("double-saw", (5, 0.0), 2.0, "hybrid SAW (ne = 5, p = 0)"),
    ):
        found = ratios(sweep, 10.0, curve, (0, 0.0))
        at, high = found.get(1e8, UNKNOWN), at_high_load(found)
        sheet = SHEET.told(name=name, words=words, factor=factor)
        note = f"By arrival rate: {listed(high)}."
        yield sheet.judge("factor", at, note, bound=(factor,), published=factor)
        digit = (factor - 0.5, factor + 0.5)
        met = where(high, lambda ratio, digit=digit: agrees(ratio, *digit))  # type: ignore[misc]
        more = f"The paper does not say at which rate it was read. Above 1e7 the number {met}"
        yield sheet.judge("factor-value", at, more, bound=digit, published=factor)
        worst = smallest(high.values())
        yield sheet.judge("factor-all-high", worst, note, bound=(factor,), published=factor)


def _little_difference(saw: dict[int, Curve], sheet: Sheet) -> Claim:
    found = {
        ne: {rate: ratio for rate, ratio in row.items() if rate < HIGH_LOAD}
        for ne, row in saw.items()
    }
    farthest = max(every(found), key=lambda x: abs(math.log(x.estimate)), default=UNKNOWN)
    limit = 1 + SHEET.tolerance["sigma"]
    verdict = at_most(farthest, limit)
    if known(farthest) and farthest.estimate < 1:
        verdict = at_least(farthest, 1 / limit)
    note = _over_bufferless(found)
    return sheet.told(limit=limit).judge("saw-little-difference", farthest, note, verdict=verdict)


def _over_bufferless(found: dict[int, Curve]) -> str:
    return " ".join(f"ne = {ne} over ne = 0: {listed(row)}." for ne, row in found.items())


def _no_gain_above_four(sweep: Sweep, length: float, sheet: Sheet) -> Claim:
    found = {
        (ne, p): ratios(sweep, length, (ne, p), (ne, 4.0))
        for ne in HYBRID_PORTS
        for p in (8.0, 16.0)
    }
    note = " ".join(
        f"ne = {ne}, p = {p:g}: {listed(row)}." for (ne, p), row in found.items() if row
    )
    return sheet.judge("no-gain-above-4", largest(every(found)), note)


def _larger_ports(sweep: Sweep, length: float, sheet: Sheet) -> Iterator[Claim]:
    steps = {
        (low, high): ratios(sweep, length, (high, 4.0), (low, 4.0))
        for low, high in itertools.pairwise(PORTS)
    }
    note = " ".join(
        f"ne = {high} over ne = {low}: {listed(row)}." for (low, high), row in steps.items()
    )
    yield sheet.judge("larger-ne", smallest(every(steps)), note)
    high_load = {step: at_high_load(row) for step, row in steps.items()}
    yield sheet.judge("larger-ne-high", smallest(every(high_load)))


def _more_load(saw: dict[int, Curve], sheet: Sheet) -> Claim:
    found = {ne: at_high_load(row) for ne, row in saw.items()}
    return sheet.judge("more-load", smallest(every(found)), _over_bufferless(found))


def _spread(sweep: Sweep, length: float, sheet: Sheet) -> Iterator[Claim]:
    """Judge the published spread of the throughput, and what cannot be judged beside it."""
    curves = {
        f"ne = {ne} p = {p:g}": found
        for ne in PORTS
        for p in WAITS
        if (found := _deviation(sweep, length, ne, p)) is not None
    }
    told = ", ".join(f"{curve}: {x.estimate:.3f}" for curve, x in curves.items())
    for name, word, published, pick in (
        ("low", "smallest", 0.144, smallest),
        ("high", "largest", 0.196, largest),
    ):
        low, high = (published * bound for bound in _CHI_100)
        yield sheet.told(name=name, word=word, deviation=published).judge(
            "spread",
            pick(curves.values()),
            f"By curve: {told}." if curves else "",
            bound=(low, high),
            published=published,
        )
    yield sheet.judge("correlation", UNKNOWN)


def _deviation(sweep: Sweep, length: float, ne: int, p: float) -> Interval | None:
    groups = [
        samples.to_numpy()
        for rate in sweep.rates(length)
        if (samples := sweep.samples(Point(length, "hybrid", ne, p, rate))) is not None
    ]
    groups = [group for group in groups if len(group) > 1]
    return relative_deviation(groups) if groups else None


def _checks(sweep: Sweep) -> Iterator[Claim]:
    """Judge whether ours and the independent prototype agree within their intervals."""
    for (ne, p, rate), published in PROTOTYPE.items():
        point = Point(10.0, "hybrid", ne, p, rate)
        samples = sweep.samples(point)
        deviation = 0.0 if samples is None or len(samples) < 2 else float(samples.std()) / 1e9
        half = 1.96 * deviation / math.sqrt(100)
        sheet = SHEET.told(rate=rate_text(rate), ne=ne, p=p, value=published, half=half)
        bound = (published - half, published + half)
        mean = gigabits(sweep.mean(point))
        yield sheet.judge("check", mean, bound=bound, published=published)
