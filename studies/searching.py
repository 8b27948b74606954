"""What searches over open parameters share: their command line, and claims that are exact."""

from __future__ import annotations

import argparse

from lightburst.papers.claims import Claim, exact, judged, verdict_of
from lightburst.papers.paper import Paper
from lightburst.report.reproduction import reproduce_parts


def run(study: Paper, about: str | None, quick: str) -> int:
    """Run a study from the command line, and write figure, table, claims and page.

    Parameters
    ----------
    study : Paper
        The study, as a paper of its own.
    about : str or None
        What ``--help`` says of it.
    quick : str
        What it says of ``--quick``.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help=f"{quick}: a preview")
    parser.add_argument("--out", required=True, metavar="DIR", help="where to write the outcome")
    parser.add_argument("--workers", type=int, metavar="N", help="threads; all cores by default")
    chosen = parser.parse_args()
    found = reproduce_parts(study, study.default, quick=chosen.quick, workers=chosen.workers)
    print(found.save(chosen.out))
    return 0


def claim(
    name: str,
    words: str,
    published: float | None,
    measured: float,
    good: bool,
    rule: str,
    note: str,
    source: str = "independent prototype",
) -> Claim:
    """Judge what the scores of a search say exactly; the parameters are those of `judged`."""
    return judged(
        f"search-{name}", "search", words, published, exact(measured), verdict_of(good), rule, note,
        source,
    )  # fmt: skip
