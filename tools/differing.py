"""Claims that differ, for docs/reproduced.md: which were recorded, and the class of each.

docs/data/differs.csv has a row per claim that differed in the last full run, of the paper or of
this project beside it; ``make reproduced`` writes the rows of what it ran.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from lightburst.experiment.reproduce import Reproduction
from lightburst.papers import PAPERS
from lightburst.papers.claims import Claim, Origin, Verdict
from lightburst.papers.differences import MEANING, Class, Difference, differences_of

HEADINGS = ("reproduction", "claim", "statement")
PROJECT = "this project"
#: Heading of the last section.
WHY = "Why they differ"
_HEADLINE = re.compile(
    r"(\d+) statements? of the paper in \d+ readings?: (\d+) holds?, (\d+) differs?, (\d+) cannot"
)

Rows = dict[str, list[tuple[str, str]]]


def classified(claim: Claim) -> bool:
    """Whether a claim that differs needs a class: check values and other senders have none."""
    return claim.origin is Origin.PAPER or claim.source == PROJECT


def rows_of(found: Reproduction) -> list[tuple[str, str]]:
    """Return id and statement of each claim of a reproduction that differs and needs a class."""
    return [
        (claim.id, claim.statement)
        for claim in found.claims
        if claim.verdict is Verdict.DIFFERS and classified(claim)
    ]


def recorded(file: Path) -> Rows:
    """Read the recorded claims that differ, by reproduction."""
    found: Rows = {}
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            found.setdefault(row["reproduction"], []).append((row["claim"], row["statement"]))
    return found


def record(file: Path, rows: Mapping[str, Iterable[tuple[str, str]]]) -> None:
    """Write the recorded claims that differ."""
    with file.open("w", encoding="utf-8", newline="") as lines:
        table = csv.writer(lines, lineterminator="\n")
        table.writerow(HEADINGS)
        table.writerows((name, *row) for name, claims in rows.items() for row in claims)


def known_of(name: str, ids: Iterable[str]) -> dict[str, Difference]:
    """Return the class of each claim of a reproduction.

    Raises
    ------
    ValueError
        If one of them has no class.
    """
    known = differences_of(PAPERS[name.partition("/")[0]].package)
    if missing := [id for id in ids if id not in known]:
        raise ValueError(f"classes.toml of {name} has no class of {', '.join(missing)}")
    return {id: known[id] for id in ids}


def overview(said: Mapping[str, str], rows: Rows, best: Mapping[str, str]) -> list[str]:
    """Return the tables at the head of docs/reproduced.md.

    Parameters
    ----------
    said : mapping of str to str
        Sections of the page, by reproduction.
    rows : mapping of str to list
        Recorded claims that differ, by reproduction.
    best : mapping of str to str
        Statements gained and lost in the best alternative, in words, by paper.

    Returns
    -------
    list of str
        Lines: statements by verdict, the number of claims in each class, and the evidence for each
        claim.
    """
    lines = [
        "| paper | statements | hold | differ | cannot be decided | in the best alternative hold | "
        + " | ".join(f"{kind.value}" for kind in Class)
        + " |",
        "| --- |" + " ---: |" * 4 + " --- |" + " ---: |" * len(Class),
    ]
    for paper in PAPERS:
        told = _HEADLINE.search(said[paper])
        if told is None:
            raise ValueError(f"docs/reproduced.md has no headline of {paper}")
        known = known_of(paper, [id for id, _ in rows.get(paper, ())])
        kinds = [one.kind for one in known.values()]
        counts = (*told.groups(), best[paper], *(str(kinds.count(kind)) for kind in Class))
        lines.append(f"| {paper} | {' | '.join(counts)} |")
    lines += [
        "",
        "The last five columns count the claims that differ, each reading and each claim of this "
        "project for itself, by [why they do](#why-they-differ). These and the first columns are "
        "of the base, the setting of the paper's scenario. An alternative is a named setting of "
        "what the paper leaves open; its statements are counted on fresh seeds of its own.",
    ]
    return lines


def reasons(rows: Rows) -> list[str]:
    """Return the section with the class and the evidence of each claim that differs."""
    lines = [f"## {WHY}", ""]
    lines += [f"- **{kind.value}**: {words}." for kind, words in MEANING.items()]
    lines += ["", "| paper | claim | class | evidence |", "| --- | --- | --- | --- |"]
    for name, claims in rows.items():
        by_entry: dict[Difference, list[str]] = {}
        for id, one in known_of(name, [id for id, _ in claims]).items():
            by_entry.setdefault(one, []).append(f"`{id}`")
        lines += [
            f"| {name} | {', '.join(ids)} | {one.kind.value} | {one.evidence} |"
            for one, ids in by_entry.items()
        ]
    return lines
