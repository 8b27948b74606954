"""The sample sizes of the metrics of a run, and whether they support percentiles.

The largest of n independent samples is below the p-quantile of their distribution with a
probability of exactly ``p^n``. A percentile is supported if this probability is at most 5 %: 299
flows for the 99th, 59 for the 95th, 29 for the 90th, 5 for the median (S. S. Wilks, "Determination
of sample sizes for setting tolerance limits", Annals of Mathematical Statistics 12(1), 1941, pp.
91-96). An unsupported percentile is marked, and never hidden.
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Columns by name; a pandas.DataFrame is one, too.
Runs = Any

# Largest probability that all samples are below a supported percentile.
_MISSED: Final = 0.05
# Suffixes of columns beside a metric: number of its units or flows, number of those with the event
# of a share, and number that a percentile needs.
OF, COUNT, NEEDED = "_of", "_count", "_needed"
#: Number of flows with a completion time, infinite ones included. The flows left out of means and
#: percentiles have losses in an open loop, or no end.
TIMED: Final = "timed_flows"
_TIMES: Final = ("completion_time_", "slowdown_")
_PERCENTILE: Final = re.compile(r"_(?:p(\d+(?:\.\d+)?)|(median))(?:_[a-z0-9]+)?$")
#: Signs of a percentile beyond its sample, and of a metric that leaves counted flows out.
BEYOND, FEWER = "*", "†"


def beside(key: str, ending: str) -> str:
    """Return the name of a column beside a metric: ``burst_loss_of[voice]`` of its group."""
    figure, bracket, part = key.partition("[")
    return f"{figure}{ending}{bracket}{part}"


def is_support(key: str) -> bool:
    """Return whether a column is a sample size or count of another metric."""
    return key.partition("[")[0].endswith((TIMED, OF, COUNT, NEEDED))


def samples_in(key: str) -> str:
    """Return the name of the column with the sample size of a metric, which need not exist."""
    figure, bracket, part = key.partition("[")
    if figure.startswith(_TIMES):
        return f"{TIMED}{bracket}{part}"
    if figure.startswith("flow_throughput_"):
        return f"flow_throughput{OF}{bracket}{part}"
    return beside(key, OF)


def needed(probability: float) -> int:
    """Return the least sample size n that supports a quantile: ``p^n <= 0.05``, on either side.

    Parameters
    ----------
    probability : float
        Probability of the quantile. Any sample supports its minimum and maximum, 0 and 1.

    Returns
    -------
    int
    """
    side = max(probability, 1 - probability)
    if side >= 1:
        return 1
    n = math.ceil(math.log(_MISSED) / math.log(side))
    # The logarithms are rounded, so the definition is checked.
    return n if side**n <= _MISSED else n + 1


def needed_by(key: str) -> int | None:
    """Return the sample size that a metric needs, by its name; None if it is no percentile."""
    figure = key.partition("[")[0]
    found = _PERCENTILE.search(figure)
    if found is None or not figure.startswith((*_TIMES, "flow_throughput_")):
        return None
    return needed(0.5 if found[2] else float(found[1]) / 100)


def bound(units: float) -> float:
    """Return the upper 95 % bound of a share whose event did not occur in any of `units` units."""
    # (1 - share)^units = 5 %: about 3 / units.
    return -math.expm1(math.log(_MISSED) / units)


class Support(NamedTuple):
    """Sample size of a metric.

    Attributes
    ----------
    samples : int
        Flows in the metric; of several runs, in the run with the fewest.
    needed : int
        Flows that a percentile needs; 1 for other metrics.
    timed, flows : int
        Flows in the metric, and counted flows, in all runs together; 0 if not known.
    """

    samples: int
    needed: int
    timed: int
    flows: int

    @property
    def beyond(self) -> bool:
        """Whether the metric is a percentile beyond its sample."""
        return self.samples < self.needed

    @property
    def fewer(self) -> bool:
        """Whether the metric leaves counted flows out."""
        return self.timed < self.flows

    @property
    def sign(self) -> str:
        """Signs after the metric in a table."""
        return f"{BEYOND if self.beyond else ''}{FEWER if self.fewer else ''}"


def support_of(runs: Runs, key: str) -> Support | None:
    """Return the sample size of a metric over some runs.

    Parameters
    ----------
    runs : mapping of str to array_like of float, or pandas.DataFrame
        Columns with one value for each run; None or NaN for a missing value.
    key : str
        The metric, one of the columns.

    Returns
    -------
    Support or None
        None if the runs do not state it, and for a share, which has an interval of its own.
    """
    name = samples_in(key)
    if name not in runs or beside(key, COUNT) in runs:
        return None
    there = ~np.isnan(_column(runs, key))
    samples = _column(runs, name)[there]
    if samples.size == 0:
        return None
    own = beside(key, NEEDED)
    least = needed_by(key) or (int(np.nanmax(_column(runs, own))) if own in runs else 1)
    figure, bracket, part = name.partition("[")
    every = f"flows{bracket}{part}"
    told = figure == TIMED and every in runs
    flows = (int(samples.sum()), int(_column(runs, every)[there].sum())) if told else (0, 0)
    return Support(int(samples.min()), least, *flows)


def supporting(key: str) -> list[str]:
    """Return the names of the columns for the sample size of a metric, which need not exist."""
    return [samples_in(key), *(beside(key, ending) for ending in (OF, COUNT, NEEDED))]


def _column(runs: Runs, key: str) -> NDArray[np.float64]:
    return np.asarray(runs[key], dtype=np.float64)


def weak(runs: Runs, keys: Iterable[str] | None = None) -> dict[str, Support]:
    """Return the marked metrics among `keys`, by default among all, with their sample sizes."""
    found = {str(key): support_of(runs, str(key)) for key in (runs if keys is None else keys)}
    return {key: one for key, one in found.items() if one is not None and one.sign}


def weak_in(table: Runs) -> list[Support]:
    """Return the percentiles beyond their samples in a table with the columns of `rests_on`."""
    pairs = zip(_column(table, "samples"), _column(table, "needed"), strict=True)
    return [Support(int(n), int(least), 0, 0) for n, least in pairs if n < least]


def notes(supports: Iterable[Support]) -> list[str]:
    """Explain each sign once, by the metric with the weakest support.

    Parameters
    ----------
    supports : iterable of Support
        Sample sizes of the metrics shown.

    Returns
    -------
    list of str
        A sentence for each sign.
    """
    every = list(supports)
    found = []
    if beyond := [one for one in every if one.beyond]:
        worst = min(beyond, key=lambda one: (one.samples / one.needed, one.needed))
        # p^samples, since p^needed = 5 %.
        missed = _MISSED ** (worst.samples / worst.needed)
        flows = "flow" if worst.samples == 1 else "flows"
        found.append(
            f"{BEYOND} a percentile that so few flows cannot support: none of {worst.samples:,} "
            f"{flows} lies beyond it in about {100 * missed:.0f} of 100 cases, none of "
            f"{worst.needed:,} in 5"
        )
    if fewer := [one for one in every if one.fewer]:
        worst = min(fewer, key=lambda one: one.timed / one.flows)
        found.append(
            f"{FEWER} over {worst.timed:,} of {worst.flows:,} flows: the others lost data in an "
            "open loop, or have no end"
        )
    return found


def as_json(supports: Mapping[str, Support]) -> dict[str, Any]:
    """Return marked metrics by name, as JSON values."""
    return {
        key: {
            "samples": one.samples,
            **({"needed": one.needed} if one.beyond else {}),
            **({"timed_flows": one.timed, "flows": one.flows} if one.fewer else {}),
        }
        for key, one in supports.items()
    }
