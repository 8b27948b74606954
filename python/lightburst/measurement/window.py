"""The measurement window of a run: from ``warm_up`` to ``until``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, NamedTuple, Self

from pydantic import Field

from lightburst.foundation.counts import PS, Columns
from lightburst.foundation.errors import InputError
from lightburst.foundation.units import (
    PICOSECONDS_PER_SECOND,
    TIME,
    PositiveDuration,
    Quantity,
    format_about,
    format_duration,
)
from lightburst.measurement.base import OptionalMeasurement
from lightburst.scenario.fields import refuse_at
from lightburst.scenario.tables.workload import WITHOUT_END
from lightburst.scenario.transport import OPEN_LOOP

if TYPE_CHECKING:
    from lightburst.foundation.counts import Metric
    from lightburst.measurement.protocols import Forecast, Plan
    from lightburst.scenario.model import Scenario
    from lightburst.scenario.tables.measurement import Measurement

#: The window of a run that is measured from begin to end.
EVERYTHING_PS: Final = (0, 2**64 - 1)

_PREFIX: Final = "window_"
# The counts of a link, and of a switch, at the begin and end of the window, and in the window.
_BYTES_PER_LINK: Final = 150
_BYTES_PER_SWITCH: Final = 1_000


class WindowMeasurement(OptionalMeasurement):
    """Counts of links, switches and bursts in a window of the run.

    `lightburst.Result.window` always exists: without ``warm_up`` and ``until`` it is the whole run.
    `Plan.counting` writes the setting of the plan, since the run itself may find the warm-up.
    """

    key = "warm_up"
    labels: ClassVar[Mapping[str, str]] = {"warm_up_s": "warm-up, by MSER-5"}

    def is_asked(self, measurement: Measurement) -> bool:
        """Return whether there is a warm-up or an end."""
        return measurement.warm_up != 0 or measurement.until is not None

    def check(self, measurement: Measurement) -> None:
        """Refuse an end that is not after the warm-up."""
        warm_up = measurement.warm_up or 0
        if measurement.until is not None and measurement.until <= warm_up:
            allowed = f"a time after warm_up ({format_duration(warm_up)})"
            raise refuse_at("until", format_duration(measurement.until), allowed)

    def misfits(self, scenario: Scenario) -> Iterator[InputError]:
        """Refuse a warm-up by the number of active flows if there are no connections."""
        open_loop = all(group.transport.kind in OPEN_LOOP for group in scenario.flow_groups)
        if open_loop and scenario.measurement.warm_up is None:
            allowed = "a duration: MSER-5 needs connections; datagrams and bursts are none"
            yield InputError("measurement.warm_up", "'mser-5' without connections", allowed)

    def check_plan(self, plan: Plan) -> None:
        """Refuse a window in which no flow starts."""
        endless = bool((plan.flows["bytes"] == WITHOUT_END).all())
        streams = endless and all(transport["kind"] in OPEN_LOOP for transport in plan.transports)
        # Endless datagrams are an exception: the window then serves the counts of links and bursts.
        if plan.counted.any() or (streams and plan.window_ps[0] < plan.settings["time_limit_ps"]):
            return
        first, last = (format_about(int(plan.flows["start_ps"][i])) for i in (0, -1))
        begin, end = plan.window_ps
        path, given = "measurement.warm_up", begin
        if int(plan.flows["start_ps"][-1]) >= begin:
            path, given = "measurement.until", end
        allowed = f"a time that leaves flows in the window: they start from {first} to {last}"
        if path.endswith("warm_up") and endless:
            allowed += (
                "; for flows without end take the difference of two runs with the same seed, one "
                "with measurement.time_limit at that time and one beyond it"
            )
        raise InputError(path, format_about(given), allowed)

    def memory(self, forecast: Forecast) -> int:
        """Return the bytes of the counts of a window."""
        plan = forecast.plan
        if plan.settings.get("window") is None:
            return 0
        links, switches = plan.links["from"].size, plan.nodes["switch"].size
        return int(_BYTES_PER_LINK * links + _BYTES_PER_SWITCH * switches)

    def of_run(self, measurement: Measurement, plan: Plan, columns: Columns) -> dict[str, Metric]:
        """Return the warm-up, if the run found it itself."""
        found = measurement.warm_up is None
        return {"warm_up_s": plan.window_ps[0] * PS} if found else {}


_WINDOW: Final = WindowMeasurement()

WarmUpOption = Annotated[
    int | None,
    Quantity(TIME, word="mser-5"),
    Field(
        description=(
            "Begin of the measurement window. Flows that start earlier are simulated, but not "
            "counted: neither in completion times, slowdowns, retransmissions and timeouts, nor in "
            "the throughput, which is that of the counted flows, from the first start to the last "
            "acknowledgement. Links, switches and bursts count all events from this time on, of "
            'any flow. `"mser-5"`: the run determines the end of the transient of its number of '
            "active flows by the rule of White (1997), metric `warm_up_s`; it is then repeated "
            "with this begin, and takes twice the time."
        )
    ),
    _WINDOW,
]
UntilOption = Annotated[
    PositiveDuration | None,
    Field(
        description=(
            "End of the measurement window. Flows that start at this time or later are not counted "
            "either. They maintain the load for the counted flows, which run to their end. Links, "
            "switches and bursts count the events before this time."
        )
    ),
    _WINDOW,
]


def asked_window_ps(measurement: Measurement) -> tuple[int, int]:
    """Return the requested window, which begins at 0 if the run finds its warm-up itself."""
    begin, end = EVERYTHING_PS
    return measurement.warm_up or begin, measurement.until or end


def window_setting(window_ps: tuple[int, int]) -> dict[str, Any]:
    """Return the setting of the plan; no setting for the whole run, which is always counted."""
    if window_ps == EVERYTHING_PS:
        return {}
    return {"window": dict(zip(("from_ps", "until_ps"), window_ps, strict=True))}


class Window(NamedTuple):
    """A part of a run: from `measurement.warm_up` to `until` (exclusive), or to the end.

    Attributes
    ----------
    begin_ps, end_ps : int
        Begin and end of the window; equal in an empty window.
    """

    begin_ps: int
    end_ps: int

    @classmethod
    def of(cls, plan: Plan, columns: Columns) -> Self:
        """Return the window of a run, cut at the end of the run."""
        begin, end = plan.window_ps
        last = int(columns["totals"]["end_ps"])
        return cls(min(begin, last), min(end, last))

    @property
    def length_ps(self) -> int:
        """Length of the window."""
        return self.end_ps - self.begin_ps

    def as_dict(self) -> dict[str, float]:
        """Return the window in seconds, as in JSON."""
        begin, end = (time / PICOSECONDS_PER_SECOND for time in self)
        return {"begin_s": begin, "end_s": end}


def counted(columns: Columns) -> Columns:
    """Replace the counts of a whole run by those of its window.

    Parameters
    ----------
    columns : mapping of str to mapping
        The tables of the simulator: ``links``, ``switches``, ``classes`` and ``totals`` of the
        whole run, and with a window also ``window_links`` and so on.

    Returns
    -------
    mapping of str to mapping
        All tables by their plain names. Totals of the run itself, such as ``end_ps`` and
        ``events``, remain those of the whole run.
    """
    found = {
        name.removeprefix(_PREFIX): table
        for name, table in columns.items()
        if name.startswith(_PREFIX)
    }
    if not found:
        return columns
    return {**columns, **found, "totals": {**columns["totals"], **found["totals"]}}
