"""Tables of one flow's trace as data frames, in the SI base units that column names state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightburst import traced

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.trace.flow import FlowTrace


def segments(trace: FlowTrace) -> pd.DataFrame:
    """Return the events of the flow's packets; see `lightburst.traced.segments`."""
    return traced.segments(trace.segments, trace.places)


def windows(trace: FlowTrace) -> pd.DataFrame:
    """Return the states of the flow's sender; see `lightburst.traced.windows`."""
    return traced.windows(trace.windows)


def bursts(trace: FlowTrace) -> pd.DataFrame:
    """Return the bursts of the edge next to the source; see `lightburst.traced.bursts`."""
    return traced.bursts(trace.bursts, trace.places)


def hops(trace: FlowTrace) -> pd.DataFrame:
    """Return the hops of the flow's packets, link by link; see `lightburst.traced.hops`."""
    return traced.hops(trace.hops, trace.places)
