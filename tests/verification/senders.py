"""Settings of a sender in one list, moved to their tables of a scenario."""

from __future__ import annotations

from typing import Any

from lightburst.scenario.reading.messages import kinds
from lightburst.scenario.transport import Tcp

_LAWS, _RECOVERIES = (kinds(Tcp.model_fields[n]) for n in ("congestion_control", "recovery"))
_INNER = {
    key
    for tables in (_LAWS, _RECOVERIES)
    for table in tables.values()
    for key in table.model_fields
    if key != "kind"
}


def sender(**settings: Any) -> dict[str, Any]:
    """Write settings of `tcp`: those of a law and of a recovery go into its table.

    Settings that the recovery does not have are left out, so that one list serves all recoveries.
    """
    law, recovery = settings.get("congestion_control", "reno"), settings.get("recovery", "sack")
    chosen = {
        "congestion_control": (law, _LAWS[law]),
        "recovery": (recovery, _RECOVERIES[recovery]),
    }
    own = {key: value for key, value in settings.items() if key in _INNER}
    tables = {
        name: {"kind": kind, **{key: own[key] for key in own if key in table.model_fields}}
        for name, (kind, table) in chosen.items()
    }
    outer = {key: value for key, value in settings.items() if key not in _INNER}
    return {"kind": "tcp", **outer, **tables}
