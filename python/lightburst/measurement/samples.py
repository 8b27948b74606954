"""Queues, buffers, utilisation and active flows at regular times, as tables in SI base units."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from lightburst.foundation.counts import PS
from lightburst.foundation.formatting import html_members
from lightburst.foundation.memory import check_memory
from lightburst.foundation.units import TIME, Quantity, format_duration
from lightburst.measurement.base import OptionalMeasurement
from lightburst.measurement.places import Places
from lightburst.scenario.fields import refuse_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from lightburst.measurement.cells import Table
    from lightburst.measurement.protocols import Active, Forecast, Network, Reading, Switches
    from lightburst.scenario.model import Scenario
    from lightburst.scenario.tables.measurement import Measurement

TABLES: Final = ("links", "switches", "flows")

# One sample of a link, and of a switch, in columns and in tables.
_BYTES_PER_LINK: Final = 90
_BYTES_PER_SWITCH: Final = 45


class SamplesMeasurement(OptionalMeasurement):
    """Queues, buffers and links at regular times."""

    key = "sample"
    moves_digest = False
    tables = tuple(f"samples_{name}" for name in TABLES)
    held = ("samples", "{:,} samples were taken")
    attribute = "samples"
    example = ("an interval between samples", "'100 us'")

    def check(self, measurement: Measurement) -> None:
        """Refuse an interval longer than the time limit."""
        every, limit = measurement.sample, measurement.time_limit
        if every is not None and every > limit:
            allowed = f"at most time_limit ({format_duration(limit)}), or 'off'"
            raise refuse_at(self.key, format_duration(every), allowed)

    def settings(self, scenario: Scenario, network: Network, switches: Switches) -> dict[str, int]:
        """Return the interval between samples."""
        assert scenario.measurement.sample is not None
        return {"sample_ps": scenario.measurement.sample}

    def memory(self, forecast: Forecast) -> int:
        """Return the bytes of all samples until the time limit."""
        plan = forecast.plan
        every = plan.settings.get("sample_ps")
        if every is None:
            return 0
        times = plan.settings["time_limit_ps"] // every + 1
        links = plan.links["from"].size
        switches = plan.settings["nodes"] - plan.settings["hosts"]
        needed = int(times * (_BYTES_PER_LINK * links + _BYTES_PER_SWITCH * switches))
        limit = format_duration(plan.settings["time_limit_ps"])
        check_memory(
            needed,
            "measurement.sample",
            f"{format_duration(every)}: until measurement.time_limit ({limit}) that is "
            f"{times:,} samples of {links:,} links and {switches:,} switches, {{}}",
            "a longer time or an earlier limit: {} of memory are free",
        )
        return needed

    def read(self, run: Reading) -> Samples:
        """Return queues, buffers, links and active flows over time, by ``measurement.sample``.

        Raises
        ------
        InputError
            If the scenario requests no samples.
        """
        return Samples(run.columns, Places.of(run.plan), run.plan.settings["hosts"], run.active)


SamplesOption = Annotated[
    int | None,
    Quantity(TIME, positive=True, word="off"),
    Field(
        description=(
            'Interval between samples of queues, buffers and links: `sample = "100 us"`. Off by '
            "default, because the sums answer most questions."
        )
    ),
    SamplesMeasurement(),
]


class Samples:
    """The state of a network at each multiple of ``measurement.sample`` and at the end of the run.

    Parameters
    ----------
    columns : mapping of str to mapping of str to ndarray
        The tables ``samples``, ``samples_links`` and ``samples_switches`` of a run.
    places : Places
        Names of the network's nodes and links.
    first_switch : int
        The node of the first switch.
    active : Active
        Intervals in which connections are in progress.

    Attributes
    ----------
    time_ps : ndarray of uint64, shape (samples,)
        Times of the samples.
    """

    def __init__(
        self, columns: Mapping[str, Table], places: Places, first_switch: int, active: Active
    ) -> None:
        self.time_ps: NDArray[np.uint64] = columns["samples"]["time_ps"]
        self._links, self._switches = columns["samples_links"], columns["samples_switches"]
        self._places, self._first_switch, self._active = places, first_switch, active

    def __repr__(self) -> str:
        links, switches = self._places.link_from.size, self._buffers.shape[1]
        return f"<Samples: {self.time_ps.size:,} times, {links:,} links, {switches:,} switches>"

    def _repr_html_(self) -> str:
        sizes = self._links["queue_bytes"].size, self._buffers.size, self.time_ps.size
        return html_members(self, dict(zip(TABLES, sizes, strict=True)))

    @property
    def _buffers(self) -> NDArray[np.uint64]:
        return self._switches["buffer_bytes"].reshape(max(self.time_ps.size, 1), -1)

    @cached_property
    def links(self) -> pd.DataFrame:
        """One row for each link at each time, in order of time.

        Returns
        -------
        pandas.DataFrame
            ``time_s``; ``link`` (a row of `lightburst.Result.links`), and as there ``source``,
            ``target``, ``name`` (if links have names) and ``wavelength``; ``queue_bytes``, the
            bytes given to the link and not yet transmitted, rounded up; and ``utilisation``, the
            busy fraction of the time since the previous sample (or since 0).
        """
        import pandas as pd

        which = self._places.all_links()
        times, links = self.time_ps.size, self._places.link_from.size
        busy = self._links["busy_ps"].reshape(times, links).astype(np.int64)
        length = np.diff(self.time_ps.astype(np.int64), prepend=0)[:, np.newaxis]
        return pd.DataFrame(
            {
                "time_s": np.repeat(self.time_ps * PS, links),
                "link": np.tile(np.arange(links, dtype=np.uint32), times),
                **{name: np.tile(column, times) for name, column in which.items()},
                "queue_bytes": self._links["queue_bytes"],
                "utilisation": (np.diff(busy, axis=0, prepend=0) / length).ravel(),
            }
        )

    @cached_property
    def switches(self) -> pd.DataFrame:
        """One row for each switch at each time, in order of time.

        Returns
        -------
        pandas.DataFrame
            ``time_s``; ``node``; and ``buffer_bytes``: the content of the shared buffer of a hybrid
            switch, of all output queues of an electronic one, or of the open bursts at an edge of a
            burst network; 0 in an all-optical switch.
        """
        import pandas as pd

        times, switches = self._buffers.shape
        nodes = self._first_switch + np.arange(switches, dtype=np.uint32)
        return pd.DataFrame(
            {
                "time_s": np.repeat(self.time_ps * PS, switches),
                "node": np.tile(self._places.named(nodes), times),
                "buffer_bytes": self._switches["buffer_bytes"],
            }
        )

    @cached_property
    def flows(self) -> pd.DataFrame:
        """One row for each time: the number of connections in progress.

        Returns
        -------
        pandas.DataFrame
            ``time_s``; and ``active_flows``: the number of connections that have started, and whose
            last byte has not yet arrived.
        """
        import pandas as pd

        active = self._active.at(self.time_ps)
        return pd.DataFrame({"time_s": self.time_ps * PS, "active_flows": active})
