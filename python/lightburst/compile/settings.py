"""Tables of the scenario as settings of the plan, by one rule for all kinds.

The name of a quantity gets its unit as suffix: a duration ``_ps``, a rate ``_bps``, a size
``_bytes`` (which replaces ``_size``). All other fields keep name and value; a table becomes a
dictionary. A new kind needs code here only if the simulator reads a setting in another form.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic.fields import FieldInfo

from lightburst.foundation.units import RATE, SIZE, TIME, Quantity
from lightburst.scenario.section import Section
from lightburst.scenario.switching import Electronic, Switching
from lightburst.scenario.switching.lines import Drr, Prio
from lightburst.scenario.switching.queue import Queue
from lightburst.scenario.tables.any_workload import Writes
from lightburst.scenario.tables.groups import FlowGroup
from lightburst.scenario.tables.hosts import Fifo, Queueing
from lightburst.scenario.tables.loss import SCRIPTS, Loss, Script
from lightburst.scenario.tables.routing import (
    ByName,
    LoadLabel,
    Routing,
)
from lightburst.scenario.transport import OpenLoop, Rdma, Tcp, Transport

# Size of SYN, FIN and acknowledgements. Datagrams have none, but the simulator requires the size.
_NO_CONTROL_BYTES = 64


def settings_of(section: Section) -> dict[str, Any]:
    """Return a table as settings of the plan.

    Parameters
    ----------
    section : Section
        A table of the scenario.

    Returns
    -------
    dict
        JSON values; times in picoseconds, sizes in bytes. A field of `Section.came_later` at its
        default (off) is left out, so that the digests of older plans stay the same.
    """
    values = {}
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if name not in section.came_later or value != field.default:
            values[_name(name, field)] = _written(value)
    return values


def _written(value: object) -> object:
    if isinstance(value, Section):
        return settings_of(value)
    return [_written(inner) for inner in value] if isinstance(value, tuple) else value


def _name(name: str, field: FieldInfo) -> str:
    quantity = next((marker for marker in field.metadata if isinstance(marker, Quantity)), None)
    if quantity is None:
        return name
    if quantity.dimension is TIME:
        return f"{name}_ps"
    if quantity.dimension is RATE:
        return f"{name}_bps"
    if quantity.dimension is SIZE:
        return f"{name.removesuffix('_size')}_bytes"
    return name


def switch_settings(
    switching: Switching, groups: Sequence[str | None], *, classes: bool, queues: bool
) -> dict[str, Any]:
    """Return the settings of a switch.

    The header time is left out for kinds without burst header packets, where the delay of the
    links includes it. `groups` are the names of the groups; `classes` is whether some have an
    extra offset time, and `queues` whether all outputs have explicit queues.
    """
    settings = settings_of(switching)
    extra = settings.pop("extra_offset", {})
    if classes:
        settings["extra_offset_ps"] = [extra.get(name, 0) for name in groups]
    if isinstance(switching, Electronic) and switching.pfc is not None:
        settings["pfc"]["xon_bytes"] = switching.pfc.resume
    if isinstance(switching, Electronic) and (switching.has_queues or queues):
        settings["queue"] = _queue_settings(switching.queue, groups)
        if settings.pop("ecn_marking", "arrival") == "departure":
            settings["marks_at_departure"] = True
    del settings["layers"], settings["nodes"]
    if not switching.sends_headers:
        del settings["header_processing_time_ps"]
    return settings


def _queue_settings(queue: Queue, groups: Sequence[str | None]) -> dict[str, Any]:
    """Return the settings of a queue discipline; those by group have one for each group."""
    settings = settings_of(queue)
    if isinstance(queue, Prio):
        settings["bands"] = [queue.band(name) for name in groups]
    if isinstance(queue, Drr):
        del settings["quantum_bytes"], settings["quanta"]
        settings["quanta_bytes"] = [queue.quantum_of(name) for name in groups]
    return settings


def balance_settings(routing: Routing) -> dict[str, Any] | None:
    """Return the settings of load-dependent labels, if the labels depend on load."""
    if not isinstance(routing.label, LoadLabel):
        return None
    settings = settings_of(routing.label)
    del settings["kind"]
    return settings


def transport_settings(transport: Transport) -> dict[str, Any]:
    """Return the settings of a transport: windows in bytes; datagram departures are columns."""
    settings = settings_of(transport)
    if isinstance(transport, Tcp):
        del settings["preset"], settings["initial_window"], settings["advertised_window"]
        settings["initial_window_bytes"] = transport.initial_window_bytes
        settings["advertised_window_bytes"] = transport.advertised_window * transport.payload
    elif isinstance(transport, Rdma):
        settings["handshake"] = False
    elif isinstance(transport, OpenLoop):
        del settings["rate_bps"], settings["spacing"]
        settings["control_bytes"] = _NO_CONTROL_BYTES
    return settings


def group_settings(groups: Iterable[FlowGroup], *, echo_marks: bool) -> list[dict[str, Any]]:
    """Return the settings of the groups of flows; a single group may have no name.

    `echo_marks`: answers tell their sender whether the packet was marked, whatever the rate law.
    """
    more = {"echo_marks": True} if echo_marks else {}
    return [
        ({} if group.name is None else {"name": group.name})
        | {"transport": transport_settings(group.transport) | more}
        | _writes(group.workload.writes)
        for group in groups
    ]


def _writes(writes: Writes | None) -> dict[str, Any]:
    if writes is None:
        return {}
    return {"writes": {"bytes": writes.size, "interval_ps": writes.interval}}


def fair_settings(queueing: Queueing) -> dict[str, Any] | None:
    """Return the settings of the hosts' interfaces, if these are fair."""
    return None if isinstance(queueing, Fifo) else {"small_queue": queueing.small_queue}


def choice_settings(routing: Routing, name: str) -> str | dict[str, Any]:
    """Return the choice among next hops: its name, or a table if it has settings."""
    choice = routing.choice
    return name if choice is None or isinstance(choice, ByName) else settings_of(choice)


def loss_settings(loss: Loss | None) -> dict[str, Any] | None:
    """Return the settings of losses; the lossy links are a column of the plan."""
    if loss is None:
        return None
    scripts = {key: [_script(one) for one in getattr(loss, key)] for key in SCRIPTS}
    return {
        "probability": loss.probability,
        "acknowledgement_probability": loss.acknowledgement_probability,
        # Later lists are left out if empty, so that the digests of older plans stay the same.
        **{key: rows for key, rows in scripts.items() if rows or key not in loss.came_later},
    }


def _script(script: Script) -> dict[str, Any]:
    values = {key: value for key, value in settings_of(script).items() if value is not None}
    if script.segments is not None:
        values["transmission"] = script.transmission or 1
    return values
