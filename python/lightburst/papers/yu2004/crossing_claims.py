"""What section V.B says of the three implementations in figure 11."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from lightburst.papers.claims import UNKNOWN, Claim, Verdict, known, largest, listed, smallest
from lightburst.papers.yu2004.grids import crossing_points
from lightburst.papers.yu2004.published import FAMILIES, SHEET
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.papers.yu2004.points import Sender
    from lightburst.papers.yu2004.runs import Runs

_MS = 1e-3
# Times on the grid are powers of ten; a little room decides on which side of a limit they are.
_ROOM = 1.01
_FORM = "{value:.3f} at {at:.3g} ms"

Curve = dict[float, Interval]


def crossing_claims(runs: Runs) -> list[Claim]:
    """Judge what the paper says of figure 11, for each family of senders that was run."""
    return [claim for family in FAMILIES for claim in _family(runs, *family)]


def _family(runs: Runs, senders: tuple[Sender, ...], suffix: str, source: str) -> Iterator[Claim]:
    reno, new_reno, sack = senders
    over = _over(runs, new_reno, reno)
    if not over:
        return
    sheet = SHEET.told(suffix=suffix, source=source, sack=sack.recovery)
    time, apart = _farthest(runs, senders)
    note = f"Largest at T_b = {time * 1e3:.3g} ms."
    yield sheet.judge("fig11-same-above-1ms", apart, note)

    both = _over(runs, sack, reno), _over(runs, sack, new_reno)
    below = {
        time: smallest(table[time] for table in both)
        for time in both[0]
        if time < _MS / _ROOM and time in both[1]
    }
    note = f"By T_b: {_listed(below)}."
    worst = smallest(below.values())
    yield sheet.judge("fig11-sack-highest", worst, note)

    early = _between(over, 10**-5.5 / _ROOM, 1e-4 / _ROOM)
    middle = _between(over, 1e-4 * _ROOM, _MS / _ROOM)
    note = f"New-Reno over Reno: {_listed(early)}."
    yield sheet.judge("fig11-new-reno-early", smallest(early.values()), note)
    note = f"New-Reno over Reno: {_listed(middle)}."
    yield sheet.judge("fig11-reno-late", largest(middle.values()), note)

    place = _crossing(over)
    note = f"New-Reno over Reno: {_listed(over)}."
    never = None if known(place) else Verdict.DIFFERS
    yield sheet.judge("fig11-crossing", place, note, verdict=never)


def _over(runs: Runs, top: Sender, bottom: Sender) -> Curve:
    """Compare two senders at each assembly time that both were run at."""
    points = [point for point in crossing_points(quick=False) if point.by(bottom) == point]
    found = {point.time: runs.ratio(point.by(top), point) for point in points}
    return {time: ratio for time, ratio in found.items() if known(ratio)}


def _farthest(runs: Runs, senders: tuple[Sender, ...]) -> tuple[float, Interval]:
    """Find where above 1 ms two of the senders are farthest apart, and how far, from 1 on."""
    late = [
        (time, ratio if ratio.estimate >= 1 else _inverse(ratio))
        for top, bottom in itertools.combinations(senders, 2)
        for time, ratio in _over(runs, top, bottom).items()
        if time > _MS * _ROOM
    ]
    return max(late, key=lambda row: row[1].estimate, default=(0.0, UNKNOWN))


def _between(over: Curve, first: float, last: float) -> Curve:
    return {time: ratio for time, ratio in over.items() if first < time < last}


def _crossing(over: Curve) -> Interval:
    """Find the two assembly times between which New-Reno falls below Reno."""
    for low, high in itertools.pairwise(sorted(over)):
        if over[low].estimate >= 1 > over[high].estimate and high > 1e-5:
            return Interval(math.sqrt(low * high), low, high, len(over))
    return UNKNOWN


def _inverse(ratio: Interval) -> Interval:
    return Interval(1 / ratio.estimate, 1 / ratio.high, 1 / ratio.low, ratio.n)


def _listed(curve: Curve) -> str:
    return listed({time * 1e3: ratio for time, ratio in curve.items()}, _FORM)
