"""Claims of the slides about throughput, windows and senders, judged on our runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lightburst.papers.claims import Claim, known
from lightburst.papers.published import by_point
from lightburst.papers.sheet import Sheet
from lightburst.papers.vlachos2008 import metrics
from lightburst.papers.vlachos2008.design import ADDED, BEST, FIXED, LOADS, PAIRS, SENDERS
from lightburst.papers.vlachos2008.metrics import MEGA, STATISTICS
from lightburst.papers.vlachos2008.points import Point, measured_s

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.papers.runs import Runs

SHEET: Final = Sheet.of(__package__)
#: Metrics of the prototype's values: column, unit in units of the column, and words.
_CHECKED: Final[dict[str, tuple[str, float, str]]] = {
    "mean": (metrics.MEAN, MEGA, "mean throughput of a flow (Mb/s)"),
    "variance": (metrics.VARIANCE, MEGA**2, "variance of the throughput of flows (Mb²/s²)"),
    "segments": (metrics.SEGMENTS, 1.0, "segments in a burst with data"),
    "flows": (metrics.FLOWS, 1.0, "flows with data in such a burst"),
    "bursts": (metrics.BURSTS, 1.0, "bursts of a flow"),
    "lost": (metrics.LOST, 1.0, "lost bursts of a flow"),
    "mice": (metrics.MICE, MEGA, "mean throughput of flows below 100 kB (Mb/s)"),
    "elephants": (metrics.ELEPHANTS, MEGA, "mean throughput of flows above 10 MB (Mb/s)"),
}
PROTOTYPE: Final = by_point(__package__, Point)


def operating_claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge whether the operating point is that of the slides, for each size distribution."""
    for sizes in dict.fromkeys(point.sizes for point in LOADS):
        points = {point.words: point for point in LOADS if point.sizes == sizes}
        usual = points["T = 5 ms"]
        sheet = SHEET.told(sizes=sizes, seconds=usual.measured / 2)
        yield sheet.judge("active", runs.mean(usual, metrics.ACTIVE))
        yield sheet.judge("loss", runs.means(points, metrics.LOSS))


def throughput_claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge the slides' claims about fixed assembly times."""
    yield from checks("throughput", runs)
    short, *_, long = FIXED
    mice, elephants = (runs.best(FIXED, each) for each in (metrics.MICE, metrics.ELEPHANTS))
    sides = {
        "mice": runs.ratio(mice, elephants, metrics.MICE),
        "elephants": runs.ratio(elephants, mice, metrics.ELEPHANTS),
    }
    yield SHEET.judge("fixed-alike", sides)
    opposite = {
        "mean over flows": runs.ratio(short, long, metrics.MEAN),
        "elephants": runs.ratio(long, short, metrics.ELEPHANTS),
    }
    yield SHEET.judge("averages-hide", opposite)


def trace_claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge over all flows the slides' claims about one: faster windows, equal long-term rate."""
    short, *_, long = FIXED
    yield SHEET.judge("mice-faster", runs.ratio(short, long, metrics.MICE))
    both = short._replace(ingress="lose"), long._replace(ingress="lose")
    lost = runs.ratio(*both, metrics.ELEPHANTS)
    same = runs.ratio(short, long, metrics.ELEPHANTS)
    yield SHEET.judge("long-term-same", same, lose=lost.estimate)


def window_claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge the slides' claims about window-based assembly."""
    yield from checks("window-based", runs)
    others = {point.words: (BEST, point) for point in PAIRS if point not in (BEST, ADDED)}
    added = {ADDED.words: (BEST, ADDED)}
    fixed = {point.words: (BEST, point) for point in FIXED}
    for slug, words, metric in STATISTICS:
        sheet = SHEET.told(slug=slug, statistic=words)
        earlier = runs.ratios(others | added, metric)
        yield sheet.judge("best-pair", runs.ratios(others, metric), before=earlier)
        yield sheet.judge("beats-fixed", runs.ratios(fixed, metric))
        yield sheet.judge("best-pair-added", runs.ratio(BEST, ADDED, metric))
    yield SHEET.judge("mean-10.7", runs.mean(BEST, metrics.MEAN).in_unit(MEGA))
    variation = {
        reading: runs.mean(BEST, metric).in_unit(unit)
        for reading, metric, unit in (
            ("variance", metrics.VARIANCE, MEGA**2),
            ("deviation", metrics.DEVIATION, MEGA),
            ("relative", metrics.VARIATION, 0.01),
        )
    }
    yield from SHEET.judge_readings("variation", variation)
    yield SHEET.judge("variance-improved", runs.ratios(fixed, metrics.VARIANCE))


def sender_claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge whether SACK is clearly better than the others."""
    pairs = {point.recovery: (Point(), point) for point in SENDERS if point != Point()}
    for slug, words, metric in STATISTICS:
        ratios = runs.ratios(pairs, metric)
        yield SHEET.judge("sack-better", ratios, slug=slug, statistic=words)


def checks(part: str, runs: Runs[Point]) -> Iterator[Claim]:
    """Compare with the prototype's values of a part, at points that were run in full."""
    for point, row in PROTOTYPE:
        metric, unit, words = _CHECKED[row["name"]]
        mean = runs.mean(point, metric).in_unit(unit)
        if row["part"] == part and known(mean) and measured_s(runs, point) == point.measured:
            numbers = "-".join(re.findall("[0-9]+", point.words))
            yield SHEET.judge(
                "check",
                mean,
                SHEET.note("check", "windows" if point.fast else "timer"),
                published=float(row["value"]),
                slug=f"{row['name']}-{numbers}-{point.ingress}",
                assembly=point.words,
                words=words,
                point=point,
            )
