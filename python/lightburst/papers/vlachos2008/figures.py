"""The figures of the slides that sum up many flows: throughput by assembly, and by sender."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pandas as pd

from lightburst.papers.claims import exact, known
from lightburst.papers.curves import in_ms
from lightburst.papers.figure import BAR_COLUMNS, Bars, Figure, Listing
from lightburst.papers.vlachos2008.design import (
    AXIS,
    BEST,
    LOADS,
    PAIRS,
    RECOVERIES,
    TIMES,
    along,
)
from lightburst.papers.vlachos2008.points import (
    ACTIVE,
    BURSTS,
    CUT_OFF,
    ELEPHANTS,
    FLOWS,
    LEAST,
    LOSS,
    LOST,
    MEAN,
    MICE,
    MOST,
    POOLED,
    SEGMENTS,
    VARIANCE,
    Point,
    window_based,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lightburst.papers.runs import Runs
    from lightburst.study.statistics import Interval

MEGA: Final = 1e6
#: What the slides print of (B, C) = (16, 64): mean in Mb/s, and variation, read as the variance.
PRINTED: Final = (10.7, 51.0)
_WHERE: Final = "NSFNET"
TIME_LABEL: Final = "Assembly time T (ms)"
RATE_LABEL: Final = "Throughput of a flow (Mb/s)"
_VARIANCE_LABEL: Final = "Variance of the throughput of flows (Mb²/s²)"


class Statistic(NamedTuple):
    """What one assembly is better by than another: the end of claims' names, words, the column."""

    slug: str
    words: str
    metric: str


STATISTICS: Final = (
    Statistic("mean", "mean over flows", MEAN),
    Statistic("pooled", "all bits over all times", POOLED),
    Statistic("mice", "mean below 100 kB", MICE),
    Statistic("elephants", "mean above 10 MB", ELEPHANTS),
)


class _Drawn(NamedTuple):
    """A figure over the assembly time: the end of its name, its curves, unit, label, title."""

    id: str
    curves: dict[str, str]
    unit: float
    label: str
    title: str
    logarithmic: bool = False


_OVER_TIME: Final = (
    _Drawn("mean", {"mean over flows": MEAN, "all bits over all times": POOLED}, MEGA, RATE_LABEL,
           "Average throughput of flows"),
    _Drawn("variance", {"variance over flows": VARIANCE}, MEGA**2, _VARIANCE_LABEL,
           "Variance of the throughput of flows"),
    _Drawn("extremes", {"maximum": MOST, "minimum": LEAST}, MEGA, RATE_LABEL,
           "Largest and smallest throughput of a flow", True),
    _Drawn("classes", {"below 100 kB": MICE, "above 10 MB": ELEPHANTS}, MEGA, RATE_LABEL,
           "Average throughput of mice and elephants", True),
)  # fmt: skip


def caption(runs: Runs[Point], points: Sequence[Point], version: str, words: str = "") -> str:
    """Say what was run at some points of NSFNET.

    Parameters
    ----------
    runs : Runs
        As they were run.
    points : sequence of Point
        As the paper runs them, or as a preview does.
    version : str
        Of lightburst.
    words : str, optional
        What else is to be said.
    """
    run = [at for point in points for at in (point, point.shortened()) if at in runs]
    length = max((point.measured for point in run), default=0.0)
    return (
        "NSFNET, 8 edges, 100 flows a second at each, Pareto sizes of at least 40 kB "
        f"({', '.join(dict.fromkeys(point.sizes for point in points))}). {words}Flows that begin "
        f"within {length:g} s, after {length / 2:g} s of warm-up; {runs.numbers_text(run)}; bars: "
        f"95 % interval of the mean. lightburst {version}."
    )


def over_time(runs: Runs[Point], version: str) -> Iterator[Figure]:
    """Draw up average, variance and extremes of the throughput of flows over the assembly time."""
    points = along(AXIS)
    words = caption(runs, list(points.values()), version)
    runs = runs.under(Point.in_full)
    for drawn in _OVER_TIME:
        curves = {
            (name, _WHERE): runs.means(points, metric) for name, metric in drawn.curves.items()
        }
        yield Figure.of(
            {legend: in_ms(curve) for legend, curve in curves.items()},
            drawn.unit,
            id=f"throughput-{drawn.id}",
            title=drawn.title,
            caption=words,
            x_label=TIME_LABEL,
            y_label=drawn.label,
            x_log=False,
            y_log=drawn.logarithmic,
            legends=("Statistic", "Network"),
        )


