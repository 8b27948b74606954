"""Pages of a saved run and of runs with several seeds."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np
import pandas as pd

from lightburst.explanation.worst_flows import WorstFlows
from lightburst.foundation.files.checksums import listed, verify
from lightburst.foundation.files.parquet import read_frame
from lightburst.plots import interactive, style
from lightburst.plots.charts import contents, distributions, timeline
from lightburst.plots.vega import specification
from lightburst.report.network_map import network_charts, network_tables
from lightburst.report.page import Chart, Page, Table, Tile, render, table_of
from lightburst.result import metrics
from lightburst.result.files import PAGE, REPLICATIONS, RUN, RUNS
from lightburst.result.metric_text import (
    in_parts,
    meaningful,
    own_words,
    readable,
    readable_interval,
    rows_of,
    transports_of,
    unit_key,
    words_of,
)
from lightburst.result.rerun import load_saved
from lightburst.simulation.simulate import simulate as simulate_it

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from lightburst.papers.figure import Figure
    from lightburst.result.metric_text import Parts
    from lightburst.result.result import Result

_TABLES: Final = ("flows.parquet", "links.parquet", "switches.parquet")
# Points per curve, which limits the size of the page for any number of flows.
_POINTS: Final = 400
_HEIGHT: Final = 280  # pixels
# Name of all flows of a run without groups.
_ALL: Final = "all"
# Maximum number of lines that can be distinguished.
_LINKS: Final = 5
_LOG: Final = alt.Scale(type="log")
_SI: Final = alt.Axis(format="~s", tickCount=5)
_TILES: Final = ("throughput_bps", "completion_time_median_s", "completion_time_p99_s")
# Descriptions of drop reasons whose names are not clear.
_REASONS: Final = {
    "dropped_contention": "output busy",
    "dropped_no_input_port": "no free port into the buffer",
}


def run_page(
    directory: Path,
    explained: int | None = None,
    simulate: Callable[..., Result] = simulate_it,
) -> str:
    """Render the page of a run saved by `lightburst.Result.save`.

    Parameters
    ----------
    directory : Path
        Directory with ``run.json`` and the tables.
    explained : int or None
        Number of worst flows to explain, for which the run is repeated; None for `EXPLAINED` of
        `lightburst.explanation.worst_flows`, or 0 if the run had too many events.
    simulate : callable
        As for `lightburst.explanation.flow.explain`.

    Returns
    -------
    str
        HTML document.

    Raises
    ------
    InputError
        If a file is missing, damaged or invalid.
    """
    sums = listed(directory)
    verify(directory, sorted({*sums, RUN, *_TABLES} - {PAGE}))
    about = json.loads((directory / RUN).read_text(encoding="utf-8"))
    summary, provenance = dict(about["summary"]), dict(about["provenance"])
    flows, links, switches = (read_frame(directory / name) for name in _TABLES)
    groups = dict(about.get("groups", {}))
    names = list(groups)
    charts = [
        *network_charts(links, switches),
        _completion(flows, names),
        _slowdown(flows, names),
        _utilisation(links),
    ]
    if (bursts := "bursts.parquet") in sums:
        charts += _bursts(read_frame(directory / bursts), flows, names)
    classes = {row.pop("size_class"): row for row in about["size_classes"] if row["flows"]}
    if (times := "timeline.parquet") in sums:
        charts += _timeline(read_frame(directory / times))
    if (samples := "samples_links.parquet") in sums:
        charts.append(_queues(read_frame(directory / samples)))
    worst = WorstFlows(flows, load_saved(directory), int(summary["events"]), explained, simulate)
    drops = _drops(switches, links)
    warnings = list(about["warnings"])
    own = dict(about.get("metrics", {}))
    shown = meaningful(summary, provenance["scenario"], own)
    words = own_words(own)
    rows = [
        (words_of(key, words), readable(unit_key(key, own), summary[key]), key) for key in shown
    ]
    tables = [
        *_warnings(warnings),
        *worst.tables,
        Table("Summary", ("Figure", "Value", "Key"), rows),
        *_parts("By group", groups, readable),
        *_parts("By size of the flow", classes, readable),
        *network_tables(links, switches),
        drops,
    ]
    page = _page(provenance, f"seed {provenance['seed']}", summary, charts, tables)
    return render(replace(page, stories=worst.stories))


def replications_page(directory: Path) -> str:
    """Render the page of runs saved by ``lightburst run --replications``.

    Parameters
    ----------
    directory : Path
        Directory with ``replications.json`` and the table of runs.

    Returns
    -------
    str
        HTML document.

    Raises
    ------
    InputError
        If a file is missing, damaged or invalid.
    """
    verify(directory, sorted({*listed(directory), REPLICATIONS, RUNS} - {PAGE}))
    about = json.loads((directory / REPLICATIONS).read_text(encoding="utf-8"))
    summary, provenance = dict(about["summary"]), dict(about["provenance"])
    runs = read_frame(directory / RUNS)
    groups, classes = in_parts(summary, provenance["scenario"].get("groups", {}))
    charts = [_by_seed(runs, list(groups))]
    seeds = [int(seed) for seed in about["seeds"]]
    warnings = list(about["warnings"])
    means = {key: found["mean"] for key, found in summary.items()}
    own = dict(about.get("metrics", {}))
    shown = meaningful(means, provenance["scenario"], own)
    rows = [
        (words_of(key, own_words(own)), readable_interval(unit_key(key, own), summary[key]), key)
        for key in shown
    ]
    tables = [
        *_warnings(warnings),
        Table("Summary", ("Figure", "Mean and 95 % interval", "Key"), rows),
        *_parts("By group, mean and 95 % interval", groups, readable_interval),
        *_parts("By size of the flow, mean and 95 % interval", classes, readable_interval),
        table_of("Runs", runs[["seed", *shown, *(["warnings"] if warnings else [])]]),
    ]
    words = f"{len(seeds)} seeds, {seeds[0]} to {seeds[-1]}"
    return render(_page(provenance, words, means, charts, tables))


def _parts(title: str, parts: Parts, read: Callable[[str, Any], str]) -> Iterator[Table]:
    """Make a table with one column per group or size class, if there are several."""
    if len(parts) > 1:
        rows = [(words_of(key), *cells, key) for key, *cells in rows_of(parts, read)]
        yield Table(title, ("Figure", *parts, "Key"), rows)


def _warnings(warnings: list[str]) -> Iterator[Table]:
    if warnings:
        yield Table("Warnings", ("Warning",), [(warning,) for warning in warnings])


def _kinds(switching: Mapping[str, Any]) -> str:
    """Name the kinds of switches in a scenario's table ``switching``."""
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
        title=scenario.get("name") or "Unnamed scenario",
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


