"""What a result has only where the scenario asks for it, and of which time it is."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from lightburst import contents, metrics, synchronised, tables
from lightburst.active import Active
from lightburst.columnar import Table, frame
from lightburst.compile import Plan
from lightburst.compile.offered import LinkLoads, link_loads
from lightburst.errors import InputError
from lightburst.fairness import Use, link_use
from lightburst.metrics import Columns
from lightburst.sampled import Samples
from lightburst.scenario import Scenario
from lightburst.traced import Places, Trace
from lightburst.window import Window, counted

if TYPE_CHECKING:
    import pandas as pd


class Recorded:
    """What `lightburst.Result` has of traces, samples, and tables that are asked for.

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
        """Give the columns of `flows`, `links` or `switches`, without the cost of pandas."""
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

    @cached_property
    def trace(self) -> Trace:
        """What happened to the flows of ``measurement.trace`` and on the links of ``network``.

        Raises
        ------
        InputError
            If the scenario has nothing traced.
        """
        if not self.traced:
            raise _not_asked("trace", "numbers of flows, whose events are to be kept", "[0]")
        return Trace(self.columns, Places.of(self.plan))

    @property
    def traced(self) -> bool:
        """Whether there is a `trace`."""
        measurement = self.scenario.measurement
        return bool(measurement.trace) or measurement.network is not None

    @cached_property
    def samples(self) -> Samples:
        """Queues, buffers, utilisation and active flows over time, by ``measurement.sample``.

        Raises
        ------
        InputError
            If the scenario has no samples taken.
        """
        if self.scenario.measurement.sample is None:
            raise _not_asked("sample", "a time from one sample to the next", "'100 us'")
        active = Active.of(self.plan, self.columns)
        return Samples(self.columns, Places.of(self.plan), self.plan.settings["hosts"], active)

    @cached_property
    def reordering(self) -> pd.DataFrame:
        """How far out of order the data of flows came, by ``measurement.reordering``.

        A row for each ``flow`` (a row of `flows`), ``metric`` and ``value`` that there is: how many
        ``packets`` have it, and their ``share``. `docs/model.md` has the metrics, *Densities*.

        Raises
        ------
        InputError
            If the scenario does not ask for it.
        """
        if self.scenario.measurement.reordering is None:
            raise _not_asked("reordering", "a table that says how to look", "{}")
        return tables.reordering(self.columns)

    @cached_property
    def bursts(self) -> pd.DataFrame:
        """What bursts carried, by ``measurement.bursts``; see `contents.table`.

        Raises
        ------
        InputError
            If the scenario does not ask for it.
        """
        if self.scenario.measurement.bursts is None:
            raise _not_asked("bursts", "a table that says which bursts", "{}")
        return contents.table(self.columns)

    @cached_property
    def synchronisation(self) -> pd.DataFrame:
        """Windows and throughput of all connections over time; see `synchronised.series`.

        Raises
        ------
        InputError
            If the scenario does not ask for it.
        """
        own = self.scenario.measurement.synchronisation
        if own is None or not own.series:
            raise _not_asked("synchronisation", "what is kept of bins of time", "{'series': True}")
        return synchronised.series(self.columns, own.bin)


def _not_asked(key: str, allowed: str, example: str) -> InputError:
    again = f"lightburst.run(scenario.with_(measurement__{key}={example}))"
    return InputError(f"measurement.{key}", "nothing", f"{allowed}, as {again}")
