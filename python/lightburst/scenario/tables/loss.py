"""``[loss]``: losses on links, random or ordered by the scenario, and other scripted events."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from lightburst.foundation.units import TIME, Quantity
from lightburst.scenario.fields import LARGEST_COUNT, Real, Whole, refuse, refuse_at
from lightburst.scenario.section import Section


@dataclass(frozen=True)
class Span:
    """Type of a field with the first and last number of a range, for use in ``Annotated``.

    Both ends are included; numbers count from 1.
    """

    @property
    def allowed(self) -> str:
        """Description of the allowed values, for errors and the documentation."""
        return f"[first, last], whole numbers from 1 to {LARGEST_COUNT}, first no more than last"

    def _validate(self, value: object) -> tuple[int, int]:
        ends = value if isinstance(value, list | tuple) else ()
        whole = all(isinstance(end, int) and not isinstance(end, bool) for end in ends)
        if len(ends) != 2 or not whole or not 1 <= ends[0] <= ends[1] <= LARGEST_COUNT:
            raise refuse(self.allowed)
        return int(ends[0]), int(ends[1])

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._validate, serialization=core_schema.plain_serializer_function_ser_schema(list)
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        number = {"type": "integer", "minimum": 1, "maximum": LARGEST_COUNT}
        return {"type": "array", "items": number, "minItems": 2, "maxItems": 2}


#: Lists of scripts, in the order of the plan.
SCRIPTS: Final = ("drops", "marks", "holds", "stalls")

_Probability = Annotated[float, Real(0, 1)]
_Number = Annotated[int, Whole(1)]
# A packet stores the window at its transmission in 16 bits.
_Window = Annotated[int, Whole(1, 65_535)]
_Range = Annotated[tuple[int, int], Span()]
_Stall = Annotated[int, Quantity(TIME, positive=True, largest="1000 s")]


class Script(Section):
    """Units of a flow to which the scenario gives a fate; units and segments count from 1.

    A unit is a burst or, where nothing is assembled, a packet.

    Attributes
    ----------
    targets : tuple of str
        Keys that select units; a script has exactly one of them.
    """

    targets: ClassVar[tuple[str, ...]] = ("burst", "segments", "window")

    flow: Annotated[int, Whole(0)] = Field(0, description="Number of the flow, from 0.")
    burst: _Number | None = Field(
        None,
        description=(
            "The unit with this number among those with data of the flow: 7 is the seventh."
        ),
    )
    segments: _Range | None = Field(
        None,
        description=(
            "The data segments from the first to the last of these numbers, each with the unit "
            "that carries it."
        ),
    )
    transmission: _Number | None = Field(
        None,
        description=(
            "With `segments`: the transmission of each segment that is meant. By default the "
            "first; 2 is the first retransmission."
        ),
    )
    window: _Window | None = Field(
        None,
        description=(
            "The first unit with a data segment sent while the congestion window was at least this "
            "many segments."
        ),
    )

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        given = [key for key in self.targets if getattr(self, key) is not None]
        if len(given) != 1:
            raise refuse_at(
                "", " and ".join(given) or "none of them", f"one of {', '.join(self.targets)}"
            )
        if self.transmission is not None and self.segments is None:
            raise refuse_at("transmission", f"one beside {given[0]}", "one beside segments only")
        return self

    @property
    def words(self) -> str:
        """Description of the selected units in the keys of the scenario file."""
        keys = ("flow", *self.targets, "transmission")
        given = [key for key in keys if getattr(self, key) is not None]
        return ", ".join(f"{key} = {_plain(getattr(self, key))}" for key in given)


class Drop(Script):
    """Loss ordered by the scenario."""

    targets: ClassVar[tuple[str, ...]] = (*Script.targets, "acknowledgements")

    acknowledgements: _Range | None = Field(
        None,
        description=(
            "The units from the first to the last of these numbers, among those with "
            "acknowledgements of the flow, its SYN+ACK included."
        ),
    )


class Mark(Script):
    """Congestion mark (ECN) ordered by the scenario."""


class Hold(Script):
    """Reordering ordered by the scenario: a unit waits until later ones have overtaken it."""

    later: _Number = Field(
        description=(
            "Number of later units that the unit follows: those on the same link with data of the "
            "flow beyond its own. Until then the link transmits others, and the unit waits beside "
            "it."
        )
    )


class Stall(Script):
    """Pause of a link ordered by the scenario."""

    duration: _Stall = Field(
        description="Time for which the link stays idle before it transmits the unit."
    )


def _plain(value: int | tuple[int, int]) -> int | list[int]:
    return list(value) if isinstance(value, tuple) else value


class Loss(Section):
    """Losses on links between switches, random or ordered by the scenario.

    Scripts also mark units, reorder them and stall the link.
    """

    came_later: ClassVar[frozenset[str]] = frozenset({"marks", "holds", "stalls"})

    probability: _Probability = Field(
        0.0, description="Loss probability of a unit with data: p of yu2004."
    )
    acknowledgement_probability: _Probability = Field(
        0.0,
        description=(
            "Loss probability of a unit without data. yu2004 does not mention lost "
            "acknowledgements, and its formulas have none; the fit to its tables prefers none, "
            "too."
        ),
    )
    on: Literal["first-link", "every-link"] = Field(
        "first-link",
        description=(
            'The lossy links. `"first-link"`: the links from a switch with hosts to another '
            'switch, so that a unit is tested once on its path. `"every-link"`: each link between '
            'two switches, so that a longer path has more losses. yu2004 speaks of fibres "with a '
            'given loss probability p", and in its formulas p is the loss of a burst; its tables '
            "fit better with p for the whole path."
        ),
    )
    drops: tuple[Drop, ...] = Field(
        (), description="Scripted losses, in addition to the random ones."
    )
    marks: tuple[Mark, ...] = Field(
        (), description="Scripted congestion marks; senders with `ecn`, `dctcp` or `dcqcn` answer."
    )
    holds: tuple[Hold, ...] = Field((), description="Scripted reordering.")
    stalls: tuple[Stall, ...] = Field((), description="Scripted pauses of the link.")

    @property
    def scripts(self) -> dict[str, Script]:
        """Scripts by path, in the order of the rows of ``result.drops``."""
        return {
            f"loss.{key}[{place}]": script
            for key in SCRIPTS
            for place, script in enumerate(getattr(self, key))
        }
