"""``[[events]]``, ``[failures]`` and ``[restoration]``: what changes, and how routes follow."""

from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from lightburst.foundation.units import (
    TIME,
    Duration,
    PositiveDuration,
    Quantity,
    Rate,
    format_duration,
    parse_duration,
)
from lightburst.scenario.fields import Name, Real, Whole, refuse_at
from lightburst.scenario.section import Section
from lightburst.scenario.tables.topology import MOST_WAVELENGTHS

_Node = Annotated[str, Name()]
# What an event changes.
_CHANGED: Final = ("state", "rate", "loss")


class Event(Section):
    """A link or a node that goes down or comes up at a time, or a link with another rate or loss.

    Attributes
    ----------
    at, until : int
        Picoseconds.
    rate : int or None
        Bits per second.
    """

    came_later: ClassVar[frozenset[str]] = frozenset({"rate", "loss", "until"})

    at: Duration = Field(description="Time of the event, from the begin of the run.")
    state: Literal["down", "up"] | None = Field(
        None, description="The state from then on. Links and nodes are up at first."
    )
    rate: Rate | None = Field(
        None,
        description=(
            "In place of `state`: the rate of the link from then on. A transmission that begins "
            "later has it. All switches are `electronic`."
        ),
    )
    loss: Annotated[float, Real(0, 1)] | None = Field(
        None,
        description=(
            "In place of `state`: the probability with which the link loses a unit, with data or "
            "without, whose transmission begins later."
        ),
    )
    until: Duration | None = Field(
        None,
        description=(
            "End of a change of `rate` or `loss`: from then on the link has its own again. By "
            "default there is none."
        ),
    )
    link: tuple[_Node, _Node] | None = Field(
        None,
        description=(
            'The link, by the names of the nodes at its ends: `["a", "b"]`. Of parallel links '
            "and of wavelengths all are meant, unless `name` or `wavelength` selects some."
        ),
    )
    node: _Node | None = Field(
        None,
        description=(
            "The switch or host instead of a link, by name. All its links are down with it, in "
            "both directions."
        ),
    )
    direction: Literal["both", "forward"] = Field(
        "both",
        description=(
            '`"forward"`: only the direction from the first end to the second, as with one fibre '
            "of a pair."
        ),
    )
    name: _Node | None = Field(None, description="Name of the link, where links are parallel.")
    wavelength: Annotated[int, Whole(0, MOST_WAVELENGTHS - 1)] | None = Field(
        None, description="The wavelength of the link, from 0; by default all."
    )

    @model_validator(mode="after")
    def _one_change(self) -> Self:
        given = [key for key in _CHANGED if getattr(self, key) is not None]
        if len(given) != 1:
            words = " and ".join(given) or "none of state, rate and loss"
            raise refuse_at("", words, "one of state, rate and loss")
        if self.state is None and self.node is not None:
            allowed = f"a link, whose {given[0]} changes"
            raise refuse_at("node", self.node, allowed)
        if self.until is not None and self.state is not None:
            allowed = f"none beside state: another event ends '{self.state}'"
            raise refuse_at("until", format_duration(self.until), allowed)
        if self.until is not None and self.until <= self.at:
            allowed = f"a time after at ({format_duration(self.at)})"
            raise refuse_at("until", format_duration(self.until), allowed)
        return self

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.link is None) == (self.node is None):
            given = "neither" if self.link is None else "both"
            raise refuse_at("", f"{given} of link and node", "one of link and node")
        if self.node is not None:
            for key, default in (("direction", "both"), ("name", None), ("wavelength", None)):
                if getattr(self, key) != default:
                    raise refuse_at(key, "one beside node", "one beside link only")
        return self


class Failures(Section):
    """Random failures and repairs, independent of each other.

    Attributes
    ----------
    mean_time_to_failure, mean_time_to_repair : int
        Picoseconds.
    """

    of: Literal["links", "switches"] = Field(
        "links",
        description=(
            'What fails. `"links"`: each link between two switches, both directions with all '
            'wavelengths together, as if its cable is cut. `"switches"`: each switch with all its '
            "links."
        ),
    )
    mean_time_to_failure: PositiveDuration = Field(
        description=(
            "Mean of the exponential time from a repair, or the begin of the run, to the next "
            "failure."
        )
    )
    mean_time_to_repair: PositiveDuration = Field(
        description=(
            "Mean of the exponential time from a failure to its repair. The availability is "
            "MTTF / (MTTF + MTTR)."
        )
    )


class Restoration(Section):
    """What the routes do when links change.

    Attributes
    ----------
    delay : int or None
        Picoseconds; None for routes that never change.
    """

    delay: Annotated[int | None, Quantity(TIME, word="never")] = Field(
        parse_duration("50 ms"),
        description=(
            "Time from the change of a link to that of all routes: detection and convergence. A "
            "change that does not last longer is not noticed. The default is the time in which "
            "protected rings switch (ITU-T G.841); routing without precautions takes seconds. "
            '`"never"`: the routes stay.'
        ),
    )
    waiting: Literal["rerouted", "lost"] = Field(
        "rerouted",
        description=(
            "Units that wait at the output of an electronic switch, or in the buffer of a hybrid "
            'one, when the routes learn that its link is down. `"rerouted"`: they take the new '
            'routes. `"lost"`: they are dropped '
            "(`queue-flushed`)."
        ),
    )
