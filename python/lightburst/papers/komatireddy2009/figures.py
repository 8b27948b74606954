"""The figures of the paper: completion times and false fast retransmissions along each axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from lightburst.papers.figure import Figure
from lightburst.papers.komatireddy2009.best import NAMES, best_map
from lightburst.papers.komatireddy2009.design import (
    BEYOND_LAWS,
    BEYOND_TRANSFER,
    BURST,
    CHANNELS,
    DELTA,
    DELTAS,
    FIGURES,
    IN_ORDER,
    LOSS,
    LOSSES,
    ORDERINGS,
    Axis,
)
from lightburst.papers.komatireddy2009.points import (
    FALSE,
    METRIC,
    PROTOTYPE,
    REMEDIES,
    Point,
    Transfer,
    transfer_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightburst.papers.figure import AnyFigure
    from lightburst.papers.runs import Runs
    from lightburst.study.statistics import Interval


class _Shown(NamedTuple):
    """Display of an axis: label, unit of the values, plural in titles, letter of the panel."""

    label: str
    unit: float
    words: str
    letter: str
    logarithmic: bool = False


_AXES: Final = {
    DELTA.field: _Shown("Delay differential (ms)", 1e-3, "delay differentials", "a"),
    BURST.field: _Shown("Largest burst (kB)", 1e3, "burst sizes", "b"),
    LOSS.field: _Shown("Loss probability on each link", 1.0, "losses", "c", True),
    CHANNELS.field: _Shown("Wavelengths of a link", 1.0, "wavelengths", "d"),
}
# Drawn metrics: suffix of the figure's id, column and label.
_DRAWN: Final = (
    ("", METRIC, "Mean completion time of a flow (s)"),
    ("-false", FALSE, "False fast retransmissions of a flow"),
)


def figures(part: str, runs: Runs[Point], version: str) -> Iterator[Figure]:
    """Build a figure of the paper: completion times and false retransmissions along each axis.

    Figures 3 to 5 show both, as panels (a) and (b). Figures 6 and 7 have one panel per axis, for
    completion times only.
    """
    law, axes = FIGURES[part]
    for axis in axes:
        points = [axis.at(law, remedy, transfer_of(runs)) for remedy in ORDERINGS]
        for name, metric, label in _DRAWN:
            letter = _AXES[axis.field].letter if len(axes) > 1 else "ab"[bool(name)]
            id = f"{part}{letter}{name if len(axes) > 1 else ''}"
            title = f"Figure {part[-1]}({letter}): {law} over {_AXES[axis.field].words}"
            yield _panel(runs, axis, points, (metric, label), id, title, version)


def beyond(runs: Runs[Point], version: str) -> Iterator[AnyFigure]:
    """Build the map of the best remedy, and for each law the comparison of all remedies."""
    yield best_map(runs, version)
    for law in BEYOND_LAWS:
        for axis, remedies in ((DELTAS, IN_ORDER), (LOSSES, IN_ORDER), (CHANNELS, REMEDIES)):
            points = [axis.at(law, remedy, BEYOND_TRANSFER) for remedy in remedies]
            for name, metric, label in _DRAWN:
                id = f"beyond-{law.lower()}-{axis.field}{name}"
                title = f"Remedies over {_AXES[axis.field].words}: {law}"
                yield _panel(runs, axis, points, (metric, label), id, title, version)


def along(runs: Runs[Point], axis: Axis, point: Point, metric: str = "") -> dict[float, Interval]:
    """Average a metric at each value of an axis that was run, ignoring the point's own value."""
    found = _run(runs, axis, point)
    return {value: runs.mean(at, metric) for value, at in found.items()}


def ratios(
    runs: Runs[Point], axis: Axis, top: Point, bottom: Point, metric: str = ""
) -> dict[float, Interval]:
    """Compare two points at each value of an axis that was run, ignoring their own values."""
    found = _run(runs, axis, top)
    pairs = {value: (at, axis.put(bottom, value)) for value, at in found.items()}
    return runs.ratios(pairs, metric)


def _run(runs: Runs[Point], axis: Axis, point: Point) -> dict[float, Point]:
    """Return the points along an axis that were run, by their value."""
    every = {value: axis.put(point, value) for value in axis.every}
    return {value: at for value, at in every.items() if at in runs}


def _panel(
    runs: Runs[Point],
    axis: Axis,
    points: Sequence[Point],
    drawn: tuple[str, str],
    id: str,
    title: str,
    version: str,
) -> Figure:
    metric, y_label = drawn
    shown = _AXES[axis.field]
    curves = {}
    for point in points:
        curve = along(runs, axis, point, metric)
        # A logarithmic axis has no zero; figure 3 shows the points without loss.
        curves[point.law, NAMES[point.remedy]] = {
            value / shown.unit: mean
            for value, mean in curve.items()
            if value or not shown.logarithmic
        }
    figure = Figure.of(
        curves,
        id=id,
        title=title,
        caption=_caption(runs, axis, points, version),
        x_label=shown.label,
        y_label=y_label,
        x_log=shown.logarithmic,
        y_log=shown.logarithmic and metric == METRIC,
        legends=("Window law", "Remedy"),
    )
    return figure.beside("independent prototype", _prototype(runs, axis, points, metric, shown))


def _prototype(
    runs: Runs[Point], axis: Axis, points: Sequence[Point], metric: str, shown: _Shown
) -> Iterator[tuple[str, float, float]]:
    """Return the prototype's values at the points that were run."""
    run = {at: value for point in points for value, at in _run(runs, axis, point).items()}
    for check in PROTOTYPE:
        found = check.completion if metric == METRIC else check.false
        value = run.get(check.point)
        if found is not None and value is not None and (value or not shown.logarithmic):
            yield check.point.law, value / shown.unit, found


def _caption(runs: Runs[Point], axis: Axis, points: Sequence[Point], version: str) -> str:
    fixed = points[0]
    others = {
        DELTA.field: f"delay differential {fixed.delta * 1e3:g} ms",
        BURST.field: f"bursts of at most {fixed.burst / 1e3:g} kB",
        LOSS.field: f"loss probability {fixed.loss:g}" if fixed.loss else "no loss",
        CHANNELS.field: f"{fixed.channels} wavelengths",
    }
    words = ", ".join(said for field, said in others.items() if field != axis.field)
    transfer = Transfer(fixed.size, fixed.window)
    drawn = [at for point in points for at in _run(runs, axis, point).values()]
    return (
        f"{transfer.words} over two paths, load threshold 5 % of 4 Gb/s every 500 ms; {words}. "
        f"{runs.numbers_text(drawn)}; bars: 95 % interval of the mean. "
        f"lightburst {version}."
    )
