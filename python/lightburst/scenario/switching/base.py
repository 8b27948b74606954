"""Fields shared by all switches."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, model_validator

from lightburst.foundation.units import SIZE, TIME, Quantity
from lightburst.scenario.fields import Tables, refuse_at
from lightburst.scenario.section import Section

if TYPE_CHECKING:
    from lightburst.scenario.switching import Switching

Unlimited = Annotated[int | None, Quantity(SIZE, positive=True, word="unlimited")]
_Delay = Annotated[int, Quantity(TIME, largest="1000 s")]
# Forward reference, resolved once all kinds are known.
_Others = Annotated[dict[str, "Switching"], AfterValidator(Tables)]


class BaseSwitch(Section):
    """Fields of every switch.

    Attributes
    ----------
    header_processing_time : int
        Picoseconds.
    layers, nodes : dict of str to Switching
        Tables that replace this one for layers of the topology and for single switches; `nodes`
        takes precedence over `layers`. They have no `layers` and `nodes` of their own.
    store_and_forward : bool
        Whether it receives whole units before forwarding, so that its links may have different
        rates.
    assembles : bool
        Whether it assembles the hosts' packets into bursts.
    sends_headers : bool
        Whether it sends headers ahead of bursts, to reserve channels.
    """

    store_and_forward: ClassVar[bool] = False
    assembles: ClassVar[bool] = False
    sends_headers: ClassVar[bool] = False

    header_processing_time: _Delay = Field(
        0,
        description=(
            "Processing time of a header, added to the delay of each link to a switch. "
            "minakhmetov2018 has none."
        ),
    )
    layers: _Others = Field(
        {},
        validate_default=True,
        description=(
            "Different switches in some layers of the topology: a table for each, by the name of "
            "the layer."
        ),
    )
    nodes: _Others = Field(
        {},
        validate_default=True,
        description="Different switches at some nodes: a table for each, by the name of the node.",
    )

    @model_validator(mode="after")
    def _one_level(self) -> Self:
        for path, table in self.others():
            if table.layers or table.nodes:
                allowed = "a table without layers and nodes of its own"
                raise refuse_at(path, "one with layers or nodes", allowed)
        return self

    def others(self) -> Iterator[tuple[str, "Switching"]]:
        """Yield the tables in `layers` and `nodes`, each with its path in this table."""
        for name in ("layers", "nodes"):
            tables: dict[str, Switching] = getattr(self, name)
            yield from ((f"{name}.{key}", table) for key, table in tables.items())

    @property
    def delay_of_header(self) -> int:
        """Delay in picoseconds of a unit by the processing of its header."""
        return self.header_processing_time

    def largest_unit(self) -> tuple[str, int | None]:
        """Return the key that limits a unit's size, and the limit in bytes; None for no limit."""
        return "", None

    @property
    def kinds(self) -> str:
        """Kinds of all its switches, for titles."""
        kind = getattr(self, "kind", "")
        return " and ".join(dict.fromkeys([kind, *(table.kind for _, table in self.others())]))


class OpticalSwitch(BaseSwitch):
    """Fields of every switch that forwards light without converting it.

    Attributes
    ----------
    switching_time : int
        Picoseconds.
    """

    switching_time: _Delay = Field(
        0,
        description=(
            "Time from the decision to the start of the transmission, in a hybrid switch also on "
            "the way into the buffer and out of it; the output port is busy during this time. "
            "minakhmetov2018 has none."
        ),
    )
