"""Figures of bursts on links: space-time diagrams, and the path of each burst."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import Patch

from lightburst.foundation.counts import PS
from lightburst.plots import style
from lightburst.plots.axis import time_unit
from lightburst.plots.layout import Group, Words, alone
from lightburst.plots.sheet import MOST_DOTS, dot, line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.figure import SubFigure
    from numpy.typing import NDArray

    from lightburst.trace.network import NetworkTrace

#: One colour per endpoint for the most frequent ones; all others share `OTHERS`.
COLOURS: Final = (
    style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, "#B8A700"
)  # fmt: skip
OTHERS: Final = "#B0B0B0"
LOSS: Final = style.VERMILION
_LANE: Final = 0.16  # height of a channel, in inches
_MOST_HEIGHT: Final = 8.0
_MOST_FIBRES: Final = 8
_MOST_PAIRS: Final = 12
# Maximum time shown, as a multiple of the duration of a long burst: single bursts stay visible.
_MOST_BURSTS: Final = 100
# Maximum number of characters of a node's name.
_LONGEST: Final = 24


def pictures(trace: NetworkTrace, source: str) -> dict[str, Canvas]:
    """Draw all figures of a trace.

    Parameters
    ----------
    trace : NetworkTrace
        Trace to draw.
    source : str
        Description of the run, for the captions.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        Figures by the stems of their files: ``network``, and ``paths`` if bursts between the same
        two nodes took different paths.
    """
    drawn = {"network": space_time(trace, source)}
    if chosen_paths(trace) is not None:
        drawn["paths"] = paths(trace, source)
    return drawn


def _colours(ends: pd.Series[Any]) -> dict[Any, str]:
    """Assign a colour to each of the most frequent endpoints; the rest is drawn in `OTHERS`."""
    counts = ends.value_counts(sort=False).sort_index()
    most = counts.sort_values(ascending=False, kind="stable").index[: len(COLOURS)]
    return dict(zip(sorted(most), COLOURS, strict=False))


def space_time(trace: NetworkTrace, source: str) -> Canvas:
    """Draw the transmissions of bursts on the channels of each fibre over time, and the losses.

    Parameters
    ----------
    trace : NetworkTrace
        Trace to draw. Shows the fibres with most losses, and a stretch of time if there are many
        bursts.
    source : str
        Description of the run, for the caption.

    Returns
    -------
    matplotlib.figure.Figure
        Figure ready to be saved.
    """
    shown = _fibres(trace)
    begin, end = _stretch(trace, shown)
    bookings, losses, cuts = (
        table[table["fibre"].isin(shown) & (table["start_ps"] < end) & (table["end_ps"] > begin)]
        for table in (trace.bookings, trace.losses, trace.cuts)
    )
    scale, unit = time_unit(end - begin)
    bases, lanes = _lanes(trace, shown)
    height = min(_LANE * lanes, _MOST_HEIGHT)
    # Colour by egress or by ingress, whichever has more distinct values.
    end_of, word = max(
        (("egress", "to"), ("ingress", "from")), key=lambda kind: bookings[kind[0]].nunique()
    )
    counts = len(bookings), len(losses), len(cuts)
    caption = _caption(trace, shown, (begin, end), counts, f"its {end_of}. {source}")
    colours = _colours(bookings[end_of])
    keys: list[Artist] = [
        Patch(facecolor=colour, label=f"{word} {_short(name)}") for name, colour in colours.items()
    ]
    if bookings[end_of].nunique() > len(colours):
        keys.append(Patch(facecolor=OTHERS, label=f"{word} others"))

    def paint(part: SubFigure) -> Words:
        axes = part.subplots()
        axes.set_xlim(begin * scale, end * scale)
        faces = [colours.get(name, OTHERS) for name in bookings[end_of]]
        _boxes(axes, bookings, bases, faces, scale)
        for table, dashes in ((losses, "-"), (cuts, "--")):
            _frames(axes, table, _low(table, bases, trace.rows(table)), scale, dashes)
        axes.set_ylim(lanes, 0)
        _names(axes, trace, bases)
        axes.grid(visible=False, axis="y")
        for place in shown[1:]:
            axes.axhline(bases[place] - 0.5, color="#dddddd", linewidth=0.8)
        axes.set_xlabel(f"Time ({unit})")
        axes.set_ylabel("Fibre")
        return Words("Bursts on fibres", caption, [Group("", keys), Group("", _kinds(trace))])

    return alone(height + 0.6, paint)


def _kinds(trace: NetworkTrace) -> list[Artist]:
    """Return the legend entries for lost bursts and, if there are any, for cut-off pieces."""
    frame = partial(Patch, facecolor="none", edgecolor=LOSS, linewidth=1.4)
    later = Patch(facecolor="#d8d8d8", edgecolor=LOSS, hatch="////", linewidth=0)
    later.set_label("lost further on")
    cut = [frame(linestyle="--", label="cut off here")] if len(trace.cuts) else []
    return [frame(label="lost here"), later, *cut]


def _short(name: str) -> str:
    """Shorten long names of nodes in the middle, to leave room for the diagram."""
    nodes = name.split(" \u2192 ")
    half = _LONGEST // 2
    return " \u2192 ".join(
        node if len(node) <= _LONGEST else f"{node[:half]}\u2026{node[-half:]}" for node in nodes
    )


def _names(axes: Axes, trace: NetworkTrace, bases: dict[int, float]) -> None:
    """Label the rows: each fibre at the middle of its channels, and the row without a channel."""
    ends = {place: base + trace.fibres[place].channels for place, base in bases.items()}
    below = [ends[place] + 0.5 for place in bases if place in trace.without_channel]
    middles = [(base + ends[place]) / 2 for place, base in bases.items()]
    names = [_short(trace.fibres[place].name) for place in bases]
    axes.set_yticks([*middles, *below], [*names, *["no channel"] * len(below)])
    axes.tick_params(axis="y", length=0)
    for label in axes.get_yticklabels()[len(middles) :]:
        label.set(fontsize="x-small", color="#777777")


def chosen_paths(trace: NetworkTrace) -> pd.DataFrame | None:
    """Return the bursts of the pairs of nodes that used several paths; None if there are none."""
    bursts = trace.bursts
    several = bursts.groupby(["node", "egress"])["label"].transform("nunique") > 1
    return bursts[several] if several.any() else None


def paths(trace: NetworkTrace, source: str) -> Canvas:
    """Draw the path that each burst took from its ingress to its egress.

    Parameters
    ----------
    trace : NetworkTrace
        Trace to draw; `chosen_paths` of it must not be None.
    source : str
        Description of the run, for the caption.

    Returns
    -------
    matplotlib.figure.Figure
        Figure ready to be saved.
    """
    bursts = chosen_paths(trace)
    assert bursts is not None
    counts = bursts.groupby(["node", "egress"]).size()
    most = counts.sort_values(ascending=False, kind="stable").index[:_MOST_PAIRS]
    pairs = sorted(most, key=lambda pair: tuple(map(str, pair)))
    scale, unit = time_unit(trace.end_ps - trace.begin_ps)
    caption = (
        "Each stroke is a burst, at the time at which it left its ingress; the colour and the row "
        "within the pair say which of the numbered paths it took (its label), a cross that it was "
        f"lost. {len(pairs)} of {len(counts)} pairs of nodes whose bursts took several paths, "
        f"those with most bursts. {source}"
    )
    labels = sorted(bursts["label"].unique().tolist())
    keys = [line(f"path {label}", _of(place)) for place, label in enumerate(labels[:8])]
    keys.append(dot("lost", "x", "black"))

    def paint(part: SubFigure) -> Words:
        axes = part.subplots()
        for row, (ingress, egress) in enumerate(pairs):
            own = bursts[(bursts["node"] == ingress) & (bursts["egress"] == egress)]
            _strokes(axes, own, row, labels, scale)
        axes.set_ylim(len(pairs) - 0.5, -0.5)
        axes.set_xlim(trace.begin_ps * scale, trace.end_ps * scale)
        names = [_short(f"{ingress} \u2192 {egress}") for ingress, egress in pairs]
        axes.set_yticks(range(len(pairs)), names)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(f"Time ({unit})")
        axes.set_ylabel("From ingress to egress")
        return Words("The path that each burst took", caption, [Group("", keys)])

    return alone(0.42 * len(pairs) + 0.8, paint)


def _of(place: int) -> str:
    return style.PALETTE[place % len(style.PALETTE)]


def _strokes(axes: Axes, own: pd.DataFrame, row: int, labels: Sequence[int], scale: float) -> None:
    """Paint the bursts of one pair of nodes, one sub-row per label."""
    step = 0.76 / len(labels)
    for place, label in enumerate(labels):
        mine = own[own["label"] == label]
        time = mine["departure_s"].to_numpy() / PS * scale
        top = row - 0.38 + place * step
        lines = [[(at, top), (at, top + step)] for at in time]
        strokes = LineCollection(lines, colors=_of(place), linewidths=0.8)
        axes.add_collection(strokes)
        strokes.set_rasterized(len(mine) > MOST_DOTS)
        lost = mine["lost"].to_numpy(dtype=bool)
        axes.plot(
            time[lost], np.full(lost.sum(), top + step / 2), "x", color="black", markersize=3.5
        )


def _fibres(trace: NetworkTrace) -> list[int]:
    """Choose the fibres to show: those with most losses, ties broken by most bursts."""
    number = len(trace.fibres)
    lost = np.bincount(_lossy(trace)["fibre"], minlength=number)
    used = np.bincount(trace.bookings["fibre"], minlength=number)
    order = sorted(range(number), key=lambda place: (-lost[place], -used[place], place))
    return sorted(order[:_MOST_FIBRES])


def _lossy(trace: NetworkTrace) -> pd.DataFrame:
    """Return fibre and time of each loss and each cut."""
    return pd.concat([table[["fibre", "start_ps"]] for table in (trace.losses, trace.cuts)])


def _stretch(trace: NetworkTrace, shown: Sequence[int]) -> tuple[int, int]:
    """Choose the time to show: all of it, or a stretch around a loss where bursts are visible."""
    bookings = trace.bookings[trace.bookings["fibre"].isin(shown)]
    begin, end = trace.begin_ps, trace.end_ps
    if bookings.empty:
        return begin, end
    starts: NDArray[np.int64] = bookings["start_ps"].to_numpy()
    long = float(np.quantile(bookings["end_ps"].to_numpy() - starts, 0.9))
    begin = max(begin, int(starts[0]) - round(long))
    length = min(end - begin, round(_MOST_BURSTS * long))
    losses = _lossy(trace)
    losses = losses[losses["fibre"].isin(shown)]
    middles = losses["start_ps"].to_numpy() if len(losses) else np.array([(begin + end) // 2])
    # Choose the loss with most bursts around it.
    after, before = (
        np.searchsorted(starts, middles + half) for half in (length // 2, -length // 2)
    )
    first = int(middles[np.argmax(after - before)]) - length // 2
    first = min(max(begin, first), end - length)
    return first, first + length


def _lanes(trace: NetworkTrace, shown: Sequence[int]) -> tuple[dict[int, float], float]:
    """Return the row of channel 0 of each fibre and the number of rows, gaps included."""
    bases, at = {}, 0.5
    for place in shown:
        bases[place] = at
        at += trace.fibres[place].channels + (place in trace.without_channel) + 1
    return bases, at - 0.5


def _low(
    table: pd.DataFrame, bases: dict[int, float], row: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the row of each entry in the figure, from its fibre and its row there."""
    return np.array([bases[fibre] for fibre in table["fibre"]]) + row


