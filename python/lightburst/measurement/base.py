"""The interface of an optional measurement, with its defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final

from lightburst.foundation.errors import InputError
from lightburst.scenario.fields import OnlyIfAsked

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.foundation.counts import Columns, Mask, Metric, Table
    from lightburst.measurement.protocols import Forecast, Network, Plan, Reading, Switches
    from lightburst.scenario.model import Scenario
    from lightburst.scenario.tables.measurement import Measurement

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class OptionalMeasurement(OnlyIfAsked):
    """A measurement that is made only if a scenario requests it.

    An instance marks the field of ``[measurement]`` that requests it, so that the digest of a
    scenario without the request does not depend on it. Every default adds nothing.

    Attributes
    ----------
    key : str
        The field's name.
    moves_digest : bool
        Whether the request is part of the digest of the scenario. True if the measurement adds
        metrics: a stored run without these metrics cannot be used in its place.
    labels : mapping of str to str
        Its metrics and their names in words.
    tables : tuple of str
        Names of its tables in `lightburst.result.saving.TABLES`.
    flow_columns : tuple of str
        Columns it adds to `lightburst.Result.flows`.
    flow_columns_need : str
        Requirement of these columns, for the error of an expression that uses them without it.
    flow_table : str
        Table of the simulator with these columns.
    held : (str, str), optional
        Name of the simulator's count of rows in memory, and a sentence with that count for the
        error of a run that reached a limit.
    attribute : str
        Name of its property of `lightburst.Result`; empty if it has none.
    among : str
        Property of another measurement that contains its tables, if it has no property.
    example : (str, str)
        A value of its key, in words and in Python, for the error of the property without a request.
    """

    key: ClassVar[str]
    moves_digest: ClassVar[bool] = True
    labels: ClassVar[Mapping[str, str]] = _NOTHING
    tables: ClassVar[tuple[str, ...]] = ()
    flow_columns: ClassVar[tuple[str, ...]] = ()
    flow_columns_need: ClassVar[str] = ""
    flow_table: ClassVar[str] = ""
    held: ClassVar[tuple[str, str] | None] = None
    attribute: ClassVar[str] = ""
    among: ClassVar[str] = ""
    example: ClassVar[tuple[str, str]] = ("", "")

    def is_asked(self, measurement: Measurement) -> bool:
        """Return whether a scenario requests it: its key is not at its default."""
        default = type(measurement).model_fields[self.key].default
        return bool(getattr(measurement, self.key) != default)

    def check(self, measurement: Measurement) -> None:
        """Raise `refuse_at` if its option contradicts others of ``[measurement]``."""

    def misfits(self, scenario: Scenario) -> Iterator[InputError]:
        """Yield contradictions with other tables of the scenario."""
        return iter(())

    def missing_flows(self, measurement: Measurement, flows: int) -> Iterator[InputError]:
        """Yield an error for each flow in its option that does not exist."""
        return iter(())

    def settings(
        self, scenario: Scenario, network: Network, switches: Switches
    ) -> Mapping[str, Any]:
        """Return its settings of the plan; called only if the scenario requests it.

        Raises
        ------
        InputError
            If the network has nothing to measure.
        """
        return _NOTHING

    def check_plan(self, plan: Plan) -> None:
        """Raise `InputError` if a plan leaves nothing to measure."""

    def memory(self, forecast: Forecast) -> int:
        """Return the bytes that a run needs for it, from the plan to tables.

        Raises
        ------
        InputError
            With the path of its option, if it alone needs more memory than is free.
        """
        return 0

    def of_run(
        self, measurement: Measurement, plan: Plan, columns: Columns
    ) -> Mapping[str, Metric]:
        """Return its metrics of a whole run; by default those of the counted flows."""
        return self.of_flows(measurement, plan, columns, plan.counted)

    def of_flows(
        self, measurement: Measurement, plan: Plan, columns: Columns, chosen: Mask
    ) -> Mapping[str, Metric]:
        """Return its metrics of some flows, for groups and size classes.

        Parameters
        ----------
        measurement : Measurement
            The scenario's options.
        plan : Plan
            The plan of the run.
        columns : mapping of str to mapping
            Tables of the simulator.
        chosen : ndarray of bool, shape (flows,)
            The flows.
        """
        return _NOTHING

    def columns_of_flows(self, columns: Columns) -> Table:
        """Return the columns it adds to those of flows; nothing if the run did not measure them."""
        return columns.get(self.flow_table, _NOTHING)

    def is_readable(self, measurement: Measurement) -> bool:
        """Return whether a result has its `attribute` and its `tables`."""
        return self.is_asked(measurement)

    def missing(self, measurement: Measurement) -> str | None:
        """Return the path of the option that its tables require; None if they exist."""
        return None if self.is_readable(measurement) else f"measurement.{self.key}"

    def read(self, run: Reading) -> Any:
        """Return the value of its property, which takes the docstring of the override."""
        raise NotImplementedError(self.key)

    def table(self, result: Any, name: str) -> pd.DataFrame:
        """Return one of its tables: its property, or a member of it by the rest of the name."""
        home = self.attribute or self.among
        found = getattr(result, home)
        if name != home:
            found = getattr(found, name.removeprefix(f"{home}_"))
        table: pd.DataFrame = found
        return table

    def not_asked(self) -> InputError:
        """Return the error of its property for a scenario without the request."""
        allowed, example = self.example
        again = f"lightburst.run(scenario.with_(measurement__{self.key}={example}))"
        return InputError(f"measurement.{self.key}", "nothing", f"{allowed}, as {again}")


def check_bursts_are_made(path: str, scenario: Scenario, switches: Switches) -> None:
    """Refuse a measurement of bursts in a network without bursts."""
    if not any(table.assembles for table in switches.tables):
        allowed = "a network whose edges make bursts: switching.kind 'burst' or 'obs'"
        raise InputError(path, f"switches of kind {scenario.switching.kinds}", allowed)
