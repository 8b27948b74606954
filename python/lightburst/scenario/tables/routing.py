"""``[routing]``: available paths, and the path of a unit."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_serializer, model_validator

from lightburst.foundation.units import RATE, TIME, Quantity, format_duration
from lightburst.scenario.fields import Named, Real, Whole, refuse_at
from lightburst.scenario.section import Section

Choice = Literal["free", "random", "flow-hash"]
Metric = Literal["hops", "delay"]
# The simulator numbers the paths of a pair in 8 bits; one number marks bursts off their path.
MOST_PATHS = 255
# Largest number of load reports in transit.
_MOST_REPORTS = 1000

_Interval = Annotated[int, Quantity(TIME, positive=True, largest="1000 s")]
_Delay = Annotated[int, Quantity(TIME, largest="1000 s")]
_Capacity = Annotated[int | None, Quantity(RATE, positive=True, word="channels")]


class _ByName(Section):
    """Choice without settings, written as its bare name.

    It was a plain name before choices with settings existed, and its digest must not change.
    """

    @model_serializer
    def _name(self) -> str:
        return str(type(self).model_fields["kind"].default)


class FirstLabel(_ByName):
    """All units take the first path."""

    kind: Literal["first"] = "first"


class RandomLabel(_ByName):
    """Each unit takes a random path."""

    kind: Literal["random"] = "random"


class HashLabel(_ByName):
    """A flow always takes the same path."""

    kind: Literal["hash"] = "hash"


class LoadLabel(Section):
    """An ingress switches from an overloaded path to the least loaded one.

    Attributes
    ----------
    interval, delay : int
        Picoseconds.
    capacity : int or None
        Bits a second; None for the sum of the fibre's channels.
    """

    kind: Literal["load"] = "load"
    interval: _Interval = Field(
        500 * 10**9,
        description=(
            "What is offered to each link for so long is added up and reported, and each ingress "
            "chooses anew after each report: tau of komatireddy2009."
        ),
    )
    threshold: Annotated[float, Real(0)] = Field(
        0.05,
        description=(
            "A path is left when its load over the last interval was more than this, P_max of "
            "komatireddy2009. With 0 the least loaded path is always taken."
        ),
    )
    threshold_on: Literal["link", "path"] = Field(
        "link",
        description=(
            'Which load of a path that is: of its `"link"` with the most, or of all its links '
            'together, `"path"`. komatireddy2009 has a threshold for links, and then takes the '
            "path whose links together are loaded least, which is done in any case: on links that "
            "paths share they cannot differ."
        ),
    )
    delay: _Delay = Field(
        0,
        description=(
            "How long a report is on its way to the edges. komatireddy2009 has none. At most 1000 "
            "intervals."
        ),
    )
    capacity: _Capacity = Field(
        None,
        description=(
            'What a fibre with a load of 1 carries. `"channels"`: what all its wavelengths do '
            "together. A rate makes the load another, and nothing else; komatireddy2009 does not "
            "say what its loads are normalised by, which decides how often paths are left."
        ),
    )

    @model_validator(mode="after")
    def _in_time(self) -> Self:
        if self.delay > _MOST_REPORTS * self.interval:
            longest = format_duration(_MOST_REPORTS * self.interval)
            allowed = f"at most {_MOST_REPORTS} times interval ({longest})"
            raise refuse_at("delay", format_duration(self.delay), allowed)
        return self


# Choice of one of the numbered paths of a pair.
Label = Annotated[
    FirstLabel | RandomLabel | HashLabel | LoadLabel, Field(discriminator="kind"), Named()
]


class Route(Section):
    """Given path, in one direction."""

    source: str = Field(description="Name of the switch with hosts at which it begins.")
    destination: str = Field(description="Name of the switch with hosts at which it ends.")
    path: tuple[str, ...] = Field(
        description=(
            "Names of all switches on it, from the source to the destination, each linked to "
            "the next."
        )
    )


class Routing(Section):
    """Shortest paths, several or given ones, and the choice among them.

    Attributes
    ----------
    choice : str or None
        None for the default of the transport; `Scenario.routing_choice` is the value in use.
    """

    came_later: ClassVar[frozenset[str]] = frozenset({"metric", "paths", "label", "routes"})

    choice: Choice | None = Field(
        None,
        description=(
            'Which of several equally good next hops a unit takes. `"free"`: one that is free '
            'now, uniformly at random. `"random"`: any of them, uniformly at random. '
            '`"flow-hash"`: always the same one for a flow, and for all bursts from one edge to '
            'another (ECMP). Without this key it is `"flow-hash"` if any flow is sent by `tcp`, '
            'which takes packets that overtake each other for losses, else `"free"`.'
        ),
    )
    metric: Metric = Field(
        "hops",
        description=(
            'What makes a path short. `"hops"`: the number of links. `"delay"`: the sum of '
            "their delays (propagation, and the header processing of the switch that a link "
            "leads to). Paths that are equal in it are equally good."
        ),
    )
    paths: Annotated[int, Whole(1, MOST_PATHS)] = Field(
        1,
        description=(
            "With 1 a unit has all the shortest paths, and `choice` decides at each node. With "
            "a larger k there are k paths for each pair of switches with hosts, numbered in the "
            "order of their length by `metric`: first as many as can be without a common link "
            "(those of the least total length), then the next shortest; fewer where there are "
            "not so many."
        ),
    )
    label: Label = Field(
        HashLabel(),
        description=(
            "Which of the numbered paths a unit takes, decided where it enters: by its host, "
            'for a burst by its ingress edge. `"hash"`: a flow always the same one, and so all '
            'bursts from one edge to another. `"random"`: each unit any of them, uniformly. '
            '`"first"`: all the first, which leaves the others for comparison. `"load"`: bursts '
            "leave a path that is loaded too much."
        ),
    )
    routes: tuple[Route, ...] = Field(
        (), description="Paths of your own for some pairs; other pairs have what `paths` says."
    )

    @property
    def labelled(self) -> bool:
        """Whether units take numbered paths."""
        return self.paths > 1 or bool(self.routes)
