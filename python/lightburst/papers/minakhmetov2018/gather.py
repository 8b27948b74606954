"""What the claims are made of: ratios along a curve, their extremes, and words for both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lightburst.papers.claims import UNKNOWN, Verdict, known
from lightburst.papers.minakhmetov2018.sweep import Point, Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lightburst.study.statistics import Interval

# A criterion that no number of runs could meet: the paper gives nothing to compare with.
NO_ELECTRONIC: Final = "none: the paper does not simulate electronic switches"
PORTS: Final = (0, 2, 5)
HYBRID_PORTS: Final = (2, 5)
WAITS: Final = (0.0, 1.0, 4.0)
# "At high load (more than 10^7 requests/s)", section 3.
HIGH_LOAD: Final = 1e7
FIGURE_OF_LENGTH: Final[dict[float, str]] = {10.0: "fig2a", 100.0: "fig2b"}


def ratios(
    sweep: Sweep, length: float, top: tuple[int, float], bottom: tuple[int, float]
) -> dict[float, Interval]:
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


def smallest(rows: Mapping[Any, Mapping[float, Interval]]) -> Interval:
    """Find the smallest of many ratios by its estimate; `UNKNOWN` where there are none."""
    found = [ratio for row in rows.values() for ratio in row.values()]
    return min(found, key=lambda ratio: ratio.estimate, default=UNKNOWN)


def largest(
    rows: Mapping[Any, Mapping[float, Interval]],
    by: Callable[[Interval], float] = lambda ratio: ratio.estimate,
) -> Interval:
    """Find the largest of many ratios by its estimate; `UNKNOWN` where there are none."""
    found = [ratio for row in rows.values() for ratio in row.values()]
    return max(found, key=by, default=UNKNOWN)


def listed(row: Mapping[float, Interval]) -> str:
    """Write ratios by arrival rate: ``1.46 at 1e7, 2.97 at 1e8``."""
    return ", ".join(f"{ratio.estimate:#.3g} at {rate_text(r)}" for r, ratio in row.items())


def where(row: Mapping[float, Interval], judge: Callable[[Interval], Verdict]) -> str:
    """Say at which arrival rates a claim holds, where it does not, and where nobody can tell.

    Parameters
    ----------
    row : mapping of float to Interval
        The quantity by arrival rate.
    judge : callable
        Gives the verdict on one of them.

    Returns
    -------
    str
        One sentence.
    """
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
