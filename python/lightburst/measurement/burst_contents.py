"""Contents of bursts: segments and flows per burst, and bursts per flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

import numpy as np
from pydantic import Field

from lightburst._core import registry
from lightburst.foundation.counts import UNFINISHED, ratio, share
from lightburst.foundation.units import TIME, Quantity, format_duration
from lightburst.measurement.base import OptionalMeasurement, check_bursts_are_made
from lightburst.scenario.fields import refuse_at
from lightburst.scenario.section import Section

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.foundation.counts import Columns, Mask, Metric
    from lightburst.measurement.protocols import Forecast, Network, Plan, Reading, Switches
    from lightburst.scenario.model import Scenario
    from lightburst.scenario.tables.measurement import Measurement

FATES: Final = tuple(registry()["burst_fates"])
COUNTED: Final = tuple(registry()["burst_contents"])
# Prefixes of the metrics, by the fate of a burst.
_WORDS: Final = dict(zip(FATES, ("burst", "lost_burst", "cut_piece", "arrived_burst"), strict=True))
# Counts of the bursts of a flow.
_BYTES_PER_FLOW: Final = 80


class BurstContents(Section):
    """Interval in which the contents and fates of bursts are counted.

    Attributes
    ----------
    begin, end : int or None
        Picoseconds; None: begin and end of the measurement window.
    """

    begin: Annotated[int | None, Quantity(TIME, word="warm-up")] = Field(
        None,
        description=(
            "Begin of the interval in which events of bursts are counted. By default `warm_up`, "
            'which must be a time then: the warm-up of `"mser-5"` is known only after a run.'
        ),
    )
    end: Annotated[int | None, Quantity(TIME, positive=True, word="until")] = Field(
        None, description="End of this interval. By default `until`."
    )

    def counted_between(self, warm_up: int | None, until: int | None) -> tuple[int, int]:
        """Return the interval in which events of bursts are counted."""
        begin = warm_up or 0 if self.begin is None else self.begin
        end = 2**64 - 1 if until is None else until
        return begin, end if self.end is None else self.end


class BurstContentsMeasurement(OptionalMeasurement):
    """Segments and flows per burst, by the fate of the burst, and bursts per flow."""

    key = "bursts"
    labels: ClassVar[Mapping[str, str]] = {
        "data_burst_loss": "loss of bursts with data",
        "burst_mean_segments": "segments in a burst with data, mean",
        "burst_mean_flows": "flows in a burst with data, mean",
        "lost_burst_mean_segments": "segments in a lost burst, mean",
        "lost_burst_mean_flows": "flows hit by a lost burst, mean",
        "cut_piece_mean_segments": "segments in a piece cut off, mean",
        "cut_piece_mean_flows": "flows hit by a piece cut off, mean",
        "flow_mean_bursts": "bursts of a flow, mean",
        "flow_mean_bursts_lost": "lost bursts of a flow, mean",
        "flow_mean_bursts_cut": "cuts in bursts of a flow, mean",
    }
    tables = ("bursts",)
    flow_columns = ("bursts", "bursts_lost", "bursts_cut")
    flow_columns_need = "columns of bursts only with measurement.bursts, as bursts = {}"
    flow_table = "bursts_flows"
    attribute = "bursts"
    example = ("a table of settings", "{}")

    def check(self, measurement: Measurement) -> None:
        """Refuse an unknown begin, and an end that is not after the begin."""
        own = measurement.bursts
        if own is None:
            return
        if own.begin is None:
            measurement.check_warm_up_is_known(f"{self.key}.begin")
        begin, end = own.counted_between(measurement.warm_up, measurement.until)
        if begin >= end:
            allowed = f"a time after begin ({format_duration(begin)})"
            raise refuse_at(f"{self.key}.end", format_duration(end), allowed)

    def settings(
        self, scenario: Scenario, network: Network, switches: Switches
    ) -> dict[str, dict[str, int]]:
        """Return the interval in which events of bursts are counted, as a setting of the plan."""
        measurement = scenario.measurement
        assert measurement.bursts is not None
        check_bursts_are_made(f"measurement.{self.key}", scenario, switches)
        begin, end = measurement.bursts.counted_between(measurement.warm_up, measurement.until)
        return {"bursts": {"from_ps": begin, "until_ps": end}}

    def memory(self, forecast: Forecast) -> int:
        """Return the bytes of the counts per flow."""
        if forecast.plan.settings.get("bursts") is None:
            return 0
        return _BYTES_PER_FLOW * int(forecast.plan.flows["source"].size)

    def of_run(self, measurement: Measurement, plan: Plan, columns: Columns) -> dict[str, Metric]:
        """Return `of_bursts`, and `of_flows` for the counted flows."""
        return of_bursts(columns) | of_flows(columns, plan.counted)

    def of_flows(
        self, measurement: Measurement, plan: Plan, columns: Columns, chosen: Mask
    ) -> dict[str, Metric]:
        """Return `of_flows`."""
        return of_flows(columns, chosen)

    def read(self, run: Reading) -> pd.DataFrame:
        """Return the contents of bursts, by ``measurement.bursts``; see `burst_contents.table`.

        Raises
        ------
        InputError
            If the scenario does not request it.
        """
        return table(run.columns)


BurstContentsOption = Annotated[
    BurstContents | None,
    Field(
        description=(
            "Count the contents of bursts, `bursts = {}`: segments and flows per burst, for "
            "assembled and for lost bursts, and bursts and lost bursts per flow. Requires edges "
            "that make bursts."
        )
    ),
    BurstContentsMeasurement(),
]


def table(columns: Columns) -> pd.DataFrame:
    """Return the distribution of the contents of bursts.

    Parameters
    ----------
    columns : mapping of str to mapping
        The tables of a run with ``measurement.bursts``.

    Returns
    -------
    pandas.DataFrame
        One row for each ``fate`` (``made`` by an edge, ``lost``, ``cut`` off a burst as a piece, or
        ``arrived`` at the egress), each quantity ``counted`` (``segments``, packets with data, or
        ``flows`` with data) and each ``number`` that occurs: the number of ``bursts`` with it, and
        their ``share`` of all bursts of that fate. The number of bursts with data of each flow is
        in `lightburst.Result.flows`.
    """
    import pandas as pd

    ran = columns["bursts"]
    named = {
        name: pd.Categorical.from_codes(ran[name], categories=pd.Index(words))
        for name, words in (("fate", FATES), ("counted", COUNTED))
    }
    found = pd.DataFrame({**named, "number": ran["number"], "bursts": ran["bursts"]})
    total = found.groupby(["fate", "counted"], observed=True)["bursts"].transform("sum")
    return found.assign(share=found["bursts"] / total)


def of_bursts(columns: Columns) -> dict[str, Metric]:
    """Return mean contents of the bursts with data, and their loss.

    Parameters
    ----------
    columns : mapping of str to mapping
        The tables of the run, with ``bursts``.

    Returns
    -------
    dict
        ``data_burst_loss``: lost / (lost + arrived), with its counts, see `counts.share`;
        ``burst_mean_segments`` and ``burst_mean_flows``, over all assembled bursts;
        ``lost_burst_mean_segments`` and ``lost_burst_mean_flows``, over lost bursts;
        ``cut_piece_mean_segments`` and ``cut_piece_mean_flows``, over the pieces cut off.
        None without such bursts or pieces.
    """
    ran = columns["bursts"]
    number, bursts = (ran[name].astype(np.float64) for name in ("number", "bursts"))
    means: dict[str, Metric] = {}
    with_data: dict[str, float] = {}
    for fate, word in enumerate(_WORDS.values()):
        for place, counted in enumerate(COUNTED):
            chosen = (ran["fate"] == fate) & (ran["counted"] == place) & (number > 0)
            with_data[word] = float(bursts[chosen].sum())
            means[f"{word}_mean_{counted}"] = ratio(
                float((number * bursts)[chosen].sum()), with_data[word]
            )
    # Arrived bursts enter the loss only, since their means hardly differ from those of all bursts.
    lost, arrived = (int(with_data[f"{word}_burst"]) for word in ("lost", "arrived"))
    told = {name: mean for name, mean in means.items() if not name.startswith("arrived")}
    return share("data_burst_loss", lost, lost + arrived) | told


def of_flows(columns: Columns, chosen: Mask) -> dict[str, Metric]:
    """Return mean numbers of bursts per flow, over the chosen flows with all data acknowledged.

    Parameters
    ----------
    columns : mapping of str to mapping
        The tables of the run, with ``bursts_flows``.
    chosen : ndarray of bool, shape (flows,)
        The chosen flows.

    Returns
    -------
    dict
        ``flow_mean_bursts``, ``flow_mean_bursts_lost`` and ``flow_mean_bursts_cut``: bursts with
        data of the flow, the lost ones, and those from which data of the flow was cut off. None
        without such flows.
    """
    complete = chosen & (columns["flows"]["acknowledged_ps"] != UNFINISHED)
    number = int(np.count_nonzero(complete))
    return {
        f"flow_mean_{name}": ratio(float(counts[complete].sum(dtype=np.uint64)), number)
        for name, counts in columns["bursts_flows"].items()
    }
