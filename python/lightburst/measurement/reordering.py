"""Reordering of the data of flows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
from pydantic import Field

from lightburst._core import registry
from lightburst.measurement.base import OptionalMeasurement
from lightburst.scenario.fields import Whole
from lightburst.scenario.section import Section

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.foundation.counts import Columns
    from lightburst.measurement.protocols import Forecast, Network, Reading, Switches
    from lightburst.scenario.model import Scenario

# The record of arrivals of a flow, and one packet of the largest displacement.
_BYTES_PER_ORDER: Final = 1_000
_BYTES_PER_DISPLACED: Final = 55


class Reordering(Section):
    """Settings of the statistics of reordering (RFC 4737, RFC 5236)."""

    displacement_threshold: Annotated[int, Whole(1, 100_000)] = Field(
        100,
        description=(
            "Largest displacement of a packet, early or late, in packets; a later packet counts as "
            "lost, as in RFC 5236. Memory and time grow with it."
        ),
    )


class ReorderingMeasurement(OptionalMeasurement):
    """Extents, n-reordering and densities of each flow."""

    key = "reordering"
    moves_digest = False
    tables = ("reordering",)
    attribute = "reordering"
    example = ("a table of settings", "{}")

    def settings(self, scenario: Scenario, network: Network, switches: Switches) -> dict[str, int]:
        """Return the displacement beyond which a packet is considered lost."""
        own = scenario.measurement.reordering
        assert own is not None
        return {"displacement_threshold": own.displacement_threshold}

    def memory(self, forecast: Forecast) -> int:
        """Return the bytes of the record of arrivals."""
        plan = forecast.plan
        threshold = plan.settings.get("displacement_threshold")
        if threshold is None:
            return 0
        payload = plan.by_flow(lambda given: given["segment_bytes"] - given["header_bytes"])
        displaced = np.minimum(plan.flows["bytes"] / payload + 1, threshold)
        return int((_BYTES_PER_ORDER + _BYTES_PER_DISPLACED * displaced).sum())

    def read(self, run: Reading) -> pd.DataFrame:
        """Return the reordering of the data of flows, by ``measurement.reordering``.

        One row for each ``flow`` (a row of `flows`), ``metric`` and ``value`` that occurs, with the
        number of ``packets`` and their ``share``. The metrics are in `docs/model.md`, *Densities*.

        Raises
        ------
        InputError
            If the scenario does not request it.
        """
        return table(run.columns)


ReorderingOption = Annotated[
    Reordering | None,
    Field(
        description=(
            "Count the reordering of each flow's data, datagrams included: `reordering = {}`."
        )
    ),
    ReorderingMeasurement(),
]


def table(columns: Columns) -> pd.DataFrame:
    """Return `lightburst.Result.reordering`."""
    import pandas as pd

    ran = columns["reordering"]
    metric = pd.Categorical.from_codes(
        ran["metric"], categories=pd.Index(registry()["reordering_metrics"])
    )
    found = pd.DataFrame(
        {
            "flow": ran["flow"],
            "metric": metric,
            "value": ran["value"],
            "packets": ran["packets"],
        }
    )
    judged = found.groupby(["flow", "metric"], observed=True)["packets"].transform("sum")
    return found.assign(share=found["packets"] / judged)
