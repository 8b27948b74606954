"""Claims of a paper, and the rules by which they are judged.

A claim is a sentence of a paper made measurable: a quantity, a criterion that was fixed before the
run, and a verdict that follows from these two. The functions of this module are pure. A claim that
the runs contradict gets the verdict ``differs`` and stays in the table; one whose criterion changes
keeps the verdict of the earlier criterion beside the new one (`Was`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol

from lightburst.foundation.formatting import html_table
from lightburst.study.statistics import Interval, number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lightburst.papers.differences import Difference

# Widest interval that counts as evidence: half-width as a fraction of the value.
RESOLUTION: Final = 0.25


class Verdict(StrEnum):
    """Outcome of judging a claim against the runs."""

    HOLDS = "holds"
    DIFFERS = "differs"
    NOT_COMPARABLE = "not comparable"


# First word of a criterion that no number of runs could meet, because nothing can be compared.
NONE: Final = "none"
_UNDECIDED: Final = "Undecided: the interval is too wide for this criterion, more seeds would tell"
# Largest factor on the number of seeds that a note suggests.
_MOST_TIMES: Final = 1000.0

UNKNOWN: Final = Interval(math.nan, math.nan, math.nan, 0)


class Origin(StrEnum):
    """Whose claim it is."""

    PAPER = "paper"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Was:
    """How a claim was judged before its criterion or its origin changed.

    Parameters
    ----------
    verdict : Verdict
        Verdict of the earlier criterion, on the same runs.
    criterion : str
        The earlier criterion.
    source : str
        The earlier source of the claim.
    reason : str
        Why it changed.
    """

    verdict: Verdict
    criterion: str
    source: str
    reason: str

    def __str__(self) -> str:
        return (
            f"Before: {self.verdict.value} (source: {self.source}; holds if {self.criterion}). "
            f"Changed, as {self.reason}."
        )


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim, judged: a statement of a paper, or one reading of a statement.

    Parameters
    ----------
    id : str
        Stable name, unique within the paper.
    figure : str
        Name of the figure to which the claim belongs.
    statement : str
        The claim in words that name the measured quantity.
    published : float or None
        The number in the source; None where the source has words only.
    measured, ci_low, ci_high : float or None
        Measured value and the ends of its 95 % interval; None where no value was measured.
    verdict : Verdict
        ``holds``, ``differs`` or ``not comparable``.
    criterion : str
        The rule that yields the verdict, fixed before the run.
    note : str
        Further findings: the range over which the claim holds, and known reasons for a deviation.
    source : str
        Author of the claim: ``"paper"``, with a place in it (``"paper, section 4"``), or another.
    statement_id, statement_text : str
        Id and words of the statement that this claim reads, the same for all of its readings
        (`lightburst.papers.statements`); empty for a claim that is a statement by itself.
    reading : str
        What the statement's words are taken to mean here.
    was : Was or None
        The verdict of an earlier criterion or origin, and why that changed.
    bounds : tuple of float or None
        Range in which the rule wants the measured value, an end infinite for a one-sided rule; None
        for a claim without a rule.
    difference : Difference or None
        Why it differs, where that is known (`lightburst.papers.differences`).
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
    statement_id: str = ""
    statement_text: str = ""
    reading: str = ""
    was: Was | None = None
    bounds: tuple[float, float] | None = None
    difference: Difference | None = None

    def noted(self, more: str) -> Claim:
        """Return a copy of the claim with `more` appended to its note."""
        return replace(self, note=f"{self.note} {more}".strip())

    @property
    def reference(self) -> str:
        """Heading for the number of the source; only a paper's number is "published"."""
        return "published" if self.source.startswith("paper") else "reference"

    @property
    def origin(self) -> Origin:
        """Whether the paper makes this claim, or this project beside it."""
        return Origin.PAPER if self.source.partition(", ")[0] == "paper" else Origin.PROJECT

    @property
    def findings(self) -> str:
        """The note, and the verdict before a change."""
        return f"{self.note} {self.was or ''}".strip()

    def as_dict(self) -> dict[str, str | float | None]:
        """Return the claim as the first nine keys of the JSON contract.

        Returns
        -------
        dict
            ``id``, ``figure``, ``statement``, ``published``, ``measured``, ``ci_low``, ``ci_high``,
            ``verdict`` and ``note``. The note starts with the source and the criterion.
            `lightburst.papers.statements.records` adds the statement.
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
    """Judged claims of a paper, in the paper's order; a notebook shows them as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Claims: {counted(self)}>"

    def _repr_html_(self) -> str:
        return self.html(repr(self).strip("<>"))

    def html(self, title: str) -> str:
        """Render the claims as an HTML table under a title."""
        heading = ("claim", "published", "measured", "95 % interval", "verdict")
        return html_table(title, map(_row, self), heading)


