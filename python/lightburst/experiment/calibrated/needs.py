"""Which of a paper's points each statement needs, so that no other is run at every setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pandas as pd

from lightburst.experiment.calibrated.aims import readings_of
from lightburst.experiment.calibrated.tried import COST, judge, numbers
from lightburst.study import Block, Study

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from lightburst.experiment.calibrated.aims import Aim
    from lightburst.experiment.calibrated.tried import Tries
    from lightburst.study.calibration.implausibility import FloatArray

#: Factor on the metrics of a point, and how it differs from metric to metric: a ratio of two of
#: them changes too.
_FACTOR: Final = 16.0
_KINDS: Final = 7

#: A point: its block, and its place in it.
Point = tuple[int, int]


class Needed(NamedTuple):
    """Statements with the points that they need.

    Attributes
    ----------
    blocks : list of Block
        The studies with the needed points only.
    aims : list of Aim
        The statements that are kept.
    points : list of set of Point
        The points of each, in the studies before.
    dear : dict of str to str
        The statements that are left out by id, with the reason.
    """

    blocks: list[Block]
    aims: list[Aim]
    points: list[set[Point]]
    dear: dict[str, str]


def needed_blocks(
    tries: Tries, base: pd.DataFrame, aims: Sequence[Aim], settings: int, budget: int | None
) -> Needed:
    """Keep the points that some statement needs, and the statements that a budget allows.

    Parameters
    ----------
    tries : Tries
        Has the studies of the paper.
    base : pandas.DataFrame
        Runs of the base, on the seeds that every setting has.
    aims : sequence of Aim
        The statements.
    settings : int
        Number of settings that will be run.
    budget : int or None
        Largest number of runs at these settings.

    Returns
    -------
    Needed
        The statements that are kept. Each needs all points if their own alone do not give the
        numbers of the base.
    """
    needs = _needs(tries, base, aims)
    seeds = int(base["seed"].nunique())
    kept, dear = list(range(len(aims))), {}
    while budget is not None and kept:
        points = {point for place in kept for point in needs[place]}
        if len(points) * seeds * settings <= budget:
            break
        dropped = _dearest(needs, kept)
        kept.remove(dropped)
        runs = len(needs[dropped]) * seeds * settings
        dear[aims[dropped].id] = f"the budget of {budget:,} runs; it needs {runs:,} at all settings"
    chosen = [aims[place] for place in kept]
    own = [needs[place] for place in kept]
    fewer = only(tries.blocks, set().union(*own))
    if not chosen or not judged_alike(tries, base, fewer, chosen):
        everything = {
            (number, place)
            for number, block in enumerate(tries.blocks)
            for place in range(len(block.labels))
        }
        return Needed(list(tries.blocks), chosen, [everything for _ in chosen], dear)
    return Needed(fewer, chosen, own, dear)


def cost_of(tries: Tries, base: pd.DataFrame, point: Point) -> float:
    """Return the cost of a run of a point in the base, in packets times links."""
    number, place = point
    return float(base.loc[_rows(base, tries.blocks[number].labels.iloc[place]), COST].mean())


def _dearest(needs: Sequence[set[Point]], kept: Sequence[int]) -> int:
    """Return the statement whose points fewest others need; of equal ones the last."""
    alone = {}
    for place in kept:
        others = {point for other in kept if other != place for point in needs[other]}
        alone[place] = (len(needs[place] - others), len(needs[place]), place)
    return max(kept, key=lambda place: alone[place])


def _needs(tries: Tries, base: pd.DataFrame, aims: Sequence[Aim]) -> list[set[Point]]:
    """Change the runs of one point at a time, and see which statements' numbers change."""
    names = [one.id for one in readings_of(aims)]
    before = _numbers(tries, base, names)
    owner = np.repeat(np.arange(len(aims)), [len(aim.readings) for aim in aims])
    found: list[set[Point]] = [set() for _ in aims]
    for number, block in enumerate(tries.blocks):
        for place in range(len(block.labels)):
            rows = _rows(base, block.labels.iloc[place])
            for sign in (1, -1):
                try:
                    after = _numbers(tries, _changed(base, rows, sign), names)
                except (ArithmeticError, LookupError, ValueError):
                    after = np.full_like(before, np.inf)  # such numbers are in no run: all need it
                for reading in np.flatnonzero(after != before):
                    found[owner[reading]].add((number, place))
    return found


def _numbers(tries: Tries, table: pd.DataFrame, names: Sequence[str]) -> FloatArray:
    found = numbers([judge(tries.paper, tries.parts, table)], names)[0]
    return np.asarray(np.nan_to_num(found, nan=-np.inf))


def _rows(table: pd.DataFrame, labels: pd.Series) -> np.ndarray:
    return np.asarray(
        np.logical_and.reduce([table[name] == value for name, value in labels.items()])
    )


def _changed(table: pd.DataFrame, rows: np.ndarray, sign: int) -> pd.DataFrame:
    metrics = [
        name
        for name in table.loc[:, "seed":].columns[1:]
        if pd.api.types.is_numeric_dtype(table[name])
        and not pd.api.types.is_bool_dtype(table[name])
    ]
    changed = table.copy()
    for place, name in enumerate(metrics):
        factor = _FACTOR ** (sign * (1 + place % _KINDS / _KINDS))
        changed[name] = table[name].astype(float).where(~rows, table[name] * factor)
    return changed.copy()  # in one piece: assigned columns are many, of which pandas warns


def only(blocks: Sequence[Block], wanted: Container[Point]) -> list[Block]:
    """Return the studies with some of their points only, and without those that have none left."""
    found = []
    for number, block in enumerate(blocks):
        places = [place for place in range(len(block.labels)) if (number, place) in wanted]
        if places:
            study = block.study
            points = [study.points[place] for place in places]
            labels = block.labels.iloc[places].reset_index(drop=True)
            fewer = Study(study.base, points, study.seeds, study.metrics)
            found.append(Block(fewer, labels))
    return found


def judged_alike(
    tries: Tries, base: pd.DataFrame, blocks: Sequence[Block], aims: Sequence[Aim]
) -> bool:
    """Return whether statements have the same numbers without the runs of all other points."""
    rows = [_rows(base, labels) for block in blocks for _, labels in block.labels.iterrows()]
    names = [one.id for one in readings_of(aims)]
    fewer = base[np.logical_or.reduce(rows)]
    try:
        return np.array_equal(_numbers(tries, base, names), _numbers(tries, fewer, names))
    except (ArithmeticError, LookupError, ValueError):
        return False
