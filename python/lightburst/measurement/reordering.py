"""How far out of order the data of flows comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
from pydantic import Field

from lightburst._core import registry
from lightburst.measurement.base import OptionalMeasurement
from lightburst.scenario.fields import Section, Whole

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.counts import Columns
    from lightburst.measurement.handed_in import Forecast, Network, Reading, Switches
    from lightburst.scenario.model import Scenario

# The order in which the data of a flow came, and each packet by which one may be displaced there.
_BYTES_PER_ORDER: Final = 1_000
_BYTES_PER_DISPLACED: Final = 55


class Reordering(Section):
    """How far out of order the data of flows comes (RFC 4737, RFC 5236)."""

    displacement_threshold: Annotated[int, Whole(1, 100_000)] = Field(
        100,
        description=(
            "Packets by which one may be early or late; one that comes later is taken for lost, "
            "as in RFC 5236. Memory and time grow with it."
        ),
    )


class ReorderingMeasurement(OptionalMeasurement):
    """Extents, n-reordering and densities of each flow."""

    key = "reordering"
    moves_digest = False
    tables = ("reordering",)
    attribute = "reordering"
    example = ("a table that says how to look", "{}")

    def settings(self, scenario: Scenario, network: Network, switches: Switches) -> dict[str, int]:
        """Say from how many packets early or late on one is taken for lost."""
        own = scenario.measurement.reordering
        assert own is not None
        return {"displacement_threshold": own.displacement_threshold}

    def memory(self, forecast: Forecast) -> int:
        """Give the bytes of the order in which data arrives."""
        plan = forecast.plan
        threshold = plan.settings.get("displacement_threshold")
        if threshold is None:
            return 0
        payload = plan.by_flow(lambda given: given["segment_bytes"] - given["header_bytes"])
        displaced = np.minimum(plan.flows["bytes"] / payload + 1, threshold)
        return int((_BYTES_PER_ORDER + _BYTES_PER_DISPLACED * displaced).sum())

    def read(self, run: Reading) -> pd.DataFrame:
        """How far out of order the data of flows came, by ``measurement.reordering``.

        A row for each ``flow`` (a row of `flows`), ``metric`` and ``value`` that there is: how many
        ``packets`` have it, and their ``share``. `docs/model.md` has the metrics, *Densities*.

        Raises
        ------
        InputError
            If the scenario does not ask for it.
        """
        return table(run.columns)


ReorderingOption = Annotated[
    Reordering | None,
    Field(
        description=(
            "Count for each flow, datagrams too, how far out of order its data comes: "
            "`reordering = {}`."
        )
    ),
    ReorderingMeasurement(),
]


def table(columns: Columns) -> pd.DataFrame:
    """Make `lightburst.Result.reordering`."""
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
