"""What a network asks of those who decide what is lost, and which way units take."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from twin.network import Link, Unit


class LossRule(Protocol):
    """What decides which units lossy links lose."""

    def reason(self, link: "Link", unit: "Unit", now: int) -> str | None:
        """Why `unit` is lost on `link`; None if it is not."""


class PathRule(Protocol):
    """What decides which paths units take that are not simply the shortest."""

    def number(self, unit: "Unit") -> int:
        """How many labels a unit can have."""

    def choose(self, unit: "Unit") -> int:
        """The label of a new unit."""

    def hops(self, node: int, unit: "Unit") -> tuple[int, ...] | None:
        """The ports at `node` along the path of a unit; None off it."""

    def between(self, pair: tuple[int, int]) -> "list[list[list[Link]]]":
        """The paths of a pair, each as the links from one node to the next."""
