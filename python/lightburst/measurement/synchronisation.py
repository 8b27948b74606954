"""Synchronisation of connections: of their windows, their throughput and their losses.

The simulator provides exact sums over bins of time (docs/model.md, *Synchronisation*), from which
this module computes means, standard deviations and a correlation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import sqrt
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from pydantic import Field

from lightburst.foundation.counts import PS, ratio
from lightburst.foundation.errors import InputError
from lightburst.foundation.memory import check_memory
from lightburst.foundation.units import (
    TIME,
    PositiveDuration,
    Quantity,
    format_duration,
    parse_duration,
)
from lightburst.measurement.base import OptionalMeasurement
from lightburst.scenario.fields import Flag, refuse_at
from lightburst.scenario.section import Section
from lightburst.scenario.transport import OPEN_LOOP

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.foundation.counts import Columns, Metric
    from lightburst.measurement.protocols import Forecast, Network, Plan, Reading, Switches
    from lightburst.scenario.model import Scenario
    from lightburst.scenario.tables.measurement import Measurement

Sums = Mapping[str, int]

# The simulator counts windows in thousandths of a segment.
_SEGMENT: Final = 1e-3
_MOST_BINS: Final = 10**9
# The sums over all connections in one bin, in the simulator, in columns and in tables.
_BYTES_PER_BIN: Final = 110


class Synchronisation(Section):
    """Settings of the statistics of synchronisation, in bins of time.

    Attributes
    ----------
    bin : int
        Length of a bin in picoseconds.
    begin : int or None
        Picoseconds; None: the warm-up.
    """

    bin: PositiveDuration = Field(
        parse_duration("13 ms"),
        description=(
            "Length of a bin. The default is the time unit of vlachos2008. Losses in the same bin "
            "count as simultaneous."
        ),
    )
    begin: Annotated[int | None, Quantity(TIME, word="warm-up")] = Field(
        None,
        description=(
            "Earliest begin of a counted bin. Bins that end after `until` are not counted either, "
            "nor is the last one, if the run ends within it. A connection in progress counts in a "
            "bin whenever it started."
        ),
    )
    series: Flag = Field(
        False,
        description=(
            "Also keep the time series of the bins: `result.synchronisation`. Memory then grows "
            "with the length of the run, by 110 B per bin."
        ),
    )

    def end_of_first(self, warm_up: int | None) -> int:
        """Return the end of the first counted bin in picoseconds, for a given warm-up."""
        begin = self.begin if self.begin is not None else warm_up or 0
        return (-(-begin // self.bin) + 1) * self.bin


class SynchronisationMeasurement(OptionalMeasurement):
    """Aggregate windows and throughput of all connections, and the correlation of their losses."""

    key = "synchronisation"
    labels: ClassVar[Mapping[str, str]] = {
        "synchronisation_bins": "bins of time",
        "connections_mean": "connections in progress, mean",
        "aggregate_window_mean_segments": "segments in all windows, mean",
        "aggregate_window_std_segments": "segments in all windows, standard deviation",
        "aggregate_window_independent_std_segments": "segments in all windows, if independent",
        "aggregate_window_std_ratio": "deviation of all windows over that if independent",
        "aggregate_throughput_mean_bps": "throughput of all, mean over bins",
        "aggregate_throughput_std_bps": "throughput of all, standard deviation",
        "aggregate_throughput_independent_std_bps": "throughput of all, if independent",
        "aggregate_throughput_std_ratio": "deviation of all throughput over that if independent",
        "window_reductions": "reductions of windows",
        "window_reduction_correlation": "reductions of two windows, correlation",
    }
    tables = ("synchronisation",)
    held = ("bins", "{:,} bins of time were kept")
    attribute = "synchronisation"
    example = ("a table that keeps the time series", "{'series': True}")

    def check(self, measurement: Measurement) -> None:
        """Refuse an unknown begin, and bins that are too long or too many."""
        own = measurement.synchronisation
        if own is None:
            return
        if own.begin is None:
            measurement.check_warm_up_is_known(f"{self.key}.begin")
        end = min(measurement.time_limit, measurement.until or measurement.time_limit)
        first = own.end_of_first(measurement.warm_up)
        path, given = f"{self.key}.bin", format_duration(own.bin)
        if first > end:
            begin, over = format_duration(first - own.bin), format_duration(end)
            allowed = f"so short that the first bin, which begins at {begin}, ends by {over}"
            raise refuse_at(path, given, allowed)
        if end // own.bin > _MOST_BINS:
            shortest = format_duration(-(-end // _MOST_BINS))
            raise refuse_at(path, given, f"at least {shortest}, for {_MOST_BINS:,} bins")

    def misfits(self, scenario: Scenario) -> Iterator[InputError]:
        """Refuse statistics of windows if there are no connections."""
        if all(group.transport.kind in OPEN_LOOP for group in scenario.flow_groups):
            allowed = "nothing: datagrams and bursts are no connections, and have no windows"
            yield InputError("measurement.synchronisation", "a table without connections", allowed)
        if any(group.transport.kind == "rdma" for group in scenario.flow_groups):
            allowed = "nothing: of its laws only 'hpcc' and 'swift' have windows, not compared"
            yield InputError("measurement.synchronisation", "a table with 'rdma'", allowed)

    def settings(
        self, scenario: Scenario, network: Network, switches: Switches
    ) -> dict[str, dict[str, Any]]:
        """Return the bins, and whether their series is kept."""
        measurement = scenario.measurement
        own = measurement.synchronisation
        assert own is not None
        bins = {
            "bin_ps": own.bin,
            "from_ps": own.end_of_first(measurement.warm_up) - own.bin,
            "until_ps": measurement.until or measurement.time_limit,
            "series": own.series,
        }
        return {"synchronisation": bins}

    def memory(self, forecast: Forecast) -> int:
        """Return the bytes of the series of bins."""
        settings = forecast.plan.settings
        own = settings.get("synchronisation")
        if own is None or not own["series"]:
            return 0
        bins = min(own["until_ps"], settings["time_limit_ps"]) // own["bin_ps"]
        check_memory(
            _BYTES_PER_BIN * bins,
            "measurement.synchronisation.series",
            f"true: {bins:,} bins of {format_duration(own['bin_ps'])}, {{}}",
            "longer bins or an earlier limit: {} of memory are free",
        )
        return int(_BYTES_PER_BIN * bins)

    def of_run(self, measurement: Measurement, plan: Plan, columns: Columns) -> dict[str, Metric]:
        """Return `metrics_of` for the bins."""
        assert measurement.synchronisation is not None
        return metrics_of(columns, measurement.synchronisation.bin)

    def is_readable(self, measurement: Measurement) -> bool:
        """Return whether the series of bins is kept."""
        own = measurement.synchronisation
        return own is not None and own.series

    def missing(self, measurement: Measurement) -> str | None:
        """Return the path of the option that keeps the series; None if it is kept."""
        readable = self.is_readable(measurement)
        return None if readable else "measurement.synchronisation.series"

    def read(self, run: Reading) -> pd.DataFrame:
        """Return windows and throughput of all connections over time; see `synchronisation.series`.

        Raises
        ------
        InputError
            If the scenario does not request it.
        """
        own = run.scenario.measurement.synchronisation
        assert own is not None
        return series(run.columns, own.bin)


SynchronisationOption = Annotated[
    Synchronisation | None,
    Field(
        description=(
            "Measure the synchronisation of connections, over bins of time: mean and standard "
            "deviation of the sums of their windows and of their throughputs, compared with those "
            "of independent connections, and the correlation of their losses: `synchronisation = "
            "{}`."
        )
    ),
    SynchronisationMeasurement(),
]


def metrics_of(columns: Columns, bin_ps: int) -> dict[str, Metric]:
    """Return statistics of all connections together, and those of independent connections.

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
            number of complete bins;
        ``connections_mean``
            mean number of connections in progress at the ends of bins;
        ``aggregate_window_mean_segments``, ``aggregate_window_std_segments``
            mean and standard deviation over the bins of the sum of all congestion windows;
        ``aggregate_window_independent_std_segments``
            square root of the sum of the variances of each connection's own window, which is 0
            while the connection is not in progress: the standard deviation of the sum, if the
            connections were independent;
        ``aggregate_window_std_ratio``
            the measured standard deviation over the independent one: 1 for independent
            connections, the square root of their number for identical ones;
        ``aggregate_throughput_mean_bps``, ``_std_bps``, ``_independent_std_bps``, ``_std_ratio``
            the same for the useful bits that arrive in a bin, over its length;
        ``window_reductions``
            number of pairs of a bin and a connection, in progress at the end of the bin, whose
            window was reduced in the bin by a fast retransmission or a timeout;
        ``window_reduction_correlation``
            correlation of the reductions of two connections in one bin, over all bins and pairs of
            connections in progress at the end of the bin.

        None for a metric that does not exist.

    References
    ----------
    .. [1] C. Barakat, P. Thiran, G. Iannaccone, C. Diot, P. Owezarski, "Modeling Internet backbone
       traffic at the flow level", IEEE Trans. Signal Processing 51(8), 2003: the variance of flows
       that arrive independently is the mean arrival rate times the mean integral of the square of
       a flow's rate (Campbell's theorem for shot noise).
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
    """Return mean and standard deviations of a quantity, by the names of its metrics."""
    bins = sums["bins"]
    total, squares, own_squares, squared_sums = (
        sums[f"{quantity}_{of}"] for of in ("sum", "squares", "own_squares", "squared_sums")
    )
    # Each variance times bins^2, in integers, so that cancellation loses no digits.
    together, alone = bins * squares - total**2, bins * own_squares - squared_sums
    metrics: dict[str, Metric] = {
        name.format("mean"): unit * (total / bins) if bins else None,
        name.format("std"): unit * sqrt(together) / bins if bins else None,
        name.format("independent_std"): unit * sqrt(alone) / bins if bins else None,
    }
    of_both = name.rpartition("{}")[0] + "std_ratio"
    return metrics | {of_both: sqrt(together / alone) if alone else None}


def _correlation(sums: Sums) -> float | None:
    """Return the correlation of the reductions of two connections over all pairs of all bins.

    Pairs are ordered, so that both members reduce with probability p = ``pairs_one / pairs``. Both
    together reduce with q = ``pairs_both / pairs``, and the correlation is (q - p^2) / (p - p^2).
    """
    pairs, one, both = (sums[name] for name in ("pairs", "pairs_one", "pairs_both"))
    spread = one * (pairs - one)
    return ratio(both * pairs - one**2, spread)


def series(columns: Columns, bin_ps: int) -> pd.DataFrame:
    """Return one row per bin, in order of time.

    Parameters
    ----------
    columns : mapping of str to mapping
        The tables of a run whose ``measurement.synchronisation`` has ``series``.
    bin_ps : int
        Length of a bin.

    Returns
    -------
    pandas.DataFrame
        ``time_s``, the end of the bin; ``connections`` in progress then; ``window_segments``, the
        sum of their congestion windows; ``throughput_bps``, useful bits that arrived at any
        receiver in the bin, in order or not, each counted once, over its length; ``reductions``,
        the number of these connections that reduced their window in the bin.
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
