"""Coverage of 95 % intervals: the table of docs/statistics.md.

Repeats each experiment of `coverage_cases` 1,000 times, all from one seed, and writes the table
between the marks of the page; takes a few minutes.
"""

from __future__ import annotations

import argparse
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Final

import numpy as np

from coverage_cases import Case, cases
from marks import write_between

REPETITIONS: Final = 1000
SEED: Final = 20
# Range of acceptable coverage.
GOOD: Final = (0.93, 0.97)


def coverage(case: Case, repetitions: int = REPETITIONS, seed: int = SEED) -> float:
    """Estimate the coverage of an experiment's interval.

    Parameters
    ----------
    case : Case
        The experiment.
    repetitions : int
        Number of repetitions.
    seed : int
        Seed of all draws; each experiment has its own stream.

    Returns
    -------
    float
        From 0 to 1; its standard error is 0.007 at 1,000 repetitions of a true 0.95.
    """
    name = f"{case.method}; {case.draws}".encode()
    rng = np.random.default_rng([seed, *name])
    return sum(case.hit(rng) for _ in range(repetitions)) / repetitions


def row(case: Case, covered: float) -> str:
    """Return the row of an experiment, with a note if its coverage is out of range."""
    low, high = GOOD
    inside = low <= covered <= high
    if not inside and not case.note:
        raise ValueError(f"{case.method}, {case.draws}: {covered:.1%}, and nothing says why")
    figure = f"{100 * covered:.1f} %"
    cells = [case.method, case.draws, figure if inside else f"**{figure}**"]
    return f"| {' | '.join([*cells, '' if inside else case.note])} |"


def table(found: list[tuple[Case, float]]) -> str:
    """Return the table in Markdown."""
    lines = ["| method | experiment | covers | why not 93 to 97 % |", "| --- | --- | ---: | --- |"]
    return "\n".join([*lines, *(row(case, covered) for case, covered in found)])


def _measured(place: int, repetitions: int) -> float:
    return coverage(cases()[place], repetitions)


def main() -> int:
    """Run all experiments, print the table and insert it into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, metavar="N")
    parser.add_argument("--workers", type=int, metavar="N", help="processes; all cores by default")
    parser.add_argument("--dry", action="store_true", help="print the table, leave the page")
    chosen = parser.parse_args()
    known = cases()
    with ProcessPoolExecutor(chosen.workers) as pool:
        found = list(pool.map(_measured, range(len(known)), [chosen.repetitions] * len(known)))
    for case, covered in zip(known, found, strict=True):
        error = math.sqrt(covered * (1 - covered) / chosen.repetitions)
        print(f"{covered:.3f} +/- {error:.3f}  {case.method}; {case.draws}")
    if not chosen.dry:
        section = table(list(zip(known, found, strict=True)))
        write_between("coverage", "studies/coverage.py", section)
    return 0


if __name__ == "__main__":
    sys.exit(main())
