"""Tables of one flow's trace as data frames, in the SI base units that column names state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightburst.measurement import trace_tables

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.trace.flow import FlowTrace


def segments(trace: FlowTrace) -> pd.DataFrame:
    """Return the events of the flow's packets; see `trace_tables.segments`."""
    return trace_tables.segments(trace.segments, trace.places)


def windows(trace: FlowTrace) -> pd.DataFrame:
    """Return the states of the flow's sender; see `trace_tables.windows`."""
    return trace_tables.windows(trace.windows)


def bursts(trace: FlowTrace) -> pd.DataFrame:
    """Return the bursts of the edge next to the source; see `trace_tables.bursts`."""
    return trace_tables.bursts(trace.bursts, trace.places)


def hops(trace: FlowTrace) -> pd.DataFrame:
    """Return the hops of the flow's packets, link by link; see `trace_tables.hops`."""
    return trace_tables.hops(trace.hops, trace.places)
