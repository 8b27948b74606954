"""What section V.B says of the three implementations in figure 11."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

from lightburst.papers.claims import (
    UNKNOWN,
    Claim,
    Verdict,
    at_least,
    at_most,
    judged,
    known,
)
from lightburst.papers.yu2004.grids import crossing_points
from lightburst.papers.yu2004.table_claims import FAMILIES
from lightburst.papers.yu2004.tolerance import HALF_DECADE, VISIBLE
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lightburst.papers.yu2004.points import Sender
    from lightburst.papers.yu2004.runs import Runs

_SET = "p = 0.03, 125 MB/s"
_MS = 1e-3
# Times on the grid are powers of ten; a little room decides on which side of a limit they are.
_ROOM = 1.01


class Family(NamedTuple):
    """One figure 11: its runs, its senders and how its claims are called.

    Parameters
    ----------
    runs : Runs
        The runs.
    senders : tuple of Sender
        Reno, New-Reno and SACK.
    suffix, source : str
        End of the claims' names, and who claims it.
    """

    runs: Runs
    senders: tuple[Sender, ...]
    suffix: str
    source: str

    def over(self, top: Sender, bottom: Sender) -> dict[float, Interval]:
        """Compare two senders at each assembly time that both were run at."""
        found = {}
        for point in crossing_points(quick=False):
            if point.by(bottom) == point:
                ratio = self.runs.ratio(point.by(top), point)
                if known(ratio):
                    found[point.time] = ratio
        return found

    def judge(
        self,
        name: str,
        words: str,
        measured: Interval,
        verdict: Verdict,
        rule: str,
        note: str,
        published: float = 1.0,
    ) -> Claim:
        """Put a claim of this family together."""
        return judged(
            f"fig11-{name}{self.suffix}",
            "fig11",
            f"{_SET}: {words}",
            published,
            measured,
            verdict,
            rule,
            note,
            source=self.source,
        )


def crossing_claims(runs: Runs) -> list[Claim]:
    """Judge what the paper says of figure 11.

    Parameters
    ----------
    runs : Runs
        The runs.

    Returns
    -------
    list of Claim
        With the senders of ns-2, and where they were run with those of the RFCs.
    """
    found = []
    for senders, suffix, source in FAMILIES:
        family = Family(runs, senders, suffix, source)
        reno, new_reno, _ = senders
        over = family.over(new_reno, reno)
        if over:
            found += [_same(family), _sack(family), *_order(family, over), _place(family, over)]
    return found


def _same(family: Family) -> Claim:
    pairs = itertools.combinations(family.senders, 2)
    late = [
        (time, ratio if ratio.estimate >= 1 else _inverse(ratio))
        for top, bottom in pairs
        for time, ratio in family.over(top, bottom).items()
        if time > _MS * _ROOM
    ]
    time, apart = max(late, key=lambda row: row[1].estimate, default=(0.0, UNKNOWN))
    return family.judge(
        "same-above-1ms",
        "all three perform the same for T_b above 1 ms (largest ratio of two of them)",
        apart,
        at_most(apart, VISIBLE),
        f"the whole interval is below {VISIBLE:.3f}, which two means can just tell apart",
        f"Largest at T_b = {time * 1e3:.3g} ms.",
    )


def _sack(family: Family) -> Claim:
    reno, new_reno, sack = family.senders
    both = family.over(sack, reno), family.over(sack, new_reno)
    below = {
        time: min((table[time] for table in both), key=lambda ratio: ratio.estimate)
        for time in both[0]
        if time < _MS / _ROOM and time in both[1]
    }
    worst = min(below.values(), key=lambda ratio: ratio.estimate, default=UNKNOWN)
    return family.judge(
        "sack-highest",
        f"SACK ({sack.recovery}) has the highest throughput for every T_b below 1 ms (smallest "
        "ratio to the better of the others)",
        worst,
        at_least(worst, 1 / VISIBLE),
        f"the whole interval is above {1 / VISIBLE:.3f}, which two means can just tell apart",
        f"By T_b: {_listed(below)}.",
    )


def _order(family: Family, over: Mapping[float, Interval]) -> list[Claim]:
    first, last = 10**-5.5 / _ROOM, 1e-4 / _ROOM
    early = {time: ratio for time, ratio in over.items() if first < time < last}
    middle = {time: ratio for time, ratio in over.items() if 1e-4 * _ROOM < time < _MS / _ROOM}
    least = min(early.values(), key=lambda ratio: ratio.estimate, default=UNKNOWN)
    most = max(middle.values(), key=lambda ratio: ratio.estimate, default=UNKNOWN)
    return [
        family.judge(
            "new-reno-early",
            "New-Reno outperforms Reno between 10^-2.5 and 10^-1 ms (smallest ratio)",
            least,
            at_least(least, 1.0),
            "the whole interval is at or above 1 at each T_b from 10^-2.5 ms to below 0.1 ms",
            f"New-Reno over Reno: {_listed(early)}.",
        ),
        family.judge(
            "reno-late",
            "Reno outperforms New-Reno between 0.1 and 1 ms (largest ratio of New-Reno to Reno)",
            most,
            at_most(most, 1.0),
            "the whole interval is below 1 at each T_b between 0.1 and 1 ms",
            f"New-Reno over Reno: {_listed(middle)}.",
        ),
    ]


def _place(family: Family, over: Mapping[float, Interval]) -> Claim:
    times = sorted(over)
    changes = [
        (before, after)
        for before, after in itertools.pairwise(times)
        if over[before].estimate >= 1 > over[after].estimate and after > 1e-5
    ]
    place, verdict = UNKNOWN, Verdict.DIFFERS
    if changes:
        low, high = changes[0]
        place = Interval(math.sqrt(low * high), low, high, len(times))
        near = place.high >= 1e-4 / HALF_DECADE and place.low <= 1e-4 * HALF_DECADE
        verdict = Verdict.HOLDS if near else Verdict.DIFFERS
    return family.judge(
        "crossing",
        "the curves of New-Reno and Reno cross at T_b = 0.1 ms (seconds; in place of an interval "
        "the two assembly times between which they do)",
        place,
        verdict,
        "the two are within half a decade of 0.1 ms, the step of the axis",
        f"New-Reno over Reno: {_listed(over)}.",
        published=1e-4,
    )


def _inverse(ratio: Interval) -> Interval:
    return Interval(1 / ratio.estimate, 1 / ratio.high, 1 / ratio.low, ratio.n)


def _listed(table: Mapping[float, Interval]) -> str:
    cells = (f"{ratio.estimate:.3f} at {time * 1e3:.3g} ms" for time, ratio in table.items())
    return ", ".join(cells)
