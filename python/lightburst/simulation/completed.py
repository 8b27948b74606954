"""A completed run: its plan, the counts of the simulator, and its optional measurements."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from lightburst.compile import Plan
from lightburst.compile.offered import LinkLoads, link_loads
from lightburst.foundation.counts import Columns
from lightburst.foundation.files.dataframes import Table, frame
from lightburst.measurement.base import OptionalMeasurement
from lightburst.measurement.window import Window, counted
from lightburst.result import metrics, tables
from lightburst.result.fairness import Use, link_use
from lightburst.result.warm_up import Active
from lightburst.scenario import Scenario
from lightburst.scenario.tables.measurement import MEASUREMENTS

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.measurement.flow_trace import Trace
    from lightburst.measurement.samples import Samples


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
        What was run.
    plan : Plan
        What the scenario was compiled to.
    columns : mapping of str to mapping
        The tables as the simulator gave them.

    Attributes
    ----------
    scenario, plan, columns
        As given.
    """

    if TYPE_CHECKING:
        # For type checkers: the properties are made from `MEASUREMENTS`, below.
        bursts: pd.DataFrame
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
        """The time that links, switches and bursts are of, ``begin_ps`` to ``end_ps``.

        From ``measurement.warm_up`` on to before ``until``, or to the end of the run. Flows count
        if they start in it.
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
    def link_loads(self) -> LinkLoads | None:
        """What the flows offer to links in the mean, by their routes.

        The mean over the fibres between switches, and the largest one, with its name. None where no
        flows come at a rate (a ``load`` or an arrival rate), and where no mean tells the loads:
        labels follow the load, or the network is very large and has no structure. Groups of flows
        without a rate are left out.
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
        """Whether there is a `trace`."""
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