def _completion(flows: pd.DataFrame, groups: list[str]) -> Chart:
    times = {name: part["completion_time_s"].dropna() for name, part in _named(flows, groups)}
    number = sum(map(len, times.values()))
    lost = sum(int((part["status"] == "lost").sum()) for _, part in _each(flows, groups))
    unfinished = sum(int(np.isinf(part).sum()) for part in times.values())
    that_count = " that count," if "counted" in flows else ""
    words = f"Share of the {number:,} flows{that_count} that were complete within a time"
    figure = distributions.figure_of(
        times,
        "completion_time_s",
        id="completion",
        title="Completion times",
        caption="; ".join(
            (
                words,
                *([f"{unfinished:,} did not finish"] if unfinished else []),
                *([f"{lost:,} others lost data in an open loop"] if lost else []),
            )
        )
        + ".",
        y_label="Share of flows",
    )
    return _drawn(figure)


def _bursts(bursts: pd.DataFrame, flows: pd.DataFrame, groups: list[str]) -> Iterator[Chart]:
    """Draw the contents of bursts, and the number of bursts per flow."""
    for figure in (*contents.figures(bursts), *contents.of_flows(dict(_named(flows, groups)))):
        yield _drawn(figure)


def _timeline(table: pd.DataFrame) -> Iterator[Chart]:
    """Draw what hosts did in a collective workload or a schedule."""
    if len(table):
        bars = timeline.prepared(table)
        yield Chart(
            "timeline",
            "Timeline",
            f"{timeline.caption(bars)} Turn the wheel or drag to zoom and move along the time.",
            timeline.chart(bars),
            legend=timeline.legend(bars),
        )


def _drawn(figure: Figure) -> Chart:
    """Convert a figure to a chart with its legend."""
    legend = interactive.legend(figure)
    chart = interactive.chart(figure)
    return Chart(figure.id, figure.title, figure.caption, chart, legend=legend)


