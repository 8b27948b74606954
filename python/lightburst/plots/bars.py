"""Steps from height to height, a waterfall: for print by matplotlib, for the page by Altair."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator

from lightburst.plots import style, vega

if TYPE_CHECKING:
    from lightburst.papers.figure import Bars
    from lightburst.plots.sheet import Sheet

_HEIGHT: Final = 4.5  # inches
_VEGA_HEIGHT: Final = 340


def size(figure: Bars) -> tuple[float, float]:
    """Width and height of a figure without its caption, in inches."""
    return max(6.4, 1.0 + 0.5 * len(figure.bars) * len(figure.groups)), _HEIGHT


def paint(sheet: Sheet, figure: Bars, low: float) -> None:
    """Paint the steps and the legend on a sheet.

    Parameters
    ----------
    sheet : Sheet
        Where.
    figure : Bars
        What.
    low : float
        Where the caption ends, in inches above the lower edge.
    """
    axes = sheet.axes(0.75, low + 1.05, sheet.width - 1.0, sheet.height - low - 1.45)
    colours = dict(zip(figure.groups, style.colours(figure.groups), strict=True))
    width = 0.8 / len(figure.groups)
    for row in figure.data.to_dict("records"):
        place = figure.groups.index(row["group"]) - (len(figure.groups) - 1) / 2
        x = figure.bars.index(row["bar"]) + width * place
        base, top = float(row["base"]), float(row["top"])
        colour = colours[row["group"]]
        # A bar without height shows as its edge.
        axes.bar(x, top - base, width * 0.92, bottom=base, color=colour, edgecolor=colour)
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
            fontsize=7,
        )
    axes.xaxis.set_major_locator(FixedLocator(list(np.arange(len(figure.bars)))))
    axes.xaxis.set_major_formatter(FixedFormatter(list(figure.bars)))
    axes.tick_params(axis="x", labelsize=8)
    axes.grid(visible=False, axis="x")
    highest = float(np.nanmax(figure.data[["base", "top", "high"]].to_numpy(dtype=float)))
    axes.set_ylim(0, 1.08 * highest)
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    axes.set_title(figure.title, fontsize=11, loc="left")
    patches = [Patch(color=colour, label=name) for name, colour in colours.items()]
    sheet.legend(patches, 0.75, low + 0.1)


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