def _row(claim: Claim) -> tuple[str, ...]:
    numbers = _short(claim.published), _short(claim.measured), interval_of(claim, _short)
    return claim.statement, *numbers, claim.verdict.value


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def by_source(claims: Iterable[Claim]) -> dict[str, list[Claim]]:
    """Group claims by source: the paper first, others in the order in which they first appear."""
    found: dict[str, list[Claim]] = {}
    for claim in claims:
        found.setdefault(claim.source, []).append(claim)
    return dict(sorted(found.items(), key=lambda group: group[1][0].origin is not Origin.PAPER))


class Judged(Protocol):
    """What has a verdict: a claim, or a statement."""

    @property
    def verdict(self) -> Verdict:
        """Outcome."""


def counted(judged: Iterable[Judged]) -> str:
    """Count the claims, or the statements, of each verdict, in words."""
    found = [one.verdict for one in judged]
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
        ``holds`` when the whole interval is at or above the bound, ``differs`` when all of it is
        below, ``not comparable`` when it contains the bound (more seeds would decide) or is
        unknown.
    """
    if not known(measured):
        return Verdict.NOT_COMPARABLE
    if measured.low >= bound:
        return Verdict.HOLDS
    return Verdict.DIFFERS if measured.high < bound else Verdict.NOT_COMPARABLE


def at_most(measured: Interval, bound: float) -> Verdict:
    """Judge "is at most `bound`", the mirror of `at_least`."""
    mirrored = Interval(-measured.estimate, -measured.high, -measured.low, measured.n)
    return at_least(mirrored, -bound)


def agrees(measured: Interval, low: float, high: float, resolution: float = RESOLUTION) -> Verdict:
    """Judge "equals the published number", given the range that this number stands for.

    Parameters
    ----------
    measured : Interval
        The measured quantity with its 95 % interval.
    low, high : float
        Ends of that range: rounding, and the confidence interval of the published mean.
    resolution : float
        Largest half-width of the measured interval, as a fraction of the estimate.

    Returns
    -------
    Verdict
        ``holds`` when the interval and the range overlap, ``differs`` when they do not. ``not
        comparable`` when they overlap but the interval is wider than `resolution`: such runs would
        agree with almost any number.
    """
    if not known(measured):
        return Verdict.NOT_COMPARABLE
    if measured.high < low or measured.low > high:
        return Verdict.DIFFERS
    reach = max(measured.high - measured.estimate, measured.estimate - measured.low)
    coarse = reach > resolution * abs(measured.estimate)
    return Verdict.NOT_COMPARABLE if coarse else Verdict.HOLDS


def within(measured: Interval, low: float, high: float) -> Verdict:
    """Judge "equals the published number within a tolerance", given the tolerated range.

    Parameters
    ----------
    measured : Interval
        The measured quantity with its 95 % interval.
    low, high : float
        The published number minus and plus the tolerance.

    Returns
    -------
    Verdict
        ``holds`` when the whole interval lies in the range, ``differs`` when all of it lies
        outside, ``not comparable`` when it contains an end of the range.
    """
    both = (at_least(measured, low), at_most(measured, high))
    if Verdict.DIFFERS in both:
        return Verdict.DIFFERS
    return Verdict.NOT_COMPARABLE if Verdict.NOT_COMPARABLE in both else Verdict.HOLDS


def verdict_of(good: bool) -> Verdict:
    """Judge an exactly known fact: ``holds`` if `good`, else ``differs``."""
    return Verdict.HOLDS if good else Verdict.DIFFERS


def exact(value: float) -> Interval:
    """Return an exact value as an interval of width zero; `UNKNOWN` if it is not finite."""
    value = float(value)
    return Interval(value, value, value, 1) if math.isfinite(value) else UNKNOWN


def known(measured: Interval) -> bool:
    """Whether the estimate and both ends of its interval are finite."""
    return all(math.isfinite(end) for end in (measured.estimate, measured.low, measured.high))


def ends(measured: Interval, digits: int) -> dict[str, float]:
    """Return the ends of an interval as two cells of a table, rounded to `digits`."""
    return {"95 % from": round(measured.low, digits), "to": round(measured.high, digits)}


def times_as_many(measured: Interval, judge: Callable[[Interval], Verdict]) -> float:
    """Estimate the factor on the number of seeds that would decide a claim.

    Parameters
    ----------
    measured : Interval
        The undecided quantity with its interval.
    judge : callable
        The rule with its bound applied.

    Returns
    -------
    float
        Factor in steps of 10 %; infinite above 1,000. The estimate is assumed to stay, and the
        interval to narrow with the square root of the number of seeds. It narrows faster where
        there are few seeds, so the factor is then an upper bound.
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
    """Build a claim from the fields of `Claim`; `judge` is the rule with its bound.

    Returns
    -------
    Claim
        If the runs are too few for a verdict, the note says so, and with `judge` also estimates the
        required number of seeds. A criterion that starts with `NONE` gets no such note.
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


def interval_of(claim: Claim, write: Callable[[float | None], str]) -> str:
    """Write the interval of a measured value.

    Parameters
    ----------
    claim : Claim
        The claim with the interval.
    write : callable
        Formats a number; formats None as the placeholder of a missing value.
    """
    if claim.ci_low is None:
        return write(None)
    return f"{write(claim.ci_low)} to {write(claim.ci_high)}"
