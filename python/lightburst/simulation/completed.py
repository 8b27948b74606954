"""A completed run: its plan, the counts of the simulator, and its optional measurements."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from lightburst.compile import Plan
from lightburst.compile.offered import LinkLoads, link_loads
from lightburst.foundation.counts import Columns, Metric
from lightburst.foundation.errors import InputError
from lightburst.foundation.files.dataframes import Table, frame
from lightburst.foundation.units import as_python, whole_number
from lightburst.measurement.base import OptionalMeasurement
from lightburst.measurement.window import Window, counted
from lightburst.result import metrics, tables
from lightburst.result.fairness import Use, link_use
from lightburst.result.waits import collectives, critical_path, schedules, timeline
from lightburst.result.warm_up import Active
from lightburst.scenario import Scenario
from lightburst.scenario.tables.measurement import MEASUREMENTS

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.measurement.flow_trace import Trace
    from lightburst.measurement.samples import Samples


#: Stands for the step that took longest.
SLOWEST: Final = "slowest"


class Reading(NamedTuple):
    """The parts of a completed run that an optional measurement reads."""

    scenario: Scenario
    plan: Plan
    columns: Columns

    @property
    def active(self) -> Active:
        """Intervals in which connections were in progress."""
        return Active.of(self.plan, self.columns)


class CompletedRun:
    """A completed run.

    Each optional measurement with an `attribute` is a property, which raises `InputError` if the
    scenario does not request the measurement.

    Parameters
    ----------
    scenario : Scenario
        The scenario of the run.
    plan : Plan
        The plan of the run.
    columns : mapping of str to mapping
        The tables of the simulator.

    Attributes
    ----------
    scenario, plan, columns
        As given.
    """

    if TYPE_CHECKING:
        # For type checkers: the properties are made from `MEASUREMENTS` below.
        bursts: pd.DataFrame
        recovery: pd.DataFrame
        reordering: pd.DataFrame
        samples: Samples
        synchronisation: pd.DataFrame
        trace: Trace

    def __init__(self, scenario: Scenario, plan: Plan, columns: Columns) -> None:
        self.scenario = scenario
        self.plan = plan
        self.columns = columns

    @cached_property
    def window(self) -> Window:
        """The measurement window of links, switches and bursts, ``begin_ps`` to ``end_ps``.

        The window lasts from ``measurement.warm_up`` to ``until`` (exclusive), or to the end of the
        run. Flows that start in the window are counted.
        """
        return Window.of(self.plan, self.columns)

    def columns_of(self, name: str) -> Table:
        """Return the columns of `flows`, `links` or `switches`, without the cost of pandas."""
        more = (self._use,) if name == "links" else ()
        found: Table = getattr(tables, name)(self.plan, self.columns, *more)
        return found

    @cached_property
    def _use(self) -> Use:
        return link_use(self.plan, self.columns)

    def _of_window(self, name: str) -> pd.DataFrame:
        table = frame(self.columns_of(name))
        table.attrs["window"] = self.window.as_dict()
        return table

    @cached_property
    def collectives(self) -> pd.DataFrame:
        """One row for each collective operation, by step and group.

        Returns
        -------
        pandas.DataFrame
            ``group`` and ``step``, from 0; ``start_s`` of its first message; ``end_s``, the arrival
            of its last; ``time_s``, the mean over the ranks of the time from a rank's first message
            to the arrival of the last one to it (infinite if one did not arrive; in a broadcast
            from the first message of all to that arrival), with the waits for ranks that are late,
            and ``time_max_s``, the longest;
            ``algorithm_bandwidth_bps``, the size of the buffer over the mean;
            ``bus_bandwidth_bps``, as NCCL's tests define it, the rate at which each rank must send
            at least; and ``last_host``, the rank to which the last message came.

        Raises
        ------
        InputError
            If the workload is of another kind.
        """
        import pandas as pd

        if self._operations is None:
            raise self._not_of_kind("'collective'")
        return pd.DataFrame(self._operations)

    @cached_property
    def _operations(self) -> dict[str, Any] | None:
        """The columns of `collectives`, without the cost of pandas; None without any."""
        workload = self.scenario.collective
        return None if workload is None else collectives.table(self.plan, self.columns, workload)

    @property
    def _of_waits(self) -> dict[str, Metric]:
        """The metrics of a workload whose messages wait for others; none for another one."""
        if self._operations is not None:
            return collectives.metrics(self._operations)
        return schedules.metrics(self.plan, self.columns)

    @cached_property
    def ranks(self) -> pd.DataFrame:
        """One row for each rank of a GOAL schedule.

        Returns
        -------
        pandas.DataFrame
            ``rank`` and its ``host``; ``operations``, and how many ``ended``; ``time_s``, the end
            of its last operation (infinite if one did not end); ``calc_s`` and ``overhead_s``, the
            time that its processors computed, sent and received; ``sent_bytes`` and
            ``received_bytes``.

        Raises
        ------
        InputError
            If the workload is of another kind.
        """
        if not self._has_schedule:
            raise self._not_of_kind("'goal'")
        return schedules.table(self.plan, self.columns)

    @property
    def _has_schedule(self) -> bool:
        return "operation_rank" in self.plan.flows

    def _not_of_kind(self, allowed: str) -> InputError:
        kinds = dict.fromkeys(f"'{one.workload.kind}'" for one in self.scenario.flow_groups)
        return InputError("workload.kind", ", ".join(kinds), allowed)

    def critical_path(self, step: str | int = SLOWEST) -> pd.DataFrame:
        """Return what a collective operation or a schedule waited for, one after the other.

        Parameters
        ----------
        step : int or "slowest"
            Number of the step, from 0, of which the group that took longest is shown; or
            ``"slowest"``, the operation that took longest of all. One that did not finish is
            slower than any that did; the first of them counts, for which the others wait. A GOAL
            schedule has one path.

        Returns
        -------
        pandas.DataFrame
            For a collective, one row for each message, in the order of time: ``flow``, its number,
            and columns of `lightburst.Result.flows`, with ``excess_s``, the completion time beyond
            the ideal. Each message starts when the one before has arrived; the last one is the last
            of the operation to arrive or, if some did not arrive, the last to start. ``attrs`` has
            ``step`` and ``group``.

            For a schedule, one row for each operation and each message between two of them:
            ``what`` (``calc``, ``send``, ``message``, ``recv``), ``rank``, ``host`` and ``line`` in
            the file (of a message those of its send), ``start_s`` and ``end_s``, ``waited_for``,
            how it waited for the row before (``requires``, ``irequires``, ``message``, ``send``,
            ``processor``, or ``nothing``), ``flow`` (-1 for a calc) and ``excess_s`` of a message.

        Raises
        ------
        InputError
            If the workload is of another kind, or there is no such step.
        """
        if self._has_schedule:
            if step != SLOWEST:
                raise InputError("step", str(step), f"{SLOWEST!r}: a schedule has no steps")
            return schedules.path(self.plan, self.columns, self.columns_of("flows"))
        operations = self.collectives
        steps = int(operations["step"].iloc[-1])
        time = operations["time_max_s"].to_numpy()
        if as_python(step) != SLOWEST:
            allowed = f"{SLOWEST!r}, or a whole number from 0 to {steps}"
            number = whole_number("step", step, steps, allowed)
            time = np.where(operations["step"] == number, time, -np.inf)
        operation = int(np.argmax(time))
        found = critical_path.table(self.plan, self.columns, self.columns_of("flows"), operation)
        row = operations.iloc[operation]
        found.attrs |= {
            "operation": operation,
            "step": int(row["step"]),
            "group": int(row["group"]),
        }
        return found

    def timeline(self, step: str | int = SLOWEST) -> pd.DataFrame:
        """Return what each host did, and when, in a collective workload or a schedule.

        Parameters
        ----------
        step : int or "slowest"
            As for `critical_path`: the operation whose path is marked, and whose step is shown if
            not all fit.

        Returns
        -------
        pandas.DataFrame
            One row for each bar, by host and time: ``host``; ``what``: ``calc``, a computation,
            ``send`` or ``recv``, the work of a host for a message of a schedule, ``sent`` and
            ``received``, a message from its start to the arrival of its last byte, once at each of
            its ends; ``start_s`` and ``end_s``, the end of the run if it did not end; ``peer``, the
            other end, ``size_bytes`` and ``flow`` of a message (-1); ``step`` and ``group`` of a
            collective (-1); and ``on_path``, whether it is on the critical path. At most 32 hosts
            and 3,000 bars; ``attrs["shown"]`` says which.

        Raises
        ------
        InputError
            If the workload is of another kind, or there is no such step.
        """
        if not self._has_schedule and self._operations is None:
            raise self._not_of_kind("'collective' or 'goal'")
        path = self.critical_path(step)
        operation, groups = path.attrs.get("operation"), 1
        if self.scenario.collective is not None:
            groups, _ = self.scenario.collective.shape(self.plan.settings["hosts"])
        return timeline.table(self.plan, self.columns, path, operation, groups)

    @cached_property
    def link_loads(self) -> LinkLoads | None:
        """Mean load that the flows offer to links, by their routes.

        The mean over the fibres between switches, and the largest load with the name of its link.
        None if no flows have an arrival rate (by ``load`` or ``arrival_rate``), and if the mean
        loads are not known: with circuits, with load-dependent labels, and in very large networks
        without structure. Groups of flows without an arrival rate are left out.
        """
        return link_loads(self.scenario, self.plan)

    @property
    def _counted_in_window(self) -> dict[str, Any]:
        totals = counted(self.columns)["totals"]
        units = {"packets": "units"} | ({"bursts": "bursts"} if self.plan.makes_bursts else {})
        found = {name: metrics.fates(totals, unit)._asdict() for name, unit in units.items()}
        return {**self.window.as_dict(), **found}

    @property
    def traced(self) -> bool:
        """Whether the run has a `trace`, of flows or of links."""
        measurement = self.scenario.measurement
        return bool(measurement.trace) or measurement.network is not None


def _access(one: OptionalMeasurement) -> cached_property[Any]:
    """Return the property of a measurement."""

    def read(run: CompletedRun) -> Any:
        if not one.is_readable(run.scenario.measurement):
            raise one.not_asked()
        return one.read(Reading(run.scenario, run.plan, run.columns))

    read.__doc__ = one.read.__doc__
    return cached_property(read)


for _one in MEASUREMENTS:
    if _one.attribute:
        _property = _access(_one)
        _property.__set_name__(CompletedRun, _one.attribute)
        setattr(CompletedRun, _one.attribute, _property)
