"""A paper's table of runs: points from axes, and how long each is run."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import pandas as pd

from lightburst.study import Block, Stopping, Study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lightburst.scenario import Scenario

T = TypeVar("T")


class Point(Protocol):
    """A named tuple that knows what it is in the words of a scenario."""

    def settings(self) -> Mapping[str, object]:
        """Give values by path, as `Scenario.with_` takes them."""


class Effort(NamedTuple):
    """How long a point is run.

    Parameters
    ----------
    most : int
        Runs at the most, with the seeds from 1 on.
    first : int or None
        Runs before it is asked whether they are enough; None runs all.
    precision : float
        Half of the 95 % interval of the throughput, as a fraction of the mean, that is enough.
    horizon_s : float or None
        Simulated seconds of one run; None leaves them to the scenario.
    """

    most: int
    first: int | None = None
    precision: float = 0.01
    horizon_s: float | None = None


class Need(NamedTuple, Generic[T]):
    """Points that are run more often than others, because a claim hangs on what chance does there.

    Parameters
    ----------
    seeds : int
        Runs of each.
    points : sequence
        Which.
    why : str
        The claim, and how much single runs deviate.
    """

    seeds: int
    points: Sequence[T]
    why: str


def needed(needs: Iterable[Need[T]]) -> dict[T, Effort]:
    """Say how often the points are run of which claims need more; the most, where several do."""
    more: dict[T, Effort] = {}
    for need in sorted(needs, key=lambda need: need.seeds):
        more |= dict.fromkeys(need.points, Effort(need.seeds))
    return more


def grid(kind: Callable[..., T], **axes: Iterable[Any]) -> list[T]:
    """Make a point of every combination of values, the last axis varying fastest."""
    combinations = itertools.product(*axes.values())
    return [kind(**dict(zip(axes, values, strict=True))) for values in combinations]


def decades(first: float, last: float, each: int) -> tuple[float, ...]:
    """Give powers of ten from 10^first to 10^last, so many to a decade."""
    steps = round((last - first) * each)
    return tuple(10 ** (first + step / each) for step in range(steps + 1))


def seconds(time: float) -> str:
    """Write a time as a scenario has it, to the picosecond."""
    return f"{round(time * 1e12)} ps"


def blocks_of(
    base: Scenario, wanted: Iterable[tuple[Point, Effort]], columns: Sequence[str]
) -> list[Block]:
    """Make one block for each effort.

    Parameters
    ----------
    base : Scenario
        What all points have in common.
    wanted : iterable of point and Effort
        What is to be run. A point that comes again keeps its first effort.
    columns : sequence of str
        The labels, in the order of a point's fields.
    """
    efforts: dict[Point, Effort] = {}
    for point, effort in wanted:
        efforts.setdefault(point, effort)
    planned: dict[Effort, list[Point]] = {}
    for point, effort in efforts.items():
        planned.setdefault(effort, []).append(point)
    return [_block(base, points, effort, columns) for effort, points in planned.items()]


def _block(
    base: Scenario, points: Sequence[Point], effort: Effort, columns: Sequence[str]
) -> Block:
    if effort.horizon_s is not None:
        base = base.with_(measurement__time_limit=seconds(effort.horizon_s))
    stopping = None
    if effort.first is not None:
        stopping = Stopping("throughput_bps", effort.precision, effort.first)
    study = Study(base, [point.settings() for point in points], range(1, effort.most + 1))
    return Block(study, pd.DataFrame(points, columns=list(columns)), stopping)
