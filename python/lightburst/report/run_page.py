"""The page of a saved run, or of several with different seeds."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np
import pandas as pd

from lightburst.errors import InputError
from lightburst.plots import style
from lightburst.plots.vega import specification
from lightburst.report.files import REPLICATIONS, RUN, RUNS
from lightburst.report.page import Chart, Page, Table, Tile, render, table_of
from lightburst.report.words import readable, readable_interval, transports_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

# A page stays small however many flows there were: curves are drawn through this many points.
_POINTS: Final = 400
_HEIGHT: Final = 280  # pixels
# Lines that can be told apart.
_LINKS: Final = 5
_LOG: Final = alt.Scale(type="log")
_SI: Final = alt.Axis(format="~s", tickCount=5)
_TILES: Final = ("throughput_bps", "completion_time_median_s", "completion_time_p99_s")
_DROPS: Final = {
    "dropped_contention": "output busy",
    "dropped_no_input_port": "no free port into the buffer",
    "dropped_buffer_full": "buffer full",
    "dropped_queue_full": "queue full",
}


def run_page(directory: Path) -> str:
    """Write the page of what `lightburst.Result.save` wrote.

    Parameters
    ----------
    directory : Path
        Holds ``run.json`` and the tables.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    InputError
        If a file is missing or is not what it should be.
    """
    with _as_written(directory):
        about = json.loads((directory / RUN).read_text(encoding="utf-8"))
        summary, provenance = dict(about["summary"]), dict(about["provenance"])
        flows = pd.read_parquet(directory / "flows.parquet")
        links = pd.read_parquet(directory / "links.parquet")
        switches = pd.read_parquet(directory / "switches.parquet")
        charts = [_completion(flows), _slowdown(flows), _utilisation(links)]
        if (samples := directory / "samples_links.parquet").exists():
            charts.append(_queues(pd.read_parquet(samples)))
        drops = _drops(switches, links)
        warnings = list(about["warnings"])
    rows = [
        (words_of(key), readable(key, value), key)
        for key, value in summary.items()
        if key != "digest"
    ]
    tables = [*_warnings(warnings), Table("Summary", ("Figure", "Value", "Key"), rows), drops]
    return render(_page(provenance, f"seed {provenance['seed']}", summary, charts, tables))


def replications_page(directory: Path) -> str:
    """Write the page of what ``lightburst run --replications`` wrote.

    Parameters
    ----------
    directory : Path
        Holds ``replications.json`` and the table of the runs.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    InputError
        If a file is missing or is not what it should be.
    """
    with _as_written(directory):
        about = json.loads((directory / REPLICATIONS).read_text(encoding="utf-8"))
        summary, provenance = dict(about["summary"]), dict(about["provenance"])
        runs = pd.read_parquet(directory / RUNS)
        charts = [_by_seed(runs)]
        seeds = [int(seed) for seed in about["seeds"]]
        warnings = list(about["warnings"])
        rows = [
            (words_of(key), readable_interval(key, found), key) for key, found in summary.items()
        ]
        means = {key: found["mean"] for key, found in summary.items()}
    tables = [
        *_warnings(warnings),
        Table("Summary", ("Figure", "Mean and 95 % interval", "Key"), rows),
        table_of("Runs", runs.loc[:, ~runs.columns.str.contains(r"^digest$|\[")]),
    ]
    words = f"{len(seeds)} seeds, {seeds[0]} to {seeds[-1]}"
    return render(_page(provenance, words, means, charts, tables))


def _warnings(warnings: list[str]) -> Iterator[Table]:
    if warnings:
        yield Table("Warnings", ("What did not happen",), [(warning,) for warning in warnings])


@contextmanager
def _as_written(directory: Path) -> Iterator[None]:
    """Refuse a directory whose files are missing or not what they should be."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            "DIR", f"{directory} ({error})", "a directory written by 'lightburst run --out'"
        ) from error


def _kinds(switching: Mapping[str, Any]) -> str:
    """Name the kinds of switch that a table of a scenario asks for."""
    others = [table for name in ("layers", "nodes") for table in switching.get(name, {}).values()]
    return " and ".join(dict.fromkeys(table["kind"] for table in (switching, *others)))


def _page(
    provenance: Mapping[str, Any],
    seeds: str,
    summary: Mapping[str, Any],
    charts: list[Chart],
    tables: list[Table],
) -> Page:
    scenario = provenance["scenario"]
    switching, transport = _kinds(scenario["switching"]), transports_of(scenario)
    return Page(
        title=scenario.get("name") or "A run",
        lede=f"{switching} switches, {transport}, {scenario['topology']['kind']}; {seeds}.",
        provenance=[
            (key.replace("_", " "), str(value))
            for key, value in provenance.items()
            if key != "scenario" and value is not None
        ],
        tiles=[Tile(readable(key, summary[key]), words_of(key)) for key in _TILES],
        charts=charts,
        tables=tables,
        scenario=json.dumps(scenario, indent=2, ensure_ascii=False),
    )


