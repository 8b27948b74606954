"""Text of a flow's explanation, for the terminal and for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from lightburst.result.metric_text import STATUS_WORDS, aligned, in_rows, readable, where
from lightburst.trace.division import CONGESTION, NEITHER, PARTS, RECEIVER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.explanation.flow import Explanation

# Maximum number of rows per table in the text.
MOST_ROWS: Final = 20
# Definition of the ideal time, see docs/model.md.
_IDEAL: Final = "all its segments back to back on an idle network, no set-up"
_IDEAL_IN_PARTS: Final = "each segment as soon as it is written, on an idle network, no set-up"
_HELD_BY: Final = {
    CONGESTION: "its own window (congestion control)",
    RECEIVER: "the window that the receiver advertises (transport.advertised_window)",
    NEITHER: "neither window: its pacing, or the flow's own times",
}
# What a queue pair has in place of an advertised window.
_BOUND: Final = "the bound on data in flight (transport.max_inflight)"
DIVISION: Final = "Components of the time: at each moment, the wait of the first byte still missing"


def lines(found: Explanation) -> Iterator[str]:
    """Format an explanation, line by line.

    Parameters
    ----------
    found : Explanation
        Explanation of a flow.

    Yields
    ------
    str
        Lines without line feeds.
    """
    yield from sentences(found)
    yield ""
    yield DIVISION
    yield from aligned(division(found))
    for title, _, rows in listings(found):
        yield ""
        yield f"{title}: {len(rows) or 'none'}"
        yield from aligned(rows[:MOST_ROWS])
        if len(rows) > MOST_ROWS:
            yield f"  and {len(rows) - MOST_ROWS} more"


def sentences(found: Explanation) -> Iterator[str]:
    """Summarise a flow, its completion time, and the largest component of it.

    Parameters
    ----------
    found : Explanation
        Explanation of a flow.

    Yields
    ------
    str
        One or two sentences.
    """
    about = found.about
    start = readable("start_s", about["start_s"])
    group = f" of {about['group']}" if about["group"] else ""
    yield (
        f"Flow {found.flow}{group}, from {about['source']} to {about['destination']}, "
        f"{readable('size_bytes', about['size_bytes'])}, started {start} into the run: "
        f"{STATUS_WORDS[about['status']]}."
    )
    ideal = readable("ideal_s", about["ideal_s"])
    groups = found.result.scenario.flow_groups
    own = groups[found.result.plan.group[found.flow]].workload.writes
    meaning = _IDEAL if own is None else _IDEAL_IN_PARTS
    if about["slowdown"] is None:
        yield (
            f"After {readable('explained_s', about['explained_s'])} it was not finished; "
            f"the ideal is {ideal} ({meaning})."
        )
    else:
        time = readable("completion_time_s", about["completion_time_s"])
        slowdown = readable("slowdown", about["slowdown"])
        yield f"It took {time}, {slowdown} times the ideal {ideal} ({meaning})."
    parts = in_rows(found.parts)
    if parts:
        most = max(parts, key=lambda row: row.time_ps)
        yield f"The largest part ({_label(most)}, {most.share:.1%}): {PARTS[most.part]}."
    if "events" in about:
        yield f"Events on links that its packets used: {'; '.join(about['events'])}."
    if "circuits" in about:
        yield _circuits(**about["circuits"])
    held = {what: seconds for what, seconds in about["held_back_s"].items() if seconds}
    if held.keys() - {NEITHER}:
        kind = groups[found.result.plan.group[found.flow]].transport.kind
        by = _HELD_BY | ({RECEIVER: _BOUND} if kind == "rdma" else {})
        times = (f"{readable('time_s', time)} by {by[what]}" for what, time in held.items())
        yield f"The first byte still missing waited at the sender: {', '.join(times)}."


def division(found: Explanation) -> list[tuple[str, ...]]:
    """Return the components of a flow's completion time.

    Parameters
    ----------
    found : Explanation
        Explanation of a flow.

    Returns
    -------
    list of tuple of str
        Time, share, name and meaning of each component.
    """
    return [
        (readable("time_s", row.time_s), f"{row.share:.1%}", _label(row), PARTS[row.part])
        for row in in_rows(found.parts)
    ]


def listings(
    found: Explanation,
) -> Iterator[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """Yield the tables of losses, trimmed packets, timeouts, retransmissions and undone reductions.

    Parameters
    ----------
    found : Explanation
        Explanation of a flow.

    Yields
    ------
    (str, tuple of str, list of tuple of str)
        Title, column headings, and one row per event in order of time.
    """
    losses = [_loss(row) for row in in_rows(found.losses)]
    yield "Packets lost", ("Time", "Packet", "Burst", "Where", "Why"), losses
    trimmed: list[tuple[str, ...]] = [
        (
            readable("time_s", row.time_s),
            f"segment {row.segment}" + " again" * bool(row.retransmission),
            where(row.node, row.link_source, row.link_target),
            "" if pd.isna(row.returned_s) else f"returned at {readable('time_s', row.returned_s)}",
        )
        for row in in_rows(found.trimmed)
    ]
    if trimmed:
        heads = ("Time", "Packet", "Where", "Header")
        shown = len(heads) - bool(found.trimmed["returned_s"].isna().all())
        rows = [row[:shown] for row in trimmed]
        yield "Packets trimmed to their headers", heads[:shown], rows
    expired: list[tuple[str, ...]] = [
        (readable("time_s", row.time_s), row.what, "false" * row.false)
        for row in in_rows(found.timeouts)
    ]
    yield "Timeouts of the sender", ("Time", "Retransmitted", "Was it lost?"), expired
    cut = frozenset(found.trimmed["packet"])
    again: list[tuple[str, ...]] = [
        (
            readable("time_s", row.time_s),
            f"segment {row.segment}",
            row.cause,
            "was not lost" * row.spurious,
            ("trimmed" if row.packet in cut else "lost") * row.lost,
        )
        for row in in_rows(found.retransmissions)
    ]
    header = "Time", "Segment", "Cause", "Earlier copy", "This copy"
    yield "Retransmitted data", header, again
    undone: list[tuple[str, ...]] = [
        (
            readable("time_s", row.time_s),
            f"reduced at {readable('time_s', row.reduced_s)}",
            f"window {readable('window_bytes', row.window_bytes)} again",
        )
        for row in in_rows(found.undone)
    ]
    if undone:
        yield "Reductions undone, since the data was not lost", ("Time", "Of", "Window"), undone


def _circuits(openings: int, open_s: float, waited_s: float) -> str:
    often = "once" if openings == 1 else f"{openings:,} times"
    waited = f"it waited {readable('time_s', waited_s)} for circuits"
    if not openings:
        return f"In this time no circuit led from its rack to the other; {waited}."
    return (
        f"A circuit led from its rack to the other {often} in this time, for "
        f"{readable('time_s', open_s)} in all; {waited}."
    )


def _label(part: Any) -> str:
    return str(part.part) if pd.isna(part.node) else f"{part.part} at {part.node}"


def _loss(row: Any) -> tuple[str, ...]:
    what = row.what if pd.isna(row.segment) else f"segment {row.segment}"
    if row.what == "header":
        what = f"header of {what}"
    why = str(row.reason)
    if not pd.isna(row.holder_flow):
        why += f" with flow {row.holder_flow}"
    elif not pd.isna(row.holder_burst):
        why += f" with burst {row.holder_burst}"
    return (
        readable("time_s", row.time_s),
        what + " again" * bool(row.retransmission),
        "" if pd.isna(row.burst) else f"burst {row.burst}",
        where(row.node, row.link_source, row.link_target),
        why,
    )