def _boxes(
    axes: Axes,
    bookings: pd.DataFrame,
    bases: dict[int, float],
    faces: Sequence[str],
    scale: float,
) -> None:
    """Paint a box per burst on a channel."""
    low = _low(bookings, bases, bookings["channel"].to_numpy(np.int64))
    corners = _corners(bookings, low, scale, 0.08)
    # A white edge separates bursts, but would hide a short one.
    left, right = axes.get_xlim()
    short = corners[:, 1, 0] - corners[:, 0, 0] < (right - left) / 200
    edges = [face if thin else "white" for face, thin in zip(faces, short, strict=True)]
    boxes = PolyCollection(list(corners), facecolors=faces, edgecolors=edges, linewidths=0.5)
    axes.add_collection(boxes)
    later = (bookings["outcome"] == "lost").to_numpy()
    if later.any():
        hatched = PolyCollection(
            list(corners[later]), facecolors="none", edgecolors=LOSS, hatch="////", linewidths=0
        )
        axes.add_collection(hatched)


def _frames(
    axes: Axes, table: pd.DataFrame, low: NDArray[np.float64], scale: float, dashes: str
) -> None:
    """Paint lost bursts where they would have been, with a cross; cut-off pieces dashed."""
    frames = PolyCollection(
        list(_corners(table, low, scale, -0.06)),
        facecolors="none",
        edgecolors=LOSS,
        linewidths=1.4,
        linestyles=dashes,
        zorder=4,
    )
    axes.add_collection(frames)
    if dashes == "-":
        heads = table["start_ps"].to_numpy() * scale
        axes.plot(heads, low + 0.5, "x", color=LOSS, markersize=4.5, zorder=5, linestyle="none")


