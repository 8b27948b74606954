"""Queue disciplines with a line for each class of flows: the groups of a scenario."""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from lightburst.foundation.units import SIZE, Quantity, format_size, parse_size
from lightburst.scenario.fields import Tables, Whole, refuse_at
from lightburst.scenario.reading.messages import quoted
from lightburst.scenario.section import Section

_SMALLEST_QUANTUM: Final = 256
_Size = Annotated[int, Quantity(SIZE, positive=True, largest="1 GB")]
_Bands = Annotated[dict[str, Annotated[int, Whole(0, 15)]], AfterValidator(Tables)]
_Sizes = Annotated[dict[str, _Size], AfterValidator(Tables)]


class Prio(Section):
    """Strict priorities over the groups of flows: a unit waits for all of earlier bands."""

    kind: Literal["prio"] = "prio"
    bands: _Bands = Field(
        {},
        validate_default=True,
        description=(
            "Band of each group of flows, by its name, from 0, which comes first, to 15. Groups "
            "that are not named share the band after the last one. At least one must be named."
        ),
    )
    buffer: Literal["own", "shared"] = Field(
        "own",
        description=(
            "What `queue_size` limits: each band, or all bands of an output together. Where it is "
            "shared an arriving unit is dropped, of whatever band."
        ),
    )

    @model_validator(mode="after")
    def _named(self) -> Self:
        if not self.bands:
            allowed = "the band of at least one group, such as { urgent = 0 }"
            raise refuse_at("bands", "no group", allowed)
        return self

    def band(self, group: str | None) -> int:
        """Return the band of a group of flows."""
        return int(self.bands.get(group or "", max(self.bands.values()) + 1))


class Drr(Section):
    """Deficit round robin (Shreedhar and Varghese 1995) over the groups of flows.

    Attributes
    ----------
    quantum : int
        Bytes.
    quanta : dict of str to int
        Bytes.
    """

    kind: Literal["drr"] = "drr"
    quantum: _Size = Field(
        parse_size("9 kB"),
        description=(
            "Bytes that a group of flows may send in its turn: a full segment. At least 256 B; the "
            "larger, the fewer turns a unit waits for."
        ),
    )
    quanta: _Sizes = Field(
        {},
        validate_default=True,
        description=(
            "Quanta of single groups of flows, by their names. Groups that always have something "
            "to send share a link in the ratio of their quanta."
        ),
    )
    buffer: Literal["own", "shared"] = Field(
        "own",
        description=(
            "What `queue_size` limits: each group, or all groups of an output together. Where it "
            "is shared the first unit of the group with the most bytes is dropped."
        ),
    )

    @model_validator(mode="after")
    def _turns(self) -> Self:
        named = {f"quanta.{quoted(name)}": size for name, size in self.quanta.items()}
        for key, size in {"quantum": self.quantum, **named}.items():
            if size < _SMALLEST_QUANTUM:
                raise refuse_at(key, format_size(size), "at least 256 B")
        return self

    def quantum_of(self, group: str | None) -> int:
        """Return the quantum of a group of flows in bytes."""
        return int(self.quanta.get(group or "", self.quantum))
