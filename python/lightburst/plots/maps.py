"""Heat maps side by side: for print by matplotlib, for the page by Altair."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np
from matplotlib.ticker import FixedFormatter, FixedLocator

from lightburst.papers.figure import places
from lightburst.plots import vega

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh

    from lightburst.papers.figure import Maps, Panel
    from lightburst.plots.sheet import Sheet

_PANEL: Final = 4.2  # inches
_HEIGHT: Final = 4.0
# A field with words in it, the room beside and below for the names of places, and the characters
# of a line of these.
_FIELD: Final = (1.15, 0.42)
_NAMES: Final = 2.0
_BELOW: Final = 0.4
_LINE: Final = 17
_LOW_HIGH: Final = "viridis"
# Purple below, orange above, which people with any colour vision tell apart; Vega has the same.
_AROUND: Final = "PuOr_r"
_VEGA_HEIGHT: Final = 260


def size(figure: Maps) -> tuple[float, float]:
    """Width and height of a figure without its caption, in inches."""
    _, panel, height = _room(figure)
    return panel * len(figure.panels) + 0.5, height


def paint(sheet: Sheet, figure: Maps, low: float) -> None:
    """Paint the maps on a sheet.

    Parameters
    ----------
    sheet : Sheet
        Where.
    figure : Maps
        What.
    low : float
        Where the caption ends, in inches above the lower edge.
    """
    low += _BELOW if "words" in figure.data else 0.0
    height = sheet.height - low - 1.4
    names, width, _ = _room(figure)
    for place, panel in enumerate(figure.panels):
        left = 0.2 + place * width
        axes = sheet.axes(left + names, low + 0.65, width - names - 1.0, height)
        _map(axes, sheet.axes(left + width - 0.9, low + 0.65, 0.13, height), figure, panel)
        if place == 0:
            axes.set_ylabel(figure.y_label)
    sheet.words(0.15, sheet.height - 0.12, figure.title, fontsize=11)


def chart(figure: Maps) -> dict[str, Any]:
    """Give the maps as one Vega-Lite specification.

    Parameters
    ----------
    figure : Maps
        What to draw.

    Returns
    -------
    dict
        The specification, data included: the maps one below the other, since a page is not wide.
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
        fields = alt.Chart(data.assign(x=data["x"].map(tick), y=data["y"].map(tick))).encode(
            x=alt.X("x:N", title=figure.x_label, sort=[tick(x) for x in across]),
            y=alt.Y("y:N", title=figure.y_label, sort=[tick(y) for y in reversed(up)]),
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
    """Write a place: ``1e-3``, and ``10^-2.5`` between the decades; words as they are."""
    if isinstance(value, str):
        return value
    power = float(np.log10(value))
    whole = round(power)
    return f"1e{whole}" if abs(power - whole) < 1e-6 else f"10^{power:.3g}"


def _map(axes: Axes, beside: Axes, figure: Maps, panel: Panel) -> None:
    data = figure.data[figure.data["panel"] == panel.name]
    across, up = places(data)
    table = data.pivot_table("value", "y", "x", dropna=False).reindex(index=up, columns=across)
    low, high = _limits(figure, panel)
    # Fields of equal size, whatever the axis: what was run is a grid.
    drawn = axes.pcolormesh(
        np.arange(table.shape[1] + 1) - 0.5,
        np.arange(table.shape[0] + 1) - 0.5,
        np.ma.masked_invalid(table.to_numpy(dtype=float)),
        cmap=_LOW_HIGH if panel.centre is None else _AROUND,
        vmin=low,
        vmax=high,
    )
    axes.set_facecolor("#cccccc")  # a field that nobody ran, or that no formula reaches
    axes.grid(visible=False)
    for axis, values in ((axes.xaxis, table.columns), (axes.yaxis, table.index)):
        step = 1 if "words" in data else 1 + (len(values) - 1) // 8
        axis.set_major_locator(FixedLocator(list(range(0, len(values), step))))
        axis.set_major_formatter(FixedFormatter([tick(v) for v in values[::step]]))
    if "words" in data:
        _write(axes, data, table, drawn)
    axes.tick_params(axis="x", labelsize=7.5, rotation=0 if "words" in data else 45)
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlabel(figure.x_label)
    axes.set_title(panel.name, fontsize=10, loc="left")
    bar = beside.figure.colorbar(drawn, cax=beside)
    bar.set_label(panel.label, fontsize=8.5)
    beside.tick_params(labelsize=8)
    beside.grid(visible=False)


def _room(figure: Maps) -> tuple[float, float, float]:
    """Give the width left of a panel's fields, that of the panel, and the height, in inches."""
    if "words" not in figure.data:
        return 0.75, _PANEL, _HEIGHT
    across, up = places(figure.data)
    width, height = _FIELD
    return _NAMES, _NAMES + 1.0 + width * len(across), 1.4 + _BELOW + height * len(up)


def _write(axes: Axes, data: pd.DataFrame, table: pd.DataFrame, drawn: QuadMesh) -> None:
    """Write the words of each field in it, white where it is dark, and the names of places."""
    axes.set_xticklabels([textwrap.fill(tick(place), _LINE) for place in table.columns])
    across, up = list(table.columns), list(table.index)
    fields = zip(data["x"], data["y"], data["value"], data["words"], strict=True)
    for x, y, value, words in fields:
        red, green, blue, _ = drawn.cmap(drawn.norm(value))
        axes.text(
            across.index(x), up.index(y), words, ha="center", va="center", fontsize=7.5,
            color="white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "black",
        )  # fmt: skip


def _limits(figure: Maps, panel: Panel) -> tuple[float, float]:
    """Find the ends of the scale of colours, common to the panels that share it."""
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
        return min(low, 0.0), high
    # The same colour stands for the same distance to either side.
    reach = max(high - panel.centre, panel.centre - low)
    return panel.centre - reach, panel.centre + reach
