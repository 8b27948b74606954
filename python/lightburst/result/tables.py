"""The tables of a result: columns of a run with names and in SI base units.

The documentation of `lightburst.Result` defines each column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lightburst.compile import Plan
from lightburst.foundation.counts import PS, UNFINISHED, Columns, Metric
from lightburst.foundation.files.dataframes import Table, Words
from lightburst.measurement.flow_throughput import throughput_bps
from lightburst.measurement.places import Places
from lightburst.measurement.window import counted
from lightburst.result import metrics
from lightburst.result.fairness import Use
from lightburst.scenario.tables.measurement import MEASUREMENTS

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


# Counts of senders, under their names in the core.
_OF_THE_SENDER = (
    "transmissions",
    "retransmissions",
    "spurious_retransmissions",
    "spurious_bytes",
    "fast_retransmits",
    "false_fast_retransmits",
    "timeouts",
    "false_timeouts",
)
# Sums that a switch counts, which its table shows as means.
_IN_MEANS = frozenset({"buffer_byte_ps", "burst_packets", "burst_bytes", "assembly_wait_ps"})


def flows(plan: Plan, columns: Columns) -> Table:
    """Return the columns of `lightburst.Result.flows`."""
    given, ran = plan.flows, columns["flows"]
    time, ideal = metrics.completion_s(plan, ran), ran["ideal_ps"] * PS
    table = {
        **_group(plan),
        "source": _named(plan, given["source"]),
        "destination": _named(plan, given["destination"]),
        "start_s": given["start_ps"] * PS,
        **{
            f"{name}_s": np.where(at == UNFINISHED, np.nan, at * PS)
            for name in ("received", "acknowledged")
            for at in [ran[f"{name}_ps"]]
        },
        "size_bytes": given["bytes"],
        "delivered_bytes": ran["delivered_bytes"],
        "completion_time_s": time,
        "ideal_s": ideal,
        "slowdown": time / ideal,
        "throughput_bps": throughput_bps(plan, ran),
        **{name: ran[name] for name in _OF_THE_SENDER},
        "duplicates": ran["duplicates"],
        **({"reinjections": ran["reinjections"]} if "reinjections" in ran else {}),
        "reordered": ran["reordered"],
        "reorder_extent_mean": _mean(ran["reorder_extent_sum"], ran["reordered"]),
        "reorder_extent_max": ran["reorder_extent_max"],
        "drops": ran["drops"],
        **_measured(columns),
        "path_links": ran["path_links"],
        "status": Words(ran["status"], metrics.STATUSES),
    }
    those = plan.counted
    return table if those.all() else {**table, "counted": those}


def _measured(columns: Columns) -> Table:
    """Return the columns that optional measurements add to those of flows."""
    tables = (one.columns_of_flows(columns) for one in MEASUREMENTS)
    return {name: column for table in tables for name, column in table.items()}


def _group(plan: Plan) -> dict[str, Words]:
    names = plan.group_names
    return {"group": Words(plan.group, names)} if names else {}


def links(plan: Plan, columns: Columns, use: Use) -> Table:
    """Return the columns of `lightburst.Result.links`."""
    given, ran = plan.links, counted(columns)["links"]
    flows, index = use.by_link()
    return {
        **Places.of(plan).all_links(),
        "rate_bps": given["rate_bps"],
        "delay_s": given["delay_ps"] * PS,
        "units": ran["units"],
        "bytes": ran["bytes"],
        "waiting_bytes": ran["waiting_bytes"],
        "lost": ran["lost"],
        "dropped": ran["dropped"],
        "utilisation": utilisation(plan, columns),
        "flows": flows if use.told.all() else np.where(use.told, flows, np.nan),
        "jain_index": index,
        **dict(_pauses(ran)),
    }


def _pauses(ran: Mapping[str, NDArray[Any]]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the columns of links that pause, if any may."""
    if "pauses" in ran:
        yield "pauses", ran["pauses"]
        yield "paused_s", ran["paused_ps"] * PS


def utilisation(plan: Plan, columns: Columns) -> NDArray[np.float64]:
    """Return the busy fraction of time of each link, see `lightburst.Result.links`."""
    return _over_time(plan, columns, counted(columns)["links"]["busy_ps"]) / plan.channels


