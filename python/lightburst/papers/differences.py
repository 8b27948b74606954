"""Why claims of a paper differ: a class for each, with the evidence, as data.

A package's ``classes.toml`` has a list ``differs``. Each entry has ``claims``, the ids of claims
whose recorded verdict is ``differs`` (docs/data/differs.csv), their ``class``, a value of `Class`,
and the ``evidence`` for it. An id is in one entry.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import resources
from typing import TYPE_CHECKING

from lightburst.papers.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lightburst.papers.claims import Claim


class Class(StrEnum):
    """Kind of reason for which a claim differs."""

    CONTRADICTION = "contradiction"
    FOUND = "open and found"
    NOT_FOUND = "open and not found"
    MECHANISM = "mechanism"
    READING = "reading"


#: What each class says, for the pages.
MEANING = {
    Class.CONTRADICTION: (
        "the paper contradicts itself or the standard that it names, or its number cannot be read"
    ),
    Class.FOUND: (
        "a setting that the paper leaves open decides, and one that meets the claim is known"
    ),
    Class.NOT_FOUND: (
        "settings that the paper leaves open may decide; those tried do not meet the claim"
    ),
    Class.MECHANISM: "the present model lacks a mechanism that the claim needs",
    Class.READING: "our reading of the paper's words, or our rule, decides",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """Why a claim differs.

    Parameters
    ----------
    kind : Class
        Kind of reason.
    evidence : str
        What is known for it, in a sentence or more.
    """

    kind: Class
    evidence: str

    def as_dict(self) -> dict[str, str]:
        """Return the keys of the JSON output: ``class`` and ``evidence``."""
        return {"class": self.kind.value, "evidence": self.evidence}


def differences_of(package: str) -> dict[str, Difference]:
    """Read ``classes.toml`` from a package.

    Returns
    -------
    dict of str to Difference
        By id of the claim; empty for a package without the file, or if `package` is empty.

    Raises
    ------
    ValueError
        If a class is unknown, a key missing or unknown, an entry without evidence, or a claim in
        two entries.
    """
    if not package:
        return {}
    file = resources.files(package) / "classes.toml"
    return read(tomllib.loads(file.read_text(encoding="utf-8"))) if file.is_file() else {}


def read(table: Mapping[str, Sequence[Mapping[str, object]]]) -> dict[str, Difference]:
    """Read the entries of ``differs``, as `differences_of` does."""
    found: dict[str, Difference] = {}
    for entry in table.get("differs", []):
        if set(entry) != {"claims", "class", "evidence"} or not entry["evidence"]:
            raise ValueError(f"an entry needs claims, class and evidence, not {', '.join(entry)}")
        ids = entry["claims"]
        if not isinstance(ids, list):
            raise ValueError(f"claims must be a list of ids, not {ids!r}")
        one = Difference(Class(str(entry["class"])), str(entry["evidence"]))
        for id in ids:
            if id in found:
                raise ValueError(f"{id} has two classes")
            found[id] = one
    return found


def classed(claims: Iterable[Claim], known: Mapping[str, Difference]) -> list[Claim]:
    """Return the claims, those that differ with their `Difference` where one is known."""
    if not known:
        return list(claims)
    return [
        replace(claim, difference=known.get(claim.id))
        if claim.verdict is Verdict.DIFFERS
        else claim
        for claim in claims
    ]
