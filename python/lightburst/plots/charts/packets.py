"""Packet traces as dots, number against time: matplotlib for print, Altair for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import pandas as pd
from matplotlib.lines import Line2D

from lightburst.plots import style, vega
from lightburst.plots.layout import Group, Words
from lightburst.plots.sheet import MOST_DOTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lightburst.papers.figure import Packets
    from lightburst.plots.layout import Cell, Style

# Height of a diagram and of the time axis, over the width of the sheet.
_PANEL: Final = 0.25
_AXIS: Final = 0.05
# Headroom above the dots for the text at a mark, as a factor.
_ROOM: Final = 1.2
_VEGA_HEIGHT: Final = 150


def size(figure: Packets, sheet: Style) -> tuple[float, float]:
    """Return the width of the sheet and the height of the diagrams, in inches."""
    return sheet.width, sheet.width * (_PANEL * len(figure.panels) + _AXIS)


def paint(cell: Cell, figure: Packets) -> Words:
    """Paint the diagrams, one below the other above a common time axis.

    Parameters
    ----------
    cell : Cell
        Cell with the axes.
    figure : Packets
        Diagrams to draw.

    Returns
    -------
    Words
        Title, caption and legend to write around the axes.
    """
    font = cell.style.font
    ends = (figure.data["time_s"].min(), figure.data["time_s"].max())
    room = 0.015 * (ends[1] - ends[0])
    several = cell.inner.subplots(len(figure.panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, name in zip(several, figure.panels, strict=True):
        _diagram(axes, figure, name)
        # Room for the first and the last dot; a single dot has no span.
        if room:
            axes.set_xlim(ends[0] - room, ends[1] + room)
        if figure.marks:
            axes.set_ylim(top=_ROOM * figure.data["packet"].max())
        elif figure.alike:
            axes.set_ylim(0, 1.05 * figure.data["packet"].max())
        axes.set_ylabel(figure.y_label, fontsize=0.9 * font)
        axes.set_title(name, fontsize=font, loc="left")
    several[-1].set_xlabel(figure.x_label)
    handles = [
        Line2D(
            [], [], color=colour, marker=style.MARKERS[marker], markersize=6, linestyle="none",
            label=name,
        )
        for name, colour, marker in _looks(figure)
    ]  # fmt: skip
    # A single kind needs no legend: the title names it.
    return Words(figure.title, figure.caption, [Group("", handles)] if len(handles) > 1 else [])


def _diagram(axes: Axes, figure: Packets, name: str) -> None:
    for kind, colour, marker in _looks(figure):
        rows = figure.data[(figure.data["panel"] == name) & (figure.data["kind"] == kind)]
        axes.plot(
            rows["time_s"],
            rows["packet"],
            style.MARKERS[marker],
            color=colour,
            markersize=2.0 if kind == figure.kinds[0] else 5.5,
            markeredgecolor=colour if kind == figure.kinds[0] else "white",
            markeredgewidth=0.4,
            linestyle="none",
            rasterized=len(rows) > MOST_DOTS,
        )
    for panel, time, words in figure.marks:
        if panel == name:
            axes.axvline(time, color=style.GREY, linewidth=1.0)
            axes.annotate(
                words,
                (time, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(3, -9),
                textcoords="offset points",
                fontsize=8,
                color="#555555",
            )


def _looks(figure: Packets) -> list[tuple[str, str, int]]:
    """Return name, colour and index into `MARKERS` of each kind."""
    kinds = figure.kinds
    return list(zip(kinds, style.colours(kinds), style.markers(kinds), strict=True))


def chart(figure: Packets) -> dict[str, Any]:
    """Return the diagrams as a Vega-Lite specification.

    Parameters
    ----------
    figure : Packets
        Diagrams to draw.

    Returns
    -------
    dict
        Specification including its data, without title and legend.
    """
    colours = alt.Scale(domain=list(figure.kinds), range=list(style.colours(figure.kinds)))
    shapes = alt.Scale(
        domain=list(figure.kinds),
        range=[style.VEGA_MARKERS[place] for place in style.markers(figure.kinds)],
    )
    drawn = []
    for name in figure.panels:
        data = figure.data[figure.data["panel"] == name]
        dots = (
            alt.Chart(data)
            .mark_point(filled=True, size=14)
            .encode(
                x=alt.X("time_s:Q", title=figure.x_label, scale=alt.Scale(zero=False)),
                y=alt.Y("packet:Q", title=figure.y_label),
                color=alt.Color("kind:N", scale=colours, legend=None),
                shape=alt.Shape("kind:N", scale=shapes, legend=None),
                tooltip=["kind:N", "time_s:Q", "packet:Q"],
            )
        )
        times = [{"time_s": time, "mark": words} for at, time, words in figure.marks if at == name]
        lines = (
            alt.Chart(pd.DataFrame(times))
            .mark_rule(color=style.GREY)
            .encode(x="time_s:Q", tooltip=["mark:N", "time_s:Q"])
        )
        layers: list[Any] = [dots, lines] if times else [dots]
        drawn.append(alt.layer(*layers).properties(title=name, height=_VEGA_HEIGHT, width=620))
    whole = alt.vconcat(*drawn).resolve_scale(x="shared")
    return vega.plain(whole.resolve_scale(y="shared") if figure.alike else whole)
