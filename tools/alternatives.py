"""Named alternatives to the papers' set-ups, for docs/reproduced.md: statements gained and lost.

docs/data/alternatives.csv has a row per claim of a paper in an alternative and in the base, on the
same fresh seeds; ``make reproduced`` writes the rows of the papers that it ran.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, Final

import pandas as pd

from keys import row as row_of
from keys import toml
from lightburst.experiment.calibrated.beside import beside
from lightburst.papers import PAPERS
from lightburst.papers.claims import Verdict
from lightburst.papers.variants import Variant, variants_of

#: Beginning of the heading of each alternative.
HEADING: Final = "### Alternative "
_HOLDS: Final = Verdict.HOLDS.value
_NUMBERS: Final = (
    "published",
    *(f"{where}_{what}" for where in ("base", "there") for what in ("value", "low", "high")),
)


def ran(paper: str, *, quick: bool) -> pd.DataFrame:
    """Run the alternatives of a paper beside its base.

    Returns
    -------
    pandas.DataFrame
        One row per alternative and claim of the paper: ``paper``, ``variant``, ``seeds`` (number),
        ``statement``, ``words``, ``reading``, ``published``; verdict of the statement, verdict of
        the claim, number and interval in the base (``base``, ``base_claim``, ``base_value``,
        ``base_low``, ``base_high``) and in the alternative (``there``, ...).
    """
    rows = []
    for name in variants_of(PAPERS[paper]):
        found = beside(paper, name, quick=quick, progress=False).as_dict()
        after = {claim["id"]: claim for claim in found["claims"]}
        for before in found["base"]:
            row = {
                "paper": paper,
                "variant": name,
                "seeds": len(found["seeds"]),
                "statement": before["statement_id"],
                "words": before["statement_text"],
                "reading": before["reading"],
                "published": before["published"],
            }
            for where, claim in (("base", before), ("there", after[before["id"]])):
                row |= {
                    where: claim["statement_verdict"],
                    f"{where}_claim": claim["verdict"],
                    f"{where}_value": claim["measured"],
                    f"{where}_low": claim["ci_low"],
                    f"{where}_high": claim["ci_high"],
                }
            rows.append(row)
    return pd.DataFrame(rows)


def recorded(file: Path) -> pd.DataFrame:
    """Read the recorded claims."""
    return pd.read_csv(file, keep_default_na=False, na_values={name: [""] for name in _NUMBERS})


def changed(rows: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the ids of the statements that an alternative gains, and of those that it loses."""
    each = rows.drop_duplicates("statement")
    gained = each[(each["base"] != _HOLDS) & (each["there"] == _HOLDS)]
    lost = each[(each["base"] == _HOLDS) & (each["there"] != _HOLDS)]
    return list(gained["statement"]), list(lost["statement"])


def best_of(paper: str, rows: pd.DataFrame) -> str:
    """Return the cell of the overview: the alternative that gains most, and how much."""
    of_paper = rows[rows["paper"] == paper]
    if of_paper.empty:
        return "–"
    net = {}
    for name, one in of_paper.groupby("variant", sort=False):
        gained, lost = changed(one)
        net[str(name)] = (len(gained), len(lost))
    best = max(net, key=lambda name: net[name][0] - net[name][1])
    more, fewer = net[best]
    return f"{more} more, {fewer} fewer ({best})"


def sections(paper: str, rows: pd.DataFrame) -> list[str]:
    """Return the lines about a paper's alternatives: settings, statements gained and lost."""
    lines: list[str] = []
    known = variants_of(PAPERS[paper])
    for name, one in rows[rows["paper"] == paper].groupby("variant", sort=False):
        lines += _section(known[str(name)], one)
    return lines


def _section(variant: Variant, rows: pd.DataFrame) -> list[str]:
    gained, lost = changed(rows)
    settings = ", ".join(f"`{path}` = {toml(value)}" for path, value in variant.settings.items())
    seeds = rows["seeds"].iloc[0]
    lines = [
        "",
        f"{HEADING}{variant.name}: {len(gained)} statements gained, {len(lost)} lost",
        "",
        f"{settings}. {variant.why}",
        "",
        f"Base and alternative on {seeds} fresh seeds each, at the lengths of a preview, in the "
        f"parts {', '.join(variant.parts)} of the paper. All other statements of these parts keep "
        "their verdict.",
        "",
        f"| statement | published | base | {variant.name} | |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    for word, ids in (("gained", gained), ("lost", lost)):
        for row in rows[rows["statement"].isin(ids)].to_dict("records"):
            says = ": ".join(filter(None, (row["words"], row["reading"])))
            published = "–" if pd.isna(row["published"]) else f"{row['published']:.3g}"
            cells = [says, published, _number(row, "base"), _number(row, "there"), word]
            lines.append(row_of(cells))
    return lines


def _number(row: Mapping[Hashable, Any], where: str) -> str:
    """Return number, interval and verdict of a claim in the base or in the alternative."""
    value, low, high = (row[f"{where}_{what}"] for what in ("value", "low", "high"))
    if pd.isna(value):
        return "–"
    between = "" if pd.isna(low) else f" ({low:.3g} to {high:.3g})"
    return f"{value:.3g}{between}, {row[f'{where}_claim']}"
