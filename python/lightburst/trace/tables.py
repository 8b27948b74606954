"""The tables of one flow's trace as data frames, in SI base units that the columns name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightburst import traced

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.trace.flow import FlowTrace


def segments(trace: FlowTrace) -> pd.DataFrame:
    """Give what happened to the flow's packets, as `lightburst.traced.segments` does for all."""
    return traced.segments(trace.segments, trace.places)


def windows(trace: FlowTrace) -> pd.DataFrame:
    """Give the state of the flow's sender, as `lightburst.traced.windows` does for all."""
    return traced.windows(trace.windows)


def bursts(trace: FlowTrace) -> pd.DataFrame:
    """Give the bursts of the source's edge, as `lightburst.traced.bursts` does for all nodes."""
    return traced.bursts(trace.bursts, trace.places)


def hops(trace: FlowTrace) -> pd.DataFrame:
    """Give the flow's packets from link to link, as `lightburst.traced.hops` does for all."""
    return traced.hops(trace.hops, trace.places)
