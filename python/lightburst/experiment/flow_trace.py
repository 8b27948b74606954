"""Trace of a flow on disk: capture, tables and figures in one directory."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from lightburst.foundation.files.directory import replace
from lightburst.plots.charts.traces import pictures
from lightburst.plots.charts.traces import save as save_picture
from lightburst.result.files import CAPTURE, TRACE
from lightburst.result.saving import of_run
from lightburst.trace import FlowTrace, capture, series, tables, write

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from lightburst.result.result import Result

_TABLES: Final = {
    "trace_segments": tables.segments,
    "trace_windows": tables.windows,
    "trace_bursts": tables.bursts,
    "trace_hops": tables.hops,
}


def save(
    result: Result,
    flow: int,
    directory: str | Path,
    bins: pd.DataFrame | None = None,
    subflow: int = 0,
) -> Path:
    """Write the trace of a flow.

    Parameters
    ----------
    result : Result
        Result of a scenario that traces the flow.
    flow : int
        Number of the flow.
    directory : str or Path
        Created if it does not exist; an existing result in it is replaced.
    bins : pandas.DataFrame, optional
        Result of `lightburst.trace.series.bins` to write as well.
    subflow : int
        Number of its subflow.

    Returns
    -------
    Path
        Absolute path of the directory. It contains ``trace.json`` (`record`), ``trace.pcapng``
        (with headers of TCP, so not of `rdma`), the tables of `trace_tables` as
        ``trace_segments.parquet``, ``trace_windows.parquet``, ``trace_bursts.parquet`` and
        ``trace_hops.parquet``, ``trace_bins.parquet`` if given, and as PNG
        and SVG ``time-sequence``, ``windows`` and ``packets``.

    Raises
    ------
    InputError
        If the directory cannot be written or contains foreign files, or a segment does not fit an
        IPv4 packet. Nothing is left behind.
    """
    trace, about = FlowTrace.of(result, flow, subflow), record(result, flow, subflow)
    # A capture has headers of TCP.
    queue_pair = result.plan.transports[result.plan.group[flow]]["kind"] == "rdma"
    captured = None if queue_pair else capture(trace)
    tool = f"lightburst {about['provenance']['version']}"
    source = source_of(result)

    def fill(fresh: Path) -> None:
        if captured is not None:
            write(fresh / CAPTURE, captured, tool)
        for stem, table in _TABLES.items():
            table(trace).to_parquet(fresh / f"{stem}.parquet", index=False)
        if bins is not None:
            bins.to_parquet(fresh / "trace_bins.parquet", index=False)
        for stem, canvas in pictures(trace, source).items():
            save_picture(canvas, fresh, stem)
        text = json.dumps(about, indent=2, allow_nan=False)
        (fresh / TRACE).write_text(text + "\n", encoding="utf-8")

    return replace(directory, fill)


def source_of(result: Result) -> str:
    """Return the source of a figure for its caption: scenario, seed and version."""
    name = result.scenario.name or "Unnamed scenario"
    return f"{name}; seed {result.seed}; lightburst {result.provenance.version}."


def record(result: Result, flow: int, subflow: int = 0) -> dict[str, Any]:
    """Return a summary of a flow as JSON-compatible values.

    Parameters
    ----------
    result : Result
        Result of a scenario that traces the flow.
    flow : int
        Number of the flow.
    subflow : int
        Number of its subflow.

    Returns
    -------
    dict
        ``seed``, the keys of `lightburst.trace.series.summary`, ``timeouts`` (of set-up, data and
        close; of all subflows), ``status``, ``warnings`` and ``provenance``.
    """
    row = result.flows.iloc[flow]
    found = {
        **series.summary(FlowTrace.of(result, flow, subflow)),
        "timeouts": int(row["timeouts"]),
        "status": str(row["status"]),
    }
    return of_run(result, found)
