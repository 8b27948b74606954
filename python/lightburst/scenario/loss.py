"""``[loss]``: what links lose by chance, or because the scenario says so."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lightburst.scenario.fields import Real, Section, Span, Whole, refuse_at

_Probability = Annotated[float, Real(0, 1)]
_Number = Annotated[int, Whole(1)]
# A packet carries the window at its sending in 16 bits.
_Window = Annotated[int, Whole(1, 65_535)]
_Range = Annotated[tuple[int, int], Span()]
# The keys that say what is lost; a drop has one of them.
TARGETS = ("burst", "segments", "window", "acknowledgements")


class Drop(Section):
    """One loss that the scenario orders; units, segments and sendings are counted from one.

    A unit is a burst or, where nothing is assembled, a packet.
    """

    flow: Annotated[int, Whole(0)] = Field(0, description="Number of the flow, from 0.")
    burst: _Number | None = Field(
        None, description="Which unit that carries data of the flow: 7 is the seventh."
    )
    segments: _Range | None = Field(
        None,
        description="Each of these data segments, from the first to the last, and what it is in.",
    )
    transmission: _Number | None = Field(
        None, description="With `segments`: which sending of each is lost; the first if absent."
    )
    window: _Window | None = Field(
        None,
        description=(
            "The first unit with data of the flow that was sent while the congestion window was at "
            "least so many segments."
        ),
    )
    acknowledgements: _Range | None = Field(
        None, description="These units, of those that carry acknowledgements of the flow."
    )

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        given = [key for key in TARGETS if getattr(self, key) is not None]
        if len(given) != 1:
            raise refuse_at(
                "", " and ".join(given) or "none of them", f"one of {', '.join(TARGETS)}"
            )
        if self.transmission is not None and self.segments is None:
            raise refuse_at("transmission", f"it with {given[0]}", "it with segments only")
        return self

    @property
    def words(self) -> str:
        """Say which loss it is, as the scenario file does."""
        keys = [key for key in ("flow", *TARGETS, "transmission") if getattr(self, key) is not None]
        return ", ".join(f"{key} = {_plain(getattr(self, key))}" for key in keys)


def _plain(value: int | tuple[int, int]) -> int | list[int]:
    return list(value) if isinstance(value, tuple) else value


class Loss(Section):
    """Losses on links between switches, independent of each other and of the traffic."""

    probability: _Probability = Field(
        0.0, description="Probability that a unit which carries data is lost."
    )
    acknowledgement_probability: _Probability = Field(
        0.0, description="Probability that a unit which carries no data is lost."
    )
    on: Literal["first-link", "every-link"] = Field(
        "first-link",
        description=(
            "Where: on the links from a switch that has hosts to another switch, so that a unit is "
            "tested once on its way; or on every link between switches."
        ),
    )
    drops: tuple[Drop, ...] = Field((), description="Losses to order, beside those by chance.")
