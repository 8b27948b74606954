"""Write the results of reproducing the papers, from a run: ``make reproduced``.

Runs every paper in full, and its named alternatives, and writes docs/reproduced.md with all claims
and notes, long tables in full to docs/data, and the pictures. Between the two marks of README.md it
writes the number of statements that hold, and a few claims with their criterion (`SHOWN`). Finished
runs are in the store, so that a second call takes seconds. ``make reproduced ARGS=yu2004`` runs one
paper, and keeps the text about the others.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

import alternatives
import calibrated
import differing
from keys import row
from lightburst.experiment.reproduce import Reproduction, reproduce
from lightburst.papers import PAPERS
from lightburst.papers.claims import Claim, Verdict, by_source, counted, interval_of
from lightburst.papers.figure import Listing
from lightburst.papers.statements import Statement, statements_of
from lightburst.report import page

ROOT = Path(__file__).resolve().parent.parent
BEGIN = "<!-- reproduced: begin; written by `make reproduced` -->"
END = "<!-- reproduced: end -->"
# Claims shown in README.md: five, regardless of their verdict.
SHOWN = {
    "minakhmetov2018": ("gain-50-high-10m", "saw-little-difference-10m"),
    "yu2004": ("optimum-decade",),
    "komatireddy2009": ("gain-300-value",),
    "vlachos2008": ("mean-10.7",),
}
MARKS = {
    Verdict.HOLDS: "holds",
    Verdict.DIFFERS: "**differs**",
    Verdict.NOT_COMPARABLE: "*not comparable*",
}


def number(value: float | None) -> str:
    """Write a number to three digits, a dash for None."""
    return "–" if value is None else f"{value:.3g}"


def claim_table(claims: Sequence[Claim]) -> list[str]:
    """Return the lines of docs/reproduced.md: a Markdown table of claims with their notes.

    Parameters
    ----------
    claims : sequence of Claim
        Claims of one source; not empty.

    Returns
    -------
    list of str
        Heading, rule and one line per claim. The readings of a statement follow its own line.
    """
    headings = ["claim", claims[0].reference, "measured", "95 % interval", "verdict", "note"]
    lines = [row(headings), row(["---", "---:", "---:", "---:", "---", "---"])]
    for one in statements_of(claims):
        if len(one.readings) > 1:
            told = f"{one.told[0].upper()}{one.told[1:]}."
            lines.append(row([one.text, "", "", "", MARKS[one.verdict], told]))
        for claim in one.readings:
            note = f"Holds if {claim.criterion}. {claim.findings}".strip()
            numbers = [number(claim.published), number(claim.measured), interval_of(claim, number)]
            lines.append(row([words(claim, one), *numbers, MARKS[claim.verdict], note]))
    return lines


def words(claim: Claim, statement: Statement) -> str:
    """Return the first cell of a claim: its words, or the reading that it is of its statement."""
    return f"– {claim.reading}" if len(statement.readings) > 1 else claim.statement


#: Header lines of the table in README.md.
HEADING = (
    row(["paper", "claim", "holds if", "published", "measured", "95 % interval", "verdict"]),
    row(["---", "---", "---", "---:", "---:", "---:", "---"]),
)


def runs_of(found: Reproduction) -> str:
    """Describe the runs of a reproduction."""
    about = found.provenance
    return (
        f"`lightburst reproduce {found.name}{' --quick' if found.quick else ''}`: "
        f"{len(found.runs):,} runs, seeds {about['seeds']}, model {about['model_version']}"
    )


def readme_counts(found: Reproduction) -> str:
    """Return the line of README.md about a paper: its runs, and the number of claims that hold."""
    return f"- {runs_of(found)}. {found.headline}."


def readme_rows(shown: Sequence[tuple[str, Claim]]) -> list[str]:
    """Return the rows of the table in README.md: paper, claim and criterion."""
    lines = []
    for paper, claim in shown:
        numbers = [number(claim.published), number(claim.measured), interval_of(claim, number)]
        said = f"{claim.statement_text}: {claim.reading}" if claim.reading else claim.statement
        cells = [paper, said, claim.criterion, *numbers, MARKS[claim.verdict]]
        lines.append(row(cells))
    return lines


def shown_of(found: Reproduction) -> list[tuple[str, Claim]]:
    """Return the claims of a paper shown in README.md, with the name of the paper."""
    claims = {claim.id: claim for claim in found.claims}
    return [(found.name, claims[id]) for id in SHOWN.get(found.name, ())]


def listing_table(listing: Listing, file: str) -> list[str]:
    """Return a Markdown section with the first rows of a table.

    Parameters
    ----------
    listing : Listing
        Table to be shown.
    file : str
        Path of the full table, relative to docs.
    """
    rows = listing.data.head(listing.shown)
    lines = ["", f"### {listing.title}", "", listing.caption, "", row(map(str, rows.columns))]
    lines.append(row(["---"] * len(rows.columns)))
    lines += [row(cells) for cells in page.cells(rows)]
    if len(rows) < len(listing.data):
        lines += ["", f"The first {len(rows)} of {len(listing.data)} rows; [all of them]({file})."]
    return lines


def page_section(found: Reproduction, pictures: Sequence[str]) -> str:
    """Return the section of docs/reproduced.md about one reproduction: pictures, claims, notes."""
    lines = [f"## {found.name}", "", found.paper.citation, ""]
    lines += [f"{runs_of(found)}. {found.headline}.", ""]
    lines += [f"![{picture}](images/{picture})" for picture in pictures]
    for listing in found.tables:
        lines += listing_table(listing, f"data/{table_file(found, listing)}")
    for source, claims in by_source(found.claims).items():
        lines += ["", f"Claims, source: {source} ({counted(statements_of(claims))}).", ""]
        lines += claim_table(claims)
    return "\n".join(lines)


def replaced(text: str, section: str) -> str:
    """Return `text` with `section` between the two marks.

    Raises
    ------
    ValueError
        If a mark is missing or repeated.
    """
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"README.md must have one {BEGIN!r} and one {END!r}")
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    return f"{head}{BEGIN}\n\n{section}\n\n{END}{tail}"


def save_pictures(found: Reproduction, folder: Path) -> list[str]:
    """Save the figures as PNG in `folder` and return their names."""
    prefix = found.paper.name
    with tempfile.TemporaryDirectory() as scratch:
        saved = found.save(Path(scratch) / "saved").parent
        folder.mkdir(parents=True, exist_ok=True)
        for figure in found.figures:
            shutil.copyfile(saved / f"{figure.id}.png", folder / f"{prefix}-{figure.id}.png")
    return [f"{prefix}-{figure.id}.png" for figure in found.figures]


def table_file(found: Reproduction, listing: Listing) -> str:
    """Return the file name of a table in docs/data."""
    return f"{found.paper.name}-{listing.id}.csv"


def save_tables(found: Reproduction, folder: Path) -> None:
    """Save the tables that the page shows only in part."""
    for listing in found.tables:
        if len(listing.data) > listing.shown:
            folder.mkdir(parents=True, exist_ok=True)
            listing.data.to_csv(folder / table_file(found, listing), index=False)


def names() -> list[str]:
    """List the reproductions: each paper, and each part that runs only by name."""
    beyond = (
        [f"{paper.name}/{part}" for part in paper.parts if part not in paper.default]
        for paper in PAPERS.values()
    )
    return [name for paper, more in zip(PAPERS, beyond, strict=True) for name in (paper, *more)]


def sections(text: str) -> dict[str, str]:
    """Split docs/reproduced.md into the sections of reproductions, by name."""
    found = text.split(f"\n## {differing.WHY}\n")[0].split("\n## ")[1:]
    named = {section.partition("\n")[0]: f"## {section.strip()}" for section in found}
    return {name: section for name, section in named.items() if name in names()}


def written(said: Mapping[str, str], rows: differing.Rows, beside: pd.DataFrame) -> str:
    """Return docs/reproduced.md: an overview, the papers in their order, and why claims differ."""
    text = [
        "# What is reproduced, and how well",
        "",
        "Written by `make reproduced` from a run.",
        "",
    ]
    best = {paper: alternatives.best_of(paper, beside) for paper in PAPERS}
    text += differing.overview(said, rows, best)
    text += calibrated.section(calibrated.recorded())
    for name in names():
        text += ["", said[name].partition(f"\n{alternatives.HEADING}")[0].rstrip()]
        if name in PAPERS:
            text += alternatives.sections(name, beside)
    text += ["", *differing.reasons({name: rows[name] for name in names() if name in rows})]
    return "\n".join(text) + "\n"


def lines_of(section: str) -> dict[str, tuple[str, list[str]]]:
    """Return the text of README.md about each paper: the line of counts, and the rows of claims."""
    lines = section.splitlines()
    return {
        paper: (
            next(
                (line for line in lines if line.startswith(f"- `lightburst reproduce {paper}")), ""
            ),
            [line for line in lines if line.startswith(f"| {paper} |")],
        )
        for paper in PAPERS
    }


def readme_section(of_papers: Mapping[str, tuple[str, list[str]]]) -> str:
    """Return the generated part of README.md: the lines of counts, and the table of claims."""
    counts = [count for count, _ in of_papers.values()]
    rows = [row for _, rows in of_papers.values() for row in rows]
    return "\n".join([*counts, "", *HEADING, *rows])


def main() -> int:
    """Run the papers and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="only these; what the pages say of others stays"
    )
    parser.add_argument("--quick", action="store_true", help="fewer seeds and points: a preview")
    parser.add_argument(
        "--preview", action="append", default=[], metavar="PART", help="run this part quickly only"
    )
    chosen = parser.parse_args()
    if unknown := set(chosen.names) - set(names()):
        parser.error(f"no {', '.join(sorted(unknown))}; there are {', '.join(names())}")
    file, readme = ROOT / "docs" / "reproduced.md", ROOT / "README.md"
    said = sections(file.read_text(encoding="utf-8"))
    whole = readme.read_text(encoding="utf-8")
    of_papers, record = lines_of(whole), ROOT / "docs" / "data" / "differs.csv"
    rows = differing.recorded(record)
    compared = ROOT / "docs" / "data" / "alternatives.csv"
    beside = alternatives.recorded(compared)
    for name in chosen.names or names():
        found = reproduce(name, quick=chosen.quick or name in chosen.preview)
        save_tables(found, ROOT / "docs" / "data")
        said[name] = page_section(found, save_pictures(found, ROOT / "docs" / "images"))
        rows[name] = differing.rows_of(found)
        if name in PAPERS:
            of_papers[name] = readme_counts(found), readme_rows(shown_of(found))
            fresh = alternatives.ran(name, quick=chosen.quick)
            beside = pd.concat([beside[beside["paper"] != name], fresh])
    readme.write_text(replaced(whole, readme_section(of_papers)), encoding="utf-8")
    differing.record(record, {name: rows[name] for name in names() if rows.get(name)})
    beside.to_csv(compared, index=False)
    file.write_text(written(said, rows, beside), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