def switches(plan: Plan, columns: Columns) -> Table:
    """Return the columns of `lightburst.Result.switches`."""
    columns = counted(columns)
    ran = columns["switches"]
    offered = metrics.offered(plan, columns).astype(np.float64)
    dropped = metrics.dropped(ran)
    loss = np.divide(dropped, offered, out=np.zeros_like(offered), where=offered > 0)
    counts = ("arrived", "forwarded", "buffered", "marked", *metrics.drops(ran))
    network = plan.network
    layers = ["switch"] * offered.size if network is None else network.layer_of_switches()
    table = {
        "node": _named(plan, plan.settings["hosts"] + np.arange(offered.size)),
        "layer": np.array(layers, object),
        **{name: ran[name] for name in counts},
        "loss": loss,
        "oe_bytes": ran["oe_bytes"],
        "eo_bytes": ran["eo_bytes"],
        "buffer_max_bytes": ran["buffer_max_bytes"],
        "buffer_mean_bytes": _over_time(plan, columns, ran["buffer_byte_ps"]),
        "bursts": ran["bursts"],
        "burst_mean_packets": _mean(ran["burst_packets"], ran["bursts"]),
        "burst_mean_bytes": _mean(ran["burst_bytes"], ran["bursts"]),
        "assembly_mean_s": _mean(ran["assembly_wait_ps"] * PS, ran["burst_packets"]),
    }
    later = [name for name in ran if name not in table and name not in _IN_MEANS]
    return table | dict(_as_counted(name, ran[name]) for name in later)


def _as_counted(name: str, column: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    """Return a column with its name in the core; times are converted to seconds."""
    return (
        (f"{name.removesuffix('_ps')}_s", column * PS) if name.endswith("_ps") else (name, column)
    )


def summary(metrics: Mapping[str, Metric]) -> pd.Series:
    """Return `lightburst.Result.summary`."""
    import pandas as pd

    return pd.Series(dict(metrics), dtype=object, name="value")


def size_classes(by_size: Mapping[str, Mapping[str, Metric]]) -> pd.DataFrame:
    """Return `lightburst.Result.size_classes` from the output of `groups.by_size`."""
    import pandas as pd

    index = pd.Index(list(by_size), name="size_class")
    names = dict.fromkeys((*metrics.OF_FLOWS, *(key for row in by_size.values() for key in row)))
    table = pd.DataFrame(list(by_size.values()), index=index, columns=list(names))
    counts = table.columns.intersection(["flows", "unfinished"])
    return table.astype("float64").astype(dict.fromkeys(counts, "int64"))


def graph(plan: Plan, switches: pd.DataFrame, links: pd.DataFrame) -> nx.DiGraph[Any]:
    """Return `lightburst.Result.network` from the tables of switches and links."""
    import networkx as nx

    parallel = bool(links.duplicated(["source", "target"]).any())
    made: nx.DiGraph[Any] = nx.MultiDiGraph() if parallel else nx.DiGraph()
    hosts = _named(plan, np.arange(plan.settings["hosts"]))
    made.add_nodes_from(hosts.tolist(), layer="host")
    rows, edges = (table.to_dict("records") for table in (switches, links))
    made.add_nodes_from((row.pop("node"), row) for row in rows)
    made.add_edges_from((edge.pop("source"), edge.pop("target"), edge) for edge in edges)
    return made


def _named(plan: Plan, nodes: NDArray[np.integer[Any]]) -> NDArray[Any]:
    return nodes if plan.network is None else plan.network.named(nodes)


def _over_time(plan: Plan, columns: Columns, integral: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return the mean over time of a quantity with this integral, see `lightburst.Result.links`."""
    totals = columns["totals"]
    # If all flows finished, only timers expire after the last transmission, and change nothing.
    finished = (columns["flows"]["status"] == metrics.FINISHED).all()
    last = totals["transmitted_until_ps" if finished else "end_ps"]
    begin, end = plan.window_ps
    observed = min(int(last), end) - max(int(plan.flows["start_ps"][0]), begin)
    return integral.astype(np.float64) / max(observed, 1)


def _mean(total: NDArray[np.generic], count: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return the mean of each row; NaN where the count is zero."""
    found = np.full(count.shape, np.nan)
    np.divide(total, count, out=found, where=count != 0)
    return found
