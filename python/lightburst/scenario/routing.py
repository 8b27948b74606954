"""``[routing]``: which paths there are, and which of them a unit takes."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from lightburst.scenario.fields import Section, Whole

Choice = Literal["free", "random", "flow-hash"]
Metric = Literal["hops", "delay"]
# How one of the paths of a pair is chosen.
Label = Literal["first", "random", "hash"]
# The simulator numbers the paths of a pair in 8 bits; one number is that of bursts off their path.
MOST_PATHS = 255


class Route(Section):
    """A path that is given, in one direction."""

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
        None where it follows from the transport: `Scenario.routing_choice` is the one in use.
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
        "hash",
        description=(
            "Which of the numbered paths a unit takes, decided where it enters: by its host, "
            'for a burst by its ingress edge. `"hash"`: a flow always the same one, and so all '
            'bursts from one edge to another. `"random"`: each unit any of them, uniformly. '
            '`"first"`: all the first, which leaves the others for comparison.'
        ),
    )
    routes: tuple[Route, ...] = Field(
        (), description="Paths of your own for some pairs; other pairs have what `paths` says."
    )

    @property
    def labelled(self) -> bool:
        """Whether units take paths with labels."""
        return self.paths > 1 or bool(self.routes)
