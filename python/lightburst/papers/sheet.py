"""The claims of a paper as data: what each says and when it holds, fixed before the run.

A package's ``claims.toml`` has one table for each claim, under the name by which the code judges
it:

- ``id`` (without it the name itself), ``figure``, ``statement``, ``published``, ``criterion``
  (without it that of its rule in `CRITERIA`) and ``source``, as in
  `lightburst.papers.claims.Claim`. Braces stand for the words that the code gives, for what is
  ``{published}``, and ``{bound}``, or ``{low}`` and ``{high}``, for the bound.
- ``rule``, one of `RULES`, and its ``bound``: a number, or two; or around the published number a
  ``margin``, as a fraction of it, or a ``factor`` up and down; without any, the published number
  itself. A claim without a rule can be compared with nothing.
- ``of``, one of `PICKS`: which of a row of values is judged; ``each`` says how they are listed.
- ``note``, what else the runs show, and ``why``, what follows it where the claim does not hold.
  In both braces stand for the words that the code gives, ``{each}`` for the list, and ``{at}``
  for where the value that is judged is.
- ``notes``, by name, of which the code picks what the runs show.
- ``readings``, by name: the words for each sense that those of the claim can have, the most
  plausible one first. It is judged once, by all of them (`Sheet.judge_readings`).

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
    by_readings,
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
#: What a rule asks for, of claims that do not say it in words of their own.
CRITERIA: Final = {
    "at_least": "the whole interval is at or above {bound:g}",
    "at_most": "the whole interval is at or below {bound:g}",
    "within": "the whole interval is in {low:g} to {high:g}",
}
#: Which of a row of values a claim is about.
PICKS: Final[dict[str, Callable[[Iterable[Interval]], Interval]]] = {
    "smallest": smallest,
    "largest": largest,
    "farthest": farthest,
}


def slug(name: str) -> str:
    """Write a name as a part of a claim's: ``"new-reno-impatient"``."""
    return name.replace(",", "").replace(" ", "-").lower()


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

    def note(self, name: str, /, *keys: str, **words: object) -> str:
        """Give the first of these of the ``notes`` of a claim; nothing where it has none."""
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
        **words: object,
    ) -> Claim:
        """Judge a claim.

        Parameters
        ----------
        name : str
            The claim's in ``claims.toml``.
        measured : Interval, or mapping of Interval
            What the runs gave; of a row of values, by what they are at, those that are known are
            listed, and the one that counts is picked as the claim's ``of`` says.
        note : str
            What else they show, after the note of the file.
        bound : tuple of float, optional
            In place of that of the file, where it follows from the runs.
        published : float, optional
            In place of that of the file.
        verdict : Verdict, optional
            In place of the rule's.
        **words
            More words for the braces of the texts.

        Returns
        -------
        Claim
            With the verdict that follows from the rule.
        """
        entry = self.claims[name]
        known_as = entry.get("published") if published is None else published
        limits = self._bound(entry, known_as) if bound is None else bound
        given = {"bound": limits[0] if limits else "", "published": known_as}
        ends = zip(("low", "high"), limits, strict=False)
        texts = {**given, **dict(ends), **self._words, **words}
        nothing = False
        if not isinstance(measured, Interval):
            row = {at: value for at, value in measured.items() if known(value)}
            nothing, measured = not row, PICKS[entry["of"]](row.values())
            texts["each"] = listed(row, entry.get("each", ""))
            texts["at"] = next((at for at, value in row.items() if value is measured), "")
        judge = None if verdict is not None else self._rule(entry, limits)
        if verdict is None:
            verdict = Verdict.NOT_COMPARABLE if judge is None else judge(measured)

        def text(key: str, otherwise: str = "") -> str:
            return str(entry.get(key, otherwise)).format(**texts)

        notes = ["" if nothing else text("note"), note]
        notes.append("" if verdict is Verdict.HOLDS else text("why"))
        return judged(
            text("id", name),
            text("figure"),
            text("statement"),
            known_as,
            measured,
            verdict,
            text("criterion", CRITERIA.get(entry.get("rule", ""), "")),
            " ".join(said for said in notes if said),
            str(texts.get("source", entry.get("source", "paper"))),
            judge,
        )

    def judge_readings(
        self, name: str, measured: Mapping[str, Interval], /, **words: object
    ) -> Claim:
        """Judge a claim by all of its ``readings``.

        Parameters
        ----------
        name : str
            The claim's in ``claims.toml``.
        measured : mapping of str to Interval
            What the runs gave, by the name of the reading.
        **words
            More words for the braces of the texts.

        Returns
        -------
        Claim
            One for all: see `lightburst.papers.claims.by_readings`.
        """
        sheet = self.told(**words)
        readings: Mapping[str, str] = self.claims[name]["readings"]
        return by_readings(
            {said: sheet.judge(name, measured[key]) for key, said in readings.items()}
        )

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
