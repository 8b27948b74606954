"""What the paper says of links of 1 km and 10 km, where stop-and-wait is the limit."""

from __future__ import annotations

from lightburst.papers.claims import UNKNOWN, Claim, agrees, at_most, judged, known
from lightburst.papers.minakhmetov2018.gather import PORTS, WAITS, gigabits, rate_text
from lightburst.papers.minakhmetov2018.sweep import Point, Sweep
from lightburst.papers.minakhmetov2018.tolerance import MEAN_OF_TEN, VISIBLE_10


def maxima_claims(sweep: Sweep) -> list[Claim]:
    """Judge what the paper says of links of 1 km and 10 km.

    Parameters
    ----------
    sweep : Sweep
        Runs with these lengths.

    Returns
    -------
    list of Claim
        Two for each length: the maximum, and that all switches reach the same.
    """
    claims = []
    for length, word, published in ((1000.0, "1 km", 16.6), (10000.0, "10 km", 1.9)):
        name = word.replace(" ", "")
        best = _best_points(sweep, length)
        top = max(best, key=lambda point: sweep.mean(point).estimate, default=None)
        low = min(best, key=lambda point: sweep.mean(point).estimate, default=None)
        maximum = UNKNOWN if top is None else gigabits(sweep.mean(top))
        ratio = UNKNOWN if top is None or low is None else sweep.ratio(top, low)
        reached = "" if top is None else f"Reached by {_named(top)}."
        claims += [
            judged(
                f"maximum-{name}",
                "maxima",
                f"Links of {word}: the mean throughput does not go above {published} Gb/s (largest "
                "mean over arrival rates, ne and p, in Gb/s)",
                published,
                maximum,
                agrees(maximum, published * (1 - MEAN_OF_TEN), published * (1 + MEAN_OF_TEN)),
                f"our interval meets {published} Gb/s -/+ {MEAN_OF_TEN:.0%}, the interval of the "
                "paper's mean of ten seeds",
                reached,
            ),
            judged(
                f"equal-{name}",
                "maxima",
                f"Links of {word}: the throughput is almost the same for any switch (largest over "
                "smallest of the maxima of the nine curves)",
                1.0,
                ratio,
                at_most(ratio, VISIBLE_10),
                f"the whole interval is below {VISIBLE_10:.2f}, which two means of ten seeds can "
                "just tell apart",
                "" if low is None or top is None else f"Most: {_named(top)}; least: {_named(low)}.",
            ),
        ]
    return claims


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
