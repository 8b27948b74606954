"""Network of a saved run on its page: drawing of the topology, or summary by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import networkx as nx
import numpy as np
import pandas as pd

from lightburst.plots.charts.places import HOST, on_map, positions
from lightburst.plots.charts.topology import by_layer, drawing
from lightburst.report.page import Chart, Table
from lightburst.result import metrics
from lightburst.result.metric_text import in_rows, readable

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

# Limits up to which a drawing is legible.
_MOST_SWITCHES: Final = 100
_MOST_LINKS: Final = 300
_MOST_HOSTS: Final = 40
_BUSIEST: Final = 10
_ARROW: Final = " \u2192 "


def network_charts(links: pd.DataFrame, switches: pd.DataFrame) -> Iterator[Chart]:
    """Draw the network of a run with metrics of its links and switches.

    Parameters
    ----------
    links, switches : pandas.DataFrame
        Tables of `lightburst.Result`.

    Yields
    ------
    Chart
        Drawing of the topology; or utilisation by layer, if there are too many switches or links
        between them for a drawing.
    """
    links, layers = _told(links), _layers(links, switches)
    pairs = _pairs(links)
    inner = sum(layers[a] != HOST != layers[b] for a, b in pairs[["source", "target"]].to_numpy())
    if len(switches) > _MOST_SWITCHES or inner > 2 * _MOST_LINKS:
        yield _summary(links, layers)
    elif len(switches):
        yield _drawn(pairs, switches, layers)


def network_tables(links: pd.DataFrame, switches: pd.DataFrame) -> Iterator[Table]:
    """Make tables of the links between layers and of the busiest links.

    Parameters
    ----------
    links, switches : pandas.DataFrame
        Tables of `lightburst.Result`.

    Yields
    ------
    Table
        Links by layer, then the busiest links.
    """
    links = _told(links)
    spread = _spread(links, _layers(links, switches))
    columns = [str(name) for name in spread if str(name)[0].isupper()]
    yield Table(
        "Links by layer",
        columns,
        spread[columns].to_numpy().tolist(),
        "Each direction of each link counts. Utilisation: busy share of the time.",
    )
    busiest = links.nlargest(_BUSIEST, "utilisation")
    rows = [
        (
            _link(row),
            f"{row.utilisation:.3%}",
            readable("_bps", float(row.rate_bps)),
            readable("_bytes", int(row.bytes)),
            readable("_bytes", int(row.waiting_bytes)),
            f"{int(row.units):,}",
            f"{int(row.dropped):,}",
            f"{int(row.lost):,}",
        )
        for row in in_rows(busiest)
    ]
    header = (
        "Link", "Utilisation", "Rate", "Transmitted", "Waiting at the end", "Units", "No room",
        "Lost on it",
    )  # fmt: skip
    caption = "No room: units that wanted the link and were dropped before it."
    yield Table("The busiest links", header, rows, caption)


def _told(links: pd.DataFrame) -> pd.DataFrame:
    """Add the column ``gone``: units dropped before each link or lost on it."""
    # Results of earlier versions do not count drops per link.
    known = links if "dropped" in links else links.assign(dropped=0)
    return known.assign(gone=known["dropped"] + known["lost"])


def _link(row: Any) -> str:
    words = f"{row.source}{_ARROW}{row.target}"
    if getattr(row, "name", ""):
        words += f", {row.name}"
    return f"{words}, wavelength {row.wavelength}" if row.wavelength else words


def _layers(links: pd.DataFrame, switches: pd.DataFrame) -> dict[Hashable, str]:
    """Return the layer of each node; nodes that are no switches are hosts."""
    ends = pd.concat([links["source"], links["target"]]).unique().tolist()
    hosts: dict[Hashable, str] = dict.fromkeys(ends, HOST)
    own = zip(switches["node"].tolist(), switches["layer"].astype(str).tolist(), strict=True)
    return hosts | dict(own)


def _pairs(links: pd.DataFrame) -> pd.DataFrame:
    """Aggregate all links and wavelengths from one node to another."""
    weighed = links.assign(
        busy=links["utilisation"] * links["rate_bps"], rate=links["rate_bps"].astype(float)
    )
    found = weighed.groupby(["source", "target"], sort=False, as_index=False).agg(
        links=("units", "size"),
        busy=("busy", "sum"),
        most=("utilisation", "max"),
        rate=("rate", "sum"),
        delay_s=("delay_s", "min"),
        bytes=("bytes", "sum"),
        units=("units", "sum"),
        waiting=("waiting_bytes", "sum"),
        **{name: (name, "sum") for name in ("dropped", "lost", "gone")},
    )
    found["utilisation"] = found["busy"] / found["rate"]
    return found


def _drawn(pairs: pd.DataFrame, switches: pd.DataFrame, layers: Mapping[Hashable, str]) -> Chart:
    hosts = [node for node, layer in layers.items() if layer == HOST]
    room = len(hosts) <= _MOST_HOSTS and not on_map(switches["node"])
    shown = hosts if room else []
    # Hosts determine the rows of the switches even if they are not drawn.
    every = positions(_graph(pairs, layers, set(layers)), layers)
    places = {node: every[node] for node in (*switches["node"].tolist(), *shown)}
    inside = pairs["source"].isin(list(places)) & pairs["target"].isin(list(places))
    nodes = _nodes(pairs, switches, layers, shown)
    left_out = (
        "" if shown else f" Its {len(hosts):,} hosts are left out: hover over their switches."
    )
    return Chart(
        "network",
        "The network",
        "Each link is drawn in two halves: the half at a node is the direction away from it. The "
        "darker it is, the busier: busy share of the time, the mean of the links and wavelengths "
        "that go the same way. A red ring is a switch that dropped units, the wider the larger "
        "their share; a red cross a direction before which units were dropped, because they found "
        "no room or no channel, or on which they were lost. "
        f"Hover for the numbers.{'' if shown else left_out}",
        drawing(_said_of_links(pairs[inside]), nodes, places),
    )


def _graph(
    pairs: pd.DataFrame, layers: Mapping[Hashable, str], shown: set[Hashable]
) -> nx.Graph[Any]:
    network: nx.Graph[Any] = nx.Graph()
    # The order of the nodes determines their order within a row.
    network.add_nodes_from(node for node in layers if node in shown)
    columns = (pairs[name].tolist() for name in ("source", "target", "delay_s"))
    network.add_edges_from(
        (source, target, {"delay_s": delay})
        for source, target, delay in zip(*columns, strict=True)
        if source in shown and target in shown
    )
    return network


def _said_of_links(pairs: pd.DataFrame) -> pd.DataFrame:
    """Make the tooltip of each direction."""
    found = pairs[["source", "target", "utilisation", "gone"]].copy()
    source, target = pairs["source"].astype(str), pairs["target"].astype(str)
    found["Link"] = source + _ARROW + target
    found["Utilisation"] = [f"{value:.3%}" for value in pairs["utilisation"]]
    if (pairs["links"] > 1).any():
        found["Links, wavelengths"] = pairs["links"].astype(str)
        found["Busiest of them"] = [f"{value:.3%}" for value in pairs["most"]]
    found["Rate"] = [readable("_bps", rate) for rate in pairs["rate"]]
    found["Transmitted"] = _sizes(pairs["bytes"])
    if pairs["waiting"].any():
        found["Waiting at the end"] = _sizes(pairs["waiting"])
    wanted = pairs["units"] + pairs["dropped"]
    found["Dropped before it"] = _of(pairs["dropped"], wanted)
    if pairs["lost"].any():
        found["Lost on the way"] = _of(pairs["lost"], pairs["units"])
    return found


def _of(parts: pd.Series[Any], whole: pd.Series[Any]) -> list[str]:
    return [
        f"{int(part):,} of {int(all_of_it):,} units" if part else "none"
        for part, all_of_it in zip(parts, whole, strict=True)
    ]


def _nodes(
    pairs: pd.DataFrame,
    switches: pd.DataFrame,
    layers: Mapping[Hashable, str],
    shown: list[Hashable],
) -> pd.DataFrame:
    """Make the tooltip of each node, and its loss."""
    reasons = metrics.drops(map(str, switches))
    dropped = switches[list(reasons)].sum(axis=1)
    loss = switches["loss"].fillna(0.0)
    found = pd.DataFrame(
        {
            "node": switches["node"].astype(object),
            "name": switches["node"].astype(str),
            "host": False,
            "loss": loss,
            "Switch": switches["node"].astype(str),
            "Layer": switches["layer"].astype(str),
            "Arrived": [f"{int(count):,} units" for count in switches["arrived"]],
            "Dropped": [
                f"{int(count):,} units, a share of {share:.3%}" if count else "none"
                for count, share in zip(dropped, loss, strict=True)
            ],
            "Buffer, most": [
                readable("_bytes", int(size)) for size in switches["buffer_max_bytes"]
            ],
        }
    )
    if not shown:
        found["Its hosts"] = _hosts(pairs, layers, switches["node"].tolist())
    ends = pd.DataFrame({"node": shown, "name": list(map(str, shown)), "host": True, "loss": 0.0})
    ends["Host"] = ends["name"]
    return pd.concat([found, ends.astype({"node": object})], ignore_index=True)


def _sizes(column: pd.Series[Any]) -> list[str]:
    return [readable("_bytes", int(size)) for size in column]


def _hosts(
    pairs: pd.DataFrame, layers: Mapping[Hashable, str], switches: list[Hashable]
) -> list[str]:
    """Summarise the utilisation of the links to the hosts of each switch, which are not drawn."""
    kinds = pairs.assign(
        up=pairs["source"].map(layers) == HOST, down=pairs["target"].map(layers) == HOST
    )
    up = kinds[kinds["up"]].groupby("target")["utilisation"].agg(["size", "mean", "max"])
    down = kinds[kinds["down"]].groupby("source")["utilisation"].agg(["mean", "max"])
    words = []
    for switch in switches:
        if switch not in up.index or switch not in down.index:
            words.append("none")
            continue
        to, fro = up.loc[switch], down.loc[switch]  # type: ignore[call-overload]
        words.append(
            f"{int(to['size']):,}; their links to it are busy {to['mean']:.2%} in the mean, "
            f"{to['max']:.2%} at most, those from it {fro['mean']:.2%}, {fro['max']:.2%}"
        )
    return words


def _spread(links: pd.DataFrame, layers: Mapping[Hashable, str]) -> pd.DataFrame:
    """Return the distribution of utilisation between each pair of layers."""
    between = links["source"].map(layers) + _ARROW + links["target"].map(layers)
    rows = []
    for name, part in links.groupby(between, sort=False):
        low, q1, median, q3, high = np.quantile(part["utilisation"], (0, 0.25, 0.5, 0.75, 1))
        lost, dropped, units = (int(part[name].sum()) for name in ("lost", "dropped", "units"))
        rows.append(
            {
                "between": name,
                "low": low,
                "q1": q1,
                "median": median,
                "q3": q3,
                "high": high,
                "gone": lost + dropped,
                "From and to": name,
                "Links": f"{len(part):,}",
                "Mean": f"{part['utilisation'].mean():.3%}",
                "Lower quarter": f"{q1:.3%}",
                "Median": f"{median:.3%}",
                "Upper quarter": f"{q3:.3%}",
                "Busiest": f"{high:.3%}",
                "Transmitted": readable("_bytes", int(part["bytes"].sum())),
                "Dropped before it": f"{dropped:,} of {units + dropped:,}" if dropped else "none",
                "Lost on the way": f"{lost:,} of {units:,}" if lost else "none",
            }
        )
    return pd.DataFrame(rows)


def _summary(links: pd.DataFrame, layers: Mapping[Hashable, str]) -> Chart:
    spread = _spread(links, layers)
    return Chart(
        "network",
        "The network, by layer",
        f"{len(layers):,} nodes and {len(links):,} directed links are too many for a drawing. Each "
        "row is the links from one layer to another: the line from the least to the most busy, the "
        "bar from the lower to the upper quarter, the white stroke the median; a red cross where "
        "units were dropped before the links, or lost on them.",
        by_layer(spread),
    )
