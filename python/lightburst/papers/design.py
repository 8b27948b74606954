"""Plan of a paper's runs: points from axes, and the number and length of runs per point."""

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
    """Named tuple that can express itself as settings of a scenario."""

    def settings(self) -> Mapping[str, object]:
        """Return values by path, as `Scenario.with_` takes them."""


class Effort(NamedTuple):
    """Number and length of the runs of a point.

    Parameters
    ----------
    most : int
        Largest number of runs; the seeds count from 1.
    first : int or None
        Runs before the first test of the precision; None runs all seeds.
    precision : float
        Sufficient precision: half-width of the 95 % interval of the throughput over its mean.
    horizon_s : float or None
        Simulated seconds per run; None keeps the limit of the scenario.
    """

    most: int
    first: int | None = None
    precision: float = 0.01
    horizon_s: float | None = None


class Need(NamedTuple, Generic[T]):
    """Points that need more runs, because a claim depends on quantities with a large spread.

    Parameters
    ----------
    seeds : int
        Runs per point.
    points : sequence
        The points.
    why : str
        The claim, and the spread of single runs.
    """

    seeds: int
    points: Sequence[T]
    why: str


def needed(needs: Iterable[Need[T]]) -> dict[T, Effort]:
    """Return the effort of the points named by some needs; the largest where several name one."""
    more: dict[T, Effort] = {}
    for need in sorted(needs, key=lambda need: need.seeds):
        more |= dict.fromkeys(need.points, Effort(need.seeds))
    return more


def grid(kind: Callable[..., T], **axes: Iterable[Any]) -> list[T]:
    """Build a point of every combination of values, the last axis varying fastest."""
    combinations = itertools.product(*axes.values())
    return [kind(**dict(zip(axes, values, strict=True))) for values in combinations]


def decades(first: float, last: float, each: int) -> tuple[float, ...]:
    """Return powers of ten from 10^first to 10^last, with `each` steps per decade."""
    steps = round((last - first) * each)
    return tuple(10 ** (first + step / each) for step in range(steps + 1))


def seconds(time: float) -> str:
    """Write a time in the syntax of a scenario, rounded to the picosecond."""
    return f"{round(time * 1e12)} ps"


def blocks_of(
    base: Scenario, wanted: Iterable[tuple[Point, Effort]], columns: Sequence[str]
) -> list[Block]:
    """Group points into one block for each effort.

    Parameters
    ----------
    base : Scenario
        The settings shared by all points.
    wanted : iterable of point and Effort
        Points with their effort. A repeated point keeps its first effort.
    columns : sequence of str
        Labels, in the order of a point's fields.
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
