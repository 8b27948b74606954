"""Beyond the slides: the best (B, C) and the best time, and the front of mean against variance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import pandas as pd

from lightburst.papers.claims import Claim, ends, known
from lightburst.papers.figure import MAP_COLUMNS, Figure, Listing, Maps, Panel
from lightburst.papers.vlachos2008.design import BEST, SEARCHED_TIMES, along, searched
from lightburst.papers.vlachos2008.figures import MEGA, PRINTED, STATISTICS, caption
from lightburst.papers.vlachos2008.points import (
    ELEPHANTS,
    ELEPHANTS_VARIANCE,
    MEAN,
    MICE,
    MICE_VARIANCE,
    VARIANCE,
    Point,
    window_based,
)
from lightburst.papers.vlachos2008.sheet import SHEET

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.papers.runs import Runs
    from lightburst.study.statistics import Interval

_PAIRS: Final = {pair: window_based(*pair) for pair in searched()}
_TIMES: Final = along(SEARCHED_TIMES)
_NOTE: Final = "(B, C): 1 ms below a window of B segments, 10 ms from C on, 5 ms between. "


_SEARCHED: Final = "searched"


class Flows(NamedTuple):
    """Some flows: ends of names, words, and the columns of their mean and their variance."""

    slug: str
    words: str
    mean: str
    variance: str


FLOWS: Final = (
    Flows("all", "all flows", MEAN, VARIANCE),
    Flows("mice", "flows below 100 kB", MICE, MICE_VARIANCE),
    Flows("elephants", "flows above 10 MB", ELEPHANTS, ELEPHANTS_VARIANCE),
)


def figures(runs: Runs[Point], version: str) -> Iterator[Figure | Maps]:
    """Draw up the means over (B, C), and the mean against the variance of all that was searched."""
    every = [*_TIMES.values(), *_PAIRS.values()]
    words = caption(runs, every, version, _NOTE)
    runs = runs.under(Point.in_full)
    yield _maps(runs, words)
    for flows in FLOWS:
        yield _front(runs, flows, words)


def _maps(runs: Runs[Point], words: str) -> Maps:
    rows = []
    for flows in FLOWS:
        for (slow, fast), point in _PAIRS.items():
            mean = runs.mean(point, flows.mean)
            if known(mean):
                value = mean.estimate / MEGA
                half = (mean.high - mean.low) / 2 / MEGA
                told = f"{value:.3g}\n± {half:.2g}"
                rows.append((flows.words, f"C = {fast}", f"B = {slow}", value, told))
    return Maps(
        id="search",
        title="Mean throughput of a flow over (B, C)",
        caption=words,
        x_label="Fast from a window of C segments on",
        y_label="Slow below B",
        panels=tuple(Panel(flows.words, "Mb/s", scale=flows.slug) for flows in FLOWS),
        data=pd.DataFrame(rows, columns=[*MAP_COLUMNS, "words"]),
        x_log=False,
        y_log=False,
    )


def _front(runs: Runs[Point], flows: Flows, words: str) -> Figure:
    """Draw a curve for each B over C, and one over the fixed times: mean against variance."""
    curves: dict[tuple[str, str], dict[float, Interval]] = {}
    best: list[tuple[str, float, float]] = []
    for name, point in _named().items():
        mean, variance = runs.mean(point, flows.mean), runs.mean(point, flows.variance)
        if known(mean) and known(variance):
            colour = f"B = {point.slow}" if point.fast else "fixed time"
            curves.setdefault((colour, _SEARCHED), {})[mean.estimate / MEGA] = variance
            if name == str(BEST):
                at = mean.estimate / MEGA, variance.estimate / MEGA**2
                best.append((colour, *at))
    figure = Figure.of(
        curves,
        MEGA**2,
        id="front" if flows is FLOWS[0] else f"front-{flows.slug}",
        title=f"Variance of the throughput against its mean: {flows.words}",
        caption=f"Points along a curve: C, or the time. {words}",
        x_label="Mean throughput (Mb/s)",
        y_label="Variance (Mb²/s²)",
        x_log=False,
        y_zero=False,
        legends=("Assembly", ""),
        ordered=True,
    )
    figure = figure.beside(f"{BEST}, simulated", best)
    # What the slides print is of all flows; the variation is read as a variance.
    return figure.beside(f"{BEST}, published", [("", *PRINTED)] if flows is FLOWS[0] else ())


def listing(runs: Runs[Point]) -> Listing:
    """List the best time and the best (B, C) by each statistic, and what is as good."""
    runs = runs.under(Point.in_full)
    rows = []
    for _, statistic, metric in STATISTICS:
        for what, points in (("fixed time", _TIMES.values()), ("(B, C)", _PAIRS.values())):
            run = [point for point in points if known(runs.mean(point, metric))]
            if not run:
                continue
            best = runs.best(run, metric)
            mean = runs.mean(best, metric)
            behind = runs.ratios({point.words: (best, point) for point in run if point != best},
                                 metric)  # fmt: skip
            alike = [name for name, ratio in behind.items() if ratio.low <= 1]
            rows.append(
                {
                    "statistic": statistic,
                    "of": what,
                    "best": best.words,
                    "Mb/s": round(mean.estimate / MEGA, 3),
                    **ends(mean.in_unit(MEGA), 3),
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
    """Judge the slides' best case against all that was searched."""
    runs = runs.under(Point.in_full)
    best = _PAIRS[BEST]
    run = {name: point for name, point in _named().items() if point in runs and point != best}
    pairs = {name: point for name, point in run.items() if point.fast}
    times = [point for point in run.values() if not point.fast]
    for slug, statistic, metric in STATISTICS:
        sheet = SHEET.told(slug=slug, statistic=statistic, number=len(pairs) + 1)
        against = {name: (best, point) for name, point in pairs.items()}
        yield sheet.judge("searched-pair", runs.ratios(against, metric))
        if times and best in runs:
            window, timer = (runs.best(some, metric) for some in ([best, *pairs.values()], times))
            told = f"{window.words} and {timer.words}"
            yield sheet.judge("windows-beat-timers", runs.ratio(window, timer, metric), best=told)
    for flows in FLOWS:
        better = {}
        for name, point in run.items():
            both = (
                runs.ratio(point, best, flows.mean),
                runs.ratio(best, point, flows.variance),
            )
            if all(map(known, both)):
                better[name] = min(both, key=lambda ratio: ratio.estimate)
        yield SHEET.told(slug=flows.slug, flows=flows.words).judge("on-front", better)


def _named() -> dict[str, Point]:
    """Give all that is searched, by its words."""
    return {point.words: point for point in (*_TIMES.values(), *_PAIRS.values())}
