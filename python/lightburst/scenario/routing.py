"""``[routing]``: which paths there are, and which of them a unit takes."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from lightburst.scenario.fields import Section, Whole

Choice = Literal["free", "random", "flow-hash"]
Metric = Literal["hops", "delay"]
# Who chooses among the paths of a pair; a choice by load would be one more.
Label = Literal["first", "random", "hash"]
# The simulator numbers the paths of a pair in 8 bits.
MOST_PATHS = 256


class Route(Section):
    """A path that is given, in one direction."""

    source: str = Field(description="Name of the switch with hosts where it begins.")
    destination: str = Field(description="Name of the switch with hosts where it ends.")
    path: tuple[str, ...] = Field(
        description="Names of all switches on it, from the source to the destination."
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
            "Among next hops that are equally good. 'free': uniformly at random among those that "
            "are free now (the paper's). 'random': uniformly at random among all. 'flow-hash': "
            "always the same for one flow. Without it 'flow-hash' with kind 'tcp', else 'free'."
        ),
    )
    metric: Metric = Field(
        "hops", description="What is shortest: the number of links, or the sum of their delays."
    )
    paths: Annotated[int, Whole(1, MOST_PATHS)] = Field(
        1,
        description="Paths for each pair of switches with hosts, link-disjoint where there are so "
        "many. With 1 all shortest ones, among which `choice` chooses.",
    )
    label: Label = Field(
        "hash",
        description=(
            "Who takes which of several paths. 'first': all the first. 'random': each packet, or "
            "burst, any. 'hash': a flow, or all bursts between two edges, always the same one."
        ),
    )
    routes: tuple[Route, ...] = Field(
        (), description="Paths that are given; other pairs have what `paths` says."
    )

    @property
    def labelled(self) -> bool:
        """Whether units take paths with labels."""
        return self.paths > 1 or bool(self.routes)
