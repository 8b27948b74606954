"""Figures of a traced flow: sequence numbers, windows, rates, departures of bursts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from lightburst.foundation.counts import PS
from lightburst.measurement import trace_tables
from lightburst.papers.figure import Packets
from lightburst.plots import static, style
from lightburst.plots.axis import number, time_unit
from lightburst.plots.layout import Group, Words, alone
from lightburst.plots.sheet import MOST_DOTS, dot, line, write
from lightburst.trace import series, tables
from lightburst.trace.circuits import openings
from lightburst.trace.flow import TRIMMED
from lightburst.trace.rates import delivery_rates

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Canvas
    from matplotlib.figure import SubFigure

    from lightburst.trace.flow import FlowTrace

#: Figures of a trace, by the stems of their files.
KINDS: Final = ("time-sequence", "windows", "rates", "packets")
#: Colour behind the times at which a direct circuit is open, and the most of them in a picture.
_OPEN: Final = "#fbe3b6"
_MOST_OPENINGS: Final = 300
_STATE_COLOURS: Final = dict(
    zip(trace_tables.STATES, (style.SKY, "#ffffff", style.ORANGE, style.VERMILION), strict=True)
)


def pictures(trace: FlowTrace, source: str, modulo: int = 60) -> dict[str, Canvas]:
    """Draw all figures of a trace.

    Parameters
    ----------
    trace : FlowTrace
        Trace to draw.
    source : str
        Description of the run, for the captions.
    modulo : int
        Modulus of the packet numbers in the last figure.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        Figures by the stems of their files; those of windows, rates and packets only if there are
        any (datagrams have no windows).
    """
    drawn = {kind: picture(trace, source, kind, modulo) for kind in KINDS}
    return {kind: canvas for kind, canvas in drawn.items() if canvas is not None}


def picture(trace: FlowTrace, source: str, kind: str, modulo: int = 60) -> Canvas | None:
    """Draw one figure of a trace, one of `KINDS`; None if there is no data for it."""
    if kind == "time-sequence":
        return time_sequence(trace, source)
    if kind in ("windows", "rates") and not trace.windows["time_ps"].size:
        return None
    if kind == "windows":
        return windows(trace, source)
    if kind == "rates":
        return rates(trace, source)
    figure = packets(trace, source, modulo)
    return static.draw([figure]) if len(figure.data) else None


def save(canvas: Canvas, directory: Path, stem: str) -> None:
    """Write a figure as PNG and SVG to a directory; equal data gives equal bytes."""
    for ending in ("png", "svg"):
        write(canvas, directory / f"{stem}.{ending}")


def time_sequence(trace: FlowTrace, source: str) -> Canvas:
    """Draw transmissions, losses, acknowledgements, SACK blocks and timeouts against time.

    Parameters
    ----------
    trace : FlowTrace
        Trace to draw.
    source : str
        Description of the run, for the caption.

    Returns
    -------
    matplotlib.figure.Figure
        Figure ready to be saved.
    """
    begin, end = series.close_up(trace)
    caption = (
        "Each dot is a segment at the time at which its transmission began at the source; a cross "
        "marks one that was lost on its way. The line is the cumulative acknowledgement that the "
        "source has heard; a bar is what a SACK block reported when it came, a duplicate one "
        "(DSACK) that the data had arrived before. A dashed line is a timeout while data was "
        "outstanding. Below: the part with the grey background. "
    )
    trims = bool((trace.segments["event"] == TRIMMED).any())
    if trims:
        caption += "A diamond marks one whose payload a queue cut off: its header went on. "
    if trace.slots:
        caption += (
            "Behind, where they can be told apart: the times at which, by the schedule, a circuit "
            "leads from the rack of the source to that of the destination. "
        )
    keys: list[Artist] = [
        dot("sent", ".", style.BLUE),
        dot("sent again", "^", style.VERMILION),
        dot("lost", "x", "black"),
        line("acknowledged", style.GREEN),
        line("SACK block", style.PURPLE),
        line("duplicate SACK block", style.ORANGE),
        line("timeout", style.GREY, "--"),
    ]
    if trims:
        keys.insert(3, dot("trimmed", "D", style.ORANGE))
    if trace.slots:
        keys.append(Patch(facecolor=_OPEN, label="direct circuit open"))

    def paint(part: SubFigure) -> Words:
        above, below = part.subplots(2, 1)
        for axes in (above, below):
            _sequence(axes, trace)
            axes.set_ylabel("Segment")
        _look_closer(below, trace, begin, end)
        above.axvspan(begin, end, color="#eeeeee", zorder=0)
        for axes in (above, below):
            _circuits(axes, trace)
            _in_units(axes.xaxis, "Time")
        part.align_ylabels()
        title = f"Flow {trace.flow}: time and sequence"
        return Words(title, caption + source, [Group("", keys)])

    return alone(7.6, paint)


def windows(trace: FlowTrace, source: str) -> Canvas:
    """Draw window, threshold, state, round-trip time and timeout against time.

    Parameters
    ----------
    trace : FlowTrace
        Trace to draw.
    source : str
        Description of the run, for the caption.

    Returns
    -------
    matplotlib.figure.Figure
        Figure ready to be saved.
    """
    caption = (
        "Above, in full segments: the congestion window (without its inflation in fast recovery), "
        "the slow start threshold from the first loss on, and what is in flight: sent and not "
        "cumulatively acknowledged; the colour behind is the state of the sender. Below: the "
        "newest sample of the round-trip time (RTT) and the retransmission timeout (RTO), backed "
        f"off after each timeout. {source}"
    )
    rows = tables.windows(trace)
    time, size = rows["time_s"].to_numpy(), trace.payload_bytes
    lines = [
        line("congestion window", style.BLUE),
        line("slow start threshold", style.VERMILION, "--"),
        line("in flight", style.GREY),
        line("RTT", style.GREEN),
        line("RTO", style.VERMILION),
    ]
    states = [
        Patch(facecolor=colour, alpha=0.3, edgecolor=style.GREY, label=state)
        for state, colour in _STATE_COLOURS.items()
    ]

    def paint(part: SubFigure) -> Words:
        above, below = part.subplots(2, 1, sharex=True, height_ratios=(3.1, 1.75))
        _states(above, time, rows["state"].cat.codes.to_numpy())
        threshold = rows["slow_start_threshold_bytes"].replace([0, np.inf], np.nan)
        for values, colour, dashes in (
            (rows["in_flight_bytes"], style.GREY, "-"),
            (rows["congestion_window_bytes"], style.BLUE, "-"),
            (threshold, style.VERMILION, "--"),
        ):
            above.step(
                time, values / size, where="post", color=colour, linestyle=dashes, linewidth=1.3
            )
        below.step(time, rows["rto_s"], where="post", color=style.VERMILION, linewidth=1.3)
        below.step(time, rows["rtt_s"], where="post", color=style.GREEN, linewidth=1.3)
        above.set_ylim(bottom=0)
        below.set_ylim(bottom=0)
        above.set_ylabel("Segments")
        _in_units(below.yaxis, "RTT, RTO")
        _in_units(below.xaxis, "Time")
        part.align_ylabels()
        groups = [Group("", lines), Group("", states)]
        return Words(f"Flow {trace.flow}: windows", caption, groups)

    return alone(5.6, paint)


def rates(trace: FlowTrace, source: str) -> Canvas:
    """Draw delivery rate, pacing rate, round-trip time and reordering window against time.

    Parameters
    ----------
    trace : FlowTrace
        Trace to draw.
    source : str
        Description of the run, for the caption.

    Returns
    -------
    matplotlib.figure.Figure
        Figure ready to be saved. Pacing and the reordering window are drawn only of senders that
        have them.
    """
    rows, found = tables.windows(trace), delivery_rates(trace)
    time = rows["time_s"].to_numpy()
    paced, by_time = rows["pacing_bps"].notna().any(), rows["reordering_window_s"].notna().any()
    caption = (
        "Above: the delivery rate, one dot for each acknowledgement that delivers data: useful "
        "bits delivered since the newest segment delivered was sent, over the longer of the times "
        "in which that data was sent and acknowledged"
    )
    caption += "; and the rate at which the sender paces. " if paced else ". "
    caption += "Below: the newest sample of the round-trip time (RTT)"
    if by_time:
        caption += (
            "; and the reordering window of RACK, the time that a segment may be later than one "
            "sent after it before it counts as lost: 0 once it does not wait"
        )
    lines = [dot("delivery rate", ".", style.BLUE)]
    lines += [line("pacing rate", style.VERMILION)] if paced else []
    lines += [line("RTT", style.GREEN)]
    lines += [line("reordering window", style.PURPLE)] if by_time else []

    def paint(part: SubFigure) -> Words:
        above, below = part.subplots(2, 1, sharex=True, height_ratios=(3.1, 1.75))
        above.plot(found["time_s"], found["rate_bps"] / 1e6, ".", color=style.BLUE, markersize=3)
        if paced:
            above.step(
                time, rows["pacing_bps"] / 1e6, where="post", color=style.VERMILION, linewidth=1.3
            )
        below.step(time, rows["rtt_s"], where="post", color=style.GREEN, linewidth=1.3)
        if by_time:
            below.step(
                time, rows["reordering_window_s"], where="post", color=style.PURPLE, linewidth=1.3
            )
        above.set_ylim(bottom=0)
        below.set_ylim(bottom=0)
        above.set_ylabel("Rate (Mb/s)")
        _in_units(below.yaxis, "Delay")
        _in_units(below.xaxis, "Time")
        part.align_ylabels()
        return Words(f"Flow {trace.flow}: rates", f"{caption}. {source}", [Group("", lines)])

    return alone(5.6, paint)


def packets(trace: FlowTrace, source: str, modulo: int = 60) -> Packets:
    """Return the figure of yu2004, figures 8 to 10: departure time and number of each packet.

    Parameters
    ----------
    trace : FlowTrace
        Trace to draw.
    source : str
        Description of the run, for the caption.
    modulo : int
        Modulus of the packet numbers.

    Returns
    -------
    lightburst.papers.figure.Packets
        Figure, drawn by `lightburst.plots.static` or on the page.
    """
    bursts = trace.bursts["data"].any()
    time = "departure of the packet's burst from the edge" if bursts else "sending at the source"
    name, data = f"flow {trace.flow}", series.packet_trace(trace, modulo)
    marks = ((name, float(at), "timeout") for at in series.timeouts_s(trace))
    return Packets(
        id="packets",
        title=f"Flow {trace.flow}: packets",
        caption=f"One dot for each packet with data: time of {time}, against the number of the "
        f"packet modulo {modulo}, as figures 8 to 10 of yu2004 have it. {source}",
        x_label="Time (s)",
        y_label=f"Packet mod {modulo}",
        panels=(name,),
        kinds=tuple(data["kind"].cat.categories),
        data=data.assign(panel=name),
        marks=tuple(marks),
    )


def _sequence(axes: Axes, trace: FlowTrace) -> None:
    """Paint transmissions, acknowledgements, SACK blocks and timeouts."""
    sent, heard = series.sends(trace), series.acknowledgements(trace)
    axes.step(heard["time_s"], heard["segment"], where="post", color=style.GREEN, linewidth=1.2)
    blocks = series.sack_blocks(trace)
    for duplicate, colour in ((False, style.PURPLE), (True, style.ORANGE)):
        rows = blocks[blocks["duplicate"] == duplicate]
        axes.vlines(
            rows["time_s"],
            rows["first"],
            rows["end"],
            color=colour,
            linewidth=1.4,
            alpha=0.55,
            rasterized=len(rows) > MOST_DOTS,
        )
    _dots(axes, sent[~sent["again"]], ".", style.BLUE, 3)
    _dots(axes, sent[sent["again"]], "^", style.VERMILION, 4.5)
    _dots(axes, sent[sent["trimmed"]], "D", style.ORANGE, 4.5)
    _dots(axes, sent[sent["lost"]], "x", "black", 6)
    for time in series.timeouts_s(trace):
        axes.axvline(time, color=style.GREY, linewidth=1.1, linestyle="--")


def _circuits(axes: Axes, trace: FlowTrace) -> None:
    """Shade the times at which a direct circuit is open, unless there are too many to see."""
    begin, end = (int(time / PS) for time in axes.get_xlim())
    if sum((end - begin) // slot.every_ps for slot in trace.slots) > _MOST_OPENINGS:
        return
    spans = [(first * PS, (last - first) * PS) for first, last in openings(trace.slots, begin, end)]
    across = axes.get_xaxis_transform()
    axes.broken_barh(spans, (0, 1), transform=across, facecolor=_OPEN, zorder=0.5)
    axes.set_xlim(begin * PS, end * PS)


def _look_closer(axes: Axes, trace: FlowTrace, begin: float, end: float) -> None:
    """Zoom into a stretch of time, and to the segments sent in it."""
    sent = series.sends(trace)
    shown = sent["segment"][sent["time_s"].between(begin, end)]
    axes.set_xlim(begin, end)
    if len(shown):
        axes.set_ylim(float(shown.min()) - 1, float(shown.max()) + 1)


def _dots(axes: Axes, rows: Any, marker: str, colour: str, size: float) -> None:
    axes.plot(
        rows["time_s"],
        rows["segment"],
        marker,
        color=colour,
        markersize=size,
        linestyle="none",
        rasterized=len(rows) > MOST_DOTS,
    )


def _in_units(axis: Axis, quantity: str) -> None:
    """Label an axis in seconds, in the unit that suits its end."""
    end_ps = max(map(abs, axis.get_view_interval())) / PS
    factor, unit = time_unit(end_ps, 0.1)
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value / PS * factor, 6)))
    axis.set_label_text(f"{quantity} ({unit})")


def _states(axes: Axes, time: Any, states: Any) -> None:
    """Colour the background by state; each state lasts until the next row."""
    # Keep the changes of state and the end: a flow has many rows and few changes.
    kept = np.flatnonzero(np.diff(states, prepend=-1, append=-1)).clip(max=len(time) - 1)
    edges, held = np.repeat(time[kept], 2)[1:], np.repeat(states[kept], 2)[:-1]
    for code, colour in enumerate(_STATE_COLOURS.values()):
        axes.fill_between(
            edges,
            0,
            1,
            where=held == code,
            transform=axes.get_xaxis_transform(),
            color=colour,
            alpha=0.3,
            linewidth=0,
        )
