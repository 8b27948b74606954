"""Heat maps side by side: for print by matplotlib, for the page by Altair."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np
from matplotlib.ticker import FixedFormatter, FixedLocator

from lightburst.papers.figure import places
from lightburst.plots import vega
from lightburst.plots.axis import power
from lightburst.plots.layout import Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh

    from lightburst.papers.figure import Maps, Panel
    from lightburst.plots.layout import Cell, Style

# Height of a map over the width of the sheet: of several side by side, and of a single one.
_SIDE: Final = 0.3
_NARROW: Final = 0.62
# Maps with words: lines per field in height, lines around a map, characters per line.
_LINES: Final = 3.0
_AROUND: Final = 5.5
_LINE: Final = 17
_LOW_HIGH: Final = "viridis"
# Purple below, orange above: distinguishable with any colour vision; Vega has the same scheme.
_DIVERGING: Final = "PuOr_r"
_VEGA_HEIGHT: Final = 260


def size(figure: Maps, sheet: Style) -> tuple[float, float]:
    """Return the width of the sheet and the height of the maps, in inches."""
    if "words" not in figure.data:
        rows = 1 if sheet.beside else len(figure.panels)
        return sheet.width, rows * sheet.width * (_SIDE if sheet.beside else _NARROW)
    _, up = places(figure.data)
    # A field holds two lines of words and a gap; the rest is for the tick labels and the title.
    lines = len(figure.panels) * (_LINES * len(up) + _AROUND)
    return sheet.width, lines * sheet.font / 72


def paint(cell: Cell, figure: Maps) -> Words:
    """Paint the maps into a cell: side by side, or one below the other if they have words.

    Parameters
    ----------
    cell : Cell
        Cell with the axes.
    figure : Maps
        Maps to draw.

    Returns
    -------
    Words
        Title and caption to write around the maps.
    """
    across = cell.style.beside and "words" not in figure.data
    number = len(figure.panels)
    grid = (1, number) if across else (number, 1)
    several = cell.inner.subplots(*grid, sharey=across, squeeze=False).ravel()
    scales: dict[str, tuple[QuadMesh, list[Axes], Panel]] = {}
    for place, (axes, panel) in enumerate(zip(several, figure.panels, strict=True)):
        drawn = _map(axes, figure, panel, cell.style.font)
        if place == 0 or not across:
            axes.set_ylabel(figure.y_label)
        if place == number - 1 or across:
            axes.set_xlabel(figure.x_label)
        # Maps one below the other are too high to share one colour bar.
        name = (panel.scale if across else "") or panel.name
        scales.setdefault(name, (drawn, [], panel))[1].append(axes)
    for drawn, beside, panel in scales.values():
        bar = cell.inner.colorbar(drawn, ax=beside, pad=0.01, aspect=18)
        bar.set_label(panel.label)
        bar.ax.grid(visible=False)
    return Words(figure.title, figure.caption, [])


def chart(figure: Maps) -> dict[str, Any]:
    """Return the maps as one Vega-Lite specification.

    Parameters
    ----------
    figure : Maps
        Maps to draw.

    Returns
    -------
    dict
        Specification including its data, with the maps one below the other to fit a narrow page.
    """
    maps = []
    for panel in figure.panels:
        data = figure.data[figure.data["panel"] == panel.name].dropna(subset=["value"])
        low, high = _limits(figure, panel)
        scale = (
            alt.Scale(scheme="viridis", domain=[low, high])
            if panel.centre is None
            else alt.Scale(scheme="purpleorange", domain=[low, high], domainMid=panel.centre)
        )
        across, up = places(data)
        x_axis, y_axis = (
            alt.Axis(values=[tick(place) for place in shown(row)]) for row in (across, up)
        )
        x_sort, y_sort = [tick(x) for x in across], [tick(y) for y in reversed(up)]
        fields = alt.Chart(data.assign(x=data["x"].map(tick), y=data["y"].map(tick))).encode(
            x=alt.X("x:N", title=figure.x_label, sort=x_sort, axis=x_axis),
            y=alt.Y("y:N", title=figure.y_label, sort=y_sort, axis=y_axis),
        )
        painted = fields.mark_rect().encode(
            color=alt.Color("value:Q", title=panel.label, scale=scale),
            tooltip=[
                alt.Tooltip("x:N", title=figure.x_label),
                alt.Tooltip("y:N", title=figure.y_label),
                alt.Tooltip("value:Q", title=panel.label, format=",.4~g"),
                *([alt.Tooltip("words:N", title="In words")] if "words" in data else []),
            ],
        )
        maps.append(painted.properties(title=panel.name, height=_VEGA_HEIGHT, width=480))
    return vega.plain(alt.vconcat(*maps).resolve_scale(color="independent"))


def tick(value: float | str) -> str:
    """Write a coordinate: ``10⁻³``, ``3.2·10⁻⁴`` between the decades; text unchanged."""
    return value if isinstance(value, str) else power(value)


def shown(row: Sequence[Any]) -> list[Any]:
    """Choose the coordinates that are labelled: the decades if there are at least two, else all."""
    decades = [x for x in row if not isinstance(x, str) and "·" not in power(x)]
    if len(decades) > 1:
        return list(decades)
    return list(row)


def _map(axes: Axes, figure: Maps, panel: Panel, font: float) -> QuadMesh:
    data = figure.data[figure.data["panel"] == panel.name]
    across, up = places(data)
    table = data.pivot_table("value", "y", "x", dropna=False).reindex(index=up, columns=across)
    low, high = _limits(figure, panel)
    # Fields of equal size even on a logarithmic axis: the runs form a grid.
    drawn = axes.pcolormesh(
        np.arange(table.shape[1] + 1) - 0.5,
        np.arange(table.shape[0] + 1) - 0.5,
        np.ma.masked_invalid(table.to_numpy(dtype=float)),
        cmap=_LOW_HIGH if panel.centre is None else _DIVERGING,
        vmin=low,
        vmax=high,
    )
    axes.set_facecolor("#cccccc")  # no run here, or outside the range of the formula
    axes.grid(visible=False)
    for axis, values in ((axes.xaxis, list(table.columns)), (axes.yaxis, list(table.index))):
        written = values if "words" in data else shown(values)
        axis.set_major_locator(FixedLocator([values.index(v) for v in written]))
        axis.set_major_formatter(FixedFormatter([tick(v) for v in written]))
    if "words" in data:
        _write(axes, data, table, drawn, 0.72 * font)
    axes.tick_params(labelsize=0.75 * font)
    axes.set_title(panel.name, fontsize=font, loc="left")
    return drawn


def _write(
    axes: Axes, data: pd.DataFrame, table: pd.DataFrame, drawn: QuadMesh, size: float
) -> None:
    """Write the words into each field, white on dark colours, and wrap the tick labels."""
    axes.set_xticklabels([textwrap.fill(tick(place), _LINE) for place in table.columns])
    across, up = list(table.columns), list(table.index)
    fields = zip(data["x"], data["y"], data["value"], data["words"], strict=True)
    for x, y, value, words in fields:
        red, green, blue, _ = drawn.cmap(drawn.norm(value))
        axes.text(
            across.index(x), up.index(y), words, ha="center", va="center", fontsize=size,
            color="white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "black",
        )  # fmt: skip


def _limits(figure: Maps, panel: Panel) -> tuple[float, float]:
    """Return the limits of the colour scale, common to the panels that share it."""
    shared = [
        other.name
        for other in figure.panels
        if other is panel or (panel.scale and other.scale == panel.scale)
    ]
    values = figure.data.loc[figure.data["panel"].isin(shared), "value"].dropna()
    if values.empty:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    if panel.centre is None:
        # Fields with words show their number, so the scale need not begin at zero.
        told = "words" in figure.data and low < high
        return low if told else min(low, 0.0), high
    # Symmetric about the centre: equal distances to either side are equally saturated.
    reach = max(high - panel.centre, panel.centre - low)
    return panel.centre - reach, panel.centre + reach
