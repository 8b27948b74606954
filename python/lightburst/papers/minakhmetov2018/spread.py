"""What the paper says of the fluctuation of its results."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lightburst.papers.claims import UNKNOWN, Claim, Verdict, agrees, judged
from lightburst.papers.minakhmetov2018.gather import (
    FIGURE_OF_LENGTH,
    PORTS,
    WAITS,
)
from lightburst.papers.minakhmetov2018.sweep import Point, Sweep
from lightburst.study.statistics import relative_deviation

if TYPE_CHECKING:
    from lightburst.study.statistics import Interval


def spread_claims(sweep: Sweep, length: float) -> list[Claim]:
    """Judge the published spread of the throughput, and what cannot be judged beside it.

    Parameters
    ----------
    sweep : Sweep
        Runs of a figure.
    length : float
        Length of the links in metres: 10 or 100.

    Returns
    -------
    list of Claim
        The smallest and the largest deviation among the nine curves, and the correlation.
    """
    curves = {
        (ne, p): found
        for ne in PORTS
        for p in WAITS
        if (found := _deviation(sweep, length, ne, p)) is not None
    }
    figure = FIGURE_OF_LENGTH[length]
    note = "By curve: " + ", ".join(
        f"ne = {ne} p = {p:g}: {x.estimate:.3f}" for (ne, p), x in curves.items()
    )
    claims = []
    for name, word, published, pick in (
        ("low", "smallest", 0.144, min),
        ("high", "largest", 0.196, max),
    ):
        found = pick(curves.values(), key=lambda interval: interval.estimate, default=UNKNOWN)
        low, high = (published * bound for bound in _CHI_100)
        claims.append(
            judged(
                f"spread-{name}-{length:g}m",
                figure,
                f"Links of {length:g} m: the {word} standard deviation of the throughput, as a "
                "fraction of its mean (nine curves, each pooled over its arrival rates)",
                published,
                found,
                agrees(found, low, high),
                f"our chi-square interval meets {low:.3f} to {high:.3f}, that of a deviation of "
                f"{published} from a hundred seeds",
                f"{note}." if curves else "",
            )
        )
    claims.append(
        judged(
            f"correlation-{length:g}m",
            figure,
            "Pearson correlation coefficient between 0.973 and 0.998",
            None,
            UNKNOWN,
            Verdict.NOT_COMPARABLE,
            "none: the paper does not say what is correlated with what",
            "",
        )
    )
    return claims


# A deviation s from a hundred seeds: chi-square interval for 99 degrees of freedom,
# s sqrt(99 / 128.42) to s sqrt(99 / 73.36).
_CHI_100 = (math.sqrt(99 / 128.42), math.sqrt(99 / 73.36))


def _deviation(sweep: Sweep, length: float, ne: int, p: float) -> Interval | None:
    groups = [
        samples.to_numpy()
        for rate in sweep.rates(length)
        if (samples := sweep.samples(Point(length, "hybrid", ne, p, rate))) is not None
    ]
    groups = [group for group in groups if len(group) > 1]
    return relative_deviation(groups) if groups else None
