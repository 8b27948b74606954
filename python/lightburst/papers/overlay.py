"""Comparison of theory and simulation over a plane: maps of both and of their difference."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pandas as pd

from lightburst.papers.figure import MAP_COLUMNS, Figure, Maps, Panel
from lightburst.study.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SIMULATED: Final = "(a) simulation"
CLOSED: Final = "(b) theory"


class Beside(NamedTuple):
    """Simulated and theoretical value at one point of the plane."""

    x: float
    y: float
    mean: Interval
    theory: float


def maps(places: Sequence[Beside], unit: str, caption: str, **words: Any) -> Maps:
    """Build maps of simulation, theory and the logarithm of their ratio, side by side."""
    rows = []
    for x, y, mean, theory in places:
        error = math.log2(theory / mean.estimate) if mean.estimate > 0 else math.nan
        rows += [(SIMULATED, x, y, mean.estimate), (CLOSED, x, y, theory)]
        rows.append(("difference", x, y, error))
    return Maps(
        caption=f"{caption} Difference: +1 where the theory has twice the throughput of the "
        "simulation, -1 where it has half.",
        panels=(
            Panel(SIMULATED, unit, scale="throughput"),
            Panel(CLOSED, unit, scale="throughput"),
            Panel("difference", "log2 of theory over simulation", centre=0.0),
        ),
        data=pd.DataFrame(rows, columns=list(MAP_COLUMNS)),
        **words,
    )


def curves(places: Sequence[Beside], name: Callable[[float], str], **words: Any) -> Figure:
    """Build a figure of simulation and theory over x: one pair of curves for each y."""
    found: dict[tuple[str, str], dict[float, Interval]] = {}
    for x, y, mean, theory in sorted(places, key=lambda place: place.y):
        found.setdefault((name(y), SIMULATED), {})[x] = mean
        found.setdefault((name(y), CLOSED), {})[x] = Interval(theory, theory, theory, 0)
    return Figure.of(found, **{"theory": (CLOSED,), "ordered": True, **words})