def _slowdown(flows: pd.DataFrame, groups: list[str]) -> Chart:
    rows = []
    for name, part in _each(flows, groups):
        done = part[np.isfinite(part["slowdown"])]
        if done.empty:
            continue
        # Unique edges keep flows of equal size in one class.
        edges = np.unique(np.quantile(done["size_bytes"], np.arange(1, 20) / 20))
        for _, one in done.groupby(np.searchsorted(edges, done["size_bytes"])):
            ends = np.quantile(one["slowdown"], (0.5, 0.1, 0.9))
            rows.append((name, one["size_bytes"].median(), *ends))
    bins = pd.DataFrame(rows, columns=["group", "x", "y", "low", "high"])
    base = alt.Chart(bins).encode(
        x=alt.X("x:Q", title="Size of the flow (bytes)", scale=_LOG, axis=_SI),
        color=_colour(groups),
    )
    label = "Slowdown against a flow alone"
    return Chart(
        "slowdown",
        "Slowdown by size",
        "Median in up to twenty classes of size with about as many finished flows each; upright "
        "lines: from the 10th to the 90th percentile.",
        specification(
            base.mark_rule(opacity=0.5).encode(
                y=alt.Y("low:Q", title=label, scale=_LOG, axis=_SI), y2="high:Q"
            )
            + base.mark_line(point=True).encode(y="y:Q"),
            _HEIGHT,
        ),
    )


def _each(flows: pd.DataFrame, groups: list[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the counted flows, by group if there are several."""
    counted = flows[flows["counted"]] if "counted" in flows else flows
    if not groups:
        yield _ALL, counted
    for name in groups:
        yield name, counted[counted["group"] == name]


def _named(flows: pd.DataFrame, groups: list[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the counted flows by legend entry, which is empty without groups."""
    for name, part in _each(flows, groups):
        yield (name if groups else ""), part


def _colour(groups: list[str]) -> alt.Color:
    """Return the colour channel of groups with a legend; blue without groups."""
    domain = groups or [_ALL]
    scale = alt.Scale(domain=domain, range=list(style.colours(tuple(domain))))
    return alt.Color("group:N", title="Group", scale=scale, legend=alt.Legend() if groups else None)


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
    # Keep only the sample with the longest queue per link and interval of time.
    together = pd.cut(shown["time_s"], _POINTS, labels=False)
    rows = shown.loc[shown.groupby(["link", together])["queue_bytes"].idxmax()]
    ends = rows["source"].astype(str) + " to " + rows["target"].astype(str)
    for column in ("name", "wavelength"):
        # Distinguishes parallel links.
        if column in rows and rows[column].any():
            ends += f", {column} " + rows[column].astype(str)
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


def _by_seed(runs: pd.DataFrame, groups: list[str]) -> Chart:
    columns = {f"throughput_bps[{name}]": name for name in groups} or {"throughput_bps": _ALL}
    table = runs.set_index("seed")[list(columns)].rename(columns=columns) / 1e9
    data = table.melt(var_name="group", value_name="y", ignore_index=False).reset_index()
    return Chart(
        "throughput",
        "Throughput by seed",
        "One dot for each run and group, over the group's own makespan."
        if groups
        else "One dot for each run.",
        specification(
            alt.Chart(data.assign(x=data["seed"].astype(str)))
            .mark_point(filled=True, size=60)
            .encode(
                x=alt.X("x:N", title="Seed", sort=None),
                y=alt.Y("y:Q", title="Throughput (Gb/s)", scale=alt.Scale(zero=True)),
                color=_colour(groups),
                tooltip=["x:N", "y:Q", "group:N"],
            ),
            _HEIGHT,
        ),
    )


def _drop_words(switches: pd.DataFrame) -> dict[str, str]:
    reasons = metrics.drops(map(str, switches))
    return {
        key: _REASONS.get(key, key.removeprefix("dropped_").replace("_", " ")) for key in reasons
    }


def _drops(switches: pd.DataFrame, links: pd.DataFrame) -> Table:
    counted = {"buffered": "waited in a buffer or a queue", **_drop_words(switches)}
    if switches["bursts"].any():
        # Arrivals at a switch include packets here, whereas losses are counted in bursts.
        fibres = links["source"].isin(switches["node"]) & links["target"].isin(switches["node"])
        sent = int(links["units"][fibres].sum())
        whole = sent + sum(int(switches[reason].sum()) for reason in _drop_words(switches))
        unit, first, over = "Bursts", "offered to a fibre", "lost on a fibre, of all sent"
    else:
        sent, whole = int(links["units"].sum()), int(switches["arrived"].sum())
        unit, first, over = "Units", "arrived at a switch", "lost on a link, of all sent"
        counted = {"forwarded": "forwarded", **counted}
    rows = [(first, f"{whole:,}", "")]
    for key, words in counted.items():
        if count := int(switches[key].sum()):
            rows.append((words, f"{count:,}", f"{count / whole:.3%}"))
    if lost := int(links["lost"].sum()):
        rows.append((over, f"{lost:,}", f"{lost / sent:.3%}"))
    return Table("What the switches did", (unit, "Number", "Share"), rows)
