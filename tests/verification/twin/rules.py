"""Interfaces of the rules of loss and of paths that a network uses."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from twin.link import Link
    from twin.units import Unit


@dataclass
class Fate:
    """Fate of a unit that is handed to a lossy link."""

    # Why it is lost.
    lost: str | None = None
    marked: bool = False
    # Time for which the link stays idle before it, in ps.
    stall: int = 0
    # Flow, and number of later units with data of that flow which overtake it.
    hold: tuple[int, int] | None = None


class LossRule(Protocol):
    """The rule that decides the fate of units on lossy links."""

    def fate(self, unit: "Unit", link: "Link", now: int, begin: int) -> Fate:
        """The fate on `link` of `unit`, whose transmission begins at `begin`."""


class PathRule(Protocol):
    """The rule that decides the paths of units other than the shortest."""

    #: Whether it selects a working or a backup path, for bursts when they are made, and for packets
    #: when they come to their ingress.
    protects: bool
    #: Whether packets travel on both paths, and the egress selects.
    duplicates: bool
    #: The rule of the labels, if there are any, and the number of flows without further subflows.
    label: str | None
    flows: int

    def subflow(self, unit: "Unit") -> int:
        """The number of the subflow of a packet, or of those of a burst."""

    def pair(self, unit: "Unit") -> tuple[int, int]:
        """The switches of the source and the destination of a unit."""

    def selected(self, unit: "Unit", now: int) -> int:
        """The label of the path that is selected for a unit."""

    def number(self, unit: "Unit") -> int:
        """The number of labels that a unit can have."""

    def choose(self, unit: "Unit") -> int:
        """The label of a new unit."""

    def hops(self, node: int, unit: "Unit") -> tuple[int, ...] | None:
        """The ports at `node` along the path of a unit; None off it."""

    def between(self, pair: tuple[int, int]) -> "list[list[list[Link]]]":
        """The paths of a pair, each as the links from one node to the next."""


#: Why and where a copy was lost: reason, node, wanted link, the link if it was lost on that, and
#: the begin of its transmission there.
Cause = tuple[str, int, int, "Link | None", int | None]


class CopyRule(Protocol):
    """The rule for packets that travel on two paths."""

    def at_switch(self, unit: "Unit", link: "Link") -> "list[Unit]":
        """What a switch takes of a unit that arrives over `link`."""

    def goes_on(self, unit: "Unit", cause: Cause | None) -> bool:
        """End a copy, if the packet goes on in the other one; whether it does."""

    def totals(self) -> dict[str, int]:
        """The numbers of copies; none without."""
