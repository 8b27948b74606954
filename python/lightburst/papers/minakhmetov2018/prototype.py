"""Ours beside a simulator of the same paper that was written independently."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lightburst.papers.claims import Claim, agrees, judged
from lightburst.papers.minakhmetov2018.gather import gigabits, rate_text
from lightburst.papers.minakhmetov2018.sweep import Point

if TYPE_CHECKING:
    from lightburst.papers.minakhmetov2018.sweep import Sweep

# By (ne, p, arrival rate): mean throughput in Gb/s at 10 m over 100 seeds.
PROTOTYPE: Final = {
    (0, 0.0, 1e7): 61.6,
    (5, 0.0, 1e7): 89.7,
    (2, 4.0, 1e7): 107.4,
    (5, 4.0, 1e7): 110.0,
    (0, 0.0, 1e8): 30.3,
    (5, 0.0, 1e8): 89.9,
    (2, 4.0, 1e8): 106.9,
    (5, 4.0, 1e8): 110.1,
}


def prototype_claims(sweep: Sweep) -> list[Claim]:
    """Judge whether the two simulators agree within their intervals.

    Parameters
    ----------
    sweep : Sweep
        Runs of figure 2a.

    Returns
    -------
    list of Claim
        One for each value that the prototype gave.
    """
    claims = []
    for (ne, p, rate), published in PROTOTYPE.items():
        point = Point(10.0, "hybrid", ne, p, rate)
        mean = gigabits(sweep.mean(point))
        samples = sweep.samples(point)
        deviation = 0.0 if samples is None or len(samples) < 2 else float(samples.std()) / 1e9
        half = 1.96 * deviation / math.sqrt(100)
        claims.append(
            judged(
                f"check-{rate_text(rate)}-ne{ne}p{p:g}",
                "fig2a",
                f"Mean throughput at 10 m, ne = {ne}, p = {p:g}, {rate_text(rate)} requests/s "
                "(Gb/s)",
                published,
                mean,
                agrees(mean, published - half, published + half),
                f"our interval meets {published:g} -/+ {half:.1f} Gb/s, the interval of a mean of "
                "100 seeds with our deviation",
                "",
                source="independent prototype",
            )
        )
    return claims
