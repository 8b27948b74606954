"""Which runs the paper's figures need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lightburst.papers.design import Effort, blocks_of
from lightburst.papers.komatireddy2009.points import LAWS, PAPER_BYTES, REMEDIES, Point, base

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightburst.papers.paper import Block


class Axis(NamedTuple):
    """What a figure varies.

    Parameters
    ----------
    field : str
        Of `Point`.
    values, quick : tuple of float
        In full and in a preview.
    rest : dict
        What else the points have: fields and values.
    """

    field: str
    values: tuple[float, ...]
    quick: tuple[float, ...]
    rest: dict[str, Any]

    @property
    def every(self) -> tuple[float, ...]:
        """All values, of whichever plan."""
        return tuple(sorted({*self.values, *self.quick}))

    def at(self, law: str, remedy: str, size: float) -> Point:
        """Give a point on it, with the usual value of what is varied."""
        return Point(law, remedy, size=size)._replace(**self.rest)

    def put(self, point: Point, value: float) -> Point:
        """Give a point with another value of what is varied."""
        changed: dict[str, Any] = {self.field: value}
        return point._replace(**changed)

    def points(
        self, laws: Sequence[str], remedies: Sequence[str], size: float, quick: bool
    ) -> list[Point]:
        """List the points along it."""
        values = self.quick if quick else self.values
        return [
            self.put(self.at(law, remedy, size), value)
            for law in laws
            for remedy in remedies
            for value in values
        ]


# The text names differentials of 1, 5 and 50 ms, bursts of 100 kB and a loss of 0.001; what else
# figures 3 to 5 have on their axes, it does not say. Figure 5 is with 50 ms.
DELTA: Final = Axis(
    "delta", (0.0, 1e-3, 5e-3, 10e-3, 20e-3, 30e-3, 50e-3), (1e-3, 30e-3, 50e-3), {}
)
BURST: Final = Axis("burst", (50e3, 100e3, 200e3, 400e3), (100e3, 400e3), {})
LOSS: Final = Axis("loss", (0.0, 1e-5, 1e-4, 1e-3, 1e-2), (1e-4, 1e-3, 1e-2), {"delta": 50e-3})

#: The figures: which laws, and along what.
FIGURES: Final[dict[str, tuple[str, tuple[Axis, ...]]]] = {
    "fig3": ("HighSpeed", (DELTA,)),
    "fig4": ("HighSpeed", (BURST,)),
    "fig5": ("HighSpeed", (LOSS,)),
    "fig6": ("CUBIC", (DELTA, BURST, LOSS)),
    "fig7": ("FAST", (DELTA, BURST, LOSS)),
}
#: What the paper compares: without source ordering and with it.
ORDERINGS: Final = ("none", "source")

# The paper does not say how often it ran a point. With SO and without loss all runs are alike, and
# two are enough. A preview has smaller files, of which a larger part is slow start.
FULL: Final = Effort(most=3, first=2, precision=0.05)
PREVIEW: Final = Effort(most=3)
PREVIEW_BYTES: Final = 200e6


def blocks(parts: Sequence[str], quick: bool) -> list[Block]:
    """Plan the runs that some parts of the paper need; quick means smaller files, fewer points."""
    points = (point for part in parts for point in points_of(part, quick))
    effort = PREVIEW if quick else FULL
    return blocks_of(base(), ((point, effort) for point in points), Point._fields)


def points_of(part: str, quick: bool) -> list[Point]:
    """List the points of a part of the paper.

    Figures 6 and 7 have those of HighSpeed as well, with which the paper compares.
    """
    size = PREVIEW_BYTES if quick else PAPER_BYTES
    if part == "beyond":
        laws: tuple[str, ...] = tuple(LAWS)
        axes: tuple[Axis, ...] = (DELTA, LOSS)
    else:
        law, axes = FIGURES[part]
        laws = tuple(dict.fromkeys(("HighSpeed", law)))
    remedies = tuple(REMEDIES) if part == "beyond" else ORDERINGS
    return [point for axis in axes for point in axis.points(laws, remedies, size, quick)]
