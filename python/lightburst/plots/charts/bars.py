"""Waterfall charts, bars from one height to another: matplotlib for print, Altair for the page."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator

from lightburst.plots import style, vega
from lightburst.plots.layout import Group, Words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lightburst.papers.figure import Bars
    from lightburst.plots.layout import Cell, Style

_RATIO: Final = 0.42  # height of the axes over the width of the sheet
# Share of the width of the sheet left to the axes by a legend beside them.
_AXES: Final = 0.75
_LINE: Final = 22  # characters per line of the legend
# Hatches that distinguish the groups in a grey print.
_HATCHES: Final = ("", "///", "...", "xxx", "---")
_VEGA_HEIGHT: Final = 340


def size(figure: Bars, sheet: Style) -> tuple[float, float]:
    """Return the width of the sheet and the height of the axes, in inches."""
    return sheet.width, _RATIO * sheet.width


def paint(cell: Cell, figure: Bars) -> Words:
    """Paint the bars into a cell.

    Parameters
    ----------
    cell : Cell
        Cell with the axes.
    figure : Bars
        Bars to draw.

    Returns
    -------
    Words
        Title, caption and legend to write around the axes.
    """
    axes = cell.inner.add_subplot()
    paints = dict(zip(figure.groups, style.colours(figure.groups), strict=True))
    hatches = dict(zip(figure.groups, _HATCHES * len(figure.groups), strict=False))
    width = 0.8 / len(figure.groups)
    font, turned = _words(cell, figure)
    for row in figure.data.to_dict("records"):
        place = figure.groups.index(row["group"]) - (len(figure.groups) - 1) / 2
        x = figure.bars.index(row["bar"]) + width * place
        base, top = float(row["base"]), float(row["top"])
        colour = paints[row["group"]]
        # The edge keeps a bar of zero height visible.
        axes.bar(
            x,
            top - base,
            width * 0.92,
            bottom=base,
            facecolor=colour,
            edgecolor=colour,
            hatch=hatches[row["group"]],
            hatchcolor="white",
        )
        above = max(top, base)
        if math.isfinite(row["low"]):
            above = max(above, row["high"])
            axes.vlines(x, row["low"], row["high"], color="black", linewidth=1.2)
        axes.annotate(
            row["words"],
            (x, above),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=font,
            rotation=90 if turned else 0,
        )
    axes.xaxis.set_major_locator(FixedLocator(list(np.arange(len(figure.bars)))))
    axes.xaxis.set_major_formatter(FixedFormatter(list(figure.bars)))
    axes.grid(visible=False, axis="x")
    highest = float(np.nanmax(figure.data[["base", "top", "high"]].to_numpy(dtype=float)))
    axes.set_ylim(0, (1.2 if turned else 1.08) * highest)
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    patches = _patches(paints, hatches)
    lines = [line for name in figure.bars for line in name.split("\n")]
    fits = 0.9 * cell.width * 72 * _AXES / (len(figure.bars) * max(map(len, lines)))
    axes.tick_params(axis="x", labelsize=min(0.88 * cell.style.font, 1.6 * fits))
    # A single group needs no legend: the title names it.
    return Words(figure.title, figure.caption, [Group("", patches)] if len(patches) > 1 else [])


def _patches(paints: Mapping[str, str], hatches: Mapping[str, str]) -> list[Patch]:
    """Return one legend entry per group."""
    return [
        Patch(
            facecolor=colour,
            edgecolor=colour,
            hatch=hatches[name],
            hatchcolor="white",
            label=textwrap.fill(name, _LINE),
        )
        for name, colour in paints.items()
    ]  # fmt: skip


def _words(cell: Cell, figure: Bars) -> tuple[float, bool]:
    """Choose font size and direction of the labels of the bars, so that no two overlap."""
    font = 0.72 * cell.style.font
    room = 0.8 * _AXES * cell.width * 72 / (len(figure.bars) * len(figure.groups))
    longest = max((len(str(words)) for words in figure.data["words"]), default=0)
    return font, 0.75 * font * longest > room


def chart(figure: Bars) -> dict[str, Any]:
    """Return the bars as a Vega-Lite specification.

    Parameters
    ----------
    figure : Bars
        Bars to draw.

    Returns
    -------
    dict
        Specification including its data, without title and legend.
    """
    colour = alt.Scale(domain=list(figure.groups), range=list(style.colours(figure.groups)))
    base = alt.Chart(figure.data).encode(
        x=alt.X("bar:N", title=figure.x_label, sort=list(figure.bars), axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("group:N", sort=list(figure.groups)),
        color=alt.Color("group:N", scale=colour, legend=None),
    )
    bar = base.mark_bar().encode(
        y=alt.Y("base:Q", title=figure.y_label),
        y2="top:Q",
        tooltip=[
            alt.Tooltip("bar:N", title=figure.x_label),
            alt.Tooltip("group:N", title=" "),
            alt.Tooltip("top:Q", title=figure.y_label, format=",.4~g"),
            alt.Tooltip("low:Q", title="95 % interval from", format=",.4~g"),
            alt.Tooltip("high:Q", title="to", format=",.4~g"),
            alt.Tooltip("words:N", title="step"),
        ],
    )
    ends = base.mark_rule(color="black").encode(y="low:Q", y2="high:Q", color=alt.value("black"))
    layers: list[Any] = [bar, ends]
    return vega.specification(alt.layer(*layers), _VEGA_HEIGHT)
