"""Model of a whole scenario."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from lightburst.foundation.errors import InputError, show
from lightburst.foundation.formatting import html_text
from lightburst.scenario.change import change
from lightburst.scenario.fields import (
    FILE_KEYS,
    Name,
    OnlyIfAsked,
    Tables,
    refuse_all,
    refuse_at,
    too_deep,
)
from lightburst.scenario.fit import misfits
from lightburst.scenario.reading.files import stamp
from lightburst.scenario.reading.messages import allowed_in, explain, quoted
from lightburst.scenario.section import Section, given, plain
from lightburst.scenario.switching import Switching
from lightburst.scenario.tables.collective import Collective
from lightburst.scenario.tables.events import Event, Failures, Restoration
from lightburst.scenario.tables.groups import LONGEST_NAME, MOST_GROUPS, FlowGroup, Group
from lightburst.scenario.tables.hosts import Fair, Fifo, Hosts, Queueing
from lightburst.scenario.tables.loss import Loss
from lightburst.scenario.tables.measurement import MEASUREMENTS, Measurement
from lightburst.scenario.tables.protection import Protection
from lightburst.scenario.tables.routing import Routing
from lightburst.scenario.tables.topology import Topology
from lightburst.scenario.tables.workload import Workload
from lightburst.scenario.transport import Rdma, Tcp, Transport
from lightburst.scenario.transport.presets import FAIR_PRESETS
from lightburst.scenario.transport.rate_law import Hpcc


class Scenario(Section):
    """Network, traffic and measurement of a simulation.

    Attributes
    ----------
    name : str
        Name for titles, without further effect.
    topology, routing, switching, hosts, loss, groups, transport, workload, measurement
        Tables of the file. Without `loss` no link loses units; without `groups` there is one group,
        of `transport` and `workload`. Quantities are stored in picoseconds, bytes, bits a second
        and metres; they are given as text with a unit, or as numbers in the SI unit: seconds,
        bytes, bits a second, metres.

    Raises
    ------
    InputError
        With every invalid field.
    """

    instead: ClassVar[str] = "; lightburst.load reads a file, Scenario.from_dict a dictionary"

    came_later: ClassVar[frozenset[str]] = frozenset(
        {"events", "failures", "restoration", "protection"}
    )

    name: Annotated[str, Name(0)] = Field("", description="Name for titles; no effect on results.")
    topology: Topology = Field(description="Hosts, switches and the links between them.")
    routing: Routing = Field(
        Routing(), description="The available paths, and the choice of one for each unit."
    )
    switching: Switching = Field(description="The kind of the switches.")
    hosts: Hosts = Field(Hosts(), description="The network interface of each host.")
    loss: Loss | None = Field(
        None,
        description=(
            "Losses on links, random or scripted. Without this table only contention and full "
            "buffers cause losses."
        ),
    )
    events: tuple[Event, ...] = Field(
        (),
        description=(
            "Links and nodes that go down and come up at given times, and links whose rate or loss "
            "changes."
        ),
    )
    failures: Failures | None = Field(
        None, description="Random failures and repairs. Without this table nothing fails."
    )
    restoration: Restoration = Field(
        Restoration(), description="When and how the routes follow events and failures."
    )
    protection: Protection | None = Field(
        None,
        description=(
            "A backup path for each pair of switches with hosts. Without this table routes follow "
            "events and failures by restoration."
        ),
    )
    groups: dict[str, Group] | None = Field(
        None,
        description=(
            "Several groups of flows, by name, each with its own workload and optionally its own "
            "transport."
        ),
    )
    transport: Transport | None = Field(
        None,
        validate_default=True,
        description="The transport of the flows. Required, unless each group has its own.",
    )
    workload: Workload | None = Field(
        None,
        validate_default=True,
        description="The flows: arrivals, sizes and endpoints. Required, unless there are groups.",
    )
    measurement: Measurement = Field(
        Measurement(),
        description=("The end of the run, the counted flows, and optional measurements."),
    )

    @property
    def flow_groups(self) -> tuple[FlowGroup, ...]:
        """Groups of flows in order; a single unnamed one in a scenario without groups."""
        if self.groups is None:
            assert self.workload is not None
            assert self.transport is not None
            return (FlowGroup(None, "", "transport", self.workload, self.transport),)
        return tuple(self._group(name, group) for name, group in self.groups.items())

    @property
    def collective(self) -> Collective | None:
        """Workload of collective operations; None for another one."""
        return self.workload if isinstance(self.workload, Collective) else None

    @property
    def changes(self) -> bool:
        """Whether links or nodes can go down."""
        down = any(event.state is not None for event in self.events)
        return down or self.failures is not None

    @property
    def telemetry(self) -> bool:
        """Whether packets of any flow carry telemetry of the outputs."""
        transports = (group.transport for group in self.flow_groups)
        laws = [one.congestion_control for one in transports if isinstance(one, Rdma)]
        return any(isinstance(law, Hpcc) for law in laws)

    @property
    def routing_choice(self) -> str:
        """Name of the choice among next hops in a run, given or the default for the transport.

        The schedule of circuits decides alone; any next hop is one that is free.
        """
        if self.switching.kind == "circuit":
            return "free"
        connected = any(group.transport.kind in ("tcp", "rdma") for group in self.flow_groups)
        if self.routing.choice is not None:
            return self.routing.choice.kind
        return "flow-hash" if connected else "free"

    @property
    def host_queueing(self) -> Queueing:
        """Queueing at hosts in a run: `hosts.queueing`, or the default for the presets."""
        transports = (group.transport for group in self.flow_groups)
        fair = any(isinstance(one, Tcp) and one.preset in FAIR_PRESETS for one in transports)
        return self.hosts.queueing or (Fair() if fair else Fifo())

    def _group(self, name: str, group: Group) -> FlowGroup:
        path, transport = f"groups.{quoted(name)}.", group.transport
        if transport is not None:
            return FlowGroup(name, path, f"{path}transport", group.workload, transport)
        assert self.transport is not None
        return FlowGroup(name, path, "transport", group.workload, self.transport)

    @field_validator("groups")
    @classmethod
    def _names(cls, groups: dict[str, Group] | None) -> dict[str, Group] | None:
        if groups is not None and not 1 <= len(groups) <= MOST_GROUPS:
            raise refuse_at("", f"{len(groups)} groups", f"1 to {MOST_GROUPS}")
        for name in groups or ():
            if not (1 <= len(name) <= LONGEST_NAME and name.isprintable()):
                allowed = f"names of 1 to {LONGEST_NAME} printable characters"
                raise refuse_at("", show(name), allowed)
        return groups

    @field_validator("transport", "workload")
    @classmethod
    def _one_form(cls, value: Any, info: ValidationInfo) -> Any:
        """Without groups both are required; with groups each has its own workload."""
        field, groups = str(info.field_name), info.data.get("groups", {})
        if groups is None and value is None:
            allowed = f"{allowed_in(cls.model_fields[field])}, or groups"
            raise refuse_at("", "nothing", allowed)
        if groups and field == "workload" and value is not None:
            raise refuse_at("", "a table beside groups", "a workload in each group, or no groups")
        if groups and field == "transport":
            needed = [name for name, group in groups.items() if group.transport is None]
            if value is not None and not needed:
                raise refuse_at(
                    "",
                    "a table that no group uses",
                    "no such table, or a group without a transport of its own",
                )
            if value is None and needed:
                allowed = f"a table, for the groups without one of their own: {', '.join(needed)}"
                raise refuse_at("", "nothing", allowed)
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        errors = tuple(misfits(self, self.topology.hosts_known, self.topology.largest_degree))
        if errors:
            raise refuse_all(errors)
        return self

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], directory: Path | None = None) -> Self:
        """Build a scenario from nested dictionaries, as returned by `tomllib`.

        Parameters
        ----------
        values : mapping
            Tables, with quantities as text with a unit or as numbers in the SI unit.
        directory : Path, optional
            Base of relative file names; if given, the files must be readable.

        Raises
        ------
        InputError
            With every invalid field.
        """
        if not isinstance(values, Mapping | Scenario):
            allowed = "a dictionary of tables; lightburst.load reads a file"
            raise InputError("scenario", show(values), allowed)
        context = None if directory is None else {"directory": directory}
        try:
            return cls.model_validate(values, context=context)
        except ValidationError as error:
            raise explain(error, cls) from None
        except RecursionError:
            raise too_deep("scenario") from None

    def with_(self, changes: Mapping[str, Any] | None = None, /, **more: Any) -> Self:
        """Return a copy with some fields changed.

        Parameters
        ----------
        changes : mapping of str to object, optional
            Values by path: ``{"switching.buffer_ports": 5}``. A number for a quantity is in the SI
            unit: seconds, bytes, bits a second, metres, events a second, seconds a metre, joules a
            bit. Numbers, bools and arrays may be NumPy's. Text is parsed as by ``--set``: ``"5"``
            is a number if the field accepts one without a unit, and a quantity in it needs a unit.
            None resets a field to its default.
        **more
            Further changes, with ``__`` for the dot: ``switching__buffer_ports=5``.

        Returns
        -------
        Scenario
            The changed scenario. With another ``kind``, a table keeps the keys that the new kind
            has.

        Raises
        ------
        InputError
            With every invalid field.
        """
        if not isinstance(changes, Mapping | None):
            raise InputError("with_", show(changes), "a dictionary of paths and values")
        wanted = dict(changes or {})
        wanted.update({path.replace("__", "."): value for path, value in more.items()})
        try:
            values = change(self, wanted)
        except RecursionError:
            raise too_deep("with_") from None
        return type(self).from_dict(values)

    def to_dict(self) -> dict[str, Any]:
        """Return nested dictionaries of all fields, quantities as text, for `from_dict`."""
        return plain(self)

    def in_use(self) -> dict[str, Any]:
        """Return `to_dict` with the values used in a run, including derived defaults."""
        values = self.to_dict()
        # Circuits leave no choice, and refuse one that is given.
        if self.switching.kind != "circuit":
            values["routing"].setdefault("choice", self.routing_choice)
        values["hosts"]["queueing"] = plain(self.host_queueing)
        return values

    def __repr__(self) -> str:
        transports = {group.transport.kind for group in self.flow_groups}
        network = f"{self.switching.kinds} in a {self.topology.kind}"
        return f"<Scenario {self.name!r}: {network}; {', '.join(sorted(transports))}>"

    def __str__(self) -> str:
        """Write the explicitly given fields as TOML; `to_toml` includes the defaults."""
        import tomli_w

        return tomli_w.dumps(given(self, with_kind=False)).rstrip()

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def to_toml(self) -> str:
        """Write the scenario as TOML, including the defaults."""
        import tomli_w

        return tomli_w.dumps(self.to_dict())

    def canonical_json(self) -> str:
        """Write the fields that affect the simulation in one line; equal for equal scenarios.

        Left out are the name, measurements that add no metrics, the limits of events and memory,
        measurements that are not requested, and later fields at their default. Files are replaced
        by the SHA-256 of their contents: a changed file gives a different scenario, a moved file
        does not.

        Raises
        ------
        InputError
            If a file cannot be read.
        """
        values = self.in_use()
        del values["name"]
        looks = [one.key for one in MEASUREMENTS if not one.moves_digest]
        for name in (*looks, "event_limit", "memory_limit"):
            values["measurement"].pop(name, None)
        _leave_out_unused(self, values)
        if self.host_queueing == Fifo():
            # The only interface before `hosts.queueing` was added.
            del values["hosts"]
        _replace_files(values, "")
        ordered = _sorted(values)
        if "groups" in values:
            # The order of groups matters.
            ordered["groups"] = {name: _sorted(group) for name, group in values["groups"].items()}
        return json.dumps(ordered, separators=(",", ":"), allow_nan=False)


def _sorted(value: Any) -> Any:
    """Sort the keys of a table, recursively."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(inner) for inner in value] if isinstance(value, list) else value


def _leave_out_unused(section: Section, values: dict[str, Any]) -> None:
    """Remove, at their default, fields marked `OnlyIfAsked` and fields of `came_later`.

    So runs that were stored before these fields existed are found again.
    """
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        optional = any(isinstance(marker, OnlyIfAsked) for marker in field.metadata)
        if (optional or name in section.came_later) and value == field.default:
            values.pop(name, None)
        elif isinstance(value, Section) and isinstance(values.get(name), dict):
            _leave_out_unused(value, values[name])
        elif isinstance(value, Tables):
            for key, table in value.items():
                if isinstance(table, Section):
                    _leave_out_unused(table, values[name][key])
        elif isinstance(value, tuple):
            for place, table in enumerate(value):
                if isinstance(table, Section):
                    _leave_out_unused(table, values[name][place])


def _replace_files(values: dict[str, Any], path: str) -> None:
    for key, value in values.items():
        if isinstance(value, dict):
            _replace_files(value, f"{path}{quoted(key)}.")
        elif key in FILE_KEYS:
            values[key] = {"sha256": _sha256(Path(value), f"{path}{key}")}


def _sha256(file: Path, path: str) -> str:
    stamp(file, path)
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
