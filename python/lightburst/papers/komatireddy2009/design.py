"""Plan of the runs for the paper's figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lightburst.papers.design import Effort, Need, blocks_of, needed
from lightburst.papers.komatireddy2009.points import (
    LAWS,
    PAPER_TRANSFER,
    REMEDIES,
    UNLIMITED,
    Point,
    Transfer,
    base,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightburst.study import Block


class Axis(NamedTuple):
    """Quantity varied along an axis of a figure.

    Parameters
    ----------
    field : str
        Field of `Point` that varies.
    values, quick : tuple of float
        Values of the full plan and of a preview.
    rest : dict
        Other fields in which the points differ from the defaults.
    """

    field: str
    values: tuple[float, ...]
    quick: tuple[float, ...]
    rest: dict[str, Any]

    @property
    def every(self) -> tuple[float, ...]:
        """Values of both plans, ascending."""
        return tuple(sorted({*self.values, *self.quick}))

    def along(self, quick: bool) -> tuple[float, ...]:
        """Return the values of one plan."""
        return self.quick if quick else self.values

    def at(self, law: str, remedy: str, transfer: Transfer) -> Point:
        """Return a point on the axis, with the default value of the varied field."""
        return Point(law, remedy, **transfer._asdict())._replace(**self.rest)

    def put(self, point: Point, value: float) -> Point:
        """Return a point with another value of the varied field."""
        changed: dict[str, Any] = {self.field: value}
        return point._replace(**changed)

    def points(
        self, laws: Sequence[str], remedies: Sequence[str], transfer: Transfer, quick: bool
    ) -> list[Point]:
        """List the points along the axis for some laws and remedies."""
        return [
            self.put(self.at(law, remedy, transfer), value)
            for law in laws
            for remedy in remedies
            for value in self.along(quick)
        ]


# The text names differentials of 1, 5 and 50 ms, bursts of 100 kB and a loss of 0.001; the other
# values on the axes of figures 3 to 5 are our choice. Figure 5 uses 50 ms.
DELTA: Final = Axis(
    "delta", (0.0, 1e-3, 5e-3, 10e-3, 20e-3, 30e-3, 50e-3), (1e-3, 30e-3, 50e-3), {}
)
BURST: Final = Axis("burst", (50e3, 100e3, 200e3, 400e3), (100e3, 400e3), {})
LOSS: Final = Axis("loss", (0.0, 1e-5, 1e-4, 1e-3, 1e-2), (1e-4, 1e-3, 1e-2), {"delta": 50e-3})

#: Law and axes of each figure.
FIGURES: Final[dict[str, tuple[str, tuple[Axis, ...]]]] = {
    "fig3": ("HighSpeed", (DELTA,)),
    "fig4": ("HighSpeed", (BURST,)),
    "fig5": ("HighSpeed", (LOSS,)),
    "fig6": ("CUBIC", (DELTA, BURST, LOSS)),
    "fig7": ("FAST", (DELTA, BURST, LOSS)),
}
#: Compared remedies of the paper: without and with source ordering.
ORDERINGS: Final = ("none", "source")

# The paper does not state its number of runs per point. With SO and without loss all runs are
# alike, and two suffice; `NEEDS` lists the points with claims that need more.
FULL: Final = Effort(most=3, first=2, precision=0.05)
BEYOND: Final = Effort(most=3)
PREVIEW: Final = Effort(most=2)
# Smaller files. Slow start would be a larger part of them, and without a limit it lasts until the
# first loss, for half of such a file. The limit exceeds the capacity of a path that is 50 ms
# longer.
PREVIEW_TRANSFER: Final = Transfer(100e6, 2000)

# Beyond the paper, all remedies are compared over a plane of delay differential and cause of loss:
# random loss as in figure 5, or, with fewer channels, contention where the two paths meet.
BEYOND_TRANSFER: Final = PREVIEW_TRANSFER
DELTAS: Final = Axis("delta", (1e-3, 10e-3, 50e-3), (10e-3, 50e-3), {})
LOSSES: Final = Axis("loss", (0.0, 1e-4, 1e-3), (0.0, 1e-3), {"delta": 50e-3})
CHANNELS: Final = Axis("channels", (4, 2, 1), (4, 2), {"delta": 50e-3})
BEYOND_LAWS: Final = tuple(LAWS)
#: Remedies that keep bursts or segments in order; only these can help without contention.
IN_ORDER: Final = ("none", "source", "destination", "rr-tcp")


#: A point at which the limit of the window matters, and the same point without the limit.
LIMITED: Final = LOSS.put(LOSS.at("HighSpeed", "source", PAPER_TRANSFER), 1e-5)
NOT_LIMITED: Final = LIMITED._replace(**UNLIMITED._asdict())


def _lossy(remedies: Sequence[str], loss: float, law: str = "HighSpeed") -> tuple[Point, ...]:
    points = (LOSS.at(law, remedy, PAPER_TRANSFER) for remedy in remedies)
    return tuple(LOSS.put(point, loss) for point in points)


# Numbers of runs, from the deviation of the first three runs and not from the verdicts: the
# interval should be about as wide as the distance to the nearest bound, if later runs deviate as
# much. Means are compared, as the paper prints them; runs of equal seeds form pairs, which share
# starts and losses. A median would not do better for a bimodal distribution. The paper is limited
# to 20 minutes on two cores, which excludes two claims: cubic-similar-loss would need about thirty
# runs per point, and loss-little-gain hundreds.
NEEDS: Final = (
    Need(
        6,
        (Point("HighSpeed", "none", 1e-3), Point("CUBIC", "none", 1e-3)),
        "cubic-similar-delta, bound 25 %: chaotic, 4 %",
    ),
    Need(10, (Point("HighSpeed", "none", burst=50e3),), "burst-fewer-false: counts, 12 %"),
    Need(6, (Point("HighSpeed", "none", burst=400e3),), "burst-fewer-false: counts, 5 %"),
    Need(7, (Point("FAST", "source", burst=400e3),), "fast-bursts, bound 5 %: 2 %"),
    Need(
        10,
        _lossy(ORDERINGS, 1e-3),
        "loss-60s, loss-6-percent, bounds 30 s and 3 %: differences of pairs, 14 s and 1 %; of all "
        "ten 38 s and 3 %",
    ),
    Need(
        8,
        _lossy(ORDERINGS, 1e-2),
        "fast-high-loss, loss-no-reordering: one of two paths for good, and with it one of two "
        "times, of which one is twice the other; two runs that are alike say nothing",
    ),
    Need(
        20,
        _lossy(("source",), 1e-4, "FAST"),
        "check-fast-source-50ms-p0: 17 %, in two modes, by when the edge comes to stay",
    ),
    Need(
        6,
        (LIMITED, NOT_LIMITED),
        "unlimited-window, bound 5 %: with the limit all runs are alike, without it 9 %",
    ),
)
_MORE: Final = needed(NEEDS)


def effort(part: str, point: Point, quick: bool) -> Effort:
    """Return the number and length of the runs of a point."""
    if quick:
        return PREVIEW
    return BEYOND if part == "beyond" else _MORE.get(point, FULL)


def blocks(parts: Sequence[str], quick: bool) -> list[Block]:
    """Plan the runs for some parts of the paper; quick: smaller files, fewer points."""
    efforts = (
        (point, effort(part, point, quick)) for part in parts for point in points_of(part, quick)
    )
    return blocks_of(base(), efforts, Point._fields)


def points_of(part: str, quick: bool) -> list[Point]:
    """List the points of a part of the paper.

    Figures 6 and 7 include the points of HighSpeed, to which the paper compares; figure 5 includes
    a point without a limit of the window.
    """
    if part == "beyond":
        found = (points for law in BEYOND_LAWS for _, _, points in places(law, quick))
        return [point for points in found for point in points.values()]
    law, axes = FIGURES[part]
    laws = tuple(dict.fromkeys(("HighSpeed", law)))
    transfer = PREVIEW_TRANSFER if quick else PAPER_TRANSFER
    points = [point for axis in axes for point in axis.points(laws, ORDERINGS, transfer, quick)]
    return [*points, NOT_LIMITED] if part == "fig5" and not quick else points


def places(law: str, quick: bool = False) -> Iterator[tuple[float, str, dict[str, Point]]]:
    """List the points of the plane: differential, cause of loss in words, points by remedy."""
    for delta in DELTAS.along(quick):
        for axis, words, remedies in (
            (LOSSES, "p = {:g}", IN_ORDER),
            # The point with all channels is part of `LOSSES`. With fewer, segmentation and
            # deflection can help.
            (CHANNELS, "W = {:g}", tuple(REMEDIES)),
        ):
            for value in axis.along(quick):
                if axis is LOSSES or value < max(axis.values):
                    points = (axis.at(law, name, BEYOND_TRANSFER) for name in remedies)
                    yield (
                        delta,
                        words.format(value),
                        {
                            point.remedy: axis.put(point, value)._replace(delta=delta)
                            for point in points
                        },
                    )
