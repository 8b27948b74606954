"""Figures of the slides about many flows: throughput by assembly and by sender."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pandas as pd

from lightburst.papers.claims import exact, known
from lightburst.papers.figure import Bars, Figure, Listing
from lightburst.papers.vlachos2008 import design, metrics
from lightburst.papers.vlachos2008.metrics import MEGA, STATISTICS
from lightburst.papers.vlachos2008.points import Point, measured_s

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lightburst.papers.runs import Runs
    from lightburst.study.statistics import Interval

#: Values printed by the slides for (B, C) = (16, 64): mean in Mb/s, variation as a variance.
PRINTED: Final = (10.7, 51.0)
_RATE_LABEL: Final = "Throughput of a flow (Mb/s)"
_VARIANCE_LABEL: Final = "Variance of the throughput of flows (Mb²/s²)"
#: Text of a caption about window-based assembly.
PAIR_WORDS: Final = "(B, C): 1 ms below a window of B segments, 10 ms from C on, 5 ms between. "


class Drawn(NamedTuple):
    """Definition of a figure over the assembly time; `curves` maps legend entries to metrics."""

    id: str
    curves: dict[str, str]
    unit: float
    label: str
    title: str
    logarithmic: bool = False


_THROUGHPUT: Final = (
    Drawn("throughput-mean", {words: metric for _, words, metric in STATISTICS[:2]}, MEGA,
          _RATE_LABEL, "Average throughput of flows"),
    Drawn("throughput-variance", {"variance over flows": metrics.VARIANCE}, MEGA**2,
          _VARIANCE_LABEL, "Variance of the throughput of flows"),
    Drawn("throughput-extremes", {"maximum": metrics.MOST, "minimum": metrics.LEAST}, MEGA,
          _RATE_LABEL, "Largest and smallest throughput of a flow", True),
    Drawn("throughput-classes", {"below 100 kB": metrics.MICE, "above 10 MB": metrics.ELEPHANTS},
          MEGA, _RATE_LABEL, "Average throughput of mice and elephants", True),
)  # fmt: skip
_CONTENTS: Final = (
    Drawn("mean-segments", {"segments in a burst": metrics.SEGMENTS}, 1.0,
          "Segments in a burst", "Segments in a burst"),
    Drawn("mean-flows", {"flows in a burst": metrics.FLOWS}, 1.0,
          "Flows in a burst", "Flows in a burst"),
)  # fmt: skip


def caption(runs: Runs[Point], points: Sequence[Point], version: str, words: str = "") -> str:
    """Describe the runs of some points of NSFNET, and in `words` the specifics of a figure."""
    length = max((measured_s(runs, point) for point in points if point in runs), default=0.0)
    return (
        "NSFNET, 8 edges, 100 flows a second at each, Pareto sizes of at least 40 kB "
        f"({', '.join(dict.fromkeys(point.sizes for point in points))}). {words}Flows that begin "
        f"within {length:g} s, after {length / 2:g} s of warm-up; {runs.numbers_text(points)}; "
        f"bars: 95 % interval of the mean. lightburst {version}."
    )


def throughput(runs: Runs[Point], version: str) -> Iterator[Figure]:
    """Build figures of mean, variance and extremes of the throughput over the assembly time."""
    words = {"caption": caption(runs, design.AXIS, version), "legends": ("Statistic", "Network")}
    return over_time(runs, _THROUGHPUT, design.AXIS, "NSFNET", **words)


def contents(runs: Runs[Point], version: str) -> Iterator[Figure]:
    """Build figures of the segments and flows per burst over the assembly time."""
    said = caption(runs, design.FIXED, version, "Bursts with data. ")
    words = {"caption": said, "legends": ("Mean of", "Network")}
    return over_time(runs, _CONTENTS, design.FIXED, "NSFNET", **words)


def over_time(
    runs: Runs[Point], figures: Sequence[Drawn], points: Sequence[Point], dash: str, **words: Any
) -> Iterator[Figure]:
    """Build figures of points that differ in the assembly time; all curves share one dash."""
    for drawn in figures:
        yield Figure.of(
            {
                (name, dash): {point.time * 1e3: runs.mean(point, metric) for point in points}
                for name, metric in drawn.curves.items()
            },
            drawn.unit,
            id=drawn.id,
            title=drawn.title,
            x_label="Assembly time T (ms)",
            y_label=drawn.label,
            x_log=False,
            y_log=drawn.logarithmic,
            **words,
        )


def operating(runs: Runs[Point]) -> Listing:
    """List the operating points, with means per burst and per flow."""
    columns = {
        "active flows": metrics.ACTIVE,
        "burst loss": metrics.LOSS,
        "segments a burst": metrics.SEGMENTS,
        "flows a burst": metrics.FLOWS,
        "bursts a flow": metrics.BURSTS,
        "lost bursts a flow": metrics.LOST,
        "flows cut off": metrics.CUT_OFF,
    }
    rows = [
        {"sizes": point.sizes, "assembly": point.words, "ingress": point.ingress}
        | {name: _digits(runs.mean(point, metric)) for name, metric in columns.items()}
        for point in design.LOADS
        if point in runs
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
    """Build bars of mean and variance by assembly, and of each statistic relative to T = 5 ms."""
    run = (*design.FIXED, *design.PAIRS)
    points = {point.words: point for point in run}
    words = {
        "caption": caption(runs, run, version, PAIR_WORDS),
        "x_label": "Assembly: fixed time T, or (B, C)",
    }
    for metric, unit, name, label, value in (
        (metrics.MEAN, MEGA, "mean", _RATE_LABEL, PRINTED[0]),
        (metrics.VARIANCE, MEGA**2, "variance", _VARIANCE_LABEL, PRINTED[1]),
    ):
        simulated = {at: mean.in_unit(unit) for at, mean in runs.means(points, metric).items()}
        printed = {at: exact(value) for at in simulated if at == design.BEST.words}
        yield Bars.of(
            {"simulation": simulated, "published": printed},
            id=f"window-{name}",
            title=f"{name.capitalize()} of the throughput of flows by assembly",
            y_label=label,
            **words,
        )
    yield _statistics(
        runs,
        points,
        id="window-statistics",
        title="Each statistic over that with a fixed time of 5 ms",
        y_label="Ratio to T = 5 ms",
        **words,
    )


def senders(runs: Runs[Point], version: str) -> Iterator[Bars]:
    """Build bars of each statistic by recovery, relative to SACK."""
    yield _statistics(
        runs,
        {point.recovery: point for point in design.SENDERS},
        id="senders",
        title="Each statistic over that of SACK, by the recovery from losses",
        caption=caption(runs, design.SENDERS, version, "Timer of 5 ms. "),
        x_label="Recovery",
        y_label="Ratio to SACK",
    )


def _statistics(runs: Runs[Point], points: Mapping[str, Point], **words: Any) -> Bars:
    """Build bars of each statistic relative to the default assembly and sender."""
    compared = {name: (point, Point()) for name, point in points.items() if point != Point()}
    ratios = {name: runs.ratios(compared, metric) for _, name, metric in STATISTICS}
    return Bars.of(ratios, **words)


def _digits(x: Interval) -> str:
    return f"{x.estimate:.3g}" if known(x) else "–"
