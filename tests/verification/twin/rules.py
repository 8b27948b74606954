"""Interfaces of the rules of loss and of paths that a network uses."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from twin.network import Link, Unit


class LossRule(Protocol):
    """The rule that decides which units lossy links lose."""

    def reason(self, link: "Link", unit: "Unit", now: int) -> str | None:
        """Why `unit` is lost on `link`; None if it is not."""


class PathRule(Protocol):
    """The rule that decides the paths of units other than the shortest."""

    def number(self, unit: "Unit") -> int:
        """The number of labels that a unit can have."""

    def choose(self, unit: "Unit") -> int:
        """The label of a new unit."""

    def hops(self, node: int, unit: "Unit") -> tuple[int, ...] | None:
        """The ports at `node` along the path of a unit; None off it."""

    def between(self, pair: tuple[int, int]) -> "list[list[list[Link]]]":
        """The paths of a pair, each as the links from one node to the next."""
