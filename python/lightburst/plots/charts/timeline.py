"""Timelines of hosts: computation and messages as bars, and the critical path over them.

matplotlib for print, Altair for the page.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np
import pandas as pd
from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch

from lightburst.foundation.counts import PS
from lightburst.plots import style, vega
from lightburst.plots.axis import time_unit
from lightburst.plots.interactive import Key
from lightburst.plots.layout import Group, Words, alone
from lightburst.plots.sheet import line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.figure import SubFigure
    from numpy.typing import NDArray

#: Colours of a host's own work.
_WORK: Final = {"calc": style.GREY, "send": "#444444", "recv": "#bbbbbb"}
#: Words of what is drawn, for the legend.
_WORDS: Final = {"calc": "computation", "send": "work to send", "recv": "work to receive"}
# The bands of a row, from 0 at its top to 1: work, messages sent, messages received.
_BANDS: Final = {"calc": 0, "send": 0, "recv": 0, "sent": 1, "received": 2}
# Bars of one band at one time that are drawn one below the other.
_MOST_LANES: Final = 16
# Groups or steps with a colour of their own.
_MOST_COLOURS: Final = len(style.PALETTE) - 1
# Height of a row, at least, for each lane of its bands and at most, and of what is around; inches.
_ROW, _LANE, _MOST_ROW, _AROUND = 0.3, 0.02, 0.6, 0.6
_PIXELS: Final = 80  # per inch
# Opacity of messages where they arrive.
_PALE: Final = 0.5


def prepared(table: pd.DataFrame) -> pd.DataFrame:
    """Place the bars of a timeline.

    Parameters
    ----------
    table : pandas.DataFrame
        Rows of `lightburst.Result.timeline`.

    Returns
    -------
    pandas.DataFrame
        The same with ``low`` and ``high``, the edges of each bar, of which row n has those from n
        to n + 1, and ``kind``, by which it is coloured. ``attrs`` has ``hosts``, the names of the
        rows, ``factor`` and ``unit`` of the time, and ``row``, the height of a row in inches.
    """
    hosts = list(dict.fromkeys(table["host"].tolist()))
    row = table["host"].map({host: at for at, host in enumerate(hosts)}).to_numpy(float)
    band = table["what"].astype(str).map(_BANDS).to_numpy()
    used = sorted(set(band.tolist()))
    lane, lanes = _lanes(table, row, band)
    height = 0.9 / max(len(used), 1)
    place = np.array([used.index(one) for one in band.tolist()], float)
    low = row + 0.05 + place * height + 0.9 * height * lane / lanes
    found = table.assign(low=low, high=low + 0.9 * height / lanes, kind=_kinds(table))
    found["opacity"] = np.where(found["what"] == "received", _PALE, 1.0)
    factor, unit = time_unit((found["end_s"].max() - found["start_s"].min()) / PS)
    found.attrs = table.attrs | {"hosts": [str(host) for host in hosts]}
    most = len(used) * float(lanes.max(initial=1))
    found.attrs |= {
        "factor": factor / PS,
        "unit": unit,
        "row": min(max(_ROW, _LANE * most), _MOST_ROW),
    }
    return found


def _lanes(
    table: pd.DataFrame, row: NDArray[Any], band: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lane of each bar in its band, and the number of lanes there."""
    lane, lanes = np.zeros(len(table)), np.ones(len(table))
    start, end = table["start_s"].to_numpy(), table["end_s"].to_numpy()
    both = row * len(_BANDS) + band
    for group in np.unique(both):
        rows = np.flatnonzero(both == group)
        free: list[float] = []
        for one in rows[np.argsort(start[rows], kind="stable")]:
            at = next((n for n, time in enumerate(free) if time <= start[one]), len(free))
            if at == len(free) < _MOST_LANES:
                free.append(0.0)
            # With too many at once, the bar covers the one that ends first.
            at = at if at < len(free) else int(np.argmin(free))
            free[at] = max(free[at], end[one])
            lane[one] = at
        lanes[rows] = len(free)
    return lane, lanes


