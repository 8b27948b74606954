"""Beyond the slides: the best (B, C) and the best time, and the front of mean against variance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from lightburst.papers.claims import Claim, ends, known
from lightburst.papers.curves import smallest
from lightburst.papers.figure import MAP_COLUMNS, Figure, Listing, Maps, Panel
from lightburst.papers.vlachos2008 import metrics
from lightburst.papers.vlachos2008.claims import SHEET
from lightburst.papers.vlachos2008.design import BEST, SEARCHED_PAIRS, SEARCHED_TIMES
from lightburst.papers.vlachos2008.figures import PAIR_WORDS, PRINTED, caption
from lightburst.papers.vlachos2008.metrics import MEGA, STATISTICS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.papers.runs import Runs
    from lightburst.papers.vlachos2008.points import Point
    from lightburst.study.statistics import Interval

_SEARCHED: Final = (*SEARCHED_TIMES, *SEARCHED_PAIRS)
#: Groups of flows: suffix of ids, words, and the columns of mean and variance.
FLOWS: Final = (
    ("all", "all flows", metrics.MEAN, metrics.VARIANCE),
    ("mice", "flows below 100 kB", metrics.MICE, metrics.MICE_VARIANCE),
    ("elephants", "flows above 10 MB", metrics.ELEPHANTS, metrics.ELEPHANTS_VARIANCE),
)


def figures(runs: Runs[Point], version: str) -> Iterator[Figure | Maps]:
    """Build maps of the means over (B, C), and figures of mean against variance."""
    said = caption(runs, _SEARCHED, version, PAIR_WORDS)
    rows = []
    for _, flows, metric, _ in FLOWS:
        for point in SEARCHED_PAIRS:
            mean = runs.mean(point, metric).in_unit(MEGA)
            if known(mean):
                place = f"C = {point.fast}", f"B = {point.slow}"
                told = f"{mean.estimate:.3g}\n± {(mean.high - mean.low) / 2:.2g}"
                rows.append((flows, *place, mean.estimate, told))
    yield Maps(
        id="search",
        title="Mean throughput of a flow over (B, C)",
        caption=said,
        x_label="Fast from a window of C segments on",
        y_label="Slow below B",
        panels=tuple(Panel(flows, "Mb/s", scale=slug) for slug, flows, _, _ in FLOWS),
        data=pd.DataFrame(rows, columns=[*MAP_COLUMNS, "words"]),
        x_log=False,
        y_log=False,
    )
    # Mean against variance: one curve over C for each B, and one over the fixed times.
    for slug, flows, *columns in FLOWS:
        curves: dict[tuple[str, str], dict[float, Interval]] = {}
        best: list[tuple[str, float, float]] = []
        for point in _SEARCHED:
            mean, variance = (runs.mean(point, column) for column in columns)
            if known(mean) and known(variance):
                colour = f"B = {point.slow}" if point.fast else "fixed time"
                curves.setdefault((colour, "searched"), {})[mean.estimate / MEGA] = variance
                if point == BEST:
                    best.append((colour, mean.estimate / MEGA, variance.estimate / MEGA**2))
        figure = Figure.of(
            curves,
            MEGA**2,
            id="front" if slug == "all" else f"front-{slug}",
            title=f"Variance of the throughput against its mean: {flows}",
            caption=f"Points along a curve: C, or the time. {said}",
            x_label="Mean throughput (Mb/s)",
            y_label="Variance (Mb²/s²)",
            x_log=False,
            y_zero=False,
            legends=("Assembly", ""),
            ordered=True,
        )
        # The slides print a value for all flows only; the variation is taken to be a variance.
        printed = [("", *PRINTED)] if slug == "all" else ()
        figure = figure.beside(f"{BEST.words}, simulated", best)
        yield figure.beside(f"{BEST.words}, published", printed)


def listing(runs: Runs[Point]) -> Listing:
    """List the best time and (B, C) by each statistic, and those not known to be worse."""
    rows = []
    for _, statistic, metric in STATISTICS:
        for what, points in (("fixed time", SEARCHED_TIMES), ("(B, C)", SEARCHED_PAIRS)):
            best = runs.best(points, metric)
            mean = runs.mean(best, metric).in_unit(MEGA)
            if not known(mean):
                continue
            others = {point.words: (best, point) for point in points if point != best}
            alike = [name for name, x in runs.ratios(others, metric).items() if x.low <= 1]
            rows.append(
                {
                    "statistic": statistic,
                    "of": what,
                    "best": best.words,
                    "Mb/s": round(mean.estimate, 3),
                    **ends(mean, 3),
                    "not known to be worse": ", ".join(alike) or "none",
                }
            )
    return Listing(
        "best",
        "The best assembly by each statistic",
        "Means over runs with the same flows, compared seed by seed; not known to be worse: the 95 "
        "% interval of the ratio reaches down to 1.",
        pd.DataFrame(rows),
    )


def claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge the slides' best case against all points of the search."""
    number = sum(point in runs for point in SEARCHED_PAIRS)
    others = [point for point in _SEARCHED if point != BEST]
    for slug, statistic, metric in STATISTICS:
        sheet = SHEET.told(slug=slug, statistic=statistic, number=number)
        pairs = {point.words: (BEST, point) for point in others if point.fast}
        yield sheet.judge("searched-pair", runs.ratios(pairs, metric))
        window, timer = (runs.best(some, metric) for some in (SEARCHED_PAIRS, SEARCHED_TIMES))
        told = f"{window.words} and {timer.words}"
        yield sheet.judge("windows-beat-timers", runs.ratio(window, timer, metric), best=told)
    for slug, flows, mean, variance in FLOWS:
        more = runs.ratios({point.words: (point, BEST) for point in others}, mean)
        less = runs.ratios({point.words: (BEST, point) for point in others}, variance)
        both = {name: smallest([x, less[name]]) for name, x in more.items() if name in less}
        yield SHEET.judge("on-front", both, slug=slug, flows=flows)
