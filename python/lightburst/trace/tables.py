"""The tables of one flow's trace as data frames, in SI base units that the columns name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightburst.measurement import trace_tables

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.trace.flow import FlowTrace


def segments(trace: FlowTrace) -> pd.DataFrame:
    """Give what happened to the flow's packets, as `trace_tables.segments` does for all."""
    return trace_tables.segments(trace.segments, trace.places)


def windows(trace: FlowTrace) -> pd.DataFrame:
    """Give the state of the flow's sender, as `trace_tables.windows` does for all."""
    return trace_tables.windows(trace.windows)


def bursts(trace: FlowTrace) -> pd.DataFrame:
    """Give the bursts of the source's edge, as `trace_tables.bursts` does for all nodes."""
    return trace_tables.bursts(trace.bursts, trace.places)


def hops(trace: FlowTrace) -> pd.DataFrame:
    """Give the flow's packets from link to link, as `trace_tables.hops` does for all."""
    return trace_tables.hops(trace.hops, trace.places)
