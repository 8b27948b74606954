"""``[switching]``: the switches, for all nodes or by layer and node; one file per kind."""

from typing import Annotated, Final, get_args

from pydantic import Field

from lightburst.scenario.switching.all_optical import AllOptical
from lightburst.scenario.switching.burst import Burst
from lightburst.scenario.switching.circuit import Circuit
from lightburst.scenario.switching.electronic import Electronic
from lightburst.scenario.switching.hybrid import Hybrid
from lightburst.scenario.switching.obs import Obs

Switching = Annotated[
    AllOptical | Hybrid | Electronic | Burst | Obs | Circuit, Field(discriminator="kind")
]
_KINDS: Final = get_args(get_args(Switching)[0])

for _kind in _KINDS:
    # Resolves the references to other switches, whose types are all known now.
    _kind.model_rebuild(_types_namespace={"Switching": Switching})

#: Kinds that assemble bursts at the edges.
MAKE_BURSTS: Final = frozenset(
    kind.model_fields["kind"].default for kind in _KINDS if kind.assembles
)


def tables_of(switching: Switching) -> dict[str, Switching]:
    """Return all tables of switches by path: the common one, and those of layers and nodes."""
    others = {f"switching.{path}": table for path, table in switching.others()}
    return {"switching": switching, **others}


__all__ = [
    "MAKE_BURSTS",
    "AllOptical",
    "Burst",
    "Circuit",
    "Electronic",
    "Hybrid",
    "Obs",
    "Switching",
    "tables_of",
]
