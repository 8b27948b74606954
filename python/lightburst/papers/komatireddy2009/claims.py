"""What the paper claims about its figures 3 to 7, judged on our runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from lightburst.papers import curves
from lightburst.papers.claims import UNKNOWN, Claim, exact, known
from lightburst.papers.curves import Curve, between, every
from lightburst.papers.komatireddy2009.design import BURST, DELTA, FIGURES, LOSS, Axis
from lightburst.papers.komatireddy2009.figures import NAMES, along, ratios
from lightburst.papers.komatireddy2009.points import (
    FALSE,
    LAWS,
    PAPER_BYTES,
    Point,
    difference,
    size_of,
)
from lightburst.papers.published import rows_of
from lightburst.papers.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.papers.runs import Runs
    from lightburst.study.statistics import Interval

SHEET: Final = Sheet.of(__package__)
LONGEST: Final = 50e-3
# "The last point where there is reordering", section 5.3, and one above it.
LAST_LOSS: Final = 1e-3
HIGH_LOSS: Final = 1e-2
# Below this a loss is low: "for low loss probability", section 5.3.
_LOW_LOSS: Final = 1.01e-4
# Where the paper says that CUBIC rises no more.
_BEFORE_LONGEST: Final = 30e-3
SHORT: Final = (
    "A preview: files of {:g} MB in place of 1 GB. The first slow start is a larger part of them, "
    "so that ratios are smaller."
)
# From the assembly time on the prototype is not chaotic.
_ASSEMBLY_TIME: Final = 10e-3


class Check(NamedTuple):
    """A value of the independent prototype; `false` is None where it gives none."""

    point: Point
    completion: float
    false: float | None


PROTOTYPE: Final = [
    Check(
        Point(row["law"], row["remedy"], float(row["delta_ms"]) / 1e3, loss=float(row["loss"])),
        float(row["completion_s"]),
        float(row["false_fast_retransmits"]) if row["false_fast_retransmits"] else None,
    )
    for row in rows_of(__package__, "prototype.csv")
]


class _Sides(NamedTuple):
    """The points without and with source ordering, of any value of the axis."""

    without: Point
    ordered: Point


def _sides(runs: Runs[Point], axis: Axis, law: str) -> _Sides:
    size = size_of(runs)
    return _Sides(axis.at(law, "none", size), axis.at(law, "source", size))


def _lossy(runs: Runs[Point], law: str) -> _Sides:
    """Give the two points at the highest loss."""
    return _Sides(*(side._replace(loss=HIGH_LOSS) for side in _sides(runs, LOSS, law)))


def _gains(runs: Runs[Point], axis: Axis, law: str) -> Curve:
    """Compare completion times without source ordering to those with it."""
    return ratios(runs, axis, *_sides(runs, axis, law))


def figure_claims(part: str, runs: Runs[Point]) -> Iterator[Claim]:
    """Judge what the paper says of a figure, and whether the prototype's values are met."""
    size = size_of(runs)
    note = "" if size == PAPER_BYTES else SHORT.format(size / 1e6)
    for claim in (_no_false(part, runs), *_TEXT[part](runs), *_checks(part, runs)):
        yield claim.noted(note)


def _no_false(part: str, runs: Runs[Point]) -> Claim:
    law, axes = FIGURES[part]
    found = {}
    for axis in axes:
        _, ordered = _sides(runs, axis, law)
        for value in axis.every:
            point = axis.put(ordered, value)
            counts = runs.samples(point, FALSE)
            if counts is not None and not point.loss:
                found[axis.field, value] = exact(counts.max())
    source = "paper" if part == "fig3" else "paper, section 4"
    return SHEET.judge("no-false", found, figure=part, law=law, source=source)


def _figure_3(runs: Runs[Point]) -> Iterator[Claim]:
    gains = _gains(runs, DELTA, "HighSpeed")
    apart = between(gains, 0.0)
    for name in ("gain-300", "gain-300-value", "gain-400"):
        yield SHEET.judge(name, apart)
    without, _ = _sides(runs, DELTA, "HighSpeed")
    yield SHEET.judge("reorders-1ms", runs.mean(without._replace(delta=1e-3), FALSE))
    yield SHEET.judge("slower-1ms", apart)


def _figure_4(runs: Runs[Point]) -> Iterator[Claim]:
    without, ordered = _sides(runs, BURST, "HighSpeed")
    times = along(runs, BURST, without)
    false = along(runs, BURST, without, FALSE)
    pairs = {size: (ordered._replace(burst=size), ordered) for size in times if size != 100e3}
    yield SHEET.judge("burst-little-so", runs.ratios(pairs))
    means = {size: x.estimate for size, x in times.items() if known(x)}
    effect, fewer = UNKNOWN, UNKNOWN
    if means:
        slow, fast = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
        effect = runs.ratio(without._replace(burst=slow), without._replace(burst=fast))
        many, few = (without._replace(burst=end) for end in (min(times), max(times)))
        fewer = runs.ratio(few, many, FALSE)
    form = "{value:.3g} at {at:g} B"
    yield SHEET.judge("burst-effect", effect, each=curves.listed(times, form))
    yield SHEET.judge("burst-fewer-false", fewer, each=curves.listed(false, form))


