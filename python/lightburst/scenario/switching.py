"""``[switching]``: what the switches are, all of them or by layer and by name."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from lightburst.scenario.assembly import Assembly
from lightburst.scenario.fields import Flag, Section, Tables, Whole, refuse_at
from lightburst.units import SIZE, TIME, Quantity, parse_size

_Delay = Annotated[int, Quantity(TIME, largest="1000 s")]
Unlimited = Annotated[int | None, Quantity(SIZE, positive=True, word="unlimited")]
# Read once the kinds below are known.
_Others = Annotated[dict[str, "Switching"], AfterValidator(Tables)]
_HUNDRED_PACKETS = parse_size("900 kB")


class _Switch(Section):
    """What every switch has.

    Attributes
    ----------
    header_processing_time : int
        Picoseconds.
    layers, nodes : dict of str to Switching
        Tables that hold in place of this one for some layers of the topology and for single
        switches; for a switch that has both, that in `nodes`. They have no `layers` and `nodes` of
        their own.
    """

    header_processing_time: _Delay = Field(
        0,
        description=(
            "Added to the delay of each link that leads to a switch. minakhmetov2018 has none."
        ),
    )
    layers: _Others = Field(
        {},
        validate_default=True,
        description=(
            "Other switches in some layers of the topology: a table for each, by the name of "
            "the layer."
        ),
    )
    nodes: _Others = Field(
        {},
        validate_default=True,
        description=("Other switches at some nodes: a table for each, by the name of the node."),
    )

    @model_validator(mode="after")
    def _one_level(self) -> Self:
        for path, table in self.others():
            if table.layers or table.nodes:
                allowed = "a table without layers and nodes of its own"
                raise refuse_at(path, "one with layers or nodes", allowed)
        return self

    def others(self) -> Iterator[tuple[str, "Switching"]]:
        """Give the tables in `layers` and `nodes`, each with its path in this one."""
        for name in ("layers", "nodes"):
            tables: dict[str, Switching] = getattr(self, name)
            yield from ((f"{name}.{key}", table) for key, table in tables.items())

    @property
    def kinds(self) -> str:
        """The kinds of switch that it names, for titles."""
        kind = getattr(self, "kind", "")
        return " and ".join(dict.fromkeys([kind, *(table.kind for _, table in self.others())]))


class _Optical(_Switch):
    """What every switch has that passes light on without converting it.

    Attributes
    ----------
    switching_time : int
        Picoseconds.
    """

    switching_time: _Delay = Field(
        0,
        description=(
            "From the decision to the beginning of the transmission, and in a hybrid switch "
            "also on the way into the buffer and out of it; the output port is busy meanwhile. "
            "minakhmetov2018 has none."
        ),
    )


class AllOptical(_Optical):
    """Cut-through, without buffer: a unit whose output is busy is dropped."""

    kind: Literal["all-optical"] = "all-optical"


class Hybrid(_Optical):
    """All-optical with one shared electronic buffer behind a few ports.

    Attributes
    ----------
    buffer_size : int or None
        Bytes; None is unlimited.
    """

    kind: Literal["hybrid"] = "hybrid"
    buffer_ports: Annotated[int, Whole(0, 65_535)] = Field(
        2,
        description=(
            "Ports into the buffer, and as many out of it, each at the link's rate: ne in "
            "minakhmetov2018, which has 0, 2 and 5. At most the ports of the largest switch. "
            "With 0 the switch does exactly what an all-optical one does."
        ),
    )
    buffer_size: Unlimited = Field(
        None, description="Room in the buffer of each switch. minakhmetov2018 has no limit."
    )
    re_emission: Literal["after-reception", "cut-through"] = Field(
        "after-reception",
        description=(
            'When a buffered unit may leave. `"after-reception"`: when all of it has come in. '
            '`"cut-through"`: before that. minakhmetov2018 leaves it open; it says that the '
            "sender must wait one packet duration longer for each buffer on the way, which is "
            "the first."
        ),
    )


class Electronic(_Switch):
    """Store-and-forward with a queue for each output: the baseline.

    Attributes
    ----------
    queue_size, ecn_threshold : int or None
        Bytes; None is unlimited, and no marking.
    """

    kind: Literal["electronic"] = "electronic"
    queue_size: Unlimited = Field(
        _HUNDRED_PACKETS,
        description=(
            "Room in the queue of each output; at least a segment. The default is a hundred "
            "full segments, about what a shallow switch has for a port."
        ),
    )
    ecn_threshold: Annotated[int | None, Quantity(SIZE, word="off")] = Field(
        None,
        description=(
            "A unit that finds at least this much in the queue is marked (ECN). Marks are "
            "counted; no transport here reacts to them yet."
        ),
    )


class Burst(_Optical):
    """Optical burst switching: edges assemble packets into bursts, cores have no buffer.

    The switches with hosts are the edges.
    """

    kind: Literal["burst"] = "burst"
    assembly: Assembly = Field(
        description=(
            "When waiting packets become a burst. There is no default, because this is what "
            "such a network is studied for."
        )
    )
    assemble_acknowledgements: Flag = Field(
        True,
        description=(
            "Whether packets without data wait to be assembled, too; if not, each goes at once "
            "as a burst of its own. The round trip of yu2004 is RTT0 + 2 T_b, so they wait; its "
            "tables cannot tell."
        ),
    )


Switching = Annotated[AllOptical | Hybrid | Electronic | Burst, Field(discriminator="kind")]

for _kind in (AllOptical, Hybrid, Electronic, Burst):
    # Now that the tables which may stand in them are known.
    _kind.model_rebuild()
