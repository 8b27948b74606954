"""Claims of a paper as data: statements and criteria, fixed before the run.

A package's ``claims.toml`` has one table per claim. The key of the table is the name by which the
code judges the claim:

- ``id`` (default: the key), ``figure``, ``statement``, ``published``, ``criterion`` (default: that
  of its rule in `CRITERIA`) and ``source``, as in `lightburst.papers.claims.Claim`. Fields in
  braces are filled with words given by the code, with ``{published}``, and with ``{bound}``, or
  ``{low}`` and ``{high}``.
- ``rule``, one of `RULES`, and its ``bound``: one number or two. Instead of a bound, a ``margin``
  (a fraction of the published number) or a ``factor`` up and down sets a range around the published
  number; without any of them the published number is the bound. A claim without a rule is not
  comparable.
- ``of``, one of `PICKS`: selects the judged one of several values. ``each`` formats their list.
- ``note``, further findings, and ``why``, appended where the claim does not hold. Fields in braces
  are filled with words given by the code, ``{each}`` with the list, and ``{at}`` with the position
  of the judged value.
- ``notes``, by name: texts among which the code selects according to the runs.
- ``reads`` and ``reading``: the statement that the claim reads, a key of the table ``statements``,
  and what its words are taken to mean here. Claims that read one statement are judged together
  (`lightburst.papers.statements`); one without ``reads`` is a statement by itself.
- ``readings``, by name: shorter, for a claim whose words have several meanings by the same rule,
  the most plausible first. `Sheet.judge_readings` returns one claim for each.
- ``was``, a table: the keys of this entry that had other values in an earlier version, and ``why``
  they changed. The verdict that they give stays visible beside the new one.

The table ``tolerance`` holds numbers shared by several claims; a bound may name one of them. The
table ``statements`` holds the words of statements with several readings, by id; both may have
fields in braces.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, Self

from lightburst.papers.claims import (
    Claim,
    Verdict,
    Was,
    agrees,
    at_least,
    at_most,
    judged,
    known,
    verdict_of,
    within,
)
from lightburst.papers.curves import farthest, largest, listed, smallest
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def above(measured: Interval, bound: float) -> Verdict:
    """Judge "is above `bound`" for an exactly known value."""
    return verdict_of(measured.low > bound)


def meets(measured: Interval, low: float, high: float) -> Verdict:
    """Judge "lies near", for a position known only to lie between two points of a grid."""
    return verdict_of(measured.low <= high and measured.high >= low)


RULES: Final[dict[str, Callable[..., Verdict]]] = {
    "at_least": at_least,
    "at_most": at_most,
    "above": above,
    "within": within,
    "agrees": agrees,
    "meets": meets,
}
#: Default wording of a rule's criterion, for claims without a ``criterion``.
CRITERIA: Final = {
    "at_least": "the whole interval is at or above {bound:g}",
    "at_most": "the whole interval is at or below {bound:g}",
    "within": "the whole interval is in {low:g} to {high:g}",
}
#: Rules of a lower and of an upper bound; the others have a range.
LOWER: Final = {"at_least", "above"}
UPPER: Final = {"at_most"}
#: Keys that set the bounds of a rule.
LIMITS: Final = {"bound", "margin", "factor"}
#: Selections of the judged value among several.
PICKS: Final[dict[str, Callable[[Iterable[Interval]], Interval]]] = {
    "smallest": smallest,
    "largest": largest,
    "farthest": farthest,
}


def slug(name: str) -> str:
    """Turn a name into a part of a claim's id: ``"new-reno-impatient"``."""
    return name.replace(",", "").replace(" ", "-").lower()


def _picked(
    entry: Mapping[str, Any], measured: Interval | Mapping[Any, Interval]
) -> tuple[Interval, dict[str, object]]:
    """Return the judged value, and of several values their list and the position of that one."""
    if isinstance(measured, Interval):
        return measured, {}
    row = {at: value for at, value in measured.items() if known(value)}
    picked = PICKS[entry["of"]](row.values())
    place = next((at for at, value in row.items() if value is picked), "")
    return picked, {"each": listed(row, entry.get("each", "")), "at": place}


def _wanted(rule: str, limits: tuple[float, ...]) -> tuple[float, float] | None:
    """Return the range in which a rule wants the measured value; None without a rule."""
    if rule not in RULES or not limits:
        return None
    low = -math.inf if rule in UPPER else limits[0]
    high = math.inf if rule in LOWER else limits[0] if rule in UPPER else limits[1]
    return low, high


