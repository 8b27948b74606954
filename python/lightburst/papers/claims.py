"""Claims of a paper and how they are judged.

A claim is a sentence of a paper made measurable: a quantity, a criterion that was fixed before the
run, and a verdict that follows from the two alone. The functions here are pure; a claim that the
runs contradict comes out as ``differs`` and stays in the table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from lightburst.shown import html_table
from lightburst.study.statistics import Interval, number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

# An interval wider than this to either side, as a fraction of the value, shows nothing.
RESOLUTION: Final = 0.25


class Verdict(StrEnum):
    """What the runs say about a claim."""

    HOLDS = "holds"
    DIFFERS = "differs"
    NOT_COMPARABLE = "not comparable"


# The first word of a criterion that no number of runs could meet: there is nothing to compare with.
NONE: Final = "none"
_UNDECIDED: Final = "Undecided: the interval is too wide for this criterion, more seeds would tell"
# More would not be run for any claim.
_MOST_TIMES: Final = 1000.0

UNKNOWN: Final = Interval(math.nan, math.nan, math.nan, 0)


@dataclass(frozen=True, slots=True)
class Reading:
    """A sense in which the words of a claim can be taken, judged.

    Parameters
    ----------
    words : str
        What is measured in this sense, with its unit.
    measured, ci_low, ci_high : float or None
        What the runs gave, in that unit, with its 95 % interval; None where they gave nothing.
    verdict : Verdict
        What the claim would be if this were the sense.
    """

    words: str
    measured: float | None
    ci_low: float | None
    ci_high: float | None
    verdict: Verdict

    def __str__(self) -> str:
        interval = "" if self.ci_low is None else f" ({interval_of(self, _short)})"
        return f"{_short(self.measured)}{interval} as {self.words}"


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim, judged.

    Parameters
    ----------
    id : str
        Stable name, unique within the paper.
    figure : str
        Name of the figure that it belongs to.
    statement : str
        What is claimed, in words that say what was measured.
    published : float or None
        The number of the source; None where it gives words only.
    measured, ci_low, ci_high : float or None
        What the runs gave, with its 95 % interval; None where they gave nothing.
    verdict : Verdict
        ``holds``, ``differs`` or ``not comparable``.
    criterion : str
        The rule, fixed before the run, that the verdict follows.
    note : str
        What else the runs show: where it holds and where not, and what we know of the reason.
    source : str
        Who claims it.
    readings : tuple of Reading
        The senses of its words, where there are several, in the order of their plausibility; the
        claim is judged by all of them together (`by_readings`).
    """

    id: str
    figure: str
    statement: str
    published: float | None
    measured: float | None
    ci_low: float | None
    ci_high: float | None
    verdict: Verdict
    criterion: str
    note: str
    source: str = "paper"
    readings: tuple[Reading, ...] = ()

    def noted(self, more: str) -> Claim:
        """Give the same claim with more in its note."""
        return replace(self, note=f"{self.note} {more}".strip())

    @property
    def reference(self) -> str:
        """What the number of the source is: only a paper's is published."""
        return "published" if self.source.startswith("paper") else "reference"

    def as_dict(self) -> dict[str, str | float | None]:
        """Give the claim as the nine keys of the JSON contract.

        Returns
        -------
        dict
            ``id``, ``figure``, ``statement``, ``published``, ``measured``, ``ci_low``, ``ci_high``,
            ``verdict`` and ``note``; the note carries source and criterion too.
        """
        note = f"Source: {self.source}. Criterion: {self.criterion}. {self.note}".strip()
        return {
            "id": self.id,
            "figure": self.figure,
            "statement": self.statement,
            "published": self.published,
            "measured": self.measured,
            "ci_low": self.ci_low,
            "ci_high": self.ci_high,
            "verdict": self.verdict.value,
            "note": note,
        }