def _completion(flows: pd.DataFrame) -> Chart:
    times = flows["completion_time_s"].to_numpy()
    times = np.sort(times[np.isfinite(times)])
    share = np.linspace(0, 1, min(_POINTS, len(times))) if len(times) else np.array([])
    curve = pd.DataFrame({"x": np.quantile(times, share) if len(times) else [], "y": share})
    return Chart(
        "completion",
        "Completion times",
        f"Share of the {len(times):,} finished flows that were complete within a time.",
        specification(
            alt.Chart(curve)
            .mark_line(color=style.BLUE, strokeWidth=2)
            .encode(
                x=alt.X("x:Q", title="Completion time (s)", scale=_LOG, axis=_SI),
                y=alt.Y("y:Q", title="Share of flows"),
            ),
            _HEIGHT,
        ),
    )


def _slowdown(flows: pd.DataFrame) -> Chart:
    done = flows[np.isfinite(flows["slowdown"])].sort_values("size_bytes")
    groups = np.array_split(done[["size_bytes", "slowdown"]].to_numpy(dtype=float), 20)
    rows = [
        (float(np.median(group[:, 0])), *np.quantile(group[:, 1], (0.5, 0.1, 0.9)).tolist())
        for group in groups
        if len(group)
    ]
    bins = pd.DataFrame(rows, columns=["x", "y", "low", "high"])
    base = alt.Chart(bins).encode(
        x=alt.X("x:Q", title="Size of the flow (bytes)", scale=_LOG, axis=_SI)
    )
    label = "Slowdown against a flow alone"
    return Chart(
        "slowdown",
        "Slowdown by size",
        "Median in twenty classes of size with as many flows each; band: from the 10th to the "
        "90th percentile.",
        specification(
            base.mark_area(color=style.BLUE, opacity=0.15).encode(
                y=alt.Y("low:Q", title=label, scale=_LOG, axis=_SI), y2="high:Q"
            )
            + base.mark_line(color=style.BLUE, point=True).encode(y="y:Q"),
            _HEIGHT,
        ),
    )


def _utilisation(links: pd.DataFrame) -> Chart:
    counts, edges = np.histogram(links["utilisation"], bins=25)
    bars = pd.DataFrame({"from": edges[:-1], "to": edges[1:], "links": counts})
    return Chart(
        "utilisation",
        "Utilisation of the links",
        f"Busy share of the time, over the {len(links):,} directed links.",
        specification(
            alt.Chart(bars)
            .mark_bar(color=style.BLUE)
            .encode(
                x=alt.X("from:Q", title="Utilisation", bin="binned"),
                x2="to:Q",
                y=alt.Y("links:Q", title="Links"),
            ),
            _HEIGHT,
        ),
    )


def _queues(samples: pd.DataFrame) -> Chart:
    largest = samples.groupby("link")["queue_bytes"].max().nlargest(_LINKS).index
    shown = samples[samples["link"].isin(largest)]
    # Of several times that fall together on the page the fullest.
    together = pd.cut(shown["time_s"], _POINTS, labels=False)
    rows = shown.loc[shown.groupby(["link", together])["queue_bytes"].idxmax()]
    ends = rows["source"].astype(str) + " to " + rows["target"].astype(str)
    return Chart(
        "queues",
        "Queues over time",
        f"What waits at the {len(largest)} links with the longest queues.",
        specification(
            alt.Chart(pd.DataFrame({"x": rows["time_s"], "y": rows["queue_bytes"], "link": ends}))
            .mark_line(strokeWidth=2)
            .encode(
                x=alt.X("x:Q", title="Time (s)", axis=_SI),
                y=alt.Y("y:Q", title="Queue (bytes)", axis=_SI),
                color=alt.Color("link:N", title="Link", sort=None),
                tooltip=["link:N", "x:Q", "y:Q"],
            ),
            _HEIGHT,
        ),
    )


def _by_seed(runs: pd.DataFrame) -> Chart:
    data = pd.DataFrame({"x": runs["seed"].astype(str), "y": runs["throughput_bps"] / 1e9})
    return Chart(
        "throughput",
        "Throughput by seed",
        "One dot for each run.",
        specification(
            alt.Chart(data)
            .mark_point(color=style.BLUE, filled=True, size=60)
            .encode(
                x=alt.X("x:N", title="Seed", sort=None),
                y=alt.Y("y:Q", title="Throughput (Gb/s)", scale=alt.Scale(zero=True)),
                tooltip=["x:N", "y:Q"],
            ),
            _HEIGHT,
        ),
    )


def _drops(switches: pd.DataFrame, links: pd.DataFrame) -> Table:
    arrived = int(switches["arrived"].sum())
    rows = [("arrived at a switch", f"{arrived:,}", "")]
    counted = {"forwarded": "forwarded", "buffered": "went through the buffer", **_DROPS}
    for key, words in counted.items():
        count = int(switches[key].sum())
        rows.append((words, f"{count:,}", f"{count / arrived:.3%}" if arrived else ""))
    lost = int(links["lost"].sum())
    if lost:
        sent = int(links["units"].sum())
        rows.append(("lost on a link, of all sent", f"{lost:,}", f"{lost / sent:.3%}"))
    return Table("What the switches did", ("Units", "Number", "Share"), rows)
