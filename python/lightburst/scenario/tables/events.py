"""``[[events]]``, ``[failures]`` and ``[restoration]``: what fails, and how routes follow."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lightburst.foundation.units import TIME, Duration, PositiveDuration, Quantity, parse_duration
from lightburst.scenario.fields import Name, Whole, refuse_at
from lightburst.scenario.section import Section
from lightburst.scenario.tables.topology import MOST_WAVELENGTHS

_Node = Annotated[str, Name()]


class Event(Section):
    """A link or a node that goes down or comes up at a time.

    Attributes
    ----------
    at : int
        Picoseconds.
    """

    at: Duration = Field(description="Time of the event, from the begin of the run.")
    state: Literal["down", "up"] = Field(
        description="The state from then on. Links and nodes are up at first."
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
            "Units that wait at the output of an electronic switch when the routes learn that its "
            'link is down. `"rerouted"`: they take the new routes. `"lost"`: they are dropped '
            "(`queue-flushed`)."
        ),
    )
