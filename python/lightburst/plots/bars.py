"""Steps from height to height, a waterfall: for print by matplotlib, for the page by Altair."""

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

_RATIO: Final = 0.42  # of the axes, height over the width of the sheet
# The share of the sheet that the axes have beside a legend.
_AXES: Final = 0.75
_LINE: Final = 22  # characters of the legend
# What tells the groups apart in a grey print.
_HATCHES: Final = ("", "///", "...", "xxx", "---")
_VEGA_HEIGHT: Final = 340


def size(figure: Bars, sheet: Style) -> tuple[float, float]:
    """Width of the sheet and height of the axes, in inches."""
    return sheet.width, _RATIO * sheet.width


def paint(cell: Cell, figure: Bars) -> Words:
    """Paint the steps in a cell.

    Parameters
    ----------
    cell : Cell
        Where.
    figure : Bars
        What.

    Returns
    -------
    Words
        What is to stand around them.
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
        # A bar without height shows as its edge.
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
    # One group alone is what the title says.
    return Words(figure.title, figure.caption, [Group("", patches)] if len(patches) > 1 else [])


def _patches(paints: Mapping[str, str], hatches: Mapping[str, str]) -> list[Patch]:
    """Make the entries of the legend."""
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
    """Choose size and direction of what stands at the bars, so that no two touch."""
    font = 0.72 * cell.style.font
    room = 0.8 * _AXES * cell.width * 72 / (len(figure.bars) * len(figure.groups))
    longest = max((len(str(words)) for words in figure.data["words"]), default=0)
    return font, 0.75 * font * longest > room


def chart(figure: Bars) -> dict[str, Any]:
    """Give the steps as a Vega-Lite specification.

    Parameters
    ----------
    figure : Bars
        What to draw.

    Returns
    -------
    dict
        The specification, data included, without title and legend.
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
