"""On how many samples a figure of a run rests, and whether these can give it at all.

The largest of n independent samples is below the p-quantile of their law with a probability of
exactly ``p^n``. A percentile is called supported where that is at most 5 %: 299 flows for the 99th,
59 for the 95th, 29 for the 90th, 5 for the median (S. S. Wilks, "Determination of sample sizes for
setting tolerance limits", Annals of Mathematical Statistics 12(1), 1941, pp. 91-96). With fewer it
is marked, and never hidden.
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Columns by name; a pandas.DataFrame is one, too.
Runs = Any

# Probability with which the largest sample may be below a percentile that is called supported.
_MISSED: Final = 0.05
# Beside a figure: of how many units or flows it is, in how many of them a share was seen, and how
# many a percentile needs.
OF, COUNT, NEEDED = "_of", "_count", "_needed"
#: Flows that have a completion time, infinite ones among them: those that are left out of means and
#: percentiles are lost by an open loop, or have no end.
TIMED: Final = "timed_flows"
_TIMES: Final = ("completion_time_", "slowdown_")
_PERCENTILE: Final = re.compile(r"_(?:p(\d+(?:\.\d+)?)|(median))(?:_[a-z0-9]+)?$")
#: Signs of a percentile beyond its sample, and of a figure over fewer flows than there are.
BEYOND, FEWER = "*", "†"


def beside(key: str, ending: str) -> str:
    """Name what stands beside a figure: ``burst_loss_of[voice]`` beside ``burst_loss[voice]``."""
    figure, bracket, part = key.partition("[")
    return f"{figure}{ending}{bracket}{part}"


def is_support(key: str) -> bool:
    """Tell whether a column only says what others rest on."""
    return key.partition("[")[0].endswith((TIMED, OF, COUNT, NEEDED))


def samples_in(key: str) -> str:
    """Name the column with the number of samples of a figure, whether there is one or not."""
    figure, bracket, part = key.partition("[")
    if figure.startswith(_TIMES):
        return f"{TIMED}{bracket}{part}"
    if figure.startswith("flow_throughput_"):
        return f"flow_throughput{OF}{bracket}{part}"
    return beside(key, OF)


def needed(probability: float) -> int:
    """Give the smallest n of samples that support a quantile: ``p^n <= 0.05``, on either side.

    Parameters
    ----------
    probability : float
        Of the quantile. The smallest and the largest sample, 0 and 1, are supported by any.

    Returns
    -------
    int
    """
    side = max(probability, 1 - probability)
    if side >= 1:
        return 1
    n = math.ceil(math.log(_MISSED) / math.log(side))
    # Logarithms round: the definition decides.
    return n if side**n <= _MISSED else n + 1


def needed_by(key: str) -> int | None:
    """Give how many samples a figure of lightburst needs; None where it is no percentile."""
    figure = key.partition("[")[0]
    found = _PERCENTILE.search(figure)
    if found is None or not figure.startswith((*_TIMES, "flow_throughput_")):
        return None
    return needed(0.5 if found[2] else float(found[1]) / 100)


def bound(units: float) -> float:
    """Give the share that is not exceeded with 95 % where none was seen in so many units."""
    # (1 - share)^units = 5 %: about 3 / units.
    return -math.expm1(math.log(_MISSED) / units)


class Support(NamedTuple):
    """What a figure rests on.

    Attributes
    ----------
    samples : int
        Flows that it is over; of several runs, in that with the fewest.
    needed : int
        How many a percentile needs; 1 for anything else.
    timed, flows : int
        Flows that it is over, and flows that count, in all runs together; 0 where not known.
    """

    samples: int
    needed: int
    timed: int
    flows: int

    @property
    def beyond(self) -> bool:
        """Whether it is a percentile beyond what the sample can give."""
        return self.samples < self.needed

    @property
    def fewer(self) -> bool:
        """Whether flows that count are left out of it."""
        return self.timed < self.flows

    @property
    def sign(self) -> str:
        """What stands behind the figure in a table."""
        return f"{BEYOND if self.beyond else ''}{FEWER if self.fewer else ''}"


def support_of(runs: Runs, key: str) -> Support | None:
    """Tell what a figure of some runs rests on.

    Parameters
    ----------
    runs : mapping of str to array_like of float, or pandas.DataFrame
        Columns of one value for each run, None or NaN where there is none.
    key : str
        The figure, one of them.

    Returns
    -------
    Support or None
        None where the runs do not tell, or it is a share, which has an interval of its own.
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
    """Name the columns that say what a figure rests on, whether they are there or not."""
    return [samples_in(key), *(beside(key, ending) for ending in (OF, COUNT, NEEDED))]


def _column(runs: Runs, key: str) -> NDArray[np.float64]:
    return np.asarray(runs[key], dtype=np.float64)


def weak(runs: Runs, keys: Iterable[str] | None = None) -> dict[str, Support]:
    """Give those of the metrics, of all by default, that are marked, with what they rest on."""
    found = {str(key): support_of(runs, str(key)) for key in (runs if keys is None else keys)}
    return {key: one for key, one in found.items() if one is not None and one.sign}


def weak_in(table: Runs) -> list[Support]:
    """Give percentiles beyond their samples in a table with the columns of `rests_on`."""
    pairs = zip(_column(table, "samples"), _column(table, "needed"), strict=True)
    return [Support(int(n), int(least), 0, 0) for n, least in pairs if n < least]


def notes(supports: Iterable[Support]) -> list[str]:
    """Explain the signs, each one once, by the figure with the fewest samples.

    Parameters
    ----------
    supports : iterable of Support
        Of the metrics that are shown.

    Returns
    -------
    list of str
        A sentence for each sign.
    """
    every = list(supports)
    found = []
    if beyond := [one for one in every if one.beyond]:
        worst = min(beyond, key=lambda one: (one.samples / one.needed, one.needed))
        # What the number that is needed says of the percentile: p^n = 5 %.
        missed = _MISSED ** (worst.samples / worst.needed)
        flows = "flow" if worst.samples == 1 else "flows"
        found.append(
            f"{BEYOND} a percentile beyond what so few flows can give: none of {worst.samples:,} "
            f"{flows} lies beyond it in about {100 * missed:.0f} of 100 cases, none of "
            f"{worst.needed:,} in 5"
        )
    if fewer := [one for one in every if one.fewer]:
        worst = min(fewer, key=lambda one: one.timed / one.flows)
        found.append(
            f"{FEWER} over {worst.timed:,} of {worst.flows:,} flows: the others lost data that "
            "nothing sends again, or have no end"
        )
    return found


def as_json(supports: Mapping[str, Support]) -> dict[str, Any]:
    """Give marked metrics as JSON can hold them, by name."""
    return {
        key: {
            "samples": one.samples,
            **({"needed": one.needed} if one.beyond else {}),
            **({"timed_flows": one.timed, "flows": one.flows} if one.fewer else {}),
        }
        for key, one in supports.items()
    }