class Claims(tuple[Claim, ...]):
    """The claims of a paper, judged, in their order; a notebook shows them as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Claims: {counted(self)}>"

    def _repr_html_(self) -> str:
        return self.html(repr(self).strip("<>"))

    def html(self, title: str) -> str:
        """Write them as a table for a notebook."""
        heading = ("claim", "published", "measured", "95 % interval", "verdict")
        return html_table(title, map(_row, self), heading)


def _row(claim: Claim) -> tuple[str, ...]:
    numbers = _short(claim.published), _short(claim.measured), interval_of(claim, _short)
    return claim.statement, *numbers, claim.verdict.value


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def by_source(claims: Iterable[Claim]) -> dict[str, list[Claim]]:
    """Sort claims by who makes them, in the order in which the sources first come."""
    found: dict[str, list[Claim]] = {}
    for claim in claims:
        found.setdefault(claim.source, []).append(claim)
    return found


def counted(claims: Iterable[Claim]) -> str:
    """Say how many claims there are of each verdict."""
    found = [claim.verdict for claim in claims]
    return ", ".join(f"{found.count(verdict)} {verdict.value}" for verdict in Verdict)


def at_least(measured: Interval, bound: float) -> Verdict:
    """Judge "is at least `bound`".

    Parameters
    ----------
    measured : Interval
        The measured quantity with its 95 % interval.
    bound : float
        The claimed lower bound, in the unit of the quantity.

    Returns
    -------
    Verdict
        ``holds`` when the whole interval is at or above the bound, ``differs`` when it is below,
        ``not comparable`` when it contains the bound (more seeds would decide) or is unknown.
    """
    if not known(measured):
        return Verdict.NOT_COMPARABLE
    if measured.low >= bound:
        return Verdict.HOLDS
    return Verdict.DIFFERS if measured.high < bound else Verdict.NOT_COMPARABLE


def at_most(measured: Interval, bound: float) -> Verdict:
    """Judge "is at most `bound`"; the mirror of `at_least`."""
    mirrored = Interval(-measured.estimate, -measured.high, -measured.low, measured.n)
    return at_least(mirrored, -bound)


def agrees(measured: Interval, low: float, high: float, resolution: float = RESOLUTION) -> Verdict:
    """Judge "is the published number", given as the band of its own uncertainty.

    Parameters
    ----------
    measured : Interval
        The measured quantity with its 95 % interval.
    low, high : float
        What the published number may stand for: rounding, and the interval of its own mean.
    resolution : float
        See below.

    Returns
    -------
    Verdict
        ``holds`` when interval and band meet, ``differs`` when they do not. ``not comparable``
        when they meet only because the interval is wider than `resolution` of the value to either
        side: such runs would agree with anything.
    """
    if not known(measured):
        return Verdict.NOT_COMPARABLE
    if measured.high < low or measured.low > high:
        return Verdict.DIFFERS
    reach = max(measured.high - measured.estimate, measured.estimate - measured.low)
    coarse = reach > resolution * abs(measured.estimate)
    return Verdict.NOT_COMPARABLE if coarse else Verdict.HOLDS


def within(measured: Interval, low: float, high: float) -> Verdict:
    """Judge "is the published number to within a tolerance", given as the band that it allows.

    Parameters
    ----------
    measured : Interval
        The measured quantity with its 95 % interval.
    low, high : float
        The published number less and plus the tolerance.

    Returns
    -------
    Verdict
        As for `at_least` and `at_most`: ``holds`` when the whole interval is in the band,
        ``differs`` when it is outside, ``not comparable`` when an end of the band is in it.
    """
    both = (at_least(measured, low), at_most(measured, high))
    if Verdict.DIFFERS in both:
        return Verdict.DIFFERS
    return Verdict.NOT_COMPARABLE if Verdict.NOT_COMPARABLE in both else Verdict.HOLDS


def verdict_of(good: bool) -> Verdict:
    """Judge what is known exactly: ``holds`` or ``differs``."""
    return Verdict.HOLDS if good else Verdict.DIFFERS


def exact(value: float) -> Interval:
    """Give what is known exactly as an interval of no width; `UNKNOWN` if it is no number."""
    value = float(value)
    return Interval(value, value, value, 1) if math.isfinite(value) else UNKNOWN


def known(measured: Interval) -> bool:
    """Whether there is an estimate with both ends of its interval."""
    return all(math.isfinite(end) for end in (measured.estimate, measured.low, measured.high))


def ends(measured: Interval, digits: int) -> dict[str, float]:
    """Give the ends of an interval as two cells of a table."""
    return {"95 % from": round(measured.low, digits), "to": round(measured.high, digits)}


def times_as_many(measured: Interval, judge: Callable[[Interval], Verdict]) -> float:
    """Estimate how many times as many seeds would decide, if the estimate stays what it is.

    Parameters
    ----------
    measured : Interval
        What is undecided.
    judge : callable
        The rule with its bound.

    Returns
    -------
    float
        To a tenth of it; infinite above 1,000. An interval narrows with the root of the number,
        and faster where there are few seeds, so that this is then too many.
    """
    times = 1.0
    while times <= _MOST_TIMES:
        low, high = (
            measured.estimate + (end - measured.estimate) / math.sqrt(times)
            for end in (measured.low, measured.high)
        )
        if judge(replace(measured, low=low, high=high)) is not Verdict.NOT_COMPARABLE:
            return times
        times *= 1.1
    return math.inf


def _undecided(measured: Interval, judge: Callable[[Interval], Verdict] | None) -> str:
    if judge is None:
        return f"{_UNDECIDED}."
    times = times_as_many(measured, judge)
    few = f"at most about {times:.1f}" if times < 10 else f"at most about {times:,.0f}"
    many = few if math.isfinite(times) else f"more than {_MOST_TIMES:,.0f}"
    return f"{_UNDECIDED}: {many} times as many, if the estimate stays."


def judged(
    id: str,
    figure: str,
    statement: str,
    published: float | None,
    measured: Interval,
    verdict: Verdict,
    criterion: str,
    note: str,
    source: str = "paper",
    judge: Callable[[Interval], Verdict] | None = None,
) -> Claim:
    """Put a claim together; its parameters are those of `Claim`, and the rule with its bound.

    Returns
    -------
    Claim
        Its note says so where the runs are too few for a verdict, unless the criterion is `NONE`,
        and how many would be enough, where there is a rule.
    """
    if verdict is Verdict.NOT_COMPARABLE and known(measured) and not criterion.startswith(NONE):
        note = f"{_undecided(measured, judge)} {note}".strip()
    return Claim(
        id=id,
        figure=figure,
        statement=statement,
        published=published,
        measured=number(measured.estimate),
        ci_low=number(measured.low),
        ci_high=number(measured.high),
        verdict=verdict,
        criterion=criterion,
        note=note,
        source=source,
    )


def by_readings(claims: Mapping[str, Claim]) -> Claim:
    """Judge one claim whose words have several senses, of which at most one can be meant.

    Parameters
    ----------
    claims : mapping of str to Claim
        The claim as it is judged in each sense, by the words for the sense, the most plausible one
        first.

    Returns
    -------
    Claim
        ``holds`` if it holds in one of the senses, ``differs`` if it differs in all of them,
        ``not comparable`` otherwise. The number is that of the first sense with this verdict; the
        note says how many hold, which, and what each of them gave.
    """
    order = (Verdict.HOLDS, Verdict.NOT_COMPARABLE, Verdict.DIFFERS)
    decisive = min(claims.values(), key=lambda claim: order.index(claim.verdict))
    readings = tuple(
        Reading(words, claim.measured, claim.ci_low, claim.ci_high, claim.verdict)
        for words, claim in claims.items()
    )
    holding = [one.words for one in readings if one.verdict is Verdict.HOLDS]
    if holding:
        said = f"Holds under {len(holding)} of {len(readings)} readings ({'; '.join(holding)})"
    elif decisive.verdict is Verdict.DIFFERS:
        said = f"Differs under all {len(readings)} readings"
    else:
        said = f"Holds under none of {len(readings)} readings, but not known to differ under all"
    told = f"{said}: {'; '.join(map(str, readings))}."
    return replace(decisive, note=f"{told} {decisive.note}".strip(), readings=readings)


def interval_of(claim: Claim | Reading, write: Callable[[float | None], str]) -> str:
    """Write the interval of what was measured.

    Parameters
    ----------
    claim : Claim or Reading
        Whose.
    write : callable
        Writes a number, or None as what stands for none.
    """
    if claim.ci_low is None:
        return write(None)
    return f"{write(claim.ci_low)} to {write(claim.ci_high)}"
