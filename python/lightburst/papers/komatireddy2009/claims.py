"""Claims of the paper about its figures 3 to 7, judged on our runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from lightburst.papers import curves
from lightburst.papers.claims import UNKNOWN, Claim, exact, known
from lightburst.papers.curves import Curve, between, every
from lightburst.papers.komatireddy2009.best import NAMES
from lightburst.papers.komatireddy2009.design import (
    BEYOND_LAWS,
    BEYOND_TRANSFER,
    BURST,
    CHANNELS,
    DELTA,
    DELTAS,
    FIGURES,
    IN_ORDER,
    LIMITED,
    LOSS,
    LOSSES,
    NOT_LIMITED,
    Axis,
)
from lightburst.papers.komatireddy2009.figures import along, ratios
from lightburst.papers.komatireddy2009.points import (
    FALSE,
    PAPER_TRANSFER,
    PROTOTYPE,
    Point,
    difference,
    transfer_of,
)
from lightburst.papers.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.papers.runs import Runs
    from lightburst.study.statistics import Interval

SHEET: Final = Sheet.of(__package__)
LONGEST: Final = 50e-3
# Section 5.3: "the last point where there is reordering", and a higher loss.
LAST_LOSS: Final = 1e-3
HIGH_LOSS: Final = 1e-2
# Loss below this bound is "low loss probability" (section 5.3).
_LOW_LOSS: Final = 1.01e-4
# Delay differential from which the paper's CUBIC no longer rises.
_BEFORE_LONGEST: Final = 30e-3
SHORT: Final = (
    "A preview: {} in place of 1 GB. The first slow start is a larger part of them, so that ratios "
    "are smaller."
)
# Known reasons for deviations from the prototype's values.
_FAST: Final = (
    "What the prototype's FAST does is not known. With files of 100 MB at 30 ms ours becomes 27 % "
    "faster with a new window in each round trip in place of every other one, 16 % with the last "
    "round-trip time in place of their average, and 4 % if the window also moves in a recovery; "
    "the prototype is 13 % faster with 1 GB. Nearest comes an average of which each "
    "acknowledgement is 1/32 (the publication of FAST has 3 / w, up to 1/4): within 6 % of the "
    "prototype at 1, 10 and 30 ms, but farther from it at p = 0.01."
)
_MARK: Final = (
    " Where a round ends, with the last segment that was outstanding or one segment later as here, "
    "is worth 8 % by itself at 40 ms without SO: 210 or 228 s."
)
_WHEN: Final = (
    " With losses a run hangs on when the edge comes to stay on the longer path: with SO ten runs "
    "took 346 to 543 s, near 350 s or near 510 s."
)
_STAYS: Final = (
    "The path on which the edge is when the load has fallen below the threshold stays for good; on "
    "the alternate one the round trip is twice as long."
)
# Delay differential from which the prototype is not chaotic: the assembly time.
_ASSEMBLY_TIME: Final = 10e-3


class _Sides(NamedTuple):
    """Points without and with source ordering, at the default value of the axis."""

    without: Point
    ordered: Point


def _sides(runs: Runs[Point], axis: Axis, law: str) -> _Sides:
    transfer = transfer_of(runs)
    return _Sides(axis.at(law, "none", transfer), axis.at(law, "source", transfer))


def _lossy(runs: Runs[Point], law: str) -> _Sides:
    """Return the two points at the highest loss."""
    return _Sides(*(side._replace(loss=HIGH_LOSS) for side in _sides(runs, LOSS, law)))


def _gains(runs: Runs[Point], axis: Axis, law: str) -> Curve:
    """Compute the ratio of completion times without and with source ordering."""
    return ratios(runs, axis, *_sides(runs, axis, law))


def figure_claims(part: str, runs: Runs[Point]) -> Iterator[Claim]:
    """Judge the paper's claims about a figure, and compare with the prototype's values."""
    transfer = transfer_of(runs)
    note = "" if transfer == PAPER_TRANSFER else SHORT.format(transfer.words)
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
    if NOT_LIMITED in runs:
        longer = runs.ratio(NOT_LIMITED, LIMITED)
        yield SHEET.judge("unlimited-window", longer, seconds=runs.mean(NOT_LIMITED).estimate)


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
    slower = {delta: _difference(runs, *pair) for delta, pair in pairs.items()}
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
    """Subtract completion times; `UNKNOWN` for files smaller than the paper's."""
    return difference(runs, top, bottom) if top.size == PAPER_TRANSFER.size else UNKNOWN


_TEXT: Final = {
    "fig3": _figure_3,
    "fig4": _figure_4,
    "fig5": _figure_5,
    "fig6": _figure_6,
    "fig7": _figure_7,
}


def _checks(part: str, runs: Runs[Point]) -> Iterator[Claim]:
    """Compare with each value of the prototype that belongs to a figure and was run."""
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
            why=_why(law, point.loss),
        )  # fmt: skip
        chaotic = point.remedy == "none" and point.delta < _ASSEMBLY_TIME
        name = "check-chaotic" if chaotic else "check"
        yield sheet.judge(name, mean, published=check.completion)
        if check.false is not None:
            false = runs.mean(point, FALSE)
            yield sheet.judge("check-false", false, published=check.false)


def _why(law: str, loss: float) -> str:
    if loss == HIGH_LOSS:
        return _STAYS
    return _FAST + (_WHEN if loss else _MARK) if law == "FAST" else ""


def beyond_claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge the other remedies that the paper names, and those against contention."""

    def compared(axis: Axis, law: str, top: str, bottom: str) -> Curve:
        above, below = (axis.at(law, name, BEYOND_TRANSFER) for name in (top, bottom))
        return ratios(runs, axis, above, below)

    for remedy in ("destination", "rr-tcp"):
        sheet = SHEET.told(remedy=remedy, name=NAMES[remedy])
        equal = every({law: compared(DELTAS, law, remedy, "source") for law in BEYOND_LAWS})
        yield sheet.judge("as-good", equal)
        contend = every({law: compared(CHANNELS, law, remedy, "source") for law in BEYOND_LAWS})
        yield sheet.judge("contention-without-so", contend)
    for law in BEYOND_LAWS:
        later = between(compared(LOSSES, law, "destination", "source"), 0.0)
        yield SHEET.judge("destination-recovers-later", later, law=law, slug=law.lower())
    yield SHEET.judge("contention-none", _contention(runs))
    for remedy in ("segmentation", "deflection"):
        helps = every({law: compared(CHANNELS, law, "none", remedy) for law in BEYOND_LAWS})
        source = "paper, section 6" if remedy == "segmentation" else "this project"
        sheet = SHEET.told(remedy=remedy, name=NAMES[remedy], source=source)
        yield sheet.judge("contention-helps", helps)


def _contention(runs: Runs[Point]) -> dict[tuple[str, float], Interval]:
    """Return the largest share of lost bursts with all wavelengths and no random loss."""
    found = {}
    for law in BEYOND_LAWS:
        for delta in DELTAS.values:
            for remedy in IN_ORDER:
                point = DELTAS.put(DELTAS.at(law, remedy, BEYOND_TRANSFER), delta)
                lost = runs.samples(point, "burst_loss")
                if lost is not None:
                    found[f"{law}, {NAMES[remedy]}", delta] = exact(lost.max())
    return found
