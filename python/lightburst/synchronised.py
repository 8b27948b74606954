"""Whether connections move together: their windows, their throughput, and what they lose.

The simulator gives exact sums over bins of time (docs/model.md, *Synchronisation*); here they
become means, standard deviations and a correlation.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import TYPE_CHECKING, Final

from lightburst.metrics import PS, Columns, Metric, ratio

if TYPE_CHECKING:
    import pandas as pd

Sums = Mapping[str, int]

# The simulator counts windows in thousandths of a segment.
_SEGMENT: Final = 1e-3


def figures(columns: Columns, bin_ps: int) -> dict[str, Metric]:
    """Say how all connections move together, and how they would if each went its own way.

    Parameters
    ----------
    columns : mapping of str to mapping
        The tables of a run with ``measurement.synchronisation``.
    bin_ps : int
        Length of a bin.

    Returns
    -------
    dict
        ``synchronisation_bins``
            number of bins, whole ones only;
        ``connections_mean``
            mean number of connections in progress at their ends;
        ``aggregate_window_mean_segments``, ``aggregate_window_std_segments``
            mean and standard deviation over the bins of the sum of their congestion windows;
        ``aggregate_window_independent_std_segments``
            the root of the sum of the variances of each connection's own window, which is 0 where
            it is not in progress: the standard deviation of as many connections that have nothing
            to do with each other;
        ``aggregate_window_std_ratio``
            the first over the second: 1 if they are independent, the root of their number if they
            are alike and in step;
        ``aggregate_throughput_mean_bps``, ``_std_bps``, ``_independent_std_bps``, ``_std_ratio``
            the same of the useful bits that arrive in a bin, over its length;
        ``window_reductions``
            in how many bins a window was reduced, by a fast retransmission or a timeout, summed
            over the connections in progress at the end of the bin;
        ``window_reduction_correlation``
            that of the reductions of two connections in one bin, over all bins and pairs of
            connections in progress at its end.

        None where there is no such figure.

    References
    ----------
    .. [1] C. Barakat, P. Thiran, G. Iannaccone, C. Diot, P. Owezarski, "Modeling Internet backbone
       traffic at the flow level", IEEE Trans. Signal Processing 51(8), 2003: the variance of flows
       that come and go independently is the mean rate of arrivals times the mean integral of the
       square of what one has (Campbell's theorem for shot noise).
    .. [2] S. Karlin, E. Cameron, P. Williams, "Sibling and parent-offspring correlation estimation
       with variable family size", PNAS 78(5), 1981: correlation over all pairs of all families.
    """
    sums: Sums = columns["synchronisation"]
    bins = sums["bins"]
    return {
        "synchronisation_bins": bins,
        "connections_mean": ratio(sums["connections"], bins),
        **_spread(sums, "window", _SEGMENT, "aggregate_window_{}_segments"),
        **_spread(sums, "bytes", 8 / (bin_ps * PS), "aggregate_throughput_{}_bps"),
        "window_reductions": sums["reductions"],
        "window_reduction_correlation": _correlation(sums),
    }


def _spread(sums: Sums, quantity: str, unit: float, name: str) -> dict[str, Metric]:
    """Give mean and standard deviations of a quantity, under the names of its figures."""
    bins = sums["bins"]
    total, squares, own_squares, squared_sums = (
        sums[f"{quantity}_{of}"] for of in ("sum", "squares", "own_squares", "squared_sums")
    )
    # Whole numbers, so that nothing is lost by cancellation: bins^2 times each variance.
    together, alone = bins * squares - total**2, bins * own_squares - squared_sums
    figures: dict[str, Metric] = {
        name.format("mean"): unit * (total / bins) if bins else None,
        name.format("std"): unit * sqrt(together) / bins if bins else None,
        name.format("independent_std"): unit * sqrt(alone) / bins if bins else None,
    }
    of_both = name.rpartition("{}")[0] + "std_ratio"
    return figures | {of_both: sqrt(together / alone) if alone else None}


def _correlation(sums: Sums) -> float | None:
    """Give the correlation of the reductions of two connections over all pairs of all bins.

    Each pair counts both ways, so that both members have the mean p = ``pairs_one / pairs``; both
    reduce with q = ``pairs_both / pairs``, and the correlation is (q - p^2) / (p - p^2).
    """
    pairs, one, both = (sums[name] for name in ("pairs", "pairs_one", "pairs_both"))
    spread = one * (pairs - one)
    return ratio(both * pairs - one**2, spread)


def series(columns: Columns, bin_ps: int) -> pd.DataFrame:
    """Give what each bin had, in order of time.

    Parameters
    ----------
    columns : mapping of str to mapping
        The tables of a run whose ``measurement.synchronisation`` has ``series``.
    bin_ps : int
        Length of a bin.

    Returns
    -------
    pandas.DataFrame
        ``time_s``, its end; ``connections`` in progress then; ``window_segments``, the sum of their
        congestion windows; ``throughput_bps``, useful bits that arrived at any receiver in the bin,
        in order or not, each once, over its length; ``reductions``, how many of the connections
        reduced their window in it.
    """
    import pandas as pd

    bins = columns["synchronisation_bins"]
    return pd.DataFrame(
        {
            "time_s": bins["time_ps"] * PS,
            "connections": bins["connections"],
            "window_segments": bins["window"] * _SEGMENT,
            "throughput_bps": bins["bytes"] * (8 / (bin_ps * PS)),
            "reductions": bins["reductions"],
        }
    )
