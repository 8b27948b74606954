"""Traces of bursts on chosen links.

The tables are described in `lightburst.measurement.trace_tables`.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

import numpy as np
from pydantic import Field, model_validator

from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.foundation.memory import check_memory
from lightburst.foundation.units import TIME, Duration, Quantity, format_duration
from lightburst.measurement.base import OptionalMeasurement, check_bursts_are_made
from lightburst.scenario.fields import Name, refuse_at
from lightburst.scenario.section import Section

if TYPE_CHECKING:
    from lightburst.measurement.protocols import Forecast, Network, Switches
    from lightburst.scenario.model import Scenario

TABLES: Final = ("bookings", "cuts")

# A burst, and its reservation or a cut on one link, in the simulator, in columns and in tables.
_BYTES_PER_BURST: Final = 510
_BYTES_PER_BOOKING: Final = 340


class NetworkTrace(Section):
    """Links and interval of a trace of bursts.

    Attributes
    ----------
    begin, end : int
        Picoseconds; `end` is None without an end.
    """

    links: tuple[Annotated[str, Name()], ...] = Field(
        (),
        description=(
            "Traced links between switches, each in one direction, as `SOURCE:TARGET` or by their "
            'name in the topology: `links = ["Seattle:Chicago"]`. By default all links between '
            "switches."
        ),
    )
    begin: Duration = Field(
        0,
        description=(
            "Begin of the recording on a link: bursts that have left the link before are left out."
        ),
    )
    end: Annotated[int | None, Quantity(TIME, positive=True, word="unlimited")] = Field(
        None,
        description=(
            "End of the recording on a link: bursts that begin to leave the link then or later are "
            "left out."
        ),
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end is not None and self.end <= self.begin:
            allowed = f"a time after begin ({format_duration(self.begin)}), or 'unlimited'"
            raise refuse_at("end", format_duration(self.end), allowed)
        return self


class LinkTraceMeasurement(OptionalMeasurement):
    """Reservations of bursts on chosen links, and the bursts they blocked."""

    # It adds no metrics, but has been in the digest of scenarios since its first version.
    moves_digest = True
    key = "network"
    tables = tuple(f"trace_{name}" for name in TABLES)
    among = "trace"
    example = ("links", "{}")

    def settings(self, scenario: Scenario, network: Network, switches: Switches) -> dict[str, Any]:
        """Return numbers of links, and the interval."""
        asked = scenario.measurement.network
        assert asked is not None
        path = "measurement.network"
        check_bursts_are_made(path, scenario, switches)
        ways: dict[str, list[int]] = {}
        for link in np.flatnonzero(network.between_switches).tolist():
            ends = (network.name(int(end[link])) for end in (network.link_from, network.link_to))
            ways.setdefault(":".join(ends), []).append(link)
            if network.link_names is not None and network.link_names[link]:
                ways.setdefault(network.link_names[link], []).append(link)
        for place, name in enumerate(asked.links):
            if name not in ways:
                few = ", ".join(islice(ways, 3)) + (", ..." if len(ways) > 3 else "")
                near = did_you_mean(name, ways)
                allowed = f"a link between two switches, one of {few or 'none'}{near}"
                raise InputError(f"{path}.links[{place}]", show(name), allowed)
        links = {link for name in asked.links or ways for link in ways[name]}
        until = 2**64 - 1 if asked.end is None else asked.end
        return {"bookings": {"links": sorted(links), "from_ps": asked.begin, "until_ps": until}}

    def memory(self, forecast: Forecast) -> int:
        """Return the bytes of bursts on traced links, if an earlier run has counted them."""
        asked, before = forecast.plan.settings.get("bookings"), forecast.before
        if asked is None or before is None:
            return 0
        bursts = int(before["totals"]["bursts_created"])
        carried = int(before["links"]["units"][asked["links"]].sum())
        cut = int(before["switches"]["bursts_cut"].sum())
        needed = _BYTES_PER_BURST * bursts + _BYTES_PER_BOOKING * (carried + cut)
        check_memory(
            needed,
            "measurement.network",
            f"{len(asked['links'])} links that carry {carried:,} of {bursts:,} bursts, {{}}",
            "fewer links, or a shorter run: {} of memory are free",
        )
        return needed


LinkTraceOption = Annotated[
    NetworkTrace | None,
    Field(
        description=(
            "Trace bursts over links: the channel and time of each burst on a link, and the burst "
            "to which each lost burst lost. Requires edges that make bursts."
        )
    ),
    LinkTraceMeasurement(),
]