class Sheet:
    """Claims of one paper, to be judged one by one.

    Parameters
    ----------
    claims : mapping of str to dict
        Tables of ``claims.toml``.
    tolerance : mapping of str to float
        Numbers shared by several claims.
    words : mapping of str to object
        Values of the fields in braces; ``source`` also sets the source of the claims.
    statements : mapping of str to str
        Words of the statements that several claims read, by id.
    """

    def __init__(
        self,
        claims: Mapping[str, dict[str, Any]],
        tolerance: Mapping[str, float],
        words: Mapping[str, object] | None = None,
        statements: Mapping[str, str] | None = None,
    ) -> None:
        self.claims = claims
        self.tolerance = tolerance
        self.statements = statements or {}
        self._words = words or {}

    @classmethod
    def of(cls, package: str) -> Self:
        """Read ``claims.toml`` from a package."""
        text = (resources.files(package) / "claims.toml").read_text(encoding="utf-8")
        claims = tomllib.loads(text)
        shared = claims.pop("tolerance", {}), claims.pop("statements", {})
        return cls(claims, shared[0], statements=shared[1])

    def told(self, **words: object) -> Sheet:
        """Return a copy of the sheet with more values for the fields in braces."""
        return Sheet(self.claims, self.tolerance, {**self._words, **words}, self.statements)

    def note(self, name: str, /, *keys: str, **words: object) -> str:
        """Return the first of the named ``notes`` that a claim has; empty if it has none."""
        notes = self.claims[name].get("notes", {})
        found = (str(notes[key]) for key in keys if key in notes)
        return next(found, "").format(**{**self._words, **words})

    def judge(
        self,
        name: str,
        measured: Interval | Mapping[Any, Interval],
        note: str = "",
        /,
        *,
        bound: tuple[float, ...] | None = None,
        published: float | None = None,
        verdict: Verdict | None = None,
        before: Interval | Mapping[Any, Interval] | None = None,
        **words: object,
    ) -> Claim:
        """Judge a claim.

        Parameters
        ----------
        name : str
            Key of the claim in ``claims.toml``.
        measured : Interval, or mapping of Interval
            Measured value. Several values by position are listed if known, and the one selected by
            the claim's ``of`` is judged.
        note : str
            Further findings, appended to the note of the file.
        bound : tuple of float, optional
            Overrides the bound of the file, where it depends on the runs.
        published : float, optional
            Overrides the published number of the file.
        verdict : Verdict, optional
            Overrides the verdict of the rule.
        before : Interval, or mapping of Interval, optional
            What the criterion of the claim's ``was`` judged, if it was not `measured`.
        **words
            More values for the fields in braces.

        Returns
        -------
        Claim
            The claim with its verdict.
        """
        entry = self.claims[name]
        known_as = entry.get("published") if published is None else published
        limits = self._bound(entry, known_as) if bound is None else bound
        given = {"bound": limits[0] if limits else "", "published": known_as}
        ends = dict(zip(("low", "high"), limits, strict=False))
        picked, told = _picked(entry, measured)
        texts = {**given, **ends, **self._words, **words, **told}
        judge = None if verdict is not None else self._rule(entry, limits)
        if verdict is None:
            verdict = Verdict.NOT_COMPARABLE if judge is None else judge(picked)

        def text(key: str, otherwise: str = "") -> str:
            return str(entry.get(key, otherwise)).format(**texts)

        why = "" if verdict is Verdict.HOLDS else text("why")
        notes = ("" if told and not known(picked) else text("note"), note, why)
        criterion = text("criterion", CRITERIA.get(entry.get("rule", ""), ""))
        source = str(texts.get("source", entry.get("source", "paper")))
        claim = judged(
            text("id", name), text("figure"), text("statement"), known_as, picked, verdict,
            criterion, " ".join(said for said in notes if said), source, judge,
        )  # fmt: skip
        return replace(
            claim,
            statement_id=text("reads"),
            statement_text=self.statements.get(entry.get("reads", ""), "").format(**texts),
            reading=text("reading"),
            bounds=_wanted(entry.get("rule", ""), limits),
            was=self._was(name, measured if before is None else before, bound, published, words),
        )

    def _was(
        self,
        name: str,
        measured: Interval | Mapping[Any, Interval],
        bound: tuple[float, ...] | None,
        published: float | None,
        words: Mapping[str, object],
    ) -> Was | None:
        """Judge a claim as in an earlier version, by the keys of its ``was``."""
        entry = dict(self.claims[name])
        change = entry.pop("was", None)
        if change is None:
            return None
        if LIMITS & set(change):
            bound = None
            entry = {key: value for key, value in entry.items() if key not in LIMITS}
        earlier = {name: {**entry, **change, "why": ""}}
        sheet = Sheet(earlier, self.tolerance, {**self._words, **words})
        claim = sheet.judge(name, measured, bound=bound, published=published)
        return Was(claim.verdict, claim.criterion, claim.source, change["why"])

    def judge_readings(
        self,
        name: str,
        measured: Mapping[str, Interval | Mapping[Any, Interval]],
        note: str = "",
        /,
        *,
        bound: tuple[float, ...] | None = None,
        published: float | None = None,
        **words: object,
    ) -> list[Claim]:
        """Judge a claim by each of its ``readings``.

        Parameters
        ----------
        name : str
            Key of the claim in ``claims.toml``.
        measured : mapping of str to Interval or mapping
            As for `judge`, under each reading, by the reading's name.
        note, bound, published, **words
            As for `judge`.

        Returns
        -------
        list of Claim
            One claim for each reading, whose id ends in the reading's name.
        """
        sheet = self.told(**words)
        readings: Mapping[str, str] = self.claims[name]["readings"]
        claims = (
            (key, said, sheet.judge(name, measured[key], note, bound=bound, published=published))
            for key, said in readings.items()
        )
        return [
            replace(
                claim,
                id=f"{claim.id}-{key}",
                statement=f"{claim.statement} ({said})",
                statement_id=claim.id,
                statement_text=claim.statement,
                reading=said,
            )
            for key, said, claim in claims
        ]

    def _rule(
        self, entry: Mapping[str, Any], limits: tuple[float, ...]
    ) -> Callable[[Interval], Verdict] | None:
        rule = RULES.get(entry.get("rule", ""))
        return None if rule is None else lambda measured: rule(measured, *limits)

    def _bound(self, entry: Mapping[str, Any], published: float | None) -> tuple[float, ...]:
        given = entry.get("bound", [] if published is None else published)
        limits = [self._number(x) for x in (given if isinstance(given, list) else [given])]
        if published is not None and "margin" in entry:
            margin = self._number(entry["margin"])
            limits = [published * (1 - margin), published * (1 + margin)]
        elif published is not None and "factor" in entry:
            factor = self._number(entry["factor"])
            limits = [published / factor, published * factor]
        return tuple(limits)

    def _number(self, given: str | float) -> float:
        return self.tolerance[given] if isinstance(given, str) else float(given)
