"""What every optional measurement has, and what one has that says nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final

from lightburst.errors import InputError
from lightburst.scenario.fields import OnlyIfAsked

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.counts import Columns, Mask, Metric
    from lightburst.measurement.handed_in import Forecast, Network, Plan, Reading, Switches
    from lightburst.scenario.measurement import Measurement
    from lightburst.scenario.model import Scenario

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class OptionalMeasurement(OnlyIfAsked):
    """One measurement that is made where a scenario asks for it.

    It marks the field of ``[measurement]`` that asks for it, and so is in no digest of a scenario
    that does not. What a subclass does not override adds nothing.

    Attributes
    ----------
    key : str
        The field's name.
    moves_digest : bool
        Whether a scenario that asks for it is another one in the store of runs: where it adds
        metrics, so that a stored run without them does not stand for it.
    labels : mapping of str to str
        Names of its metrics in words, for tables and figures.
    tables : tuple of str
        Tables that it makes, by their names in `lightburst.saving.TABLES`.
    flow_columns : tuple of str
        Columns that it adds to `lightburst.Result.flows`.
    flow_columns_need : str
        For the error of an expression over these where nothing asks for them: what they need.
    flow_table : str
        Table of the simulator that has these columns.
    held : (str, str), optional
        The simulator's name for the rows that it holds, and a sentence about their number for the
        error of a run that came to a limit.
    attribute : str
        Property of `lightburst.Result` that gives access to it; none if empty.
    among : str
        Property of another measurement that has its tables, where it has none of its own.
    example : (str, str)
        For the error of that property where nothing asks for the measurement: values that its key
        can have, in words and in Python.
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
        """Tell whether a scenario asks for it: its key is not at its default."""
        default = type(measurement).model_fields[self.key].default
        return bool(getattr(measurement, self.key) != default)

    def check(self, measurement: Measurement) -> None:
        """Raise `refuse_at` where its option does not fit the others of ``[measurement]``."""

    def misfits(self, scenario: Scenario) -> Iterator[InputError]:
        """Find other tables of the scenario that it does not fit."""
        return iter(())

    def missing_flows(self, measurement: Measurement, flows: int) -> Iterator[InputError]:
        """Find flows that it names and that are not there."""
        return iter(())

    def settings(
        self, scenario: Scenario, network: Network, switches: Switches
    ) -> Mapping[str, Any]:
        """Give its settings of the plan, if the scenario asks for it.

        Raises
        ------
        InputError
            If the network has nothing to be measured.
        """
        return _NOTHING

    def check_plan(self, plan: Plan) -> None:
        """Raise `InputError` where a plan leaves nothing to be measured."""

    def memory(self, forecast: Forecast) -> int:
        """Give the bytes that a run needs for it, from the plan to tables.

        Raises
        ------
        InputError
            By the name of its option, if it alone needs more than is free.
        """
        return 0

    def of_run(
        self, measurement: Measurement, plan: Plan, columns: Columns
    ) -> Mapping[str, Metric]:
        """Give its metrics of a whole run: those of the flows that count, if it has no others."""
        return self.of_flows(measurement, plan, columns, plan.counted)

    def of_flows(
        self, measurement: Measurement, plan: Plan, columns: Columns, chosen: Mask
    ) -> Mapping[str, Metric]:
        """Give its metrics of some flows, for groups and classes of size.

        Parameters
        ----------
        measurement : Measurement
            The scenario's options.
        plan : Plan
            The plan of the run.
        columns : mapping of str to mapping
            Tables of the run, as the simulator gave them.
        chosen : ndarray of bool, shape (flows,)
            The flows.
        """
        return _NOTHING

    def is_readable(self, measurement: Measurement) -> bool:
        """Tell whether a result has its `attribute` and its `tables`."""
        return self.is_asked(measurement)

    def missing(self, measurement: Measurement) -> str | None:
        """Name the option without which its tables are not there; None if they are."""
        return None if self.is_readable(measurement) else f"measurement.{self.key}"

    def read(self, run: Reading) -> Any:
        """Give what `attribute` gives; the docstring of an override is that of the property."""
        raise NotImplementedError(self.key)

    def table(self, result: Any, name: str) -> pd.DataFrame:
        """Give one of its tables: its `attribute`, or a member of that by the end of the name."""
        home = self.attribute or self.among
        found = getattr(result, home)
        if name != home:
            found = getattr(found, name.removeprefix(f"{home}_"))
        table: pd.DataFrame = found
        return table

    def not_asked(self) -> InputError:
        """Make the error of its `attribute` where the scenario does not ask for it."""
        allowed, example = self.example
        again = f"lightburst.run(scenario.with_(measurement__{self.key}={example}))"
        return InputError(f"measurement.{self.key}", "nothing", f"{allowed}, as {again}")


def check_bursts_are_made(path: str, scenario: Scenario, switches: Switches) -> None:
    """Refuse a measurement of bursts where no edge makes any."""
    if not any(table.assembles for table in switches.tables):
        allowed = "a network whose edges make bursts: switching.kind 'burst' or 'obs'"
        raise InputError(path, f"switches of kind {scenario.switching.kinds}", allowed)
