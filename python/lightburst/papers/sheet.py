"""The claims of a paper as data: what each says and when it holds, fixed before the run.

A package's ``claims.toml`` has one table for each claim, under the name by which the code judges
it:

- ``id`` (without it the name itself), ``figure``, ``statement``, ``published``, ``criterion`` and
  ``source``, as in `lightburst.papers.claims.Claim`. Braces stand for the words that the code
  gives, and ``{bound}``, or ``{low}`` and ``{high}``, for the bound.
- ``rule``, one of `RULES`, and its ``bound``: a number, or two. A claim without a rule can be
  compared with nothing.

The table ``tolerance`` has numbers that several claims share; a bound may name one of them.
"""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, Self

from lightburst.papers.claims import (
    Claim,
    Verdict,
    agrees,
    at_least,
    at_most,
    judged,
    verdict_of,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lightburst.study.statistics import Interval


def above(measured: Interval, bound: float) -> Verdict:
    """Judge "is above", of what is known exactly."""
    return verdict_of(measured.low > bound)


def meets(measured: Interval, low: float, high: float) -> Verdict:
    """Judge "lies about there", of a place that is known to lie between two points of a grid."""
    return verdict_of(measured.low <= high and measured.high >= low)


RULES: Final[dict[str, Callable[..., Verdict]]] = {
    "at_least": at_least,
    "at_most": at_most,
    "above": above,
    "within": within,
    "agrees": agrees,
    "meets": meets,
}


class Sheet:
    """The claims of one paper, to be judged one by one.

    Parameters
    ----------
    claims : mapping of str to dict
        The tables of ``claims.toml``.
    tolerance : mapping of str to float
        The numbers that claims share.
    words : mapping of str to object
        What stands in the braces of the texts; ``source`` also says who claims it.
    """

    def __init__(
        self,
        claims: Mapping[str, dict[str, Any]],
        tolerance: Mapping[str, float],
        words: Mapping[str, object] | None = None,
    ) -> None:
        self.claims = claims
        self.tolerance = tolerance
        self._words = words or {}

    @classmethod
    def of(cls, package: str) -> Self:
        """Read ``claims.toml`` of a package."""
        text = (resources.files(package) / "claims.toml").read_text(encoding="utf-8")
        claims = tomllib.loads(text)
        return cls(claims, claims.pop("tolerance", {}))

    def told(self, **words: object) -> Sheet:
        """Give the same sheet with more words for the braces of its texts."""
        return Sheet(self.claims, self.tolerance, {**self._words, **words})

    def judge(
        self,
        name: str,
        measured: Interval,
        note: str = "",
        *,
        bound: tuple[float, ...] | None = None,
        published: float | None = None,
        verdict: Verdict | None = None,
    ) -> Claim:
        """Judge a claim.

        Parameters
        ----------
        name : str
            The claim's in ``claims.toml``.
        measured : Interval
            What the runs gave.
        note : str
            What else they show.
        bound : tuple of float, optional
            In place of that of the file, where it follows from the runs or from a published number.
        published : float, optional
            In place of that of the file.
        verdict : Verdict, optional
            In place of the rule's.

        Returns
        -------
        Claim
            With the verdict that follows from the rule.
        """
        entry = self.claims[name]
        limits = self._bound(entry) if bound is None else bound
        if verdict is None:
            rule = RULES.get(entry.get("rule", ""))
            verdict = Verdict.NOT_COMPARABLE if rule is None else rule(measured, *limits)
        ends = zip(("low", "high"), limits, strict=False)
        words = {**dict(ends), "bound": limits[0] if limits else "", **self._words}

        def text(key: str, otherwise: str = "") -> str:
            return str(entry.get(key, otherwise)).format(**words)

        return judged(
            text("id", name),
            text("figure"),
            text("statement"),
            entry.get("published") if published is None else published,
            measured,
            verdict,
            text("criterion"),
            note,
            str(words.get("source", entry.get("source", "paper"))),
        )

    def _bound(self, entry: Mapping[str, Any]) -> tuple[float, ...]:
        given = entry.get("bound", [])
        several = given if isinstance(given, list) else [given]
        return tuple(self.tolerance[x] if isinstance(x, str) else float(x) for x in several)
