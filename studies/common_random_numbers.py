"""Gain of shared seeds for the width of an interval: a table of docs/statistics.md.

Two variants of a scenario run on the same seeds, so that they carry the same flows. The difference
is computed twice from the same runs: paired by seed, and as if the seeds were independent.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

import lightburst as lb
from lightburst.result.metric_text import readable, words_of
from lightburst.study import difference_of_means, paired_difference
from marks import write_between

ROOT: Final = Path(__file__).resolve().parent.parent
SEEDS: Final = range(1, 21)
METRICS: Final = ("throughput_bps", "completion_time_mean_s", "slowdown_p99")
_TCP: Final = {"kind": "tcp", "preset": "datacentre"}
#: Questions: scenario, and changes of its two variants.
QUESTIONS: Final[dict[str, tuple[str, dict[str, object], dict[str, object]]]] = {
    "hybrid less electronic, `sawl`": (
        "electronic.toml",
        {"switching.kind": "electronic"},
        {"switching.kind": "hybrid"},
    ),
    "5 less 2 buffer ports, `sawl`": (
        "hybrid.toml",
        {"switching.buffer_ports": 2},
        {"switching.buffer_ports": 5},
    ),
    "SACK less Reno, TCP over hybrid": (
        "hybrid.toml",
        {"transport": _TCP | {"recovery": "reno"}},
        {"transport": _TCP | {"recovery": "sack"}},
    ),
}


def compared(one: pd.DataFrame, other: pd.DataFrame, metric: str) -> tuple[str, ...]:
    """Compute the difference of two variants, paired by seed and unpaired.

    Parameters
    ----------
    one, other : pandas.DataFrame
        Runs of two variants on the same seeds, in the same order.
    metric : str
        Compared metric.

    Returns
    -------
    tuple of str
        Difference, half-width of its unpaired and of its paired interval, ratio of these, its
        square (the factor on the number of seeds for the same width), and correlation of the
        variants.
    """
    x, y = (runs[metric].to_numpy(dtype=np.float64) for runs in (one, other))
    found = paired_difference(x, y), difference_of_means(x, y)
    paired, apart = ((interval.high - interval.low) / 2 for interval in found)
    return (
        readable(metric, found[0].estimate),
        f"± {readable(metric, apart)}",
        f"± {readable(metric, paired)}",
        f"{apart / paired:.1f}",
        f"{(apart / paired) ** 2:.1f}",
        f"{np.corrcoef(x, y)[0, 1]:.2f}",
    )


def table() -> str:
    """Run all questions and return the table in Markdown."""
    lines = [
        "| question | metric | difference | unpaired | paired | narrower by | seeds saved by | "
        "correlation |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for question, (file, *variants) in QUESTIONS.items():
        base = lb.load(ROOT / "examples" / file)
        one, other = (lb.replicate(base.with_(change), SEEDS) for change in variants)
        for metric in METRICS:
            cells = question, words_of(metric), *compared(one, other, metric)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """Print the table and insert it into the page."""
    section = table()
    print(section)
    write_between("common random numbers", "studies/common_random_numbers.py", section)
    return 0


if __name__ == "__main__":
    sys.exit(main())
