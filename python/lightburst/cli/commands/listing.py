"""``lightburst list``: names for scenarios, and papers that can be reproduced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

from rich.table import Table

from lightburst import _core
from lightburst.cli.terminal.screen import show_table
from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.foundation.units import Quantity
from lightburst.scenario import KINDS
from lightburst.scenario.fields import Whole
from lightburst.scenario.switching import Switching
from lightburst.scenario.tables.assembly import Assembly
from lightburst.scenario.tables.sizes import FlowSize
from lightburst.scenario.tables.topology import Topology
from lightburst.scenario.tables.workload import Workload
from lightburst.scenario.transport import Transport
from lightburst.scenario.transport.congestion_control import CongestionControl
from lightburst.scenario.transport.rate_law import RateLaw
from lightburst.scenario.transport.rdma import RdmaRecovery
from lightburst.scenario.transport.recovery import Recovery

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

_UNIONS: Final[dict[str, Any]] = {
    "topologies": Topology,
    "switches": Switching,
    "assemblies": Assembly,
    "transports": Transport,
    "congestion_controls": CongestionControl,
    "recoveries": Recovery,
    "rate_laws": RateLaw,
    "rdma_recoveries": RdmaRecovery,
    "workloads": Workload,
    "sizes": FlowSize,
}


def topics() -> dict[str, Sequence[str]]:
    """Return all lists of names.

    Returns
    -------
    dict of str to sequence of str
        Names by topic.
    """
    from lightburst.papers import PAPERS  # imports the modules that draw the papers' figures

    papers = [f"{name}/{part}" for name, paper in PAPERS.items() for part in paper.parts]
    reasons = _core.registry()["drop_reasons"]
    return {**KINDS, "drop_reasons": reasons, "papers": [*PAPERS, *papers]}


def print_list(topic: str | None) -> None:
    """Print the names of a topic, or all topics with their names.

    Parameters
    ----------
    topic : str or None
        Topic to list; None lists all.

    Raises
    ------
    InputError
        If there is no such topic.
    """
    if topic in _UNIONS:
        _print_kinds(_UNIONS[topic])
        return
    known = topics()
    if topic is None:
        for name, names in known.items():
            print(f"{name}: {', '.join(names)}")
    elif topic == "papers":
        _print_papers()
    elif topic in known:
        print("\n".join(known[topic]))
    else:
        raise InputError(
            "list", show(topic), f"one of {', '.join(known)}{did_you_mean(topic, known)}"
        )


def _print_kinds(union: Any) -> None:
    table = Table("kind", "description", "keys", show_lines=True)
    for model in get_args(get_args(union)[0]):
        summary = (model.__doc__ or "").split("\n\n")[0].replace("\n", " ").replace("`", "").strip()
        table.add_row(str(model.model_fields["kind"].default), summary, "\n".join(_keys(model)))
    show_table(table)


def _keys(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if name == "kind":
            continue
        if field.is_required():
            yield f"{name} (needed)"
        else:
            default = _written(field)
            yield name if default is None else f"{name} = {default}"


def _written(field: FieldInfo) -> str | None:
    """Format the default as a scenario file writes it; None if a file cannot express it."""
    default = field.default
    for item in field.metadata:
        if isinstance(item, Quantity):
            return item.format(default)
        if default is None and isinstance(item, Whole):
            return item.word
    if hasattr(default, "kind"):
        return str(default.kind)
    if isinstance(default, bool):
        return str(default).lower()
    return None if default is None or default == () else f"{default}"


def _print_papers() -> None:
    from lightburst.papers import PAPERS

    table = Table("name", "content")
    for name, paper in PAPERS.items():
        table.add_row(name, paper.citation)
        for word, part in paper.parts.items():
            table.add_row(f"{name}/{word}", part.shows)
    show_table(table)
