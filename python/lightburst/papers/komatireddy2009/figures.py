"""The figures of the paper: completion times and false fast retransmissions along each axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from lightburst.papers.figure import Figure
from lightburst.papers.komatireddy2009.design import (
    BURST,
    DELTA,
    FIGURES,
    LOSS,
    ORDERINGS,
    Axis,
)
from lightburst.papers.komatireddy2009.points import FALSE, LAWS, METRIC, REMEDIES, Point, size_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightburst.papers.runs import Runs
    from lightburst.study.statistics import Interval

NAMES: Final = {
    "none": "without SO",
    "source": "with SO",
    "destination": "destination ordering",
    "rr-tcp": "RR-TCP",
}


class _Shown(NamedTuple):
    """How an axis is shown: its label, the unit of its values, what its title says, its letter."""

    label: str
    unit: float
    words: str
    letter: str
    logarithmic: bool = False


_AXES: Final = {
    DELTA.field: _Shown("Delay differential (ms)", 1e-3, "delay differentials", "a"),
    BURST.field: _Shown("Largest burst (kB)", 1e3, "burst sizes", "b"),
    LOSS.field: _Shown("Loss probability on each link", 1.0, "losses", "c", True),
}
# Name, column and label of what is drawn.
_DRAWN: Final = (
    ("", METRIC, "Mean completion time of a flow (s)"),
    ("-false", FALSE, "False fast retransmissions of a flow"),
)


def figures(part: str, runs: Runs[Point], version: str) -> Iterator[Figure]:
    """Draw up a figure of the paper: each panel's completion times, and the false retransmissions.

    Figures 3 to 5 have these as panels (a) and (b); figures 6 and 7 have a panel for each axis, and
    the paper shows no retransmissions there.
    """
    law, axes = FIGURES[part]
    for axis in axes:
        for name, metric, label in _DRAWN:
            letter = _AXES[axis.field].letter if len(axes) > 1 else "ab"[bool(name)]
            id = f"{part}{letter}{name if len(axes) > 1 else ''}"
            title = f"Figure {part[-1]}({letter}): {law} over {_AXES[axis.field].words}"
            yield _panel(runs, axis, [law], ORDERINGS, (metric, label), id, title, version)


def beyond(runs: Runs[Point], version: str) -> Iterator[Figure]:
    """Draw the remedies up beside each other, for each law and axis."""
    for axis in (DELTA, LOSS):
        for name, metric, label in _DRAWN:
            id = f"beyond-{axis.field}{name}"
            title = f"Remedies against reordering over {_AXES[axis.field].words}"
            yield _panel(
                runs, axis, list(LAWS), list(REMEDIES), (metric, label), id, title, version
            )


def along(runs: Runs[Point], axis: Axis, point: Point, metric: str = "") -> dict[float, Interval]:
    """Average a metric at each value of an axis that was run; that of the point does not count."""
    found = _run(runs, axis, point)
    return {value: runs.mean(at, metric) for value, at in found.items()}


def ratios(
    runs: Runs[Point], axis: Axis, top: Point, bottom: Point, metric: str = ""
) -> dict[float, Interval]:
    """Compare two points at each value of an axis; those of the points do not count."""
    found = _run(runs, axis, top)
    pairs = {value: (at, axis.put(bottom, value)) for value, at in found.items()}
    return runs.ratios(pairs, metric)


def _run(runs: Runs[Point], axis: Axis, point: Point) -> dict[float, Point]:
    """Find the points along an axis that were run, by the value."""
    every = {value: axis.put(point, value) for value in axis.every}
    return {value: at for value, at in every.items() if at in runs}


def _panel(
    runs: Runs[Point],
    axis: Axis,
    laws: Sequence[str],
    remedies: Sequence[str],
    drawn: tuple[str, str],
    id: str,
    title: str,
    version: str,
) -> Figure:
    metric, y_label = drawn
    shown, size = _AXES[axis.field], size_of(runs)
    curves = {}
    for law in laws:
        for remedy in remedies:
            point = axis.at(law, remedy, size)
            curve = along(runs, axis, point, metric)
            # A logarithmic axis has no zero; what is there without loss stands in figure 3.
            curves[law, NAMES[remedy]] = {
                value / shown.unit: mean
                for value, mean in curve.items()
                if value or not shown.logarithmic
            }
    return Figure.of(
        curves,
        id=id,
        title=title,
        caption=_caption(runs, axis, size, version),
        x_label=shown.label,
        y_label=y_label,
        x_log=shown.logarithmic,
        y_log=shown.logarithmic and metric == METRIC,
        legends=("Window law", "Remedy"),
    )


def _caption(runs: Runs[Point], axis: Axis, size: float, version: str) -> str:
    fixed = axis.at("", "", size)
    others = {
        DELTA.field: f"delay differential {fixed.delta * 1e3:g} ms",
        BURST.field: f"bursts of at most {fixed.burst / 1e3:g} kB",
        LOSS.field: f"loss probability {fixed.loss:g}" if fixed.loss else "no loss",
    }
    words = ", ".join(said for field, said in others.items() if field != axis.field)
    return (
        f"Ten flows of {size / 1e6:,.0f} MB over two paths, load threshold 5% of 4 Gb/s every "
        f"500 ms; {words}. {runs.seeds_text}; bands: 95 % interval of the mean. "
        f"lightburst {version}."
    )
