"""Pictures of bursts on links: space and time, and which path each burst took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib import rc_context
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import Patch

from lightburst.plots import style
from lightburst.plots.sheet import MOST_DOTS, RC, WIDTH, captioned, dot, line

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from numpy.typing import NDArray

    from lightburst.trace.network import NetworkTrace

#: So many ends have a colour of their own, the others one together.
COLOURS: Final = (
    style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, "#B8A700"
)  # fmt: skip
OTHERS: Final = "#B0B0B0"
LOSS: Final = style.VERMILION
_LEFT: Final = 1.25
_LANE: Final = 0.16  # of a channel
_MOST_HEIGHT: Final = 8.0
_MOST_FIBRES: Final = 8
_MOST_PAIRS: Final = 12
# Of a longer time than that of so many long bursts, one after the other, a picture shows no single
# one.
_MOST_BURSTS: Final = 100
_PS: Final = 1e-12


def pictures(trace: NetworkTrace, source: str) -> dict[str, Canvas]:
    """Draw all pictures of a trace.

    Parameters
    ----------
    trace : NetworkTrace
        What to draw.
    source : str
        What was run, for the captions.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        By the stems of their files: ``network``, and ``paths`` where bursts from one node to
        another took several.
    """
    drawn = {"network": space_time(trace, source)}
    if chosen_paths(trace) is not None:
        drawn["paths"] = paths(trace, source)
    return drawn


def _colours(ends: pd.Series[Any]) -> dict[Any, str]:
    """Give a colour to each of the ends of most bursts; the others are `OTHERS`."""
    counts = ends.value_counts(sort=False).sort_index()
    most = counts.sort_values(ascending=False, kind="stable").index[: len(COLOURS)]
    return dict(zip(sorted(most), COLOURS, strict=False))


def space_time(trace: NetworkTrace, source: str) -> Canvas:
    """Draw which channel of which fibre each burst used when, and what was lost.

    Parameters
    ----------
    trace : NetworkTrace
        What to draw. Of many fibres those with most losses, of many bursts a stretch of time.
    source : str
        What was run, for the caption.

    Returns
    -------
    matplotlib.figure.Figure
        Ready to be saved.
    """
    shown = _fibres(trace)
    begin, end = _stretch(trace, shown)
    bookings, losses = (
        table[table["fibre"].isin(shown) & (table["start_ps"] < end) & (table["end_ps"] > begin)]
        for table in (trace.bookings, trace.losses)
    )
    scale, unit = _unit(end - begin)
    bases, lanes = _lanes(trace, shown)
    height = min(_LANE * lanes, _MOST_HEIGHT)
    # What tells more of them.
    end_of, word = max(
        (("egress", "to"), ("ingress", "from")), key=lambda kind: bookings[kind[0]].nunique()
    )
    counts = len(bookings), len(losses)
    caption = _caption(trace, shown, (begin, end), counts, f"its {end_of}. {source}")
    with rc_context(RC):
        sheet, low = captioned(caption, height + 1.75)
        axes = sheet.axes(_LEFT, low + 1.25, WIDTH - _LEFT - 0.2, height)
        axes.set_xlim(begin * scale, end * scale)
        colours = _colours(bookings[end_of])
        faces = [colours.get(name, OTHERS) for name in bookings[end_of]]
        _boxes(axes, bookings, bases, faces, scale)
        _lost(axes, losses, bases, scale)
        axes.set_ylim(lanes, 0)
        middles = [bases[place] + trace.fibres[place].channels / 2 for place in shown]
        axes.set_yticks(middles, [trace.fibres[place].name for place in shown])
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        for place in shown[1:]:
            axes.axhline(bases[place] - 0.5, color="#dddddd", linewidth=0.8)
        axes.set_xlabel(f"Time ({unit})")
        axes.set_ylabel("Fibre")
        sheet.words(0.15, sheet.height - 0.05, "Bursts on fibres", fontsize=11)
        keys: list[Artist] = [
            Patch(facecolor=colour, label=f"{word} {name}") for name, colour in colours.items()
        ]
        if bookings[end_of].nunique() > len(colours):
            keys.append(Patch(facecolor=OTHERS, label=f"{word} others"))
        if keys:
            sheet.legend(keys, _LEFT, low + 0.45)
        wanted = Patch(facecolor="none", edgecolor=LOSS, linewidth=1.4, label="lost here")
        later = Patch(facecolor="#d8d8d8", edgecolor=LOSS, hatch="////", linewidth=0)
        later.set_label("lost further on")
        sheet.legend([wanted, later], _LEFT, low + 0.2)
    return sheet.canvas


def chosen_paths(trace: NetworkTrace) -> pd.DataFrame | None:
    """Give the bursts from those nodes to those others between which they took several paths."""
    bursts = trace.bursts
    several = bursts.groupby(["node", "egress"])["label"].transform("nunique") > 1
    return bursts[several] if several.any() else None


def paths(trace: NetworkTrace, source: str) -> Canvas:
    """Draw which of the paths from its ingress to its egress each burst took.

    Parameters
    ----------
    trace : NetworkTrace
        What to draw, of which `chosen_paths` gives something.
    source : str
        What was run, for the caption.

    Returns
    -------
    matplotlib.figure.Figure
        Ready to be saved.
    """
    bursts = chosen_paths(trace)
    assert bursts is not None
    counts = bursts.groupby(["node", "egress"]).size()
    most = counts.sort_values(ascending=False, kind="stable").index[:_MOST_PAIRS]
    pairs = sorted(most, key=lambda pair: tuple(map(str, pair)))
    scale, unit = _unit(trace.end_ps - trace.begin_ps)
    caption = (
        "Each stroke is a burst, at the time at which it left its ingress; the colour and the row "
        "within the pair say which of the numbered paths it took (its label), a cross that it was "
        f"lost. {len(pairs)} of {len(counts)} pairs of nodes whose bursts took several paths, "
        f"those with most bursts. {source}"
    )
    labels = sorted(bursts["label"].unique().tolist())
    with rc_context(RC):
        height = 0.42 * len(pairs) + 0.2
        sheet, low = captioned(caption, height + 1.4)
        axes = sheet.axes(_LEFT, low + 0.95, WIDTH - _LEFT - 0.2, height)
        for row, (ingress, egress) in enumerate(pairs):
            own = bursts[(bursts["node"] == ingress) & (bursts["egress"] == egress)]
            _strokes(axes, own, row, labels, scale)
        axes.set_ylim(len(pairs) - 0.5, -0.5)
        axes.set_xlim(trace.begin_ps * scale, trace.end_ps * scale)
        names = [f"{ingress} \u2192 {egress}" for ingress, egress in pairs]
        axes.set_yticks(range(len(pairs)), names)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(f"Time ({unit})")
        axes.set_ylabel("From ingress to egress")
        sheet.words(0.15, sheet.height - 0.05, "The path that each burst took", fontsize=11)
        keys = [line(f"path {label}", _of(place)) for place, label in enumerate(labels[:8])]
        sheet.legend([*keys, dot("lost", "x", "black")], _LEFT, low + 0.15)
    return sheet.canvas


def _of(place: int) -> str:
    return style.PALETTE[place % len(style.PALETTE)]


def _strokes(axes: Axes, own: pd.DataFrame, row: int, labels: Sequence[int], scale: float) -> None:
    """Paint the bursts of one pair: a row for each label within that of the pair."""
    step = 0.76 / len(labels)
    for place, label in enumerate(labels):
        mine = own[own["label"] == label]
        time = mine["departure_s"].to_numpy() / _PS * scale
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
    """Choose the fibres of the picture: those with most losses, and of these most bursts."""
    number = len(trace.fibres)
    lost = np.bincount(trace.losses["fibre"], minlength=number)
    used = np.bincount(trace.bookings["fibre"], minlength=number)
    order = sorted(range(number), key=lambda place: (-lost[place], -used[place], place))
    return sorted(order[:_MOST_FIBRES])


def _stretch(trace: NetworkTrace, shown: Sequence[int]) -> tuple[int, int]:
    """Choose the time of the picture: all, or so much about a loss that bursts can be seen."""
    bookings = trace.bookings[trace.bookings["fibre"].isin(shown)]
    begin, end = trace.begin_ps, trace.end_ps
    if bookings.empty:
        return begin, end
    starts: NDArray[np.int64] = bookings["start_ps"].to_numpy()
    long = float(np.quantile(bookings["end_ps"].to_numpy() - starts, 0.9))
    begin = max(begin, int(starts[0]) - round(long))
    length = min(end - begin, round(_MOST_BURSTS * long))
    losses = trace.losses[trace.losses["fibre"].isin(shown)]
    middles = losses["start_ps"].to_numpy() if len(losses) else np.array([(begin + end) // 2])
    # The one around which there is most.
    after, before = (
        np.searchsorted(starts, middles + half) for half in (length // 2, -length // 2)
    )
    first = int(middles[np.argmax(after - before)]) - length // 2
    first = min(max(begin, first), end - length)
    return first, first + length


def _lanes(trace: NetworkTrace, shown: Sequence[int]) -> tuple[dict[int, float], float]:
    """Give the row of channel 0 of each fibre, and the number of rows; a gap between fibres."""
    bases, at = {}, 0.5
    for place in shown:
        bases[place] = at
        at += trace.fibres[place].channels + 1
    return bases, at - 0.5


def _boxes(
    axes: Axes,
    bookings: pd.DataFrame,
    bases: dict[int, float],
    faces: Sequence[str],
    scale: float,
) -> None:
    """Paint a box for each burst on a channel."""
    low = bookings["fibre"].map(bases).to_numpy(dtype=float) + bookings["channel"].to_numpy()
    corners = _corners(bookings, low, scale, 0.08)
    # A line tells one burst from the next, but would hide a short one.
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


def _lost(axes: Axes, losses: pd.DataFrame, bases: dict[int, float], scale: float) -> None:
    """Paint what was lost where it would have been: over the burst that had its channel."""
    channel = losses["holder_channel"].fillna(0).to_numpy(dtype=float)
    low = losses["fibre"].map(bases).to_numpy(dtype=float) + channel
    corners = _corners(losses, low, scale, -0.06)
    axes.add_collection(
        PolyCollection(list(corners), facecolors="none", edgecolors=LOSS, linewidths=1.4, zorder=4)
    )
    heads = losses["start_ps"].to_numpy() * scale
    axes.plot(heads, low + 0.5, "x", color=LOSS, markersize=4.5, zorder=5, linestyle="none")


def _corners(
    table: pd.DataFrame, low: NDArray[np.float64], scale: float, inset: float
) -> NDArray[np.float64]:
    left, right = (table[name].to_numpy() * scale for name in ("start_ps", "end_ps"))
    top, bottom = low + inset, low + 1 - inset
    x = np.stack([left, right, right, left], axis=1)
    return np.stack([x, np.stack([top, top, bottom, bottom], axis=1)], axis=2)


def _unit(length_ps: int) -> tuple[float, str]:
    """Choose the unit of an axis: what a picosecond is in it, and its name."""
    for ps, unit in ((10**12, "s"), (10**9, "ms"), (10**6, "µs")):
        if length_ps >= ps // 2:
            return 1 / ps, unit
    return 1e-3, "ns"


def _caption(
    trace: NetworkTrace,
    shown: Sequence[int],
    stretch: tuple[int, int],
    counts: tuple[int, int],
    source: str,
) -> str:
    begin, end = (f"{at * _PS * 1e3:.6g} ms" for at in stretch)
    bookings, losses = counts
    which = "All" if len(shown) == len(trace.fibres) else f"{len(shown)} of the {len(trace.fibres)}"
    those = "" if len(shown) == len(trace.fibres) else ", those with most losses"
    return (
        "Each fibre has a row for each of its channels, from 0 down. A box is a burst on a "
        "channel, from its head to its tail at the beginning of the fibre. A red frame with a "
        "cross at its head is a burst that was lost here, drawn over the burst that had the "
        "channel (over channel 0 where none is known); hatched boxes were lost further on. "
        f"{which} traced fibres{those}, from {begin} to {end}: {bookings:,} of "
        f"{len(trace.bookings):,} uses of a channel, {losses:,} of {len(trace.losses):,} losses. "
        f"The colour of a burst is {source}"
    )
