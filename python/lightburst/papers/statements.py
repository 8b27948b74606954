"""Statements of a paper, each in one reading or several, and the headline that counts them.

A statement is a sentence of a paper. Where its words allow several meanings (which mean, which
variance, which place), each meaning is a claim of its own with its own criterion and verdict: a
reading. At most one of them is intended, and the paper does not say which. So the verdict of a
statement follows from those of its readings by one rule:

- ``holds`` if at least one reading holds;
- ``differs`` if all readings differ. Readings by which nothing can be compared, as one flow of one
  run, have no say: no number of runs could turn them;
- ``not comparable`` otherwise: no reading holds, and at least one is not known to differ, or
  nothing can be compared.

What this project claims beside a paper, such as a comparison that the paper does not make, is never
a reading of the paper's statements, and does not count in the paper's headline.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from lightburst.papers.claims import NONE, Claim, Origin, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement with all its readings.

    Parameters
    ----------
    id : str
        Stable name, unique within the paper.
    text : str
        The statement in words.
    readings : tuple of Claim
        The claim itself, or one claim for each meaning of the words.
    """

    id: str
    text: str
    readings: tuple[Claim, ...]

    @property
    def origin(self) -> Origin:
        """Whether the paper makes this statement, or this project beside it."""
        return self.readings[0].origin

    @property
    def verdict(self) -> Verdict:
        """Verdict by the rule of this module."""
        found = [one.verdict for one in self.readings]
        if Verdict.HOLDS in found:
            return Verdict.HOLDS
        compared = {one.verdict for one in self.readings if _decides(one)}
        return Verdict.DIFFERS if compared == {Verdict.DIFFERS} else Verdict.NOT_COMPARABLE

    @property
    def told(self) -> str:
        """The verdict in words, with the readings that hold: ``holds under 1 of 3 readings``."""
        number = len(self.readings)
        if number == 1:
            return self.verdict.value
        holding = [one.reading for one in self.readings if one.verdict is Verdict.HOLDS]
        if holding:
            return f"holds under {len(holding)} of {number} readings ({'; '.join(holding)})"
        differing = sum(one.verdict is Verdict.DIFFERS for one in self.readings)
        if self.verdict is Verdict.NOT_COMPARABLE:
            return f"cannot be decided: differs under {differing} of {number} readings"
        rest = "" if differing == number else ", and nothing can be compared under the others"
        return f"differs under {differing} of {number} readings{rest}"


def _decides(claim: Claim) -> bool:
    """Whether runs could give a verdict."""
    return claim.verdict is not Verdict.NOT_COMPARABLE or not claim.criterion.startswith(NONE)


def statements_of(claims: Iterable[Claim]) -> list[Statement]:
    """Gather the readings of each statement, in the order of their first readings.

    Parameters
    ----------
    claims : iterable of Claim
        Judged claims. Those of one source with the same ``statement_id`` are readings of one
        statement; one without it is a statement by itself.

    Returns
    -------
    list of Statement
        Every claim is in exactly one of them.
    """
    found: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims:
        found.setdefault((claim.source, claim.statement_id or claim.id), []).append(claim)
    return [
        Statement(id, readings[0].statement_text or readings[0].statement, tuple(readings))
        for (_, id), readings in found.items()
    ]


def headline(claims: Iterable[Claim]) -> str:
    """Count the paper's own statements by verdict, and their readings.

    Returns
    -------
    str
        ``"22 statements of the paper in 37 readings: 7 hold, 11 differ, 4 cannot be decided"``, or
        ``"no statement of the paper"``.
    """
    own = [one for one in statements_of(claims) if one.origin is Origin.PAPER]
    if not own:
        return "no statement of the paper"
    found = [one.verdict for one in own]
    holding, differing, rest = (found.count(verdict) for verdict in Verdict)
    return (
        f"{_number(len(own), 'statement')} of the paper in "
        f"{_number(sum(len(one.readings) for one in own), 'reading')}: "
        f"{holding} {'holds' if holding == 1 else 'hold'}, "
        f"{differing} {'differs' if differing == 1 else 'differ'}, {rest} cannot be decided"
    )


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def records(claims: Iterable[Claim]) -> list[dict[str, Any]]:
    """Return the claims as rows of a table, with their statements.

    Returns
    -------
    list of dict
        The keys of `Claim.as_dict`, in the order of the claims, and ``origin`` (``paper`` or
        ``project``), ``reading``, ``statement_id``, ``statement_text``, ``statement_verdict``,
        ``was``: None, or ``verdict``, ``criterion``, ``source`` and ``reason`` of `Was`; and
        ``difference``: None, or ``class`` and ``evidence`` of
        `lightburst.papers.differences.Difference`.
    """
    claims = list(claims)
    known = {claim: one for one in statements_of(claims) for claim in one.readings}
    return [
        {
            **claim.as_dict(),
            "origin": claim.origin.value,
            "reading": claim.reading,
            "statement_id": known[claim].id,
            "statement_text": known[claim].text,
            "statement_verdict": known[claim].verdict.value,
            "was": claim.was and asdict(claim.was),
            "difference": claim.difference and claim.difference.as_dict(),
        }
        for claim in claims
    ]