def contents(runs: Runs[Point], version: str) -> Iterator[Figure]:
    """Draw up what a burst holds over the assembly time: segments, and flows."""
    points = along(TIMES)
    words = caption(runs, list(points.values()), version, "Bursts with data. ")
    runs = runs.under(Point.in_full)
    for name, metric in (("segments", SEGMENTS), ("flows", FLOWS)):
        yield Figure.of(
            {(f"{name} in a burst", _WHERE): in_ms(runs.means(points, metric))},
            id=f"mean-{name}",
            title=f"{name.capitalize()} in a burst",
            caption=words,
            x_label=TIME_LABEL,
            y_label=f"{name.capitalize()} in a burst",
            x_log=False,
            legends=("Mean of", "Network"),
        )


def operating(runs: Runs[Point]) -> Listing:
    """List the operating point of each load and assembly time, and what bursts and flows hold."""
    columns = {
        "active flows": ACTIVE,
        "burst loss": LOSS,
        "segments a burst": SEGMENTS,
        "flows a burst": FLOWS,
        "bursts a flow": BURSTS,
        "lost bursts a flow": LOST,
        "flows cut off": CUT_OFF,
    }
    full = runs.under(Point.in_full)
    rows = [
        {"sizes": point.sizes, "assembly": point.words, "ingress": point.ingress}
        | {name: _digits(full.mean(point, metric)) for name, metric in columns.items()}
        for point in LOADS
        if point in full
    ]
    return Listing(
        "operating",
        "Operating points",
        "The slides have 600 to 800 active flows and a burst loss below 2 %. Means over the runs; "
        "bursts with data, and flows that finished. Cut off are those that had not by the end of "
        "the run: elephants.",
        pd.DataFrame(rows),
    )


def window_based_figures(runs: Runs[Point], version: str) -> Iterator[Bars]:
    """Draw up average and variance of the throughput by assembly, and each statistic over T."""
    run = (*along(TIMES).values(), *(window_based(*pair) for pair in PAIRS))
    points = {point.words: point for point in run}
    note = "(B, C): 1 ms below a window of B segments, 10 ms from C on, 5 ms between. "
    words = caption(runs, run, version, note)
    runs = runs.under(Point.in_full)
    for metric, unit, name, label, value in (
        (MEAN, MEGA, "mean", RATE_LABEL, PRINTED[0]),
        (VARIANCE, MEGA**2, "variance", _VARIANCE_LABEL, PRINTED[1]),
    ):
        means = runs.means(points, metric)
        printed = {str(BEST): exact(value)} if str(BEST) in means else {}
        simulated = {assembly: mean.in_unit(unit) for assembly, mean in means.items()}
        yield bars(
            {"simulation": simulated, "published": printed},
            id=f"window-{name}",
            title=f"{name.capitalize()} of the throughput of flows by assembly",
            caption=words,
            x_label="Assembly: fixed time T, or (B, C)",
            y_label=label,
        )
    yield _statistics(
        runs,
        points,
        id="window-statistics",
        title="Each statistic over that with a fixed time of 5 ms",
        caption=words,
        x_label="Assembly: fixed time T, or (B, C)",
        y_label="Ratio to T = 5 ms",
    )


def senders(runs: Runs[Point], version: str) -> Iterator[Bars]:
    """Draw up what SACK and the others carry."""
    points = {name: Point(recovery=name) for name in RECOVERIES}
    words = caption(runs, list(points.values()), version, "Timer of 5 ms. ")
    runs = runs.under(Point.in_full)
    yield _statistics(
        runs,
        points,
        id="senders",
        title="Each statistic over that of SACK, by the recovery from losses",
        caption=words,
        x_label="Recovery",
        y_label="Ratio to SACK",
    )


def _statistics(runs: Runs[Point], points: Mapping[str, Point], **words: Any) -> Bars:
    """Make bars of each statistic over that of the usual assembly and sender."""
    compared = {name: (point, Point()) for name, point in points.items() if point != Point()}
    return bars({each.words: runs.ratios(compared, each.metric) for each in STATISTICS}, **words)


def bars(groups: Mapping[str, Mapping[str, Interval]], **words: Any) -> Bars:
    """Make a figure of bars from zero, side by side for each group, with their intervals."""
    rows = [
        (bar, group, 0.0, x.estimate, x.low, x.high, f"{x.estimate:.3g}")
        for group, values in groups.items()
        for bar, x in values.items()
        if known(x)
    ]
    data = pd.DataFrame(rows, columns=list(BAR_COLUMNS))
    names, legend = (tuple(dict.fromkeys(data[column])) for column in ("bar", "group"))
    return Bars(bars=names, groups=legend, data=data, **words)


def _digits(x: Interval) -> str:
    return f"{x.estimate:.3g}" if known(x) else "–"
