"""Time for which outages stop flows, and the data that arrives around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

import numpy as np
from pydantic import Field

from lightburst._core import registry
from lightburst.foundation.counts import PS, UNFINISHED
from lightburst.foundation.errors import InputError
from lightburst.foundation.memory import check_memory
from lightburst.foundation.units import PositiveDuration, format_duration
from lightburst.measurement.base import OptionalMeasurement

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.foundation.counts import Columns, FloatArray, Mask, Metric, Table
    from lightburst.measurement.protocols import Forecast, Network, Plan, Reading, Switches
    from lightburst.scenario.model import Scenario
    from lightburst.scenario.tables.measurement import Measurement

_BYTES_PER_BIN: Final = 50
_BYTES_PER_FLOW: Final = 90
# Flows that send nothing more.
_OVER: Final = [registry()["statuses"].index(status) for status in ("finished", "lost")]


class RecoveryMeasurement(OptionalMeasurement):
    """Times to recover of flows, and throughput in bins of time."""

    key = "recovery"
    labels: ClassVar[Mapping[str, str]] = {
        "flows_cut": "flows hit by outages",
        "flows_stopped": "flows not recovered",
        "recovery_mean_s": "time to recover, mean",
        "recovery_median_s": "time to recover, median",
        "recovery_max_s": "time to recover, maximum",
    }
    tables = ("recovery",)
    held = ("recovery_bins", "data arrived over {:,} bins of time")
    flow_columns = ("cut_packets", "recovery_s")
    flow_columns_need = "columns of outages only with measurement.recovery, as recovery = '10 ms'"
    flow_table = "recovery_flows"
    attribute = "recovery"
    example = ("the length of a bin", "'10 ms'")

    def misfits(self, scenario: Scenario) -> Iterator[InputError]:
        """Refuse it where nothing can fail."""
        if not scenario.changes:
            bins = scenario.measurement.recovery
            assert bins is not None
            allowed = "nothing without events or failures, after which flows could recover"
            yield InputError(f"measurement.{self.key}", format_duration(bins), allowed)

    def settings(
        self, scenario: Scenario, network: Network, switches: Switches
    ) -> dict[str, int | None]:
        """Return the length of a bin."""
        return {"recovery_bin_ps": scenario.measurement.recovery}

    def memory(self, forecast: Forecast) -> int:
        """Return the bytes of all bins until the time limit, and of the flows."""
        plan = forecast.plan
        length = plan.settings.get("recovery_bin_ps")
        if length is None:
            return 0
        limit = plan.settings["time_limit_ps"]
        bins = limit // length + 1
        needed = int(_BYTES_PER_BIN * bins)
        check_memory(
            needed,
            f"measurement.{self.key}",
            f"{format_duration(length)}: until measurement.time_limit ({format_duration(limit)}) "
            f"that is {bins:,} bins, {{}}",
            "a longer time or an earlier limit: {} of memory are free",
        )
        return needed + _BYTES_PER_FLOW * int(plan.flows["source"].size)

    def of_flows(
        self, measurement: Measurement, plan: Plan, columns: Columns, chosen: Mask
    ) -> dict[str, Metric]:
        """Return statistics of the times to recover of the flows that have one."""
        times = recovery_s(columns)[chosen]
        times = times[~np.isnan(times)]
        hit = int(np.count_nonzero(columns["recovery_flows"]["cut_packets"][chosen]))
        stopped = int(np.count_nonzero(np.isinf(times)))
        statistics = np.mean, np.median, np.max
        found = [float(one(times)) if times.size else None for one in statistics]
        return dict(zip(self.labels, (hit, stopped, *found), strict=True))

    def columns_of_flows(self, columns: Columns) -> Table:
        """Return the columns of flows, if the run measured them."""
        if self.flow_table not in columns:
            return {}
        ran = columns[self.flow_table]
        return {"cut_packets": ran["cut_packets"], "recovery_s": recovery_s(columns)}

    def read(self, run: Reading) -> pd.DataFrame:
        """Return the data that arrives over time, by ``measurement.recovery``.

        One row for each bin up to the last arrival of data: ``time_s``, the begin of the bin;
        ``bytes``, the data that reached its host in the bin, repeated data included;
        ``throughput_bps``, the same over the length of a bin.

        Raises
        ------
        InputError
            If the scenario does not request it.
        """
        import pandas as pd

        size = run.columns["recovery"]["bytes"]
        length = run.plan.settings["recovery_bin_ps"]
        times = np.arange(size.size, dtype=np.uint64) * np.uint64(length)
        speed = 8.0 * size / (length * PS)
        return pd.DataFrame({"time_s": times * PS, "bytes": size, "throughput_bps": speed})


RecoveryOption = Annotated[
    PositiveDuration | None,
    Field(
        description=(
            "Measure for how long outages stop each flow, and the data of all flows that arrives "
            'in bins of this length: `recovery = "10 ms"`. Requires events or failures.'
        )
    ),
    RecoveryMeasurement(),
]


def recovery_s(columns: Columns) -> FloatArray:
    """Return the time to recover of each flow, in seconds.

    Parameters
    ----------
    columns : mapping of str to mapping
        Tables of the simulator.

    Returns
    -------
    ndarray of float, shape (flows,)
        The longest of its stops. Infinite if it had to go on and had not when the run ended; NaN if
        no outage took data of it, or if nothing was sent after the data that one took.
    """
    ran, flows = columns["recovery_flows"], columns["flows"]
    longest = np.where(ran["longest_ps"] > 0, ran["longest_ps"] * PS, np.nan)
    # What a finished flow lost last, it did not need; and a datagram is not sent again.
    goes_on = ~np.isin(flows["status"], _OVER)
    stopped = (ran["stopped_ps"] != UNFINISHED) & goes_on
    times: FloatArray = np.where(stopped, np.inf, longest)
    return times
