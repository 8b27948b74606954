"""Directive ``{mechanism} FAMILY KIND``: facts about a mechanism from the code.

A page of docs/mechanisms has the rule and its source, written by hand. The directive adds the
summary of its class, its keys and the file that implements it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple, get_args

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

import keys
from handbook.links import DOCS, ROOT
from lightburst.scenario.switching import Obs, Switching
from lightburst.scenario.switching.contention import Resolver
from lightburst.scenario.switching.queue import Queue
from lightburst.scenario.tables.assembly import Assembly
from lightburst.scenario.transport.congestion_control import CongestionControl
from lightburst.scenario.transport.rate_law import RateLaw
from lightburst.scenario.transport.rdma import RdmaRecovery
from lightburst.scenario.transport.recovery import Recovery


class Family(NamedTuple):
    """Mechanisms of one type, selected by a field of a scenario."""

    path: str
    kinds: tuple[str, ...]
    crate: str
    union: Any = None


def _kinds(union: Any) -> tuple[str, ...]:
    return tuple(str(kind.model_fields["kind"].default) for kind in get_args(get_args(union)[0]))


def _of(path: str, crate: str, union: Any) -> Family:
    return Family(path, _kinds(union), crate, union)


FAMILIES = {
    "congestion_control": _of(
        "transport.congestion_control", "crates/tcp/src/cc", CongestionControl
    ),
    "recovery": _of("transport.recovery", "crates/tcp/src/recovery", Recovery),
    "rate_law": _of("transport.congestion_control", "crates/tcp/src/transport/rate", RateLaw),
    "rdma_recovery": _of("transport.recovery", "crates/tcp/src/recovery", RdmaRecovery),
    "assembly": _of("switching.assembly.kind", "crates/optical/src/assembly", Assembly),
    "scheduler": Family(
        "switching.scheduler",
        get_args(Obs.model_fields["scheduler"].annotation),
        "crates/optical/src/obs/scheduler",
    ),
    "resolver": _of("switching.contention", "crates/optical/src/obs/contention", Resolver),
    "queue": _of("switching.queue", "crates/optical/src/queue", Queue),
    "switch": _of("switching.kind", "crates/optical/src/switch", Switching),
}


def page(family: str, kind: str) -> Path:
    """Return the path of a mechanism's page."""
    return DOCS / "mechanisms" / f"{family}-{kind}.md".replace("_", "-")


def source(family: str, kind: str) -> Path:
    """Return the path of the Rust file that implements a mechanism."""
    folder, name = ROOT / FAMILIES[family].crate, kind.replace("-", "_")
    return folder / f"{name}.rs"


def about(family: str, kind: str) -> str:
    """Write the facts about a mechanism from the code, as Markdown."""
    known = FAMILIES[family]
    chosen = f'["{kind}"]' if family == "resolver" else f'"{kind}"'
    file = os.path.relpath(source(family, kind), DOCS / "mechanisms")
    lines = [f"In a scenario: `{known.path} = {chosen}`. In the code: [{Path(file).name}]({file})."]
    if known.union is not None:
        cls = get_args(get_args(known.union)[0])[known.kinds.index(kind)]
        summary = (cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        lines = [" ".join(summary.split()), "", *lines]
        table = keys.keys([cls.__name__], None)
        if len(table) > 2:
            lines += ["", *table]
    return "\n".join(lines)


class Mechanism(SphinxDirective):
    """Insert the facts about a mechanism."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Return the parsed facts."""
        family, kind = self.arguments
        if family not in FAMILIES or kind not in FAMILIES[family].kinds:
            raise self.error(f"no mechanism {kind!r} in {family!r}")
        self.env.note_dependency(str(source(family, kind)))
        return self.parse_text_to_nodes(about(family, kind))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive("mechanism", Mechanism)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