def _corners(
    table: pd.DataFrame, low: NDArray[np.float64], scale: float, inset: float
) -> NDArray[np.float64]:
    left, right = (table[name].to_numpy() * scale for name in ("start_ps", "end_ps"))
    top, bottom = low + inset, low + 1 - inset
    x = np.stack([left, right, right, left], axis=1)
    return np.stack([x, np.stack([top, top, bottom, bottom], axis=1)], axis=2)


def _caption(
    trace: NetworkTrace,
    shown: Sequence[int],
    stretch: tuple[int, int],
    counts: tuple[int, int, int],
    source: str,
) -> str:
    begin, end = (f"{at * PS * 1e3:.6g} ms" for at in stretch)
    bookings, losses, cuts = counts
    which = "All" if len(shown) == len(trace.fibres) else f"{len(shown)} of the {len(trace.fibres)}"
    those = "" if len(shown) == len(trace.fibres) else ", those that lose most"
    cut = of_cuts = below = ""
    if len(trace.cuts):
        cut = " A dashed frame is what was cut off a burst."
        of_cuts = f", {cuts:,} of {len(trace.cuts):,} pieces cut off"
    if not trace.without_channel.isdisjoint(shown):
        below = " Below the channels is what had none: a burst whose header came too late."
    return (
        "Each fibre has a row for each of its channels, from 0 down. A box is a burst on a "
        "channel, from its head to its tail at the beginning of the fibre. A red frame with a "
        "cross at its head is a burst that was lost here, drawn over the burst that had the "
        f"channel; hatched boxes were lost further on.{cut}{below} "
        f"{which} traced fibres{those}, from {begin} to {end}: {bookings:,} of "
        f"{len(trace.bookings):,} uses of a channel, {losses:,} of {len(trace.losses):,} "
        f"losses{of_cuts}. "
        f"The colour of a burst is {source}"
    )
