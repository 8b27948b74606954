"""Throughput around an event, over runs that differ in their seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lightburst.foundation.counts import PS
from lightburst.foundation.errors import InputError, show
from lightburst.foundation.units import format_duration
from lightburst.study.statistics.intervals import mean_interval

if TYPE_CHECKING:
    from lightburst.result.result import Result

#: Columns of `throughput_around`.
TIME, THROUGHPUT, RUNS = "time_after_s", "throughput_bps", "runs"


def throughput_around(
    results: Mapping[str, Sequence[Result]], at: int, before: int, after: int
) -> pd.DataFrame:
    """Return mean throughputs with 95 % intervals in the bins around a time.

    Parameters
    ----------
    results : mapping of str to sequence of Result
        Runs by name; those of one name differ in their seed.
    at, before, after : int
        Picoseconds: the event, and how much of the time before and after it is wanted.

    Returns
    -------
    pandas.DataFrame
        One row for each name and bin that is whole in that time: ``runs``, the name;
        ``time_after_s``, the middle of the bin; ``throughput_bps``, the mean; ``ci_low``,
        ``ci_high`` (Student's, over the runs); ``n``.

    Raises
    ------
    InputError
        If a run has no `lightburst.Result.recovery`, or if no bin is in that time.
    """
    rows = []
    for name, runs in results.items():
        lengths = {run.scenario.measurement.recovery for run in runs}
        if len(lengths) != 1:
            given = " and ".join(sorted(format_duration(one) for one in lengths if one))
            allowed = "one length of bins, measurement.recovery, in the runs of a name"
            raise InputError(f"results[{show(name)}]", given or "no runs", allowed)
        length = lengths.pop()
        series = [run.recovery["throughput_bps"].to_numpy() for run in runs]
        assert length is not None
        first, last = -(-max(at - before, 0) // length), (at + after) // length
        for place in range(first, last):
            found = mean_interval([_at(one, place) for one in series])
            middle = ((place + 0.5) * length - at) * PS
            ends = found.low, found.high
            rows.append((name, middle, found.estimate, *ends, len(series)))
    if not rows:
        given = f"{format_duration(before)} before and {format_duration(after)} after"
        raise InputError("before", given, "a time in which there is a whole bin")
    return pd.DataFrame(rows, columns=[RUNS, TIME, THROUGHPUT, "ci_low", "ci_high", "n"])


def _at(series: NDArray[np.float64], place: int) -> float:
    """Return a bin; after the last data that arrived there is nothing."""
    return float(series[place]) if place < series.size else 0.0