def _figure_5(runs: Runs[Point]) -> Iterator[Claim]:
    gains = _gains(runs, LOSS, "HighSpeed")
    without, ordered = _sides(runs, LOSS, "HighSpeed")
    saved = _difference(runs, without._replace(loss=LAST_LOSS), ordered._replace(loss=LAST_LOSS))
    yield SHEET.judge("loss-gain-300", between(gains, 0.0, _LOW_LOSS))
    yield SHEET.judge("loss-60s", saved)
    yield SHEET.judge("loss-6-percent", gains.get(LAST_LOSS, UNKNOWN))
    yield SHEET.judge("loss-little-gain", gains.get(HIGH_LOSS, UNKNOWN))
    yield SHEET.judge("loss-no-reordering", runs.mean(without._replace(loss=HIGH_LOSS), FALSE))


def _figure_6(runs: Runs[Point]) -> Iterator[Claim]:
    for axis, words in (
        (DELTA, "the delay differential, but for 50 ms without SO"),
        (BURST, "the largest burst"),
        (LOSS, "the loss"),
    ):
        cubic, highspeed = _sides(runs, axis, "CUBIC"), _sides(runs, axis, "HighSpeed")
        both = {NAMES[top.remedy]: ratios(runs, axis, top, bottom)
                for top, bottom in zip(cubic, highspeed, strict=True)}  # fmt: skip
        found = every(both)
        if axis is DELTA:
            found.pop((NAMES["none"], LONGEST), None)
        yield SHEET.judge("cubic-similar", found, field=axis.field, words=words)
    for name, law in (("highspeed-rise", "HighSpeed"), ("cubic-no-rise", "CUBIC")):
        without, _ = _sides(runs, DELTA, law)
        longest, before = (without._replace(delta=x) for x in (LONGEST, _BEFORE_LONGEST))
        yield SHEET.judge(name, runs.ratio(longest, before))


def _figure_7(runs: Runs[Point]) -> Iterator[Claim]:
    fast, highspeed = _sides(runs, DELTA, "FAST"), _sides(runs, DELTA, "HighSpeed")
    pairs = {delta: [side.ordered._replace(delta=delta) for side in (fast, highspeed)]
             for delta in along(runs, DELTA, fast.ordered) if delta}  # fmt: skip
    differences = {delta: _difference(runs, *pair) for delta, pair in pairs.items()}
    slower = {delta: x for delta, x in differences.items() if known(x)}
    yield SHEET.judge("fast-so-slower", slower)
    yield SHEET.judge("fast-so-not-much-slower", slower)
    worse = between(ratios(runs, DELTA, fast.without, highspeed.without), 0.0)
    yield SHEET.judge("fast-worse", worse)
    yield SHEET.judge("fast-three-times", worse.get(LONGEST, UNKNOWN))
    growth = {}
    for point in _sides(runs, BURST, "FAST"):
        sizes = along(runs, BURST, point)
        if sizes:
            largest, smallest = (point._replace(burst=x) for x in (max(sizes), min(sizes)))
            growth[NAMES[point.remedy]] = runs.ratio(largest, smallest)
    yield SHEET.judge("fast-bursts", growth)
    lossy = _lossy(runs, "FAST")
    for other in ("HighSpeed", "CUBIC"):
        beside = _lossy(runs, other)
        both = {NAMES[a.remedy]: (a, b) for a, b in zip(lossy, beside, strict=True)}
        yield SHEET.judge("fast-high-loss", runs.ratios(both), other=other, slug=other.lower())
    yield SHEET.judge("fast-so-high-loss", runs.ratio(*lossy))


def _difference(runs: Runs[Point], top: Point, bottom: Point) -> Interval:
    """Subtract completion times; `UNKNOWN` where files are smaller than the paper's."""
    return difference(runs, top, bottom) if top.size == PAPER_BYTES else UNKNOWN


_TEXT: Final = {
    "fig3": _figure_3,
    "fig4": _figure_4,
    "fig5": _figure_5,
    "fig6": _figure_6,
    "fig7": _figure_7,
}


def _checks(part: str, runs: Runs[Point]) -> Iterator[Claim]:
    """Compare with each value of the prototype that was run and belongs to a figure."""
    law, axes = FIGURES[part]
    for check in PROTOTYPE:
        point = check.point
        on = LOSS if point.loss else DELTA
        mean = runs.mean(point)
        if point.law != law or on not in axes or not known(mean):
            continue
        sheet = SHEET.told(
            slug=law.lower(), law=law, remedy=point.remedy, figure=part,
            name=NAMES[point.remedy], ms=point.delta * 1e3, p=point.loss,
        )  # fmt: skip
        chaotic = point.remedy == "none" and point.delta < _ASSEMBLY_TIME
        name = "check-chaotic" if chaotic else "check"
        yield sheet.judge(name, mean, published=check.completion)
        if check.false is not None:
            false = runs.mean(point, FALSE)
            yield sheet.judge("check-false", false, published=check.false)


def beyond_claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge ordering at the destination, which the paper argues against, and RR-TCP beside SO."""

    def compared(axis: Axis, law: str, remedy: str) -> Curve:
        _, ordered = _sides(runs, axis, law)
        return ratios(runs, axis, ordered._replace(remedy=remedy), ordered)

    for remedy in ("destination", "rr-tcp"):
        equal = every({law: compared(DELTA, law, remedy) for law in LAWS})
        yield SHEET.judge("as-good", equal, remedy=remedy, name=NAMES[remedy])
    for law in LAWS:
        later = between(compared(LOSS, law, "destination"), 0.0)
        yield SHEET.judge("destination-recovers-later", later, law=law, slug=law.lower())
