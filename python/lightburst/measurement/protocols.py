"""Protocols of the arguments that measurements get from higher layers.

Scenarios list the measurements, so measurements cannot import plans or results. Members are
described in the class that a docstring names.
"""

# ruff: noqa: D102

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from lightburst.foundation.counts import Columns, FloatArray, Mask

if TYPE_CHECKING:
    from lightburst.scenario.model import Scenario
    from lightburst.scenario.switching import Switching

Arrays = Mapping[str, NDArray[Any]]


class Network(Protocol):
    """As `lightburst.topology.Network`."""

    @property
    def link_from(self) -> NDArray[Any]: ...
    @property
    def link_to(self) -> NDArray[Any]: ...
    @property
    def link_names(self) -> tuple[str, ...] | None: ...
    @property
    def names(self) -> tuple[str, ...] | None: ...
    @property
    def wavelength(self) -> NDArray[Any] | None: ...
    @property
    def between_switches(self) -> Mask: ...
    def name(self, node: int, /) -> str: ...


class Switches(Protocol):
    """As `lightburst.compile.switches.Switches`."""

    @property
    def tables(self) -> Sequence[Switching]: ...


class Plan(Protocol):
    """As `lightburst.compile.Plan`."""

    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def nodes(self) -> Arrays: ...
    @property
    def links(self) -> Arrays: ...
    @property
    def flows(self) -> Arrays: ...
    @property
    def window_ps(self) -> tuple[int, int]: ...
    @property
    def network(self) -> Network | None: ...
    @property
    def transports(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def counted(self) -> Mask: ...
    @property
    def due(self) -> Mask: ...
    def since_start_s(self, ends_ps: Any, without: FloatArray) -> FloatArray: ...
    def by_flow(self, value: Callable[[dict[str, Any]], Any]) -> NDArray[Any]: ...


class Forecast(Protocol):
    """As `lightburst.compile.forecast.Forecast`."""

    @property
    def plan(self) -> Plan: ...
    @property
    def before(self) -> Columns | None: ...
    def longest_path(self, flows: NDArray[Any]) -> int: ...
    def segments_sent(self, flows: NDArray[Any], links: int) -> FloatArray: ...


class Active(Protocol):
    """As `lightburst.result.warm_up.Active`."""

    def at(self, times_ps: NDArray[Any]) -> NDArray[Any]: ...


class Reading(Protocol):
    """As `lightburst.simulation.completed.Reading`."""

    @property
    def scenario(self) -> Scenario: ...
    @property
    def plan(self) -> Plan: ...
    @property
    def columns(self) -> Columns: ...
    @property
    def active(self) -> Active: ...
