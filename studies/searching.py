"""Shared parts of the searches over open parameters: command line, and exact claims."""

from __future__ import annotations

import argparse

from lightburst.experiment.reproduce import reproduce_parts
from lightburst.papers.claims import Claim, exact, judged, verdict_of
from lightburst.papers.paper import Paper


def run(study: Paper, about: str | None, quick: str) -> int:
    """Run a study from the command line; write figure, table, claims and page.

    Parameters
    ----------
    study : Paper
        Study in the form of a paper.
    about : str or None
        Description for ``--help``.
    quick : str
        Description of ``--quick``.
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
    """Judge an exact statement about the scores of a search; parameters as in `judged`."""
    return judged(
        f"search-{name}", "search", words, published, exact(measured), verdict_of(good), rule, note,
        source,
    )  # fmt: skip
