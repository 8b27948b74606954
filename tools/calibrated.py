"""Calibrate a paper and record what its statements determine: ``make calibrated ARGS=PAPER``.

A calibration takes an hour or so, and so is no part of ``make reproduced``. Both show the record
docs/data/calibrated.csv at the head of docs/reproduced.md. Finished runs are in the store: after an
interrupt the same command continues. ``--waves``, ``--points`` and ``--confirm`` are those of the
command ``lightburst calibrate``; ``--out DIR`` keeps its tables, figures and page.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

import pandas as pd

from keys import row
from lightburst.experiment.calibrate import calibrate
from lightburst.experiment.calibrated.calibration import Calibration
from lightburst.papers import PAPERS
from lightburst.study.calibration.ranges import Kind

_DOCS: Final = Path(__file__).resolve().parent.parent / "docs"
RECORD: Final = _DOCS / "data" / "calibrated.csv"
PAGE: Final = _DOCS / "reproduced.md"
_TITLE: Final = "## What the statements determine"
_HEADINGS: Final = (
    "| paper | settings | given up early | determined | bounded | free | nothing left | "
    "statements met nowhere | pairs not met together | statements that hold: base, best setting |",
    "| --- | ---: | ---: | --- | --- | --- | --- | --- | ---: | --- |",
)


def row_of(found: Calibration) -> dict[str, object]:
    """Return the record of a calibration."""
    kinds = {
        kind.value: [
            f"{one.parameter} ({one.left})" if kind is Kind.DETERMINED else str(one.parameter)
            for one in found.parameters.itertuples()
            if one.verdict == kind.value
        ]
        for kind in Kind
    }
    base, *others = found.best
    best = max(others, key=lambda one: one.held, default=base)
    return {
        "paper": found.name,
        "settings": len(found.settings) - 1,
        "given up": found.given_up,
        "runs": found.runs,
        **{name: "; ".join(words) for name, words in kinds.items()},
        "nowhere": "; ".join(found.nowhere),
        "apart": len(found.apart),
        "base": base.held,
        "best": best.held,
        "model": found.provenance["model_version"],
    }


def recorded() -> pd.DataFrame:
    """Read the recorded calibrations, in the order of the papers."""
    rows = pd.read_csv(RECORD, keep_default_na=False)
    return rows.sort_values("paper", key=lambda names: names.map(list(PAPERS).index))


def section(rows: pd.DataFrame) -> list[str]:
    """Return the lines of docs/reproduced.md about the recorded calibrations."""
    if rows.empty:
        return []
    lines = [
        "",
        _TITLE,
        "",
        "From `lightburst calibrate PAPER`, on the runs of a preview. A parameter is determined if "
        "at most a quarter of its range, or one choice, is left by the statements, and free if "
        "they leave all of it; [how](calibrate.md).",
        "",
        *_HEADINGS,
    ]
    for one in rows.to_dict("records"):
        cells = [one["paper"], one["settings"], one["given up"]]
        cells += [one[kind.value] or "–" for kind in Kind]
        cells += [one["nowhere"] or "–", one["apart"], f"{one['base']}, {one['best']}"]
        lines.append(row(map(str, cells)))
    return lines


def replaced(page: str, rows: pd.DataFrame) -> str:
    """Return docs/reproduced.md with the section about the recorded calibrations."""
    before, title, after = page.partition(f"\n{_TITLE}\n")
    if not title:
        raise ValueError(f"no section {_TITLE!r}: make reproduced writes the page")
    _, following, rest = after.partition("\n## ")
    return before + "\n".join(section(rows)) + "\n" + following + rest


def main() -> int:
    """Calibrate and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", metavar="PAPER", choices=list(PAPERS))
    for option in ("waves", "points", "confirm"):
        parser.add_argument(f"--{option}", type=int)
    parser.add_argument("--out", metavar="DIR")
    given = vars(parser.parse_args())
    name, out = given.pop("name"), given.pop("out")
    found = calibrate(name, **{key: value for key, value in given.items() if value is not None})
    if out is not None:
        found.save(out)
    rows = recorded()
    rows = pd.concat([rows[rows["paper"] != name], pd.DataFrame([row_of(found)])])
    rows.to_csv(RECORD, index=False)
    page = replaced(PAGE.read_text(encoding="utf-8"), recorded())
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
