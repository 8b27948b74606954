"""Traces of chosen flows, event by event.

The tables are described in `lightburst.measurement.trace_tables`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Final

import numpy as np
from pydantic import Field

from lightburst.foundation.errors import InputError, show
from lightburst.foundation.formatting import html_members
from lightburst.foundation.memory import check_memory
from lightburst.foundation.units import format_duration
from lightburst.measurement import trace_tables
from lightburst.measurement.base import OptionalMeasurement
from lightburst.measurement.link_trace import TABLES as OF_LINKS
from lightburst.measurement.link_trace import LinkTraceMeasurement
from lightburst.measurement.places import Places
from lightburst.measurement.subflows import by_subflow
from lightburst.scenario.fields import Whole
from lightburst.scenario.transport import OPEN_LOOP

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.measurement.cells import Table
    from lightburst.measurement.protocols import Forecast, Network, Reading, Switches
    from lightburst.scenario.model import Scenario
    from lightburst.scenario.tables.measurement import Measurement

TABLES: Final = ("segments", "windows", "bursts", "hops", "path_switches")

# Rows of a trace in the simulator, in columns and in tables: an event of a packet, an
# acknowledgement or timeout of a sender, a hop.
_BYTES_PER_EVENT: Final = 800
_BYTES_PER_WINDOW: Final = 190
_BYTES_PER_HOP: Final = 150


class FlowTraceMeasurement(OptionalMeasurement):
    """Every packet, every window and every burst of chosen flows."""

    key = "trace"
    moves_digest = False
    tables = tuple(f"trace_{name}" for name in TABLES)
    held = ("trace_rows", "the trace has {:,} rows")
    attribute = "trace"
    example = ("the numbers of the traced flows", "[0]")

    def missing_flows(self, measurement: Measurement, flows: int) -> Iterator[InputError]:
        """Yield an error for each number without a flow."""
        for place, number in enumerate(measurement.trace):
            if number >= flows:
                allowed = f"the number of a flow, 0 to {flows - 1}"
                yield InputError(f"measurement.trace[{place}]", str(number), allowed)

    def settings(
        self, scenario: Scenario, network: Network, switches: Switches
    ) -> dict[str, list[int]]:
        """Return the numbers of the flows."""
        return {"trace": sorted(set(scenario.measurement.trace))}

    def memory(self, forecast: Forecast) -> int:
        """Return the bytes of the trace, with all segments on the longest of the shortest paths."""
        plan = forecast.plan
        traced = plan.settings.get("trace")
        if not traced:
            return 0
        flows = np.array(traced)
        links = forecast.longest_path(flows)
        sent = forecast.segments_sent(flows, links)
        most, segments = "up to " if forecast.before is None else "", int(sent.sum())
        answers = int((sent * plan.by_flow(_acknowledgements)[flows]).sum())
        # Two events per packet, and one row of the sender per acknowledgement.
        each = 2 * _BYTES_PER_EVENT + _BYTES_PER_HOP * links
        needed = (segments + answers) * each + answers * _BYTES_PER_WINDOW
        limit = format_duration(plan.settings["time_limit_ps"])
        check_memory(
            needed,
            "measurement.trace",
            f"{'flow' if len(traced) == 1 else 'flows'} {show(traced).strip('[]')}, whose trace "
            f"until measurement.time_limit ({limit}) has {most}{segments:,} segments "
            f"over {links} links, {{}}",
            "an earlier limit or a smaller flow: {} of memory are free",
        )
        return needed

    def is_readable(self, measurement: Measurement) -> bool:
        """Return whether flows or links are traced: both fill the same tables."""
        return self.is_asked(measurement) or measurement.network is not None

    def read(self, run: Reading) -> Trace:
        """Return the events of the flows of ``measurement.trace`` and on the links of ``network``.

        Raises
        ------
        InputError
            If the scenario requests no trace.
        """
        columns = dict(run.columns)
        for name in ("trace_segments", "trace_windows", "trace_hops"):
            columns[name] = by_subflow(columns[name], run.plan)
        return Trace(columns, Places.of(run.plan))


FlowTraceOption = Annotated[
    tuple[Annotated[int, Whole(0)], ...],
    Field(
        description=(
            "Numbers of the traced flows, from 0: every packet, window and burst of these flows is "
            "recorded: `trace = [0, 3]`."
        )
    ),
    FlowTraceMeasurement(),
]


def _acknowledgements(transport: dict[str, Any]) -> float:
    """Return the mean number of acknowledgements per segment."""
    return 0.0 if transport["kind"] in OPEN_LOOP else 1 / transport.get("acknowledge_every", 1)


class Trace:
    """The events of the traced flows and links.

    Parameters
    ----------
    columns : mapping of str to mapping of str to ndarray
        The tables ``trace_segments``, ``trace_windows``, ``trace_bursts``, ``trace_hops`` and
        ``trace_path_switches`` of a run, and ``trace_bookings`` and ``trace_cuts`` if links were
        traced.
    places : Places
        Names of the network's nodes and links.

    Attributes
    ----------
    tables : tuple of str
        The names of the available tables.
    """

    def __init__(self, columns: Mapping[str, Table], places: Places) -> None:
        self._places = places
        self.tables = tuple(name for name in (*TABLES, *OF_LINKS) if f"trace_{name}" in columns)
        self._columns = {name: columns[f"trace_{name}"] for name in self.tables}

    def __repr__(self) -> str:
        said = (f"{count:,} rows of {name}" for name, count in self._rows.items())
        return f"<Trace: {', '.join(said)}>"

    def _repr_html_(self) -> str:
        return html_members(self, self._rows)

    @property
    def _rows(self) -> dict[str, int]:
        return {name: len(next(iter(table.values()))) for name, table in self._columns.items()}

    @cached_property
    def segments(self) -> pd.DataFrame:
        """One row per transmission, arrival or loss of a packet; see `trace_tables.segments`."""
        return trace_tables.segments(self._columns["segments"], self._places)

    @cached_property
    def windows(self) -> pd.DataFrame:
        """One row per acknowledgement or timeout of a sender; see `trace_tables.windows`."""
        return trace_tables.windows(self._columns["windows"])

    @cached_property
    def bursts(self) -> pd.DataFrame:
        """One row per burst of a traced flow, or per burst; see `trace_tables.bursts`."""
        return trace_tables.bursts(self._columns["bursts"], self._places)

    @cached_property
    def hops(self) -> pd.DataFrame:
        """One row per packet and link; see `trace_tables.hops`."""
        return trace_tables.hops(self._columns["hops"], self._places)

    @cached_property
    def path_switches(self) -> pd.DataFrame:
        """One row per change of path by load; see `trace_tables.path_switches`."""
        return trace_tables.path_switches(self._columns["path_switches"], self._places)

    @cached_property
    def bookings(self) -> pd.DataFrame:
        """One row per burst and traced link; see `trace_tables.bookings`.

        Raises
        ------
        InputError
            If no links were traced.
        """
        return trace_tables.bookings(self._of_links("bookings"), self._places)

    @cached_property
    def cuts(self) -> pd.DataFrame:
        """One row per piece cut off a burst on a traced link; see `trace_tables.cuts`.

        Raises
        ------
        InputError
            If no links were traced.
        """
        return trace_tables.cuts(self._of_links("cuts"), self._places)

    def _of_links(self, name: str) -> Table:
        if name not in self._columns:
            raise LinkTraceMeasurement().not_asked()
        return self._columns[name]