def _kinds(table: pd.DataFrame) -> list[str]:
    """Return what each bar is coloured by: its work, or group, or step of a message."""
    message = table[table["flow"] >= 0]
    by = "group" if len(set(message["group"])) > 1 else "step"
    several = len(set(message[by])) > 1

    def kind(what: str, number: int) -> str:
        if what in _WORDS:
            return _WORDS[what]
        if not several:
            return "message"
        return f"{by} {number}" if number < _MOST_COLOURS else f"other {by}s"

    numbers = table[by].to_numpy(np.int64).tolist()
    return list(map(kind, table["what"].astype(str), numbers))


def _colours(found: pd.DataFrame) -> dict[str, str]:
    kinds = sorted(set(found["kind"]), key=lambda kind: (kind in _WORDS.values(), kind))
    own = dict(zip(_WORDS.values(), _WORK.values(), strict=True))
    names = [kind for kind in kinds if kind not in own]
    return dict(zip(names, style.PALETTE, strict=False)) | {k: own[k] for k in kinds if k in own}


def path(found: pd.DataFrame) -> pd.DataFrame:
    """Return the corners of the critical path: ``time``, in units, and ``y``; NaN where it breaks.

    Parameters
    ----------
    found : pandas.DataFrame
        As `prepared` returns it.
    """
    factor = found.attrs["factor"]
    own = found[found["on_path"]].sort_values(["start_s", "end_s"], kind="stable")
    comes = (own["what"] == "received").to_numpy()
    middle = ((own["low"] + own["high"]) / 2).to_numpy()
    flow = own["flow"].to_numpy(np.int64)
    arrives = dict(zip(flow[comes].tolist(), middle[comes].tolist(), strict=True))
    # Where the message arrives, whose bar is missing if that host is not shown.
    there = [
        arrives.get(one, np.nan) if one >= 0 else y for one, y in zip(flow, middle, strict=True)
    ]
    times = own[["start_s", "end_s"]].to_numpy()[~comes] * factor
    places = np.column_stack([middle, there])[~comes]
    return pd.DataFrame({"time": times.ravel(), "y": places.ravel()})


def caption(found: pd.DataFrame) -> str:
    """Return the text below a picture of bars that `prepared` has placed."""
    bands = {_BANDS[what] for what in set(found["what"].astype(str))}
    order = ["work of the host", "messages that it sends", "messages that it receives"]
    words = ", ".join(order[band] for band in sorted(bands))
    return (
        f"Each row is a host, from top to bottom: {words}; a message is a bar from its start to "
        "the arrival of its last byte, once at each end, paler where it arrives. The black line is "
        f"the critical path. Shown: {found.attrs['shown']}."
    )


def canvas(table: pd.DataFrame, title: str, source: str) -> Canvas:
    """Draw a timeline for print.

    Parameters
    ----------
    table : pandas.DataFrame
        Rows of `lightburst.Result.timeline`.
    title : str
        Text above.
    source : str
        Description of the run, for the caption.

    Returns
    -------
    matplotlib.figure.Figure
    """
    found = prepared(table)
    hosts, factor, unit = (found.attrs[name] for name in ("hosts", "factor", "unit"))
    colours = _colours(found)

    def paint(part: SubFigure) -> Words:
        axes = part.subplots()
        _bars(axes, found, colours, factor)
        corners = path(found)
        axes.plot(corners["time"], corners["y"], color="black", linewidth=1.1, zorder=3)
        axes.set_ylim(len(hosts), 0)
        axes.set_yticks(np.arange(len(hosts)) + 0.5, hosts)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        for edge in range(1, len(hosts)):
            axes.axhline(edge, color="#dddddd", linewidth=0.6, zorder=0)
        axes.set_xlabel(f"Time ({unit})")
        axes.set_ylabel("Host")
        handles: list[Any] = [Patch(facecolor=look, label=kind) for kind, look in colours.items()]
        handles.append(line("critical path", "black"))
        return Words(title, f"{caption(found)} {source}", [Group("", handles)])

    return alone(_AROUND + found.attrs["row"] * len(hosts), paint)


