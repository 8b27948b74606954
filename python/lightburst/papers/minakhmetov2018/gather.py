"""What the claims are made of: ratios along a curve, and words for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lightburst.papers import claims
from lightburst.papers.claims import Verdict, known
from lightburst.papers.minakhmetov2018.sweep import Point, Sweep
from lightburst.papers.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lightburst.study.statistics import Interval

#: The claims, and the tolerances that they share.
SHEET: Final = Sheet.of(__package__)
PORTS: Final = (0, 2, 5)
HYBRID_PORTS: Final = (2, 5)
WAITS: Final = (0.0, 1.0, 4.0)
# "At high load (more than 10^7 requests/s)", section 3.
HIGH_LOAD: Final = 1e7
FIGURE_OF_LENGTH: Final[dict[float, str]] = {10.0: "fig2a", 100.0: "fig2b"}

Curve = dict[float, "Interval"]


def ratios(sweep: Sweep, length: float, top: tuple[int, float], bottom: tuple[int, float]) -> Curve:
    """Compare the throughput of two curves at each arrival rate that both have.

    Parameters
    ----------
    sweep : Sweep
        The runs.
    length : float
        Length of the links in metres.
    top, bottom : tuple of (int, float)
        ``(ne, p)`` of the two curves, numerator and denominator.

    Returns
    -------
    dict of float to Interval
        Ratio paired by seed, by arrival rate in requests per second, ascending.
    """
    found = {
        rate: sweep.ratio(
            Point(length, "hybrid", *top, rate), Point(length, "hybrid", *bottom, rate)
        )
        for rate in sweep.rates(length)
    }
    return {rate: ratio for rate, ratio in found.items() if known(ratio)}


def at_high_load(row: Mapping[float, Interval]) -> Curve:
    """Give the part of a curve above 1e7 requests/s."""
    return {rate: ratio for rate, ratio in row.items() if rate > HIGH_LOAD}


def every(rows: Mapping[Any, Mapping[float, Interval]]) -> Iterable[Interval]:
    """Give all values of several curves."""
    return (ratio for row in rows.values() for ratio in row.values())


def listed(row: Mapping[float, Interval]) -> str:
    """Write ratios by arrival rate: ``1.46 at 1e7, 2.97 at 1e8``."""
    named = {rate_text(rate): ratio for rate, ratio in row.items()}
    return claims.listed(named, "{value:#.3g} at {at}")


def where(row: Mapping[float, Interval], judge: Callable[[Interval], Verdict]) -> str:
    """Say at which arrival rates a claim holds, where it does not, and where nobody can tell."""
    words = {
        Verdict.HOLDS: "holds",
        Verdict.DIFFERS: "does not hold",
        Verdict.NOT_COMPARABLE: "is undecided",
    }
    parts = []
    for verdict, text in words.items():
        there = {rate: ratio for rate, ratio in row.items() if judge(ratio) is verdict}
        if there:
            parts.append(f"{text} ({listed(there)})")
    return "; ".join(parts) + "." if parts else "no runs."


def rate_text(rate: float) -> str:
    """Write an arrival rate as in the paper's axis: ``3e7``."""
    mantissa, exponent = f"{rate:.6e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def gigabits(rate: Interval) -> Interval:
    """Convert an interval from b/s to Gb/s."""
    return type(rate)(rate.estimate / 1e9, rate.low / 1e9, rate.high / 1e9, rate.n)