def _bars(axes: Axes, found: pd.DataFrame, colours: dict[str, str], factor: float) -> None:
    left, right = found["start_s"] * factor, found["end_s"] * factor
    low, high = found["low"], found["high"]
    corners = np.stack(
        [
            np.column_stack([left, low]),
            np.column_stack([right, low]),
            np.column_stack([right, high]),
            np.column_stack([left, high]),
        ],
        axis=1,
    )
    axes.add_collection(
        PolyCollection(
            list(corners),
            facecolors=[colours[kind] for kind in found["kind"]],
            alpha=found["opacity"].to_numpy(),
            edgecolors="white",
            linewidths=0.25,
        )
    )
    room = 0.01 * (right.max() - left.min())
    axes.set_xlim(left.min() - room, right.max() + room)


def legend(found: pd.DataFrame) -> list[Key]:
    """Return the legend of `chart`, for the same bars."""
    square = style.SVG_MARKERS[1]
    keys = [Key(kind, colour, marker=square) for kind, colour in _colours(found).items()]
    return [*keys, Key("critical path", style.BLACK, "")]


def chart(found: pd.DataFrame) -> dict[str, Any]:
    """Return a timeline as a Vega-Lite specification, which zooms along the time.

    Parameters
    ----------
    found : pandas.DataFrame
        As `prepared` returns it.

    Returns
    -------
    dict
        Specification including its data, without title and legend.
    """
    hosts, factor, unit = (found.attrs[name] for name in ("hosts", "factor", "unit"))
    colours = _colours(found)
    data = found.assign(
        start=found["start_s"] * factor, end=found["end_s"] * factor, what=found["what"].astype(str)
    )
    columns = ["host", "what", "kind", "start", "end", "peer", "size_bytes", "flow", "low", "high"]
    columns.append("opacity")
    scale = alt.Scale(domain=[len(hosts), 0], nice=False)
    rows = alt.Axis(
        values=[at + 0.5 for at in range(len(hosts))],
        labelExpr=f"{json.dumps(hosts)}[floor(datum.value)]",
        grid=False,
        ticks=False,
        labelOverlap=False,
    )
    title = f"Time ({unit})"
    x, y = alt.Scale(zero=False, nice=False), alt.Y("low:Q", title="Host", scale=scale, axis=rows)
    looks = alt.Scale(domain=list(colours), range=list(colours.values()))
    zoom = alt.selection_interval(bind="scales", encodings=["x"])
    bars = (
        alt.Chart(data[columns])
        .mark_rect(clip=True, stroke="white", strokeWidth=0.25)
        .encode(
            x=alt.X("start:Q", title=title, scale=x),
            x2="end:Q",
            y=y,
            y2="high:Q",
            color=alt.Color("kind:N", scale=looks, legend=None),
            opacity=alt.Opacity("opacity:Q", scale=None),
            tooltip=[
                "host:N",
                "what:N",
                alt.Tooltip("peer:N", title="other end"),
                alt.Tooltip("start:Q", title=f"from ({unit})", format=",.6~g"),
                alt.Tooltip("end:Q", title=f"to ({unit})", format=",.6~g"),
                alt.Tooltip("size_bytes:Q", title="bytes", format=","),
                "flow:Q",
            ],
        )
        .add_params(zoom)
    )
    corners = path(found).reset_index(names="order")
    line_of = (
        alt.Chart(corners)
        .mark_line(color="black", strokeWidth=1.4, clip=True)
        .encode(x="time:Q", y=alt.Y("y:Q", scale=scale), order="order:Q")
    )
    height = round(_PIXELS * found.attrs["row"] * len(hosts))
    return vega.specification(alt.layer(bars, line_of), height)
